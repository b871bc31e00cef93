/** How many nodes of a failure zone may be tainted so that their pods are evicted, by the health of the zone. */

export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** Nodes per second: in a healthy zone, and in a large zone in which many nodes are not ready. */
const normalRate = 0.1;
const reducedRate = 0.01;
/** A zone with more nodes is large. */
const largeZone = 50;
/** The share of nodes that are not ready at which a zone is partially disrupted. */
const unhealthyShare = 0.55;

export function stateOf(ready: number, notReady: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  if (notReady > 2 && notReady / (notReady + ready) >= unhealthyShare) return 'PartialDisruption';
  return 'Normal';
}

const rateOf = (state: ZoneState, size: number): number => {
  if (state === 'PartialDisruption') return size > largeZone ? reducedRate : 0;
  return normalRate;
};

/** The nodes of a zone to taint, one at a time at the rate of the zone. */
export class Zone {
  state: ZoneState = 'Initial';
  /** The names of the nodes. */
  readonly waiting = new Set<string>();
  #rate = normalRate;
  /** When the next may be tainted (ms). */
  #next = 0;

  /** The rate becomes that of the state of a zone of this size; in `halt` none is tainted. */
  enter(state: ZoneState, size: number, now: number, { halt = false } = {}): void {
    this.state = state;
    const rate = halt ? 0 : rateOf(state, size);
    if (rate === this.#rate) return;
    const isSpent = this.#rate === 0 || now < this.#next;
    this.#rate = rate;
    this.#next = isSpent && rate > 0 ? now + 1000 / rate : now;
  }

  /** How long until the next node may be tainted (ms); undefined when there is none, or none may be. */
  delay(now: number): number | undefined {
    return this.waiting.size === 0 || this.#rate === 0 ? undefined : Math.max(0, this.#next - now);
  }

  /** A node has been tainted. */
  spend(now: number): void {
    this.#next = now + 1000 / this.#rate;
  }
}
