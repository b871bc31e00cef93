import type { Snapshot } from '../../cache/index.ts';
import type { Clock } from '../../meta/index.ts';

/**
 * How long a snapshot is kept, however often it is used, as it holds what has been replaced or deleted since (ms); and the
 * maximum number of snapshots of one resource.
 */
const keptMs = 75_000;
const keptAtMost = 8;
const sweepMs = 5_000;

/**
 * Recent snapshots of paged lists, from which their next pages are read at no cost. Once a snapshot is dropped, its
 * revision is read from the store.
 */
export class ListSnapshots {
  readonly #clock: Clock;
  readonly #kept = new Map<number, { readonly snapshot: Snapshot; readonly until: number }>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The snapshot of exactly that revision, if it is kept. */
  at(revision: number): Snapshot | undefined {
    return this.#kept.get(revision)?.snapshot;
  }

  keep(snapshot: Snapshot): void {
    const entry = this.#kept.get(snapshot.revision) ?? { snapshot, until: this.#clock.monotonic() + keptMs };
    // Moved to the end: the first entry is the least recently used.
    this.#kept.delete(snapshot.revision);
    this.#kept.set(snapshot.revision, entry);
    for (const revision of this.#kept.keys()) {
      if (this.#kept.size <= keptAtMost) break;
      this.#kept.delete(revision);
    }
    this.#sweepLater();
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
    if (this.#kept.size > 0) this.#sweepLater();
  }

  #sweepLater(): void {
    this.#cancel ??= this.#clock.after(sweepMs, () => this.#sweep());
  }
}
