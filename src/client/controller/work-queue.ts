import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, isStatus, scheduler, systemClock } from '../../meta/index.ts';
import { consoleLog, type Log } from '../runtime/log.ts';

/**
 * Brings the object of a key to its declared state. When it rejects it is called again with backoff; the result may
 * request another call later (ms).
 */
// biome-ignore lint/suspicious/noConfusingVoidType: functions that return nothing are reconcilers too
export type Reconcile = (key: string) => Promise<{ readonly requeueAfterMs?: number } | void>;

/** Receives the activity of a queue for its metrics. Seconds are monotonic. */
export interface QueueObserver {
  readonly added: () => void;
  readonly started: (waitedSeconds: number) => void;
  readonly ended: (workedSeconds: number) => void;
  /** A key is scheduled again. */
  readonly retried: () => void;
}

/** The state of a queue for its metrics. */
export interface QueueState {
  readonly name: string;
  /** The number of waiting keys. */
  readonly depth: () => number;
  /** For each key being reconciled, for how long (s). */
  readonly runningSeconds: () => readonly number[];
}

export interface WorkQueueOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** How many keys are reconciled concurrently. */
  readonly workers: number;
  /** The delay after the first failure of a key (ms), which doubles with each failure; 5 by default. */
  readonly firstBackoffMs?: number;
  /** The maximum delay after failures of a key (ms); 1,000,000 by default. */
  readonly lastBackoffMs?: number;
  /**
   * Returns the group of a key, such as its namespace. Groups take turns, and one uses at most as many workers as remain free
   * for others. The keys of the empty group, the default, may use all workers.
   */
  readonly groupOf?: (key: string) => string;
  /** The clock of delays; the system clock by default. */
  readonly clock?: Clock;
  /** Receives warnings and errors; the console by default. */
  readonly log?: Log;
  /** Registers the queue for metrics; none by default. */
  readonly observe?: (queue: QueueState) => QueueObserver;
}

/** The owner of the turns that begin reconciles. All queues share it, so that keys run in the order in which they are due. */
const owner = 'work queues';

const defaults = {
  clock: systemClock,
  log: consoleLog,
  firstBackoffMs: 5,
  lastBackoffMs: 1_000_000,
  groupOf: () => '',
  observe: (): QueueObserver => ({ added() {}, started() {}, ended() {}, retried() {} }),
};

/**
 * A queue of keys to reconcile. It holds each key once, however often it is added. Two workers never reconcile the same
 * key concurrently: a key added during its reconcile is reconciled again afterwards.
 */
export class WorkQueue {
  readonly name: string;
  readonly #options: Required<WorkQueueOptions>;
  /** Keys to reconcile, with the monotonic time at which they were added (ms). */
  readonly #waiting = new Map<string, number>();
  /** The same by group; the group that is next comes first. */
  readonly #groups = new Map<string, Set<string>>();
  /** How many keys of a group are being reconciled. */
  readonly #running = new Map<string, number>();
  /** Keys being reconciled, with the monotonic time at which that began (ms). */
  readonly #processing = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  /** The timers of delayed keys, with the time at which they are due. */
  readonly #delayed = new Map<string, { readonly due: number; readonly cancel: () => void }>();
  #state: 'new' | 'running' | 'stopped' = 'new';
  /** Resolvers of `whenIdle`. */
  #waiters: (() => void)[] = [];
  readonly #observer: QueueObserver;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#options = { ...defaults, ...options };
    const { name, clock, observe } = this.#options;
    // Metrics outlive the queue: they must not reference all of it.
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
    const group = this.#options.groupOf(key);
    const keys = this.#groups.get(group);
    if (keys === undefined) this.#groups.set(group, new Set([key]));
    else keys.add(key);
    this.#observer.added();
    this.#fill();
  }

  /** Adds the key after a delay (ms). The earliest of several delays counts. */
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

  /** The number of failures of the key since its last success. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Whether no key waits or is being reconciled. Delayed keys do not count. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#processing.size === 0;
  }

  /** Resolves when no key waits or is being reconciled. Delayed keys do not count. */
  whenIdle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Starts the workers. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#fill();
  }

  /** Drops all keys. Resolves when no key is being reconciled. */
  stop(): Promise<void> {
    this.#state = 'stopped';
    this.#waiting.clear();
    this.#groups.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#notifyIdle();
    return this.whenIdle();
  }

  /** Assigns waiting keys to free workers. */
  #fill(): void {
    if (this.#state !== 'running') return;
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      const [group, key] = next;
      const added = this.#waiting.get(key) as number;
      this.#waiting.delete(key);
      this.#processing.set(key, this.#options.clock.monotonic());
      this.#running.set(group, (this.#running.get(group) ?? 0) + 1);
      void this.#process(group, key, added);
    }
  }

  /** The next key for a free worker, with its group, which goes behind the others. */
  #takeNext(): readonly [group: string, key: string] | undefined {
    const free = this.#options.workers - this.#processing.size;
    if (free <= 0) return undefined;
    for (const [group, keys] of this.#groups) {
      if (group !== '' && (this.#running.get(group) ?? 0) >= free) continue;
      for (const key of keys) {
        if (this.#processing.has(key)) continue;
        keys.delete(key);
        this.#groups.delete(group);
        if (keys.size > 0) this.#groups.set(group, keys);
        return [group, key];
      }
    }
    return undefined;
  }

  async #process(group: string, key: string, added: number): Promise<void> {
    const { clock, reconcile } = this.#options;
    // Lets changes that arrive together be reconciled together, and requests run in between.
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
    const running = (this.#running.get(group) as number) - 1;
    if (running > 0) this.#running.set(group, running);
    else this.#running.delete(group);
    this.#fill();
    this.#notifyIdle();
  }

  #notifyIdle(): void {
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
    // The informer lags behind, or the object has been deleted: the next attempt sees the later state.
    if (!isStatus(error, 409) && !isStatus(error, 404)) {
      log.warn('failed to reconcile a key', { queue: name, key, error });
    }
    this.addAfter(key, Math.min(firstBackoffMs * 2 ** failures, lastBackoffMs));
  }
}
