import { setImmediate } from 'node:timers/promises';
import { type Clock, serverTurns } from '../../meta/index.ts';
import type { KeyCompare } from '../check.ts';
import { StoreError } from '../store.ts';
import type { Environment } from './environment.ts';
import { failure, openedByOther } from './failure.ts';
import type { Reader } from './reader.ts';
import type { State } from './records.ts';
import { withoutReports } from './reports.ts';
import { missedOthers } from './sequence.ts';
import { type Outcome, type ReadyWrite, Transaction } from './transaction.ts';

// Limits of one transaction, so that it does not delay the requests behind it.
const requestsATransaction = 1000;
const writesATransaction = 1000;
const bytesATransaction = 8 * 1024 * 1024;
/** The least number of records that each transaction examines to remove compacted history. */
const recordsASweep = 256;
/** Each attempt but the first needs another process that opens the files during a commit. */
const maxAttempts = 5;

export interface Request {
  /** A commit, a revision to compact to, or a tick that only writes open time. */
  readonly what: { readonly compares: readonly KeyCompare[]; readonly writes: readonly ReadyWrite[] } | number | 'tick';
  /** Called in the order of the requests, once the outcome is durable. */
  readonly done: (outcome: Outcome) => void;
  readonly failed: (error: StoreError) => void;
}

export interface Retention {
  /** Open time: milliseconds for which the store has been open, over all restarts. */
  readonly openMs: () => number;
  /** Retention of history in open time (ms); forever when 0. */
  readonly keepMs: number;
}

export interface Flushes {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called with the time that the write and flush of a transaction took (seconds). */
  readonly flushed: (seconds: number) => void;
  /** Called with damaged records that the compaction of history has skipped. */
  readonly damaged: (error: StoreError) => void;
}

/** Group commit: all requests that arrive while a transaction is being written share the next one. */
export class GroupCommit {
  readonly #environment: Environment;
  readonly #reader: Reader;
  /** The earliest revision that an open read or watch still needs. */
  readonly #needed: () => number;
  readonly #retention: Retention;
  readonly #flushes: Flushes;
  readonly #waiting: Request[] = [];
  #state: State;
  #running: Promise<void> | undefined;
  #closing = false;
  /** Why the last transaction failed. While it is set, even a transaction without changes is written, as a probe. */
  #failing: unknown;
  /** The files must be reopened before the next transaction. */
  #broken = false;
  /** Called when a reopened file has commits that were not published. */
  readonly #onUnpublished: () => void;

  constructor(
    environment: Environment,
    reader: Reader,
    retention: Retention,
    flushes: Flushes,
    needed: () => number,
    onUnpublished: () => void,
  ) {
    this.#environment = environment;
    this.#reader = reader;
    this.#retention = retention;
    this.#flushes = flushes;
    this.#needed = needed;
    this.#onUnpublished = onUnpublished;
    this.#state = environment.state;
  }

  /** The durable state after the requests that have been answered. */
  get state(): State {
    return this.#state;
  }

  add(request: Request): void {
    this.#waiting.push(request);
    this.#start();
  }

  /** Continues to remove compacted history, and to seal records. */
  sweep(): void {
    if (!this.#closing && this.#hasUpkeep()) this.#start();
  }

  /** Resolves when every request has been answered. None may be added after the call. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#running;
  }

  #start(): void {
    // In a microtask: all requests of this turn of the event loop share the transaction.
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || (!this.#closing && this.#hasUpkeep())) {
      await this.#next();
      // Callers that were just answered may add their next requests.
      await setImmediate();
    }
    this.#running = undefined;
  }

  /** Whether there is compacted history to remove, or records are left without a seal. */
  #hasUpkeep(): boolean {
    if (this.#failing !== undefined) return false;
    return this.#environment.unsealed !== undefined || this.#state.swept < Math.min(this.#state.oldest, this.#needed());
  }

  async #next(): Promise<void> {
    const requests = this.#take();
    try {
      for (let attempt = 1; !(await this.#attempt(requests)); attempt++) {
        if (attempt === maxAttempts) throw openedByOther(this.#environment.path);
        this.#environment.sequence.correct();
      }
    } catch (error) {
      for (const { failed } of requests) failed(failure(this.#environment.path, error));
    }
  }

  /** Decides and writes the requests. False, with nothing done, when LMDB has missed the last transaction. */
  async #attempt(requests: readonly Request[]): Promise<boolean> {
    if (this.#broken) await this.#reopen();
    this.#environment.sequence.check();
    const { openMs, keepMs } = this.#retention;
    const transaction = new Transaction(this.#environment, this.#reader, this.#state, openMs());
    transaction.age(keepMs);
    const outcomes = requests.map(({ what }) => decide(transaction, what));
    // Twice what it adds, so that the backlog of a busy store shrinks.
    const examined = Math.max(recordsASweep, 2 * transaction.added);
    transaction.sweep(Math.min(this.#state.oldest, this.#needed()), examined, this.#flushes.damaged);
    transaction.seal();
    const writes = transaction.changes || this.#failing !== undefined;
    if (writes && !(await this.#write(transaction))) return false;
    const before = this.#state;
    const turns = serverTurns();
    for (const [i, { done }] of requests.entries()) {
      if (turns.over) await turns.next();
      const outcome = outcomes[i] as Outcome;
      // One revision at a time, so that no caller sees a revision before its commit is delivered to watches.
      this.#state = { ...before, latest: outcome.revision };
      done(outcome);
    }
    this.#state = transaction.state;
    return true;
  }

  #take(): Request[] {
    const most = Math.min(this.#waiting.length, requestsATransaction);
    let [count, writes, bytes] = [0, 0, 0];
    while (count < most && writes < writesATransaction && bytes < bytesATransaction) {
      const what = this.#waiting[count++]?.what;
      if (typeof what !== 'object') continue;
      writes += what.writes.length;
      for (const { record } of what.writes) bytes += record.length;
    }
    return this.#waiting.splice(0, count);
  }

  /** False, with nothing written, when LMDB has missed the last transaction. */
  async #write(transaction: Transaction): Promise<boolean> {
    const { clock, flushed } = this.#flushes;
    const began = clock.monotonic();
    try {
      await this.#environment.reserve(transaction.bytes);
      if (!(await withoutReports(() => transaction.write()))) return false;
      flushed((clock.monotonic() - began) / 1000);
    } catch (error) {
      const cause = await causeOf(error);
      if (missedOthers(cause)) return false;
      this.#failing = cause;
      // A failure before the new root was written has changed nothing.
      if (this.#works()) throw cause;
      this.#broken = true;
      // Reads need the files now. When this fails, the next request tries again.
      await this.#reopen().catch(() => undefined);
      throw new StoreError('uncertain', `writing to ${this.#environment.path} failed: check the disk`, { cause });
    }
    this.#failing = undefined;
    transaction.settle();
    return true;
  }

  /** Reopens the files after a transaction with an unknown outcome. */
  async #reopen(): Promise<void> {
    const { latest } = this.#state;
    await this.#environment.reopen(latest);
    const { state } = this.#environment;
    this.#reader.heads.load();
    this.#state = state;
    this.#broken = false;
    if (state.latest > latest) this.#onUnpublished();
  }

  /** Whether the library can still begin a transaction. */
  #works(): boolean {
    try {
      this.#environment.root.transactionSync(() => undefined);
      return true;
    } catch {
      return false;
    }
  }
}

function decide(transaction: Transaction, what: Request['what']): Outcome {
  if (typeof what === 'object') return transaction.commit(what.compares, what.writes);
  if (what === 'tick') transaction.tick();
  else transaction.compact(what);
  return { ok: true, revision: transaction.state.latest, written: [] };
}

/** The library reports the cause of a failed transaction in a promise on the error, which is settled by then. */
export async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  const reported = Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
  return Promise.race([reported, setImmediate(error)]);
}
