import { createHash } from 'node:crypto';
import type { ImportState, LeasedEntry, StoreImport, StoreSnapshot } from './snapshot.ts';
import { StoreError } from './store.ts';

export interface CopyObserver {
  /** `done` of about `size` entries have been copied, or read back for verification. */
  progress(phase: 'copy' | 'verify', done: number, size: number): void;
  /** The copy resumes an interrupted one. */
  resumed(state: ImportState): void;
  /** The source has compacted the revision of an unfinished copy, which restarts. */
  restarted(state: ImportState): void;
}

export interface CopyResult {
  /** The copied revision of the source. */
  readonly revision: number;
  readonly entries: number;
  /** Equal for source and target: see {@link EntryDigest}. */
  readonly digest: string;
  /** All later revisions of the target are greater than this one. */
  readonly advanced: number;
}

/**
 * The difference between the revision of a copy and that of its source. Revisions that the source issues after the copy
 * therefore never identify another version in the target. Enough for a year of 30 commits a second.
 */
const revisionGap = 1_000_000_000;

/**
 * Copies the entries of a store at one revision, verifies the copy, and finishes the import. `open` gives the source at
 * a revision, the latest when it is undefined. A `gap` of 0 is for a copy that replaces its source, which
 * issues no more revisions. Fails as `compacted` when the source discards its history faster than it
 * can be read, as `invalid` when the target is an unfinished copy of another store, as `damaged` when what is read back
 * differs.
 */
export async function copyStore(
  open: (revision: number | undefined) => Promise<StoreSnapshot>,
  to: StoreImport,
  observer: CopyObserver,
  gap = revisionGap,
): Promise<CopyResult> {
  const begun = to.state;
  try {
    return await copyOnce(open, to, observer, gap);
  } catch (error) {
    if (begun === undefined || !(error instanceof StoreError && error.code === 'compacted')) throw error;
    observer.restarted(begun);
    await to.clear();
    return copyOnce(open, to, observer, gap);
  }
}

async function copyOnce(
  open: (revision: number | undefined) => Promise<StoreSnapshot>,
  to: StoreImport,
  observer: CopyObserver,
  gap: number,
): Promise<CopyResult> {
  const snapshot = await open(to.state?.revision);
  try {
    const { revision, entries, digest } = await copyEntries(snapshot, to, observer);
    await verify(snapshot, to, digest, observer);
    const advanced = revision + gap;
    await to.finish(advanced);
    return { revision, entries, digest, advanced };
  } finally {
    await snapshot.close();
  }
}

/** Copies the entries that an earlier copy of the same source lacks. Fails when the source differs. */
async function copyEntries(snapshot: StoreSnapshot, to: StoreImport, observer: CopyObserver): Promise<ImportState> {
  const { state: begun = { revision: snapshot.revision, entries: 0, after: '', digest: '' } } = to;
  if (to.state === undefined) await to.write([], begun);
  else observer.resumed(begun);
  let state = begun;
  let passed = begun.after === '';
  const digest = new EntryDigest(to.exact);
  observer.progress('copy', state.entries, snapshot.size);
  for await (const page of snapshot.pages()) {
    for (const entry of page) checkRevision(entry, snapshot.revision);
    const last = passed ? -1 : page.findIndex(({ key }) => key === begun.after);
    const fresh = passed || last >= 0 ? page.slice(last + 1) : [];
    digest.add(page.slice(0, page.length - fresh.length));
    if (last >= 0) {
      if (digest.text !== begun.digest) break;
      passed = true;
    }
    for (const entries of batchesOf(fresh, to.most)) {
      digest.add(entries);
      const after = entries.at(-1)?.key ?? state.after;
      state = { ...state, entries: state.entries + entries.length, after, digest: digest.text };
      await to.write(entries, state);
      observer.progress('copy', state.entries, snapshot.size);
    }
  }
  observer.progress('copy', state.entries, state.entries);
  if (passed) return { ...state, digest: digest.text };
  throw new StoreError('invalid', 'the target is an unfinished copy of another store: remove it, or name its source');
}

/** Throws `damaged` for an entry that violates the contract of the store. */
function checkRevision({ key, revision }: LeasedEntry, latest: number): void {
  if (Number.isInteger(revision) && revision >= 1 && revision <= latest) return;
  const where = `the entry ${JSON.stringify(key)} of the source`;
  throw new StoreError('damaged', `${where} has revision ${revision}, which is not between 1 and ${latest}`);
}

async function verify(source: StoreSnapshot, to: StoreImport, expected: string, observer: CopyObserver): Promise<void> {
  const digest = new EntryDigest(to.exact);
  let done = 0;
  for await (const page of to.pages()) {
    digest.add(page);
    done += page.length;
    observer.progress('verify', done, source.size);
  }
  observer.progress('verify', done, done);
  if (digest.text === expected) return;
  const key = await firstDifference(source.pages(), to.pages(), to.exact);
  const where = key === undefined ? '' : `; the first key that differs is ${JSON.stringify(key)}`;
  const digests = `its digest is ${digest.text}, and that of its source ${expected}`;
  throw new StoreError('damaged', `the copy differs from its source: ${digests}${where}; remove it and begin again`);
}

type Pages = AsyncIterable<readonly LeasedEntry[]>;

/** Returns the first key, in key order, whose entries differ in two stores. */
async function firstDifference(some: Pages, others: Pages, exact: boolean): Promise<string | undefined> {
  const [left, right] = [entriesOf(some, exact), entriesOf(others, exact)];
  for (;;) {
    const [a, b] = [(await left.next()).value, (await right.next()).value];
    if (a === undefined || b === undefined) return (a ?? b)?.key;
    if (digestOf(a, exact) === digestOf(b, exact)) continue;
    return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) < 0 ? a.key : b.key;
  }
}

async function* entriesOf(pages: Pages, exact: boolean): AsyncGenerator<LeasedEntry, undefined> {
  for await (const page of pages) yield* page.filter((entry) => isCompared(entry, exact));
  return undefined;
}

function digestOf(entry: LeasedEntry, exact: boolean): string {
  const digest = new EntryDigest(exact);
  digest.add([entry]);
  return digest.text;
}

/** Splits consecutive entries into parts within the limits; a single large entry is a part on its own. */
function* batchesOf(entries: readonly LeasedEntry[], most: StoreImport['most']): Generator<readonly LeasedEntry[]> {
  let [from, bytes] = [0, 0];
  for (const [i, { key, value }] of entries.entries()) {
    const size = Buffer.byteLength(key) + value.length;
    if (i > from && (i - from === most.entries || bytes + size > most.bytes)) {
      yield entries.slice(from, i);
      [from, bytes] = [i, 0];
    }
    bytes += size;
  }
  if (from < entries.length) yield entries.slice(from);
}

/** Entries that the target may delete at any time are not compared. */
const isCompared = ({ expires }: LeasedEntry, exact: boolean) => exact || expires === undefined;

/**
 * SHA-256 over entries in key order: of each a line with its revision and its time of expiry (both 0 unless the copy is
 * an exact one), the length of the key (bytes) and that of the value, then key and value.
 */
export class EntryDigest {
  readonly #hash = createHash('sha256');
  readonly #exact: boolean;

  constructor(exact: boolean) {
    this.#exact = exact;
  }

  /** In hexadecimal. */
  get text(): string {
    return this.#hash.copy().digest('hex');
  }

  add(entries: readonly LeasedEntry[]): void {
    for (const entry of entries) {
      if (!isCompared(entry, this.#exact)) continue;
      const { key, value } = entry;
      const [revision, expires] = this.#exact ? [entry.revision, entry.expires ?? 0] : [0, 0];
      this.#hash.update(`${revision} ${expires} ${Buffer.byteLength(key)} ${value.length}\n${key}`).update(value);
    }
  }
}
