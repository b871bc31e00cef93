import { type ByteString, serverTurns } from '../../meta/index.ts';
import type { KeyRange, Readable } from '../check.ts';
import type { CommitChanges, KeyedChange } from '../fan-out.ts';
import { keyText } from '../keys.ts';
import type { LeasedEntry } from '../snapshot.ts';
import { type Entry, type ListResult, pageBytes } from '../store.ts';
import type { Replay } from '../watch-hub.ts';
import { damaged } from './failure.ts';
import { Heads } from './heads.ts';
import {
  type Pointer,
  type Position,
  recordCount,
  recordDeletes,
  recordExpires,
  recordFault,
  recordKey,
  recordPrevious,
  recordValue,
  Slab,
} from './records.ts';
import type { Table } from './table.ts';
import type { Tables } from './tables.ts';

// Limits of one step of a read.
const keysAStep = 256;
const bytesAStep = 512 * 1024;

/** Reads at any revision that is not compacted. */
export class Reader {
  readonly heads: Heads;
  readonly #path: string;
  readonly #records: Table<Buffer, Position>;
  readonly #readable: () => Readable;
  readonly #mayLackSeals: () => boolean;
  readonly #slab = new Slab();
  readonly #pins = new Set<{ readonly revision: number }>();

  constructor({ path, records, heads, long, mayLackSeals }: Tables, readable: () => Readable) {
    this.#path = path;
    this.#records = records;
    this.#readable = readable;
    this.#mayLackSeals = mayLackSeals;
    this.heads = new Heads(heads, long, (pointer) => recordKey(this.record(pointer)));
  }

  /** The earliest revision of a list in progress; infinite when there is none. */
  get pinned(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { revision } of this.#pins) lowest = Math.min(lowest, revision);
    return lowest;
  }

  /** The bytes match their checksum, and are valid until the next read. */
  record(position: Position): Buffer {
    const record = this.#records.bytes(position);
    const fault = record === undefined ? 'is missing' : recordFault(record, position, this.#mayLackSeals());
    if (record !== undefined && fault === undefined) return record;
    throw damaged(this.#path, `record ${position.revision}.${position.ordinal} ${fault}`);
  }

  /** The entry of the key at `revision`. */
  entry(key: ByteString, revision: number): Entry | undefined {
    return this.load(this.#visible(this.heads.get(key), revision), key);
  }

  /** The same in turns of the server: the key may have any number of later versions. The result is that of `revision`. */
  async find(key: ByteString, revision: number, checkUsable: () => void): Promise<Entry | undefined> {
    const pin = { revision };
    this.#pins.add(pin);
    const turns = serverTurns();
    try {
      let pointer = this.heads.get(key);
      for (let steps = 1; pointer !== undefined && pointer.revision > revision; steps++) {
        pointer = recordPrevious(this.record(pointer));
        if (steps % keysAStep > 0 || !turns.over) continue;
        await turns.next();
        checkUsable();
      }
      return this.load(pointer, key);
    } finally {
      this.#pins.delete(pin);
    }
  }

  /** The entry that a record wrote; undefined for a deletion and without a pointer. */
  load(pointer: Pointer | undefined, key: ByteString): Entry | undefined {
    return pointer === undefined || pointer.deleted ? undefined : this.#entry(pointer, key);
  }

  /** In turns of the server; the result is still that of exactly one revision. */
  async list(
    { prefix, after, limit, count }: KeyRange,
    revision: number,
    checkUsable: () => void,
  ): Promise<ListResult> {
    const pin = { revision };
    this.#pins.add(pin);
    const turns = serverTurns();
    try {
      const entries: Entry[] = [];
      let [following, pageSize] = [0, 0];
      let last = after;
      const result = () => ({ entries, revision, more: following > 0, remaining: count ? following : undefined });
      for (;;) {
        const heads = this.heads.range(prefix, last, keysAStep);
        let bytes = 0;
        for (const { key, value: head } of heads) {
          last = key;
          const pointer = this.#visible(head, revision);
          if (pointer === undefined) continue;
          if (entries.length >= limit || pageSize >= pageBytes) {
            following++;
            if (!count) return result();
            continue;
          }
          const entry = this.#entry(pointer, key);
          entries.push(entry);
          bytes += entry.value.length;
          pageSize += entry.value.length;
          if (bytes > bytesAStep) break;
        }
        if (heads.length < keysAStep && bytes <= bytesAStep) return result();
        if (turns.over) await turns.next();
        checkUsable();
      }
    } finally {
      this.#pins.delete(pin);
    }
  }

  /** Every entry at `revision`, which must not be compacted meanwhile, in turns of the server. */
  async *pages(revision: number): AsyncGenerator<readonly LeasedEntry[]> {
    const turns = serverTurns();
    for (let last: ByteString | undefined; ; ) {
      const page: LeasedEntry[] = [];
      const heads = this.heads.range('' as ByteString, last, keysAStep);
      let bytes = 0;
      for (const { key, value: head } of heads) {
        last = key;
        const pointer = this.#visible(head, revision);
        if (pointer === undefined) continue;
        const entry = this.#entry(pointer, key);
        page.push({ ...entry, expires: pointer.leased ? recordExpires(this.record(pointer)) : undefined });
        bytes += entry.value.length;
        if (bytes > bytesAStep) break;
      }
      if (page.length > 0) yield page;
      if (heads.length < keysAStep && bytes <= bytesAStep) return;
      if (turns.over) await turns.next();
    }
  }

  /** The commits after revision `after`, as many as fit in a step, with only the changes below the prefix. */
  replay(after: number, prefix: ByteString, previous: boolean): Replay {
    const { latest } = this.#readable();
    const commits: CommitChanges[] = [];
    let [revision, examined, bytes] = [after, 0, 0];
    while (revision < latest && examined < keysAStep && bytes < bytesAStep) {
      revision++;
      const changes: KeyedChange[] = [];
      for (let ordinal = 0, count = 1; ordinal < count; ordinal++) {
        const record = this.record({ revision, ordinal });
        count = recordCount(record);
        examined++;
        const key = recordKey(record);
        if (!key.startsWith(prefix)) continue;
        const change = this.#change(key, record, revision, previous);
        bytes += (change.entry?.value.length ?? 0) + (change.previous?.value.length ?? 0);
        changes.push(change);
      }
      if (changes.length > 0) commits.push({ revision, changes });
    }
    return { revision, commits };
  }

  #change(bytes: ByteString, record: Buffer, revision: number, withPrevious: boolean): KeyedChange {
    const key = keyText(bytes);
    const previous = withPrevious ? recordPrevious(record) : undefined;
    const entry = recordDeletes(record) ? undefined : { key, value: this.#copy(recordValue(record)), revision };
    return { bytes, key, entry, previous: this.load(previous, bytes) };
  }

  /** The record visible at `revision`; undefined when the key is absent there. */
  #visible(head: Pointer | undefined, revision: number): Pointer | undefined {
    let pointer = head;
    while (pointer !== undefined && pointer.revision > revision) pointer = recordPrevious(this.record(pointer));
    return pointer?.deleted ? undefined : pointer;
  }

  #entry(pointer: Pointer, key: ByteString): Entry {
    const record = this.record(pointer);
    if (recordKey(record) !== key) {
      throw damaged(this.#path, `record ${pointer.revision}.${pointer.ordinal} is not that of its key`);
    }
    return { key: keyText(key), value: this.#copy(recordValue(record)), revision: pointer.revision };
  }

  #copy(value: Buffer): Uint8Array {
    const own = this.#slab.take(value.length);
    own.set(value);
    return own;
  }
}
