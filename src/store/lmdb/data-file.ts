import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { damaged, foreignFile } from './failure.ts';

// The file format of LMDB: two meta pages, of which the newer one is valid, then tree pages and runs of overflow pages
// with one long value each. All numbers are little-endian.
const magicAt = 24;
const magic = 0xbeefc0de;
const pageSizeAt = 48;
const freeRootAt = 88;
const mainRootAt = 136;
const lastPageAt = 144;
const transactionAt = 152;
const metaBytes = 160;

const pageFlagsAt = 18;
const lowerAt = 20;
const pageHeader = 24;
const branchPage = 1;
const leafPage = 2;

const nodeHeader = 8;
const longValue = 1;
const table = 2;
const tableRootAt = 40;

interface Meta {
  readonly pageSize: number;
  /** The number of pages in use or free, the two meta pages included. */
  readonly pages: number;
  readonly transaction: number;
  readonly roots: readonly number[];
}

/**
 * Throws when reading the file would crash the process: the library maps it, and the system kills a process (SIGBUS)
 * that reads a mapped page behind the end of the file. Fails as `unavailable` for a file of another kind, as `damaged`
 * for a truncated one.
 */
export function checkDataFile(file: string): void {
  const handle = openSync(file, 'r');
  try {
    for (;;) {
      const meta = readMeta(handle, file);
      if (meta === undefined) return;
      const pages = Math.floor(fstatSync(handle).size / meta.pageSize);
      // The file may be shorter when its last pages are free.
      if (pages >= meta.pages || reaches(handle, meta, pages)) return;
      // Read again when another process has written meanwhile.
      if (readMeta(handle, file)?.transaction !== meta.transaction) continue;
      throw damaged(file, `it has lost its end (${pages} of ${meta.pages} pages are left)`);
    }
  } finally {
    closeSync(handle);
  }
}

/** The newer one of the two meta pages; undefined when the file is empty. */
function readMeta(handle: number, file: string): Meta | undefined {
  const first = Buffer.alloc(metaBytes);
  const length = readSync(handle, first, 0, metaBytes, 0);
  if (length === 0) return undefined;
  if (length >= magicAt + 4 && first.readUInt32LE(magicAt) !== magic) throw foreignFile(dirname(file));
  const cut = () => damaged(file, 'it has lost its end');
  if (length < metaBytes) throw cut();
  const pageSize = first.readUInt32LE(pageSizeAt);
  if (pageSize < 256 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) {
    throw damaged(file, `its pages cannot have ${pageSize} bytes`);
  }
  const second = Buffer.alloc(metaBytes);
  if (readSync(handle, second, 0, metaBytes, pageSize) < metaBytes) throw cut();
  const meta = readNumber(first, transactionAt) >= readNumber(second, transactionAt) ? first : second;
  return {
    pageSize,
    pages: readNumber(meta, lastPageAt) + 1,
    transaction: readNumber(meta, transactionAt),
    roots: [readNumber(meta, freeRootAt), readNumber(meta, mainRootAt)],
  };
}

/** Whether every page that can be reached from the roots is among the first `pages` pages. */
function reaches(handle: number, { pageSize, roots }: Meta, pages: number): boolean {
  const page = Buffer.alloc(pageSize);
  const waiting = roots.filter(isPage);
  // Every page is visited at most once: more visits mean a cycle.
  for (let visited = 0; waiting.length > 0; visited++) {
    const number = waiting.pop() ?? 0;
    if (number >= pages || visited > pages || readSync(handle, page, 0, pageSize, number * pageSize) < pageSize) {
      return false;
    }
    const found = referencesOf(page);
    if (found === undefined || found.end > pages) return false;
    for (const tree of found.trees) waiting.push(tree);
  }
  return true;
}

/** The tree pages that a tree page refers to, and the end of its overflow pages; undefined when it is no tree page. */
function referencesOf(page: Buffer): { readonly trees: readonly number[]; readonly end: number } | undefined {
  const kind = page.readUInt16LE(pageFlagsAt) & (branchPage | leafPage);
  if (kind !== branchPage && kind !== leafPage) return undefined;
  const trees: number[] = [];
  let end = 0;
  try {
    for (let i = 0; i < page.readUInt16LE(lowerAt) / 2; i++) {
      const node = pageHeader + page.readUInt16LE(pageHeader + 2 * i);
      const flags = page.readUInt16LE(node + 4);
      const data = node + nodeHeader + page.readUInt16LE(node + 6);
      if (kind === branchPage) trees.push(flags * 2 ** 32 + page.readUInt32LE(node));
      else if ((flags & longValue) !== 0) end = Math.max(end, readNumber(page, data) + readNumber(page, data + 16));
      else if ((flags & table) !== 0) trees.push(readNumber(page, data + tableRootAt));
    }
  } catch {
    // An offset lies outside of the page.
    return undefined;
  }
  return { trees: trees.filter(isPage), end };
}

const readNumber = (bytes: Buffer, at: number) => bytes.readUInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);
/** An empty tree has a root of all ones. */
const isPage = (number: number) => number < 2 ** 64;
