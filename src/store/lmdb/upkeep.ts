import type { ByteString } from '../../meta/index.ts';
import { StoreError } from '../store.ts';
import type { Environment } from './environment.ts';
import type { Change } from './log-format.ts';
import type { Reader } from './reader.ts';
import {
  isSealed,
  type Pointer,
  type Position,
  recordCount,
  recordDeletes,
  recordKey,
  recordPrevious,
  type Slab,
  sealRecord,
} from './records.ts';

/** Maximum number of records that one transaction seals, and approximate maximum of their bytes. */
const sealedAtOnce = 64;
const sealedBytesAtOnce = 1024 * 1024;

/** Removals of compacted history. */
export interface Sweep {
  /** Records that are not visible at this revision or later have been removed. */
  readonly swept: number;
  readonly changes: readonly Change[];
  /** Must be called once the changes are durable. */
  settle(): void;
}

/**
 * Finds records that are not visible at `until` or later, after those before `swept`, and examines about `limit` records. A
 * commit with a damaged record is passed over: what it has replaced stays.
 */
export function sweep(
  { records }: Pick<Environment, 'records'>,
  reader: Reader,
  { swept, until, limit }: { readonly swept: number; readonly until: number; readonly limit: number },
  onDamage: (error: StoreError) => void,
): Sweep {
  const changes: Change[] = [];
  const removed: { key: ByteString; pointer: Pointer }[] = [];
  /** Returns how many records the commit has. */
  const sweepCommit = (revision: number): number => {
    let ordinal = 0;
    for (let count = 1; ordinal < count; ordinal++) {
      const position = { revision, ordinal };
      const record = reader.record(position);
      count = recordCount(record);
      const previous = recordPrevious(record);
      if (previous !== undefined && !previous.deleted) changes.push(records.change(previous, undefined));
      if (!recordDeletes(record)) continue;
      const key = recordKey(record);
      changes.push(records.change(position, undefined));
      const head = reader.heads.get(key);
      if (head === undefined || !isAt(head, position)) continue;
      changes.push(reader.heads.change(key, undefined));
      removed.push({ key, pointer: head });
    }
    return ordinal;
  };
  let reached = swept;
  for (let examined = 0; reached < until && examined < limit; ) {
    reached++;
    try {
      examined += sweepCommit(reached);
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'damaged')) throw error;
      examined++;
      onDamage(error);
    }
  }
  return {
    swept: reached,
    changes,
    settle() {
      for (const { key, pointer } of removed) {
        // A later commit may have written the key meanwhile.
        const head = reader.heads.get(key);
        if (head !== undefined && isAt(head, pointer)) reader.heads.settle(key, undefined);
      }
    },
  };
}

const isAt = (a: Position, b: Position) => a.revision === b.revision && a.ordinal === b.ordinal;

/** Checksums for records of format 1. */
export interface Seals {
  readonly changes: readonly Change[];
  /** The position from which records may be unsealed after it. */
  readonly unsealed: Position | 'none';
}

/** Seals the next records of format 1; undefined when all have a checksum. */
export function seal({ unsealed: start, records }: Environment, slab: Slab): Seals | undefined {
  if (start === undefined) return undefined;
  const found = records.range({ start }, sealedAtOnce);
  const changes: Change[] = [];
  let [bytes, sealedCount] = [0, 0];
  for (const { key: position, value: record } of found) {
    if (bytes >= sealedBytesAtOnce) break;
    if (!isSealed(record)) changes.push(records.change(position, sealRecord(slab, record, position)));
    bytes += record.length;
    sealedCount++;
  }
  const next = found[sealedCount]?.key ?? after(found.at(-1)?.key);
  return { changes, unsealed: found.length < sealedAtOnce && sealedCount === found.length ? 'none' : next };
}

/** Returns the next position. */
const after = (position: Position = { revision: 0, ordinal: 0 }): Position => ({
  revision: position.revision,
  ordinal: position.ordinal + 1,
});
