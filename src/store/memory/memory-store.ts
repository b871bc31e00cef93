import { BTree } from '../../btree/index.ts';
import type { ByteString, Clock } from '../../meta/index.ts';
import {
  checkCommit,
  checkKey,
  checkRange,
  checkReached,
  checkReadable,
  closedError,
  type KeyCompare,
  type KeyWrite,
  maxValueBytes,
} from '../check.ts';
import type { CommitChanges, KeyedChange } from '../fan-out.ts';
import { age, defaultHistoryMs, type Mark, markingMs } from '../history.ts';
import { keyText } from '../keys.ts';
import {
  type CommitResult,
  type Compare,
  type Entry,
  type GetResult,
  type ListRange,
  type ListResult,
  pageBytes,
  type Store,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from '../store.ts';
import { Alarm, every } from '../timers.ts';
import { type Replay, WatchHub } from '../watch-hub.ts';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  /** Retention of history (ms); 5 minutes when absent, forever when 0. */
  readonly historyMs?: number;
}

/** A version of a key. */
interface Version {
  readonly key: ByteString;
  readonly revision: number;
  readonly entry: Entry | undefined;
  /** When it expires (whole milliseconds of the clock); infinite when it does not. */
  readonly expires: number;
  /** Undefined when this is the first one, or the history before it has been compacted. */
  earlier: Version | undefined;
}
/** A version that expires; its key is ordered by the time of expiry. */
interface Lease {
  readonly key: string;
  readonly version: Version;
}

const firstRevision = 1;
/** The most commits that one step replays or expires, and the most changes that one compacts. */
const step = 1000;

/** An empty store in memory. Every commit is delivered to watches before it is answered. */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  return new MemoryStore(options);
}

class MemoryStore implements Store {
  readonly maxValueBytes = maxValueBytes;
  readonly #clock: Clock;
  /** The latest version of every key. */
  readonly #heads = new BTree<Version>();
  readonly #leases = new BTree<Lease>();
  /** The commits that can be replayed to watches, in order and without a gap up to the latest. */
  readonly #log: CommitChanges[] = [];
  readonly #hub: WatchHub;
  readonly #expiry: Alarm;
  readonly #stopAging: () => void;
  #cancelStep: (() => void) | undefined;
  /** Changes to compact for those made since the last compaction step. */
  #owed = 0;
  #marks: readonly Mark[] = [];
  #latest = firstRevision;
  #oldest = firstRevision;
  #open = true;

  constructor({ clock, historyMs = defaultHistoryMs }: MemoryStoreOptions) {
    this.#clock = clock;
    this.#hub = new WatchHub({
      readable: () => this.#readable(),
      replay: (after) => this.#replay(after),
    });
    this.#expiry = new Alarm(clock, () => this.#expire());
    this.#stopAging =
      historyMs === 0 ? () => undefined : every(clock, markingMs(historyMs), () => this.#age(historyMs));
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#latest;
  }

  async oldest(): Promise<number> {
    this.#checkOpen();
    return this.#oldest;
  }

  async size(): Promise<undefined> {
    this.#checkOpen();
  }

  async get(key: string, revision?: number): Promise<GetResult> {
    this.#checkOpen();
    const bytes = checkKey(key);
    const at = checkReadable(revision, this.#readable());
    return { entry: entryAt(this.#heads.get(bytes), at), revision: at };
  }

  async list(range: ListRange): Promise<ListResult> {
    this.#checkOpen();
    const { prefix, after, limit, count } = checkRange(range);
    const at = checkReadable(range.revision, this.#readable());
    const entries: Entry[] = [];
    let following = 0;
    let bytes = 0;
    for (const head of this.#heads.snapshot().range(prefix, after)) {
      const entry = entryAt(head, at);
      if (entry === undefined) continue;
      if (entries.length < limit && bytes < pageBytes) {
        entries.push(entry);
        bytes += entry.value.length;
        continue;
      }
      following++;
      if (!count) break;
    }
    return { entries, revision: at, more: following > 0, remaining: count ? following : undefined };
  }

  async commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    this.#checkOpen();
    const checked = checkCommit(compares, writes, maxValueBytes);
    return this.#commit(checked.compares, checked.writes);
  }

  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    return this.#hub.watch(prefix, after, sink, options);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    checkReached(revision, this.#latest);
    this.#compact(revision);
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#stopAging();
    this.#expiry.stop();
    this.#cancelStep?.();
    this.#hub.close();
  }

  #checkOpen(): void {
    if (!this.#open) throw closedError();
  }

  #readable() {
    return { oldest: this.#oldest, latest: this.#latest };
  }

  #commit(compares: readonly KeyCompare[], writes: readonly KeyWrite[]): CommitResult {
    const found = compares.map(({ key, below }) => (below ? undefined : this.#heads.get(key)?.entry));
    const holds = ({ key, revision, below }: KeyCompare, i: number) =>
      below ? this.#isUnwritten(key, revision) : (found[i]?.revision ?? 0) === revision;
    if (!compares.every(holds)) {
      return { ok: false, revision: this.#latest, found };
    }
    const effective = writes.filter(
      ({ key, value }) => value !== undefined || this.#heads.get(key)?.entry !== undefined,
    );
    if (effective.length === 0) return { ok: true, revision: this.#latest };
    const revision = ++this.#latest;
    const commit = { revision, changes: effective.map((write) => this.#write(write, revision)) };
    this.#log.push(commit);
    this.#hub.publish(commit);
    this.#owed += 2 * effective.length;
    if (this.#owed >= step) this.#compactStep();
    return { ok: true, revision };
  }

  #isUnwritten(prefix: ByteString, after: number): boolean {
    for (const { entry, revision } of this.#heads.range(prefix)) {
      if (entry !== undefined && revision > after) return false;
    }
    return true;
  }

  #write({ key: bytes, value, ttl }: KeyWrite, revision: number): KeyedChange {
    const head = this.#heads.get(bytes);
    const key = head?.entry?.key ?? keyText(bytes);
    const entry = value === undefined ? undefined : { key, value: new Uint8Array(value), revision };
    const expires = ttl === 0 ? Number.POSITIVE_INFINITY : Math.ceil(this.#clock.now()) + ttl * 1000;
    const version = { key: bytes, revision, entry, expires, earlier: head };
    if (head !== undefined && head.expires < Number.POSITIVE_INFINITY) this.#leases.delete(leaseKey(head));
    this.#heads.set(version);
    if (ttl > 0) {
      this.#leases.set({ key: leaseKey(version), version });
      this.#expiry.by(expires);
    }
    return { bytes, key, entry, previous: head?.entry };
  }

  #replay(after: number): Replay {
    const start = after - (this.#latest - this.#log.length);
    const commits = this.#log.slice(start, start + step);
    return { revision: after + commits.length, commits };
  }

  #age(keepMs: number): void {
    const { marks, oldest } = age(
      { latest: this.#latest, oldest: this.#oldest, marks: this.#marks },
      this.#clock.monotonic(),
      keepMs,
    );
    this.#marks = marks;
    this.#compact(oldest);
  }

  #compact(revision: number): void {
    if (revision <= this.#oldest) return;
    this.#oldest = revision;
    this.#scheduleStep(0);
  }

  #scheduleStep(ms: number): void {
    this.#cancelStep ??= this.#clock.after(ms, () => {
      this.#cancelStep = undefined;
      this.#compactStep();
    });
  }

  /**
   * One compaction step: removes history before `#oldest` that no watch still has to replay, at least twice as many
   * changes as were made since the last step.
   */
  #compactStep(): void {
    const most = Math.max(step, this.#owed);
    this.#owed = 0;
    const firstRetained = Math.min(this.#oldest, this.#hub.lagging);
    const first = this.#latest - this.#log.length + 1;
    let count = 0;
    for (let removed = 0; first + count <= firstRetained && removed < most; count++) {
      const { revision, changes } = this.#log[count] as CommitChanges;
      for (const change of changes) this.#dropBefore(change.bytes, revision);
      removed += changes.length;
    }
    this.#log.splice(0, count);
    if (first + count <= this.#oldest) this.#scheduleStep(count > 0 ? 1 : 1000);
  }

  /** Drops the versions of a key that can be read only before `revision`. */
  #dropBefore(key: ByteString, revision: number): void {
    const head = this.#heads.get(key);
    let version = head;
    while (version !== undefined && version.revision > revision) version = version.earlier;
    if (version === undefined) return;
    version.earlier = undefined;
    if (version === head && head.entry === undefined) this.#heads.delete(key);
  }

  #expire(): void {
    const now = this.#clock.now();
    for (let i = 0; i < step; i++) {
      const version = this.#nextToExpire();
      if (version === undefined || version.expires > now) break;
      const { key, revision } = version;
      this.#commit([{ key, revision, below: false }], [{ key, value: undefined, ttl: 0 }]);
    }
    const next = this.#nextToExpire();
    if (next !== undefined) this.#expiry.by(next.expires);
  }

  #nextToExpire(): Version | undefined {
    for (const { version } of this.#leases.snapshot().range('')) return version;
    return undefined;
  }
}

/** Orders leases by the time of expiry, then by revision: both as digits of a fixed width. */
function leaseKey({ expires, revision, key }: Version): string {
  return `${String(expires).padStart(16, '0')}/${String(revision).padStart(16, '0')}/${key}`;
}

function entryAt(head: Version | undefined, revision: number): Entry | undefined {
  let version = head;
  while (version !== undefined && version.revision > revision) version = version.earlier;
  return version?.entry;
}
