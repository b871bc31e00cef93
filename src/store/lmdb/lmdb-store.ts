import type { Clock } from '../../meta/index.ts';
import {
  checkCommit,
  checkKey,
  checkRange,
  checkReached,
  checkReadable,
  closedError,
  type KeyGuard,
  type KeyWrite,
} from '../check.ts';
import { defaultHistoryMs, markingMs } from '../history.ts';
import { keyText } from '../keys.ts';
import {
  type CommitResult,
  type GetResult,
  type Guard,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type Watch,
  type WatchSink,
  type Write,
} from '../store.ts';
import { Alarm, every } from '../timers.ts';
import { WatchHub } from '../watch-hub.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { failure } from './failure.ts';
import { GroupCommit } from './group-commit.ts';
import { Reader } from './reader.ts';
import { type LeaseKey, makeRecord, recordDeletes, recordExpires, recordKey, recordValue, Slab } from './records.ts';
import type { Outcome, Written } from './transaction.ts';

export interface LmdbStoreOptions {
  /** The directory that holds the data, and nothing else; made when it is missing. */
  readonly path: string;
  readonly clock: Clock;
  /** For how long of the time that the store is open its history is kept (ms); 5 minutes when absent, for ever when 0. */
  readonly historyMs?: number;
  /** Address space to begin with (bytes); it grows as needed. 1 GiB when absent. */
  readonly mapSize?: number;
}

const expiriesAStep = 500;
const expiryRetryMs = 1000;

/**
 * Opens the store in a directory. An answered commit has been flushed to the disk; no other process can open the same
 * directory until the store is closed or this process has ended. Fails as `unavailable`, with what to do about it.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const environment = await openEnvironment(options.path, options.mapSize ?? 1024 ** 3);
  try {
    return new LmdbStore(environment, options);
  } catch (error) {
    await environment.close();
    throw error;
  }
}

class LmdbStore implements Store {
  readonly #environment: Environment;
  readonly #clock: Clock;
  readonly #reader: Reader;
  readonly #writer: GroupCommit;
  readonly #hub: WatchHub;
  readonly #slab = new Slab();
  readonly #expiry: Alarm;
  readonly #stopTicking: () => void;
  #closed: Promise<void> | undefined;

  constructor(environment: Environment, { clock, historyMs = defaultHistoryMs }: LmdbStoreOptions) {
    this.#environment = environment;
    this.#clock = clock;
    const readable = () => this.#writer.state;
    this.#reader = new Reader(environment, readable);
    this.#hub = new WatchHub({ readable, replay: (after, prefix) => this.#reader.replay(after, prefix) });
    const opened = clock.monotonic();
    const { openMs: before } = environment.state;
    const openMs = () => before + Math.floor(clock.monotonic() - opened);
    this.#writer = new GroupCommit(
      environment,
      this.#reader,
      { openMs, keepMs: historyMs },
      () => Math.min(this.#reader.pinned, this.#hub.lagging),
      () => {
        // Watches that begin anew find these commits in the history.
        this.#hub.fail(new StoreError('unavailable', 'the store was opened again'));
        this.#expiry.by(clock.now());
      },
    );
    this.#expiry = new Alarm(clock, () => void this.#expire().catch(() => this.#retryExpiry()));
    this.#expiry.by(clock.now());
    this.#stopTicking = historyMs === 0 ? () => undefined : every(clock, markingMs(historyMs), () => this.#tick());
    this.#writer.sweep();
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#writer.state.latest;
  }

  async get(key: string, revision?: number): Promise<GetResult> {
    this.#checkOpen();
    const bytes = checkKey(key);
    const at = checkReadable(revision, this.#writer.state);
    return { entry: this.#reader.entry(bytes, at), revision: at };
  }

  async list(range: ListRange): Promise<ListResult> {
    this.#checkOpen();
    const checked = checkRange(range);
    return this.#reader.list(checked, checkReadable(range.revision, this.#writer.state), () => this.#checkOpen());
  }

  async commit(guards: readonly Guard[], writes: readonly Write[]): Promise<CommitResult> {
    this.#checkOpen();
    const checked = checkCommit(guards, writes);
    return this.#commit(checked.guards, checked.writes);
  }

  watch(prefix: string, after: number, sink: WatchSink): Watch {
    return this.#hub.watch(prefix, after, sink);
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

  #commit(guards: readonly KeyGuard[], writes: readonly KeyWrite[]): Promise<CommitResult> {
    const ready = writes.map(({ key, value, ttl }) => {
      const expires = ttl === 0 ? 0 : Math.ceil(this.#clock.now()) + ttl * 1000;
      return { key, record: makeRecord(this.#slab, key, value, expires) };
    });
    return new Promise((resolve, reject) => {
      this.#writer.add({
        what: { guards, writes: ready },
        done: (outcome) => {
          try {
            resolve(this.#committed(outcome, guards));
          } catch (error) {
            reject(error);
          }
        },
        failed: reject,
      });
    });
  }

  #committed(outcome: Outcome, guards: readonly KeyGuard[]): CommitResult {
    const { ok, revision } = outcome;
    if (!ok) return { ok, revision, found: guards.map(({ key }) => this.#reader.entry(key, revision)) };
    if (outcome.written.length > 0) {
      try {
        this.#publish(revision, outcome.written);
      } catch (error) {
        // It is committed all the same, and no watch may go on without it.
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
      if (!this.#hub.wants(bytes)) continue;
      const key = keyText(bytes);
      const entry = recordDeletes(record) ? undefined : { key, value: recordValue(record), revision };
      changes.push({ bytes, key, entry, previous: this.#reader.load(previous, key) });
    }
    this.#hub.publish({ revision, changes });
  }

  #compact(revision: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writer.add({ what: revision, done: () => resolve(), failed: reject });
    });
  }

  /** Open time passes without commits too, as long as there is history that grows old. */
  #tick(): void {
    const { oldest, latest } = this.#writer.state;
    // When the disk is full the next time will do.
    if (oldest < latest) this.#writer.add({ what: 'tick', done: () => undefined, failed: () => undefined });
  }

  /** Deletes what has expired, and sees to it that this is called again in time. */
  async #expire(): Promise<void> {
    for (let due = this.#due(); due.length > 0 && this.#closed === undefined; due = this.#due()) {
      const commits = due.map((lease) => {
        const key = recordKey(this.#reader.record(lease));
        return this.#commit([{ key, revision: lease.revision }], [{ key, value: undefined, ttl: 0 }]);
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

  /** Some of what has expired; when there is nothing, the alarm is set for what expires next. */
  #due(): LeaseKey[] {
    const now = this.#clock.now();
    const due: LeaseKey[] = [];
    const start = { expires: 0, revision: 0, ordinal: 0 };
    for (const { key } of this.#environment.leases.range({ start, limit: expiriesAStep })) {
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
