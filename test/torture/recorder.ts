import type { Operation, WatchSession } from '../../src/server/harness/checks/history.ts';

/** Records what the clients of a trial do, with times of one clock. */
export class Recorder {
  readonly operations: Operation[] = [];
  readonly watches: WatchSession[] = [];
  #last = 0;
  #latest = 1;

  /** Milliseconds since an arbitrary moment; never goes back. */
  now(): number {
    return performance.now();
  }

  /** An id for an operation. */
  nextId(): number {
    return ++this.#last;
  }

  /** The latest version that any client has seen. */
  get latest(): number {
    return this.#latest;
  }

  see(version: number): void {
    this.#latest = Math.max(this.#latest, version);
  }
}
