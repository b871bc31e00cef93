import { statfsSync } from 'node:fs';
import { constants } from 'node:os';
import { StoreError } from '../store.ts';

const { EACCES, EDQUOT, EEXIST, EFBIG, EIO, ENOSPC, ENOTDIR, EPERM, EROFS } = constants.errno;
// Error codes of LMDB (MDB_*).
const pageNotFound = -30797;
const corrupted = -30796;
const versionMismatch = -30794;
const notADatabase = -30793;
const mapFull = -30792;

const full: readonly unknown[] = [ENOSPC, EDQUOT, EFBIG, mapFull, 'ENOSPC', 'EDQUOT', 'EFBIG'];
const readOnly: readonly unknown[] = [EACCES, EPERM, EROFS, 'EACCES', 'EPERM', 'EROFS'];
// Also reported when a full disk truncated a write: a transaction writes a bounded number of bytes.
const mostWritten = 16 * 1024 * 1024;
const failing: readonly unknown[] = [EIO, 'EIO'];
const inTheWay: readonly unknown[] = [EEXIST, ENOTDIR, 'EEXIST', 'ENOTDIR'];
const foreign: readonly unknown[] = [notADatabase, versionMismatch];
// The ERR_ codes come from decoding bytes that are too short.
const broke: readonly unknown[] = [pageNotFound, corrupted, 'ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS'];

const unavailable = (message: string, cause?: unknown) => new StoreError('unavailable', message, { cause });

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'failed');

/** Returns the StoreError for a failure of the file system or of the library, with a remedy in its message. */
export function failure(path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (full.includes(code) || (failing.includes(code) && isNearlyFull(path))) {
    return new StoreError('full', 'no space left on the disk of the store: free some', { cause: error });
  }
  if (failing.includes(code)) {
    return unavailable(`no space left for the data in ${path}, or the disk fails: free some, or check the disk`, error);
  }
  if (readOnly.includes(code)) {
    return unavailable(`the data in ${path} cannot be written: make it writable for this user`, error);
  }
  if (inTheWay.includes(code)) return unavailable(`${path} is not a directory: choose another path`, error);
  if (foreign.includes(code)) return foreignFile(path, error);
  if (broke.includes(code)) return damaged(path, messageOf(error), error);
  return unavailable(`the data in ${path} cannot be used: ${messageOf(error)}`, error);
}

function isNearlyFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize < mostWritten;
  } catch {
    return false;
  }
}

export const foreignFile = (path: string, cause?: unknown) =>
  unavailable(`the file in ${path} was not written by this store: choose another directory`, cause);

export const otherFormat = (path: string, found: number, known: number) =>
  unavailable(
    `the data in ${path} has format ${found}, and this program reads format ${known}: use the version that wrote it`,
  );

export const openToOthers = (path: string, cause: unknown) =>
  unavailable(
    `${path} is open to others and belongs to another user: make this user its owner, or take the rights of others away`,
    cause,
  );

/** `pid`: of the process that uses it. */
export const inUse = (path: string, pid?: number) => {
  const process = pid === undefined ? 'another process' : `another process (pid ${pid})`;
  return unavailable(`the data in ${path} is in use by ${process}: stop that one, or choose another directory`);
};

export const openedByOther = (path: string) =>
  unavailable(`another process opened the data in ${path} during a write: try again`);

/** `path`: the damaged file, or its directory. */
export const damaged = (path: string, what: string, cause?: unknown) =>
  new StoreError('damaged', `the data in ${path} is damaged: ${what}; move it away and restore a backup`, { cause });

export const noStore = (path: string) => unavailable(`there is no data in ${path}: name the directory of a store`);

export const unfinishedImport = (path: string) =>
  unavailable(`the data in ${path} is an unfinished copy: finish the migration that began it, or remove it`);

export const notEmpty = (path: string) =>
  unavailable(`there is data in ${path} already: name another directory, or replace it with --replace`);

export const notOpen = (path: string) => unavailable(`the data in ${path} is not open: check the disk`);

export const lost = (path: string, answered: number, found: number) =>
  damaged(path, `revision ${answered} was written, and the last one that is there is ${found}`);
