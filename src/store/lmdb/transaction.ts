import type { ByteString } from '../../meta/index.ts';
import type { KeyCompare } from '../check.ts';
import { firstSegment } from '../fan-out.ts';
import { age } from '../history.ts';
import { StoreError } from '../store.ts';
import type { LastWrites } from './last-writes.ts';
import type { Change } from './log-format.ts';
import type { Reader } from './reader.ts';
import {
  completeRecord,
  type LeaseKey,
  type Pointer,
  type Position,
  recordDeletes,
  recordExpires,
  type State,
} from './records.ts';
import type { Tables } from './tables.ts';

const headsAtOnce = 512;

/** One write of a commit, encoded except for what depends on the revision. */
export interface ReadyWrite {
  readonly key: ByteString;
  readonly record: Buffer;
}
/** A write that took place, with the pointer of the key before it. */
export interface Written extends ReadyWrite {
  readonly previous: Pointer | undefined;
}
export type Outcome =
  | { readonly ok: true; readonly revision: number; readonly written: readonly Written[] }
  | { readonly ok: false; readonly revision: number };

/** A group of records that become durable together. */
export interface Batch {
  /** The state after it. */
  readonly state: State;
  readonly changes: readonly Change[];
}

/** Several commits on top of the durable state. Each sees the commits before it. Nothing is written here. */
export class Transaction {
  readonly #tables: Tables;
  readonly #reader: Reader;
  readonly #before: State;
  readonly #records: { position: Position; record: Buffer }[] = [];
  readonly #lastWrites: LastWrites;
  /** New pointers of keys. */
  readonly #heads = new Map<ByteString, Pointer>();
  /** Pointers that have been read. */
  readonly #stored = new Map<ByteString, Pointer | undefined>();
  /** The first segments of the keys that have been written. */
  readonly #segments = new Set<string>();
  readonly #expires = new Map<ByteString, LeaseKey | undefined>();
  readonly #leases: { key: LeaseKey; pointer: Pointer | undefined }[] = [];
  readonly #openMs: number;
  #state: State;

  /** `openMs`: open time. */
  constructor(tables: Tables, reader: Reader, lastWrites: LastWrites, state: State, openMs: number) {
    this.#tables = tables;
    this.#reader = reader;
    this.#lastWrites = lastWrites;
    this.#before = state;
    this.#state = state;
    this.#openMs = openMs;
  }

  /** The state after this transaction. */
  get state(): State {
    return this.#state;
  }

  get changes(): boolean {
    return this.#state !== this.#before;
  }

  /** Compacts history older than `keepMs`. Must be called before the commits. */
  age(keepMs: number): void {
    this.#state = age(this.#state, this.#openMs, keepMs);
  }

  /** Marks the state as changed, so that open time is written. */
  tick(): void {
    this.#state = { ...this.#state };
  }

  commit(compares: readonly KeyCompare[], writes: readonly ReadyWrite[]): Outcome {
    const { latest } = this.#state;
    for (const { key, revision, below } of compares) {
      if (below) {
        if (!this.#isUnwritten(key, revision)) return { ok: false, revision: latest };
        continue;
      }
      const head = this.#head(key);
      if ((head === undefined || head.deleted ? 0 : head.revision) !== revision) return { ok: false, revision: latest };
    }
    const written: Written[] = [];
    for (const { key, record } of writes) {
      const previous = this.#head(key);
      const absent = previous === undefined || previous.deleted;
      if (!absent || !recordDeletes(record)) written.push({ key, record, previous });
    }
    if (written.length === 0) return { ok: true, revision: latest, written };
    const revision = latest + 1;
    for (const [ordinal, { key, record, previous }] of written.entries()) {
      const position = { revision, ordinal };
      completeRecord(record, position, written.length, previous);
      this.#records.push({ position, record });
      this.#replaceLease(key, previous, { expires: recordExpires(record), revision, ordinal });
      const leased = recordExpires(record) > 0;
      this.#segments.add(firstSegment(key));
      this.#heads.set(key, { revision, ordinal, deleted: recordDeletes(record), leased });
    }
    this.#state = { ...this.#state, latest: revision };
    return { ok: true, revision, written };
  }

  compact(revision: number): void {
    if (revision > this.#state.oldest) this.#state = { ...this.#state, oldest: revision };
  }

  /** The changes of state and tables. */
  get batch(): Batch {
    const { records, leases } = this.#tables;
    const changes = this.#records.map(({ position, record }) => records.change(position, record));
    for (const [key, pointer] of this.#heads) changes.push(this.#reader.heads.change(key, pointer));
    for (const { key, pointer } of this.#leases) changes.push(leases.change(key, pointer));
    return { state: { ...this.#state, openMs: this.#openMs }, changes };
  }

  /** Must be called once the batch is durable. */
  settle(): void {
    for (const [key, pointer] of this.#heads) {
      this.#reader.heads.settle(key, pointer);
      this.#lastWrites.record(key, pointer.revision);
    }
  }

  #head(key: ByteString): Pointer | undefined {
    const written = this.#heads.get(key);
    if (written !== undefined) return written;
    if (!this.#stored.has(key)) this.#stored.set(key, this.#reader.heads.get(key));
    return this.#stored.get(key);
  }

  /** Whether no key below the prefix has been written after the revision; deletions do not count. */
  #isUnwritten(prefix: ByteString, after: number): boolean {
    const isLater = (head: Pointer) => !head.deleted && head.revision > after;
    const segment = firstSegment(prefix);
    if (segment === '' || this.#segments.has(segment)) {
      for (const [key, head] of this.#heads) if (key.startsWith(prefix) && isLater(head)) return false;
    }
    if (this.#lastWrites.isUnwritten(prefix, after)) return true;
    for (let last: ByteString | undefined; ; ) {
      const heads = this.#reader.heads.range(prefix, last, headsAtOnce);
      if (heads.some(({ key, value }) => isLater(value) && !this.#heads.has(key))) return false;
      if (heads.length < headsAtOnce) return true;
      last = heads.at(-1)?.key;
    }
  }

  #replaceLease(key: ByteString, previous: Pointer | undefined, next: LeaseKey): void {
    if (previous?.leased) {
      const expires = this.#expires.get(key)?.expires ?? this.#expiryOf(previous);
      if (expires !== undefined) {
        const { revision, ordinal } = previous;
        this.#leases.push({ key: { expires, revision, ordinal }, pointer: undefined });
      }
    }
    if (next.expires === 0) {
      this.#expires.delete(key);
      return;
    }
    this.#expires.set(key, next);
    this.#leases.push({
      key: next,
      pointer: { revision: next.revision, ordinal: next.ordinal, deleted: false, leased: true },
    });
  }

  /** Returns the expiry of a record; undefined when it is damaged, which must not fail commits of other keys. */
  #expiryOf(pointer: Pointer): number | undefined {
    try {
      return recordExpires(this.#reader.record(pointer));
    } catch (error) {
      if (error instanceof StoreError && error.code === 'damaged') return undefined;
      throw error;
    }
  }
}
