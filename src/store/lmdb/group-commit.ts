import { setImmediate } from 'node:timers/promises';
import { type Clock, serverTurns } from '../../meta/index.ts';
import type { KeyCompare } from '../check.ts';
import { StoreError } from '../store.ts';
import type { Environment } from './environment.ts';
import { failure, openedByOther } from './failure.ts';
import { LastWrites } from './last-writes.ts';
import type { Log } from './log.ts';
import type { Payload } from './log-format.ts';
import type { Reader } from './reader.ts';
import { encodeMarks, encodeState, type State } from './records.ts';
import { type Batch, type Outcome, type ReadyWrite, Transaction } from './transaction.ts';
import type { Tree } from './tree.ts';

// Limits of one transaction, so that it does not delay the requests behind it.
const requestsATransaction = 1000;
const writesATransaction = 1000;
const bytesATransaction = 8 * 1024 * 1024;
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
  /** Called with the time that the write and flush of a group took (seconds). */
  readonly flushed: (seconds: number) => void;
}

/** Where groups become durable: in the log, when there is one that can be used, or else in the tree. */
export interface Destination {
  readonly log: Log | undefined;
  readonly tree: Tree;
  /** Returns an id for a new log. */
  readonly newId: () => Buffer;
}

/** Group commit: all requests that arrive while a group is being written share the next one. */
export class GroupCommit {
  readonly #environment: Environment;
  readonly #reader: Reader;
  readonly #destination: Destination;
  readonly #retention: Retention;
  readonly #flushes: Flushes;
  readonly #waiting: Request[] = [];
  #state: State;
  #lastWrites: LastWrites;
  #running: Promise<void> | undefined;
  /** Called when the tree has commits that were not published. */
  readonly #onUnpublished: () => void;

  constructor(
    environment: Environment,
    reader: Reader,
    destination: Destination,
    retention: Retention,
    flushes: Flushes,
    onUnpublished: () => void,
  ) {
    this.#environment = environment;
    this.#reader = reader;
    this.#destination = destination;
    this.#retention = retention;
    this.#flushes = flushes;
    this.#onUnpublished = onUnpublished;
    this.#state = environment.state;
    this.#lastWrites = new LastWrites(this.#state.latest);
  }

  /** The durable state after the requests that have been answered. */
  get state(): State {
    return this.#state;
  }

  add(request: Request): void {
    this.#waiting.push(request);
    // In a microtask: all requests of this turn of the event loop share the group.
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  /** Resolves when every request has been answered, and the log and the tree are closed. None may be added after the call. */
  async close(): Promise<void> {
    await this.#running;
    await this.#destination.tree.close();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#next();
      // Callers that were just answered may add their next requests.
      await setImmediate();
    }
    this.#running = undefined;
  }

  async #next(): Promise<void> {
    const requests = this.#take();
    try {
      for (let attempt = 1; !(await this.#attempt(requests)); attempt++) {
        if (attempt === maxAttempts) throw openedByOther(this.#environment.path);
        await this.#destination.tree.settled();
        this.#environment.sequence.correct();
      }
    } catch (error) {
      for (const { failed } of requests) failed(failure(this.#environment.path, error));
    }
  }

  /** Decides and writes the requests. False, with nothing done, when LMDB has missed the last transaction. */
  async #attempt(requests: readonly Request[]): Promise<boolean> {
    const { tree } = this.#destination;
    const { sequence } = this.#environment;
    if (tree.isFailing || !sequence.isCurrent) {
      await tree.settled();
      sequence.check();
    }
    this.#follow();
    const { openMs, keepMs } = this.#retention;
    const transaction = new Transaction(this.#environment, this.#reader, this.#lastWrites, this.#state, openMs());
    transaction.age(keepMs);
    const outcomes = requests.map(({ what }) => decide(transaction, what));
    // While the tree fails, even a group without changes is written, as a probe.
    if (transaction.changes || tree.isFailing) {
      if (!(await this.#write(transaction.batch))) return false;
      transaction.settle();
    }
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
  async #write(batch: Batch): Promise<boolean> {
    const { clock, flushed } = this.#flushes;
    const began = clock.monotonic();
    // The decisions rest on reads, of which the tree verifies only those of its own transactions.
    if (!this.#environment.sequence.isCurrent) return false;
    const logged = await this.#log(batch);
    if (!logged.isDurable && !(await this.#writeTree(batch, logged.failure))) return false;
    flushed((clock.monotonic() - began) / 1000);
    return true;
  }

  /** Writes to the log, when it can be used for the batch. */
  async #log(batch: Batch): Promise<{ readonly isDurable: boolean; readonly failure?: unknown }> {
    const { log, tree, newId } = this.#destination;
    const { state, changes } = batch;
    const marks = state.marks === this.#state.marks ? undefined : encodeMarks(state);
    const payload: Payload = { state: encodeState(state), marks, changes };
    // Transactions of the tree give records of format 1 their checksums.
    const isUpgrading = this.#environment.unsealed !== undefined;
    if (log === undefined || isUpgrading || !log.takes(payload)) return { isDurable: false };
    try {
      while (log.isUsable && !tree.isFailing && !log.hasSpace(payload)) await tree.step();
    } catch (error) {
      if (!tree.isFailing) throw error;
    }
    if (!log.isUsable || tree.isFailing) return { isDurable: false };
    try {
      tree.add({ sequence: await log.write(payload, newId), state, changes });
      return { isDurable: true };
    } catch (error) {
      return { isDurable: false, failure: error };
    }
  }

  /** `logFailure`: why the batch may be in the log or not. The log is void once the batch is in the tree. */
  async #writeTree(batch: Batch, logFailure: unknown): Promise<boolean> {
    try {
      return await this.#destination.tree.commit(batch);
    } catch (cause) {
      this.#follow();
      // Without space the log has at most a part of the group, which is none.
      if (logFailure === undefined || failure(this.#environment.path, logFailure).code === 'full') throw cause;
      throw new StoreError('uncertain', `writing to ${this.#environment.path} failed: check the disk`, { cause });
    }
  }

  /** Takes over what the tree has: a batch of which it was unknown whether it was written. */
  #follow(): void {
    const { tree } = this.#destination;
    const { latest, oldest } = this.#state;
    if (tree.isBehind || (tree.state.latest <= latest && tree.state.oldest <= oldest)) return;
    this.#state = tree.state;
    this.#lastWrites = new LastWrites(this.#state.latest);
    if (tree.state.latest > latest) this.#onUnpublished();
  }
}

function decide(transaction: Transaction, what: Request['what']): Outcome {
  if (typeof what === 'object') return transaction.commit(what.compares, what.writes);
  if (what === 'tick') transaction.tick();
  else transaction.compact(what);
  return { ok: true, revision: transaction.state.latest, written: [] };
}
