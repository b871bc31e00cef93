import { type Clock, type Random, systemRandom } from '../../meta/index.ts';
import {
  type CheckedCommit,
  checkCommit,
  checkKey,
  checkRange,
  checkReached,
  checkReadable,
  closedError,
  type KeyCompare,
  maxValueBytes,
} from '../check.ts';
import { defaultHistoryMs, markingMs } from '../history.ts';
import { keyText } from '../keys.ts';
import {
  type CommitResult,
  type Compare,
  type GetResult,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from '../store.ts';
import { Alarm, every } from '../timers.ts';
import { WatchHub } from '../watch-hub.ts';
import { checkPresent, type Environment, markPresent, openEnvironment } from './environment.ts';
import { failure } from './failure.ts';
import { refuseImport } from './format.ts';
import { GroupCommit } from './group-commit.ts';
import { type Log, logBytes } from './log.ts';
import { Reader } from './reader.ts';
import {
  type LeaseKey,
  makeRecord,
  recordDeletes,
  recordExpires,
  recordKey,
  recordValue,
  Slab,
  type State,
} from './records.ts';
import type { Outcome, Written } from './transaction.ts';
import { Tree } from './tree.ts';

export interface LmdbStoreOptions {
  /** The data directory, used for nothing else; created when it is missing. */
  readonly path: string;
  readonly clock: Clock;
  /** Names logs. */
  readonly random?: Pick<Random, 'uuid'>;
  /** Size of the log (bytes); 4 MiB when absent, no log when 0. A log that a process has left keeps its size. */
  readonly logBytes?: number;
  /** Retention of history in open time (ms); 5 minutes when absent, forever when 0. */
  readonly historyMs?: number;
  /** Initial size of the memory map (bytes), which grows as needed; 1 GiB when absent. */
  readonly mapSize?: number;
  readonly observer?: LmdbObserver;
}

/** Receives the durations of successful operations (seconds). */
export interface LmdbObserver {
  /** The time of a commit from call to answer: it waits for the previous transaction and shares the next one with others. */
  readonly committed: (seconds: number) => void;
  /** The time of the write of a group of commits, including its flush to disk. */
  readonly flushed: (seconds: number) => void;
  /** A damaged record of the history, which compaction has skipped, remains in the file. */
  readonly damaged: (error: StoreError) => void;
}

const unobserved: LmdbObserver = { committed: () => undefined, flushed: () => undefined, damaged: () => undefined };

const expiriesPerStep = 500;
const expiryRetryMs = 1000;

/**
 * Opens the store in a directory. A commit is answered once it is flushed to disk, in the log or in the tree. No other
 * process can open the same directory until the store is closed or this process ends. Fails as `unavailable` or `damaged`,
 * with what to do.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { path } = options;
  checkPresent(path);
  const environment = await openEnvironment(path, options.mapSize ?? 1024 ** 3);
  try {
    refuseImport(environment.root, path);
    markPresent(path);
    const newId = newIdOf(options);
    const log = await openLog(environment, options.logBytes ?? logBytes, newId());
    return new LmdbStore(environment, log, newId, options);
  } catch (error) {
    await environment.close();
    throw failure(path, error);
  }
}

const newIdOf =
  ({ random = systemRandom }: LmdbStoreOptions) =>
  () =>
    Buffer.from(random.uuid().replaceAll('-', ''), 'hex');

/** Without space for a new log, commits are written to the tree. */
async function openLog(environment: Environment, bytes: number, id: Buffer): Promise<Log | undefined> {
  if (environment.mark === undefined && bytes === 0) return undefined;
  try {
    return await environment.openLog(bytes, id);
  } catch (error) {
    const found = failure(environment.path, error);
    if (found.code === 'full' && environment.mark === undefined) return undefined;
    throw found;
  }
}

class LmdbStore implements Store {
  readonly maxValueBytes = maxValueBytes;
  readonly #environment: Environment;
  readonly #clock: Clock;
  readonly #observer: LmdbObserver;
  readonly #reader: Reader;
  readonly #tree: Tree;
  readonly #writer: GroupCommit;
  readonly #hub: WatchHub;
  readonly #slab = new Slab();
  readonly #expiry: Alarm;
  readonly #stopTicking: () => void;
  #closed: Promise<void> | undefined;

  constructor(
    environment: Environment,
    log: Log | undefined,
    newId: () => Buffer,
    { clock, historyMs = defaultHistoryMs, observer = unobserved }: LmdbStoreOptions,
  ) {
    this.#environment = environment;
    this.#clock = clock;
    this.#observer = observer;
    const readable = () => this.#readable();
    this.#reader = new Reader(environment, readable);
    this.#hub = new WatchHub({ readable, replay: (...from) => this.#reader.replay(...from) });
    const opened = clock.monotonic();
    const { openMs: before } = environment.state;
    const openMs = () => before + Math.floor(clock.monotonic() - opened);
    this.#tree = new Tree(environment, this.#reader, log, {
      clock,
      needed: () => Math.min(this.#reader.pinned, this.#hub.lagging),
      damaged: observer.damaged,
    });
    this.#writer = new GroupCommit(
      environment,
      this.#reader,
      { log, tree: this.#tree, newId },
      { openMs, keepMs: historyMs },
      { clock, flushed: observer.flushed },
      () => {
        // New watches read these commits from the history.
        this.#hub.fail(new StoreError('unavailable', 'the store was opened again'));
        this.#expiry.by(clock.now());
      },
    );
    this.#expiry = new Alarm(clock, () => void this.#expire().catch(() => this.#retryExpiry()));
    this.#expiry.by(clock.now());
    this.#stopTicking = historyMs === 0 ? () => undefined : every(clock, markingMs(historyMs), () => this.#tick());
    this.#tree.start();
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#writer.state.latest;
  }

  async oldest(): Promise<number> {
    this.#checkOpen();
    return this.#writer.state.oldest;
  }

  async size(): Promise<number> {
    this.#checkOpen();
    return this.#environment.size();
  }

  async get(key: string, revision?: number): Promise<GetResult> {
    this.#checkOpen();
    const bytes = checkKey(key);
    const at = checkReadable(revision, this.#readable());
    const entry =
      revision === undefined
        ? this.#reader.entry(bytes, at)
        : await this.#reader.find(bytes, at, () => this.#readable());
    return { entry, revision: at };
  }

  async list(range: ListRange): Promise<ListResult> {
    this.#checkOpen();
    const checked = checkRange(range);
    return this.#reader.list(checked, checkReadable(range.revision, this.#readable()), () => this.#readable());
  }

  commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      this.#add(checkCommit(compares, writes, maxValueBytes), resolve, reject);
    });
  }

  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    return this.#hub.watch(prefix, after, sink, options);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    checkReached(revision, this.#writer.state.latest);
    await this.#compact(revision);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopTicking();
    this.#expiry.stop();
    this.#hub.close();
    this.#tick();
    await this.#writer.close();
    await this.#environment.close();
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }

  /** The state that can be read in this turn of the event loop. */
  #readable(): State {
    this.#checkOpen();
    this.#environment.sequence.check();
    return this.#writer.state;
  }

  #add({ compares, writes }: CheckedCommit, resolve: (result: CommitResult) => void, reject: (error: unknown) => void) {
    const ready = writes.map(({ key, value, ttl }) => {
      const expires = ttl === 0 ? 0 : Math.ceil(this.#clock.now()) + ttl * 1000;
      return { key, record: makeRecord(this.#slab, key, value, expires) };
    });
    const began = this.#clock.monotonic();
    this.#writer.add({
      what: { compares, writes: ready },
      done: (outcome) => {
        this.#observer.committed((this.#clock.monotonic() - began) / 1000);
        try {
          resolve(this.#committed(outcome, compares));
        } catch (error) {
          reject(error);
        }
      },
      failed: reject,
    });
  }

  #committed(outcome: Outcome, compares: readonly KeyCompare[]): CommitResult {
    const { ok, revision } = outcome;
    if (!ok)
      return {
        ok,
        revision,
        found: compares.map(({ key, below }) => (below ? undefined : this.#reader.entry(key, revision))),
      };
    if (outcome.written.length > 0) {
      try {
        this.#publish(revision, outcome.written);
      } catch (error) {
        // The commit stands, and no watch may continue without it.
        this.#hub.fail(failure(this.#environment.path, error));
      }
    }
    return { ok, revision };
  }

  #publish(revision: number, written: readonly Written[]): void {
    const changes = [];
    for (const { key: bytes, record, previous } of written) {
      const expires = recordExpires(record);
      if (expires > 0) this.#expiry.by(expires);
      const interest = this.#hub.wants(bytes);
      if (interest === 'nothing') continue;
      const key = keyText(bytes);
      const entry = recordDeletes(record) ? undefined : { key, value: recordValue(record), revision };
      changes.push({
        bytes,
        key,
        entry,
        previous: interest === 'previous' ? this.#reader.load(previous, bytes) : undefined,
      });
    }
    this.#hub.publish({ revision, changes });
  }

  #compact(revision: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writer.add({ what: revision, done: () => resolve(), failed: reject });
    });
  }

  /** Writes open time without a commit, as long as there is history to age. */
  #tick(): void {
    const { oldest, latest } = this.#writer.state;
    // A failure (such as a full disk) is ignored: the next tick tries again.
    if (oldest < latest) this.#writer.add({ what: 'tick', done: () => undefined, failed: () => undefined });
  }

  /** Deletes the keys whose leases have expired, and schedules the next call. */
  async #expire(): Promise<void> {
    for (let due = this.#due(); due.length > 0 && this.#closed === undefined; due = this.#due()) {
      const commits = due.map(async (lease) => {
        const key = recordKey(this.#reader.record(lease));
        const compares = [{ key, revision: lease.revision, below: false }];
        return new Promise<CommitResult>((resolve, reject) => {
          this.#add({ compares, writes: [{ key, value: undefined, ttl: 0 }] }, resolve, reject);
        });
      });
      const results = await Promise.allSettled(commits);
      if (this.#closed !== undefined) return;
      if (results.every((result) => result.status === 'fulfilled' && result.value.ok)) continue;
      this.#retryExpiry();
      return;
    }
  }

  #retryExpiry(): void {
    if (this.#closed === undefined) this.#expiry.by(this.#clock.now() + expiryRetryMs);
  }

  /** The first expired leases; without any, schedules the alarm for the next lease. */
  #due(): LeaseKey[] {
    const now = this.#clock.now();
    const due: LeaseKey[] = [];
    const start = { expires: 0, revision: 0, ordinal: 0 };
    for (const { key } of this.#environment.leases.range({ start }, expiriesPerStep)) {
      if (key.expires <= now) {
        due.push(key);
        continue;
      }
      this.#expiry.by(key.expires);
      break;
    }
    return due;
  }
}
