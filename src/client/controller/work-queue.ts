import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, isStatus, scheduler } from '../../meta/index.ts';
import { consoleLog, type Log } from '../runtime/log.ts';
import { systemClock } from '../runtime/system.ts';

/**
 * Makes the object of a key as it should be. Throws to be called again with backoff; the result may ask for another call
 * later (ms).
 */
// biome-ignore lint/suspicious/noConfusingVoidType: functions that return nothing are reconcilers too
export type Reconcile = (key: string) => Promise<{ readonly requeueAfterMs?: number } | void>;

/** Told of what a queue does, for its metrics. Seconds are monotonic. */
export interface QueueObserver {
  readonly added: () => void;
  readonly started: (waitedSeconds: number) => void;
  readonly ended: (workedSeconds: number) => void;
  /** A key is to be reconciled again later. */
  readonly retried: () => void;
}

/** A queue, as its metrics show it. */
export interface QueueState {
  readonly name: string;
  /** Keys that wait. */
  readonly depth: () => number;
  /** For each key that is being reconciled, since when. */
  readonly runningSeconds: () => readonly number[];
}

export interface WorkQueueOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** How many keys are reconciled at a time. */
  readonly workers: number;
  /** The delay after the first failure of a key (ms), which doubles each time. */
  readonly firstBackoffMs?: number;
  /** The longest delay after failures of a key (ms). */
  readonly lastBackoffMs?: number;
  /** Moves delays; the system clock by default. */
  readonly clock?: Clock;
  /** The console by default. */
  readonly log?: Log;
  /** Its metrics; none by default. */
  readonly observe?: (queue: QueueState) => QueueObserver;
}

/** Whose time begins reconciles: in the order in which keys became due, whatever queue they are in. */
const owner = 'work queues';

const defaults = {
  clock: systemClock,
  log: consoleLog,
  firstBackoffMs: 5,
  lastBackoffMs: 1_000_000,
  observe: (): QueueObserver => ({ added() {}, started() {}, ended() {}, retried() {} }),
};

/**
 * A queue of keys to reconcile. A key is in it once however often it is added, and never reconciled by two workers at a
 * time: one that is added meanwhile is reconciled again afterwards.
 */
export class WorkQueue {
  readonly name: string;
  readonly #options: Required<WorkQueueOptions>;
  /** Keys to reconcile, with the monotonic time at which they were added (ms). */
  readonly #waiting = new Map<string, number>();
  /** Keys that are being reconciled, with the monotonic time at which that began (ms). */
  readonly #processing = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  /** Cancels the timers of delayed keys; with the time at which they are due. */
  readonly #delayed = new Map<string, { readonly due: number; readonly cancel: () => void }>();
  #state: 'new' | 'running' | 'stopped' = 'new';
  /** Those who wait until it is idle. */
  #waiters: (() => void)[] = [];
  readonly #observer: QueueObserver;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#options = { ...defaults, ...options };
    const { name, clock, observe } = this.#options;
    // Metrics outlive the queue: they hold no more of it than this.
    const [waiting, processing] = [this.#waiting, this.#processing];
    this.#observer = observe({
      name,
      depth: () => waiting.size,
      runningSeconds: () => [...processing.values()].map((began) => (clock.monotonic() - began) / 1000),
    });
  }

  add(key: string): void {
    if (this.#state === 'stopped' || this.#waiting.has(key)) return;
    this.#waiting.set(key, this.#options.clock.monotonic());
    this.#observer.added();
    this.#fill();
  }

  /** Adds the key later; of several times the earliest holds. */
  addAfter(key: string, ms: number): void {
    if (this.#state === 'stopped') return;
    this.#observer.retried();
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const due = this.#options.clock.monotonic() + ms;
    const pending = this.#delayed.get(key);
    if (pending !== undefined && pending.due <= due) return;
    pending?.cancel();
    const cancel = this.#options.clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { due, cancel });
  }

  /** How often the key has failed since it last succeeded. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** No key waits, but for delayed ones, and none is being reconciled. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#processing.size === 0;
  }

  /** Resolves when no key waits, but for delayed ones, and none is being reconciled. */
  whenIdle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Workers begin. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#fill();
  }

  /** Resolves when no key is being reconciled; none will be. */
  stop(): Promise<void> {
    this.#state = 'stopped';
    this.#waiting.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#tellIdle();
    return this.whenIdle();
  }

  /** Hands waiting keys to free workers. */
  #fill(): void {
    if (this.#state !== 'running') return;
    for (const [key, added] of this.#waiting) {
      if (this.#processing.size >= this.#options.workers) return;
      if (this.#processing.has(key)) continue;
      this.#waiting.delete(key);
      this.#processing.set(key, this.#options.clock.monotonic());
      void this.#process(key, added);
    }
  }

  async #process(key: string, added: number): Promise<void> {
    const { clock, reconcile } = this.#options;
    // Changes that arrive together are reconciled together, and requests in between.
    await nextTurn();
    const turns = scheduler.turns(owner);
    if (turns.over) await turns.next();
    const began = clock.monotonic();
    this.#processing.set(key, began);
    this.#observer.started((began - added) / 1000);
    try {
      const result = this.#state === 'stopped' ? undefined : await reconcile(key);
      this.#failures.delete(key);
      if (result?.requeueAfterMs !== undefined) this.addAfter(key, result.requeueAfterMs);
    } catch (error) {
      this.#retry(key, error);
    }
    this.#observer.ended((clock.monotonic() - began) / 1000);
    this.#processing.delete(key);
    this.#fill();
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (!this.isIdle) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  #retry(key: string, error: unknown): void {
    if (this.#state === 'stopped') return;
    const { log, name, firstBackoffMs, lastBackoffMs } = this.#options;
    const failures = this.failuresOf(key);
    this.#failures.set(key, failures + 1);
    // The informer is behind, or the object has been deleted meanwhile: the next attempt sees the later state.
    if (!isStatus(error, 409) && !isStatus(error, 404)) {
      log.warn('a key could not be reconciled', { queue: name, key, error });
    }
    this.addAfter(key, Math.min(firstBackoffMs * 2 ** failures, lastBackoffMs));
  }
}
