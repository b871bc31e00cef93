import type { Client, Informer } from '../../client/index.ts';
import type { Clock, Names } from '../../meta/index.ts';
import type { NodeObject } from '../shared/node-selection.ts';
import { changeTaints, hasTaint, nodeCondition, type TaintChange, type TaintName, taintKeys, zoneOf } from './node.ts';
import { stateOf, Zone } from './zones.ts';

interface EvictorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly names: Names;
  readonly nodes: Informer<NodeObject>;
}

/** Taints nodes that are not ready so that their pods are evicted: zone by zone, as fast as the health of the zone allows. */
export class Evictor {
  readonly #options: EvictorOptions;
  readonly #notReady: TaintName;
  readonly #unreachable: TaintName;
  readonly #zones = new Map<string, Zone>();

  constructor(options: EvictorOptions) {
    this.#options = options;
    const { notReady, unreachable } = taintKeys(options.names);
    this.#notReady = { key: notReady, effect: 'NoExecute' };
    this.#unreachable = { key: unreachable, effect: 'NoExecute' };
  }

  get zones(): Iterable<string> {
    return this.#zones.keys();
  }

  /** The node has none of the taints, and waits for none. */
  async clear(node: NodeObject): Promise<void> {
    this.#zoneOf(node).waiting.delete(node.metadata.name ?? '');
    const remove = [this.#unreachable, this.#notReady];
    await changeTaints(this.#at(), node, () => ({ remove }));
  }

  /** Makes the taint of the node follow its condition `Ready`. A node without a taint waits for its turn. */
  async follow(node: NodeObject): Promise<void> {
    if (nodeCondition(node, 'Ready')?.status === 'True') return this.clear(node);
    const change = this.#changeFor(node);
    if (change === undefined) return;
    const { add, remove } = change;
    if (hasTaint(node, remove)) await changeTaints(this.#at(), node, this.#taintsFor);
    else if (!hasTaint(node, add)) this.#zoneOf(node).waiting.add(node.metadata.name ?? '');
  }

  /** Taints nodes of the zone that wait for it, until none does or the rate of the zone is reached. */
  async taint(key: string): Promise<{ readonly requeueAfterMs?: number }> {
    const { clock, nodes } = this.#options;
    const zone = this.#zones.get(key);
    for (let ms = zone?.delay(clock.now()); zone !== undefined && ms !== undefined; ms = zone.delay(clock.now())) {
      if (ms > 0) return { requeueAfterMs: ms };
      const [name = ''] = zone.waiting;
      const node = nodes.get('', name);
      if (node !== undefined && this.#changeFor(node) !== undefined) {
        await changeTaints(this.#at(), node, this.#taintsFor);
        zone.spend(clock.now());
      }
      zone.waiting.delete(name);
    }
    return {};
  }

  /**
   * Sets the rates of the zones by the readiness of their nodes. Without a ready node anywhere the fault is elsewhere: no
   * node is tainted until one is ready. The result says what has changed in that.
   */
  limit(readiness: ReadonlyMap<string, readonly boolean[]>): 'halted' | 'resumed' | undefined {
    const now = this.#options.clock.now();
    for (const [key, zone] of this.#zones) {
      if (readiness.has(key)) continue;
      zone.state = 'Initial';
      if (zone.waiting.size === 0) this.#zones.delete(key);
    }
    const zones = [...readiness].map(([key, list]) => {
      const ready = list.filter(Boolean).length;
      return { zone: this.#zone(key), size: list.length, state: stateOf(ready, list.length - ready) };
    });
    const isDown = zones.every(({ state }) => state === 'FullDisruption');
    const wasDown = zones.every(({ zone }) => zone.state === 'FullDisruption');
    if (isDown && wasDown) return undefined;
    for (const { zone, state, size } of zones) {
      if (isDown || wasDown || zone.state !== state) zone.enter(state, size, now, { halt: isDown });
    }
    return isDown ? 'halted' : wasDown ? 'resumed' : undefined;
  }

  #at() {
    const { client, clock } = this.#options;
    return { client, now: clock.now() };
  }

  #changeFor(node: NodeObject): { readonly add: TaintName; readonly remove: TaintName } | undefined {
    switch (nodeCondition(node, 'Ready')?.status) {
      case 'False':
        return { add: this.#notReady, remove: this.#unreachable };
      case 'Unknown':
        return { add: this.#unreachable, remove: this.#notReady };
      default:
        return undefined;
    }
  }

  /** The same as lists; nothing changes for a node that is ready by now. */
  readonly #taintsFor = (node: NodeObject): TaintChange => {
    const change = this.#changeFor(node);
    return change === undefined ? {} : { add: [change.add], remove: [change.remove] };
  };

  #zoneOf(node: NodeObject): Zone {
    return this.#zone(zoneOf(node, this.#options.names));
  }

  #zone(key: string): Zone {
    const zone = this.#zones.get(key) ?? new Zone();
    this.#zones.set(key, zone);
    return zone;
  }
}
