import type { RootDatabase } from 'lmdb';
import { foreignFile, otherFormat, unfinishedImport } from './failure.ts';
import { decodePosition, encodePosition, type Position, type State } from './records.ts';
import { decodeMark, type LogMark } from './tail.ts';

// The keys of the root table.
export const formatKey = Buffer.from('format');
export const stateKey = Buffer.from('state');
export const marksKey = Buffer.from('marks');
/** From which position on records may have no seal. */
export const unsealedKey = Buffer.from('unsealed');
/** The state of an unfinished import: the files are not a store yet. */
export const importKey = Buffer.from('import');
/** The mark of the log, while commits may be in it alone. */
export const logKey = Buffer.from('log');
const formatPrefix = 'multi-version store ';
/** Format 1 has no checksums: its records are sealed one after the other once it has been opened. */
const unsealedVersion = 1;
/** All commits are in the tree. */
export const closedVersion = 2;
/** Commits may be in the log alone: versions that know no log must not open the files. */
export const loggedVersion = 3;
export const formatValue = (version: number) => Buffer.from(`${formatPrefix}${version}`);
export const emptyState: State = { latest: 1, oldest: 1, swept: 1, openMs: 0, marks: [] };

/** Makes the files a store of the current format: new ones, and those of format 1, whose records are sealed later. */
export function prepareFormat(root: RootDatabase<Buffer, Buffer>, path: string): void {
  const found = formatOf(root, path);
  if (found === closedVersion || found === loggedVersion) return;
  if (found === undefined && root.getKeysCount({ limit: 1 }) > 0) throw foreignFile(path);
  root.transactionSync(() => {
    void root.put(formatKey, formatValue(closedVersion));
    if (found !== undefined) void root.put(unsealedKey, encodePosition({ revision: 0, ordinal: 0 }));
  });
}

/** From which position on records may have no seal, also in files of format 1 that are only read. */
export function unsealedFrom(root: RootDatabase<Buffer, Buffer>, reading = {}): Position | undefined {
  const found = root.get(unsealedKey, reading);
  if (found !== undefined) return decodePosition(found);
  const isOld = root.get(formatKey, reading)?.equals(formatValue(unsealedVersion)) === true;
  return isOld ? { revision: 0, ordinal: 0 } : undefined;
}

/** The log mark of the tree; undefined when all commits are in the tree. */
export function markFrom(root: RootDatabase<Buffer, Buffer>, reading = {}): LogMark | undefined {
  const found = root.get(logKey, reading);
  return found && decodeMark(found);
}

/** Throws when the files are those of an unfinished import. */
export function refuseImport(root: RootDatabase<Buffer, Buffer>, path: string): void {
  if (root.get(importKey) !== undefined) throw unfinishedImport(path);
}

/** The format of the files, one that can be read; undefined without the key. Throws when it names another one. */
export function formatOf(root: RootDatabase<Buffer, Buffer>, path: string): number | undefined {
  const found = root.get(formatKey)?.toString('latin1');
  if (found === undefined) return undefined;
  if (!found.startsWith(formatPrefix)) throw foreignFile(path);
  const version = Number(found.slice(formatPrefix.length));
  const known = [unsealedVersion, closedVersion, loggedVersion];
  if (!known.includes(version)) throw otherFormat(path, version, loggedVersion);
  return version;
}
