import type { ByteString } from '../../meta/index.ts';
import type { KeyCompare } from '../check.ts';
import { firstSegment } from '../fan-out.ts';
import { age } from '../history.ts';
import { StoreError } from '../store.ts';
import type { Environment } from './environment.ts';
import { marksKey, stateKey, unsealedKey } from './environment.ts';
import type { Reader } from './reader.ts';
import {
  completeRecord,
  encodeMarks,
  encodePosition,
  encodeState,
  isSealed,
  type LeaseKey,
  type Pointer,
  type Position,
  recordCount,
  recordDeletes,
  recordExpires,
  recordKey,
  recordPrevious,
  Slab,
  type State,
  sealRecord,
} from './records.ts';

const headsAtOnce = 512;
/** Maximum number of records that one transaction seals, and approximate maximum of their bytes. */
const sealedAtOnce = 64;
const sealedBytesAtOnce = 1024 * 1024;

const pageBytes = 4096;
/** What every transaction writes: the way to the roots of the tables, and the list of free pages. */
const pagesOfRoots = 64;

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

/**
 * Several commits on top of the durable state. Each sees the commits before it. `write` writes all of them atomically;
 * nothing is written before that.
 */
export class Transaction {
  readonly #environment: Environment;
  readonly #reader: Reader;
  readonly #before: State;
  readonly #records: { position: Position; record: Buffer }[] = [];
  /** New pointers of keys; undefined: the key is removed from the index. */
  readonly #heads = new Map<ByteString, Pointer | undefined>();
  /** The first segments of the keys that have been written. */
  readonly #segments = new Set<string>();
  readonly #expires = new Map<ByteString, LeaseKey | undefined>();
  readonly #leases: { key: LeaseKey; pointer: Pointer | undefined }[] = [];
  readonly #swept: Position[] = [];
  readonly #sealed: { position: Position; record: Buffer }[] = [];
  /** The position from which records may be unsealed once this transaction is written. */
  #unsealed: Position | 'none' | undefined;
  readonly #slab = new Slab();
  readonly #openMs: number;
  #state: State;

  /** `openMs`: open time. */
  constructor(environment: Environment, reader: Reader, state: State, openMs: number) {
    this.#environment = environment;
    this.#reader = reader;
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

  /** The number of records it adds. */
  get added(): number {
    return this.#records.length;
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

  /**
   * Removes records that are not visible at `until` or later, examining about `limit` records at most. A commit with a
   * damaged record is passed over: what it has replaced stays.
   */
  sweep(until: number, limit: number, onDamage: (error: StoreError) => void): void {
    let { swept } = this.#state;
    for (let examined = 0; swept < until && examined < limit; ) {
      swept++;
      try {
        examined += this.#sweepCommit(swept);
      } catch (error) {
        if (!(error instanceof StoreError && error.code === 'damaged')) throw error;
        examined++;
        onDamage(error);
      }
    }
    if (swept > this.#state.swept) this.#state = { ...this.#state, swept };
  }

  /** Removes what a commit has replaced, and its deletions. Returns how many records it has. */
  #sweepCommit(revision: number): number {
    let ordinal = 0;
    for (let count = 1; ordinal < count; ordinal++) {
      const position = { revision, ordinal };
      const record = this.#reader.record(position);
      count = recordCount(record);
      const previous = recordPrevious(record);
      if (previous !== undefined && !previous.deleted) this.#swept.push(previous);
      if (recordDeletes(record)) this.#sweepDeletion(position, recordKey(record));
    }
    return ordinal;
  }

  /** Seals records of format 1 in steps, from the first position that may be unsealed. */
  seal(): void {
    const { unsealed: start, records } = this.#environment;
    if (start === undefined) return;
    const found = records.range({ start, limit: sealedAtOnce });
    let [bytes, sealedCount] = [0, 0];
    for (const { key: position, value: record } of found) {
      if (bytes >= sealedBytesAtOnce) break;
      if (!isSealed(record)) this.#sealed.push({ position, record: sealRecord(this.#slab, record, position) });
      bytes += record.length;
      sealedCount++;
    }
    const next = found[sealedCount]?.key ?? after(found.at(-1)?.key);
    this.#unsealed = found.length < sealedAtOnce && sealedCount === found.length ? 'none' : next;
    this.tick();
  }

  /** Maximum number of bytes that `write` writes: two pages for each entry of a table, plus the records themselves. */
  get bytes(): number {
    const entries = this.#sealed.length + this.#records.length + this.#heads.size + this.#leases.length;
    let bytes = (2 * (entries + this.#swept.length) + pagesOfRoots) * pageBytes;
    for (const { record } of this.#sealed) bytes += record.length;
    for (const { record } of this.#records) bytes += record.length;
    return bytes;
  }

  /** Resolves and rejects as {@link Sequence.batch} does. */
  write(): Promise<boolean> {
    const { root, records, leases, sequence } = this.#environment;
    const { heads } = this.#reader;
    this.#state = { ...this.#state, openMs: this.#openMs };
    return sequence.batch(() => {
      for (const { position, record } of this.#sealed) records.put(position, record);
      if (this.#unsealed === 'none') void root.remove(unsealedKey);
      else if (this.#unsealed !== undefined) void root.put(unsealedKey, encodePosition(this.#unsealed));
      for (const { position, record } of this.#records) records.put(position, record);
      for (const [key, pointer] of this.#heads) {
        if (pointer === undefined) heads.remove(key);
        else heads.put(key, pointer);
      }
      for (const { key, pointer } of this.#leases) {
        if (pointer === undefined) leases.remove(key);
        else leases.put(key, pointer);
      }
      for (const position of this.#swept) records.remove(position);
      void root.put(stateKey, encodeState(this.#state));
      if (this.#state.marks !== this.#before.marks) void root.put(marksKey, encodeMarks(this.#state));
    });
  }

  /** Must be called once `write` has resolved. */
  settle(): void {
    for (const [key, pointer] of this.#heads) this.#reader.heads.settle(key, pointer);
    if (this.#unsealed !== undefined) this.#environment.sealedUpTo(this.#unsealed);
  }

  #head(key: ByteString): Pointer | undefined {
    return this.#heads.has(key) ? this.#heads.get(key) : this.#reader.heads.get(key);
  }

  /** Whether no key below the prefix has been written after the revision; deletions do not count. */
  #isUnwritten(prefix: ByteString, after: number): boolean {
    const isLater = (head: Pointer | undefined) => head !== undefined && !head.deleted && head.revision > after;
    const segment = firstSegment(prefix);
    if (segment === '' || this.#segments.has(segment)) {
      for (const [key, head] of this.#heads) if (key.startsWith(prefix) && isLater(head)) return false;
    }
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

  #sweepDeletion(position: Position, key: ByteString): void {
    this.#swept.push(position);
    const head = this.#head(key);
    if (head?.revision === position.revision && head.ordinal === position.ordinal) this.#heads.set(key, undefined);
  }
}

/** Returns the next position. */
const after = (position: Position = { revision: 0, ordinal: 0 }): Position => ({
  revision: position.revision,
  ordinal: position.ordinal + 1,
});
