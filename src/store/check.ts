import { type ByteString, encodeText } from '../meta/index.ts';
import { type Compare, type ListRange, StoreError, type Write } from './store.ts';

/** A surrogate that is no half of a pair, which has no UTF-8 bytes. */
const unpairedSurrogate = /[\uD800-\uDFFF]/u;
const maxKeyBytes = 16 * 1024;
/** Maximum size of a value in the embedded stores (bytes). */
export const maxValueBytes = 2 * 1024 * 1024;
const maxOperations = 128;
const maxTtl = 9_000_000_000;

export interface KeyCompare {
  readonly key: ByteString;
  readonly revision: number;
  readonly below: boolean;
}
export interface KeyWrite {
  readonly key: ByteString;
  readonly value: Uint8Array | undefined;
  /** Seconds; 0 when unlimited. */
  readonly ttl: number;
}
export interface KeyRange {
  readonly prefix: ByteString;
  readonly after: ByteString | undefined;
  readonly limit: number;
  readonly count: boolean;
}
/** The revisions that can be read. */
export interface Readable {
  readonly oldest: number;
  readonly latest: number;
}

const invalid = (message: string) => new StoreError('invalid', message);

/** Returns the bytes of a key. Throws `invalid` when it is empty, too long or has an unpaired surrogate. */
export function checkKey(key: string): ByteString {
  if (key === '') throw invalid('a key must not be empty');
  return checkPrefix(key);
}

/** Like {@link checkKey}, but accepts an empty prefix. */
export function checkPrefix(prefix: string): ByteString {
  const bytes = encodeText(prefix);
  if (bytes !== prefix && unpairedSurrogate.test(prefix)) throw invalid('a key must not hold half of a surrogate pair');
  if (bytes.length > maxKeyBytes) throw invalid(`a key of ${bytes.length} bytes is longer than ${maxKeyBytes}`);
  return bytes;
}

export interface CheckedCommit {
  readonly compares: readonly KeyCompare[];
  readonly writes: readonly KeyWrite[];
}

/** Throws `invalid` when a compare or a write violates the contract, or a value is longer than `valueBytes`. */
export function checkCommit(compares: readonly Compare[], writes: readonly Write[], valueBytes: number): CheckedCommit {
  if (compares.length > maxOperations || writes.length > maxOperations) {
    throw invalid(`a commit has at most ${maxOperations} compares and ${maxOperations} writes`);
  }
  const out = { compares: compares.map(checkCompare), writes: writes.map((write) => checkWrite(write, valueBytes)) };
  if (writes.length > 1 && new Set(out.writes.map(({ key }) => key)).size < writes.length) {
    throw invalid('a commit writes each key at most once');
  }
  return out;
}

function checkCompare({ key, revision, below = false }: Compare): KeyCompare {
  if (!Number.isSafeInteger(revision) || revision < 0) throw invalid(`a compare with revision ${revision} cannot hold`);
  return { key: checkKey(key), revision, below };
}

function checkWrite({ key, value, ttl }: Write, valueBytes: number): KeyWrite {
  if (value !== undefined && value.length > valueBytes) {
    throw invalid(`a value of ${value.length} bytes is longer than ${valueBytes}`);
  }
  if (ttl !== undefined && (value === undefined || !Number.isSafeInteger(ttl) || ttl < 1 || ttl > maxTtl)) {
    throw invalid(`a time to live is a whole number of seconds from 1 to ${maxTtl}, and comes with a value`);
  }
  return { key: checkKey(key), value, ttl: ttl ?? 0 };
}

/** Throws `invalid` when the range violates the contract. An absent limit is infinite. */
export function checkRange({ prefix, after, limit, count }: ListRange): KeyRange {
  const range = {
    prefix: checkPrefix(prefix),
    after: after === undefined ? undefined : checkPrefix(after),
    limit: limit ?? Number.POSITIVE_INFINITY,
    count: count === true,
  };
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0)) {
    throw invalid(`a limit of ${limit} is not a whole number`);
  }
  if (range.after?.startsWith(range.prefix) === false) throw invalid('a list starts after a key below its prefix');
  return range;
}

/** Returns the revision to read at: `revision`, or the latest. Throws `invalid`, `future` or `compacted`. */
export function checkReadable(revision: number | undefined, { oldest, latest }: Readable): number {
  if (revision === undefined) return latest;
  checkReached(revision, latest);
  if (revision < oldest) {
    throw new StoreError('compacted', `revision ${revision} is no longer kept; the first that is kept is ${oldest}`, {
      revision: oldest,
    });
  }
  return revision;
}

/** Throws `invalid` or `future` unless the store has reached `revision`. */
export function checkReached(revision: number, latest: number): void {
  if (!Number.isSafeInteger(revision) || revision < 1) throw invalid(`${revision} is not a revision`);
  if (revision > latest) {
    throw new StoreError('future', `revision ${revision} has not been reached; the latest is ${latest}`, {
      revision: latest,
    });
  }
}

export const closedError = () => new StoreError('closed', 'the store is closed');
