import type { Snapshot } from '../../cache/index.ts';
import type { Clock } from '../../meta/index.ts';

/** How long a snapshot is kept (ms), and the maximum number of snapshots of one resource. */
const keptMs = 75_000;
const keptAtMost = 8;

/**
 * Recent snapshots of paged lists, from which their next pages are read at no cost. Once a snapshot is dropped, its
 * revision is read from the store.
 */
export class ListSnapshots {
  readonly #clock: Clock;
  readonly #kept = new Map<number, { readonly snapshot: Snapshot; until: number }>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The snapshot of exactly that revision, if it is kept. */
  at(revision: number): Snapshot | undefined {
    return this.#kept.get(revision)?.snapshot;
  }

  keep(snapshot: Snapshot): void {
    const until = this.#clock.monotonic() + keptMs;
    // Moved to the end: the first entry is the least recently used.
    this.#kept.delete(snapshot.revision);
    this.#kept.set(snapshot.revision, { snapshot, until });
    for (const revision of this.#kept.keys()) {
      if (this.#kept.size <= keptAtMost) break;
      this.#kept.delete(revision);
    }
    this.#cancel ??= this.#clock.after(keptMs, () => this.#sweep());
  }

  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#kept.clear();
  }

  #sweep(): void {
    this.#cancel = undefined;
    const now = this.#clock.monotonic();
    for (const [revision, { until }] of this.#kept) if (until <= now) this.#kept.delete(revision);
    if (this.#kept.size > 0) this.#cancel = this.#clock.after(keptMs, () => this.#sweep());
  }
}
