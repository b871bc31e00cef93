import { setImmediate } from 'node:timers/promises';
import type { KeyGuard } from '../check.ts';
import { StoreError } from '../store.ts';
import type { Environment } from './environment.ts';
import { failure } from './failure.ts';
import type { Reader } from './reader.ts';
import type { State } from './records.ts';
import { type Outcome, type ReadyWrite, Transaction } from './transaction.ts';

// What one transaction takes at the most, so that none holds up those who wait behind it.
const requestsATransaction = 1000;
const writesATransaction = 1000;
const bytesATransaction = 8 * 1024 * 1024;
/** Records that each transaction looks at to remove history, unless it adds more than half as many. */
const recordsASweep = 256;

export interface Request {
  /** A commit, the first revision to keep, or that open time is to be written. */
  readonly what: { readonly guards: readonly KeyGuard[]; readonly writes: readonly ReadyWrite[] } | number | 'tick';
  /** Called in the order of the requests, when everything that the outcome rests on is durable. */
  readonly done: (outcome: Outcome) => void;
  readonly failed: (error: StoreError) => void;
}

export interface Retention {
  /** Milliseconds for which the store has been open, over all restarts. */
  readonly openMs: () => number;
  /** For how many of these history is kept; for ever when 0. */
  readonly keepMs: number;
}

/** Makes one transaction of all the requests that wait while the one before is being written. */
export class GroupCommit {
  readonly #environment: Environment;
  readonly #reader: Reader;
  /** Reads and watches that have begun at this revision or later still need the history. */
  readonly #needed: () => number;
  readonly #retention: Retention;
  readonly #waiting: Request[] = [];
  #state: State;
  #running: Promise<void> | undefined;
  #closing = false;
  /** Why the last transaction was not written: until one is, even those that change nothing are. */
  #failing: unknown;
  /** The files must be opened again before anything else. */
  #broken = false;
  /** Called when there are commits that nobody has been told of. */
  readonly #found: () => void;

  constructor(environment: Environment, reader: Reader, retention: Retention, needed: () => number, found: () => void) {
    this.#environment = environment;
    this.#reader = reader;
    this.#retention = retention;
    this.#needed = needed;
    this.#found = found;
    this.#state = environment.state;
  }

  /** What is durable, up to the requests that have been answered. */
  get state(): State {
    return this.#state;
  }

  add(request: Request): void {
    this.#waiting.push(request);
    this.#start();
  }

  /** Goes on removing history that has been given up. */
  sweep(): void {
    if (!this.#closing && this.#sweepable()) this.#start();
  }

  /** Resolves when every request has been answered; none may be added after the call. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#running;
  }

  #start(): void {
    // Not at once: whoever else asks in this turn comes along.
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || (!this.#closing && this.#sweepable())) {
      await this.#next();
      // Those who have just been answered may have more to ask.
      await setImmediate();
    }
    this.#running = undefined;
  }

  #sweepable(): boolean {
    return this.#failing === undefined && this.#state.swept < Math.min(this.#state.oldest, this.#needed());
  }

  async #next(): Promise<void> {
    const requests = this.#take();
    try {
      if (this.#broken) await this.#reopen();
      const { openMs, keepMs } = this.#retention;
      const transaction = new Transaction(this.#environment, this.#reader, this.#state, openMs());
      transaction.age(keepMs);
      const outcomes = requests.map(({ what }) => decide(transaction, what));
      // More than it adds: else the backlog of a busy store would only grow.
      const examined = Math.max(recordsASweep, 2 * transaction.added);
      transaction.sweep(Math.min(this.#state.oldest, this.#needed()), examined);
      if (transaction.changes || this.#failing !== undefined) await this.#write(transaction);
      const before = this.#state;
      for (const [i, { done }] of requests.entries()) {
        const outcome = outcomes[i] as Outcome;
        // One after the other, so that nobody sees a revision whose commit has not been delivered.
        this.#state = { ...before, latest: outcome.revision };
        done(outcome);
      }
      this.#state = transaction.state;
    } catch (error) {
      for (const { failed } of requests) failed(failure(this.#environment.path, error));
    }
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

  async #write(transaction: Transaction): Promise<void> {
    try {
      await transaction.write();
    } catch (error) {
      const cause = await causeOf(error);
      this.#failing = cause;
      // Whatever failed before the new root was written has left nothing behind.
      if (this.#works()) throw cause;
      this.#broken = true;
      // Reads need it at once. If it fails, the next request tries again.
      await this.#reopen().catch(() => undefined);
      throw new StoreError('uncertain', `writing to ${this.#environment.path} failed: check the disk`, { cause });
    }
    this.#failing = undefined;
    transaction.settle();
  }

  /** Opens the files again, after a transaction of which nobody knows whether it is there. */
  async #reopen(): Promise<void> {
    const { latest } = this.#state;
    await this.#environment.reopen(latest);
    const { state } = this.#environment;
    this.#reader.heads.load();
    this.#state = state;
    this.#broken = false;
    if (state.latest > latest) this.#found();
  }

  /** Whether a transaction can still be begun. */
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
  if (typeof what === 'object') return transaction.commit(what.guards, what.writes);
  if (what === 'tick') transaction.tick();
  else transaction.compact(what);
  return { ok: true, revision: transaction.state.latest, written: [] };
}

/** The library tells why a transaction failed by a promise of its own, which is settled by then. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  const told = Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
  return Promise.race([told, setImmediate(error)]);
}
