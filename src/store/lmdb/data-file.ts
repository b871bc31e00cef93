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
 * that reads a mapped page behind the end of the file; and the library ends the process when a page of its trees is none.
 * Fails as `unavailable` for a file of another kind, as `damaged` for a truncated or corrupt one. All pages of trees are
 * read, long values are not: 25 ms for 100,000 objects of 2 KB.
 */
export function checkDataFile(file: string): void {
  const handle = openSync(file, 'r');
  try {
    for (;;) {
      const meta = readMeta(handle, file);
      if (meta === undefined) return;
      const pages = Math.floor(fstatSync(handle).size / meta.pageSize);
      const fault = faultOf(handle, meta, pages);
      if (fault === undefined) return;
      // Read again when another process has written meanwhile.
      if (readMeta(handle, file)?.transaction !== meta.transaction) continue;
      // The file may be shorter when its last pages are free.
      throw damaged(
        file,
        pages < meta.pages ? `it has lost its end (${pages} of ${meta.pages} pages are left)` : fault,
      );
    }
  } finally {
    closeSync(handle);
  }
}

/** The end of the last page that is in use or free (bytes). */
export function usedBytes(handle: number, file: string): number {
  const meta = readMeta(handle, file);
  return meta === undefined ? 0 : meta.pages * meta.pageSize;
}

/** The newer one of the two meta pages; undefined when the file is empty. */
function readMeta(handle: number, file: string): Meta | undefined {
  const first = Buffer.alloc(metaBytes);
  const length = readSync(handle, first, 0, metaBytes, 0);
  if (length === 0) return undefined;
  if (first.subarray(0, length).every((byte) => byte === 0)) throw damaged(file, 'its first page is empty');
  if (length >= magicAt + 4 && first.readUInt32LE(magicAt) !== magic) throw foreignFile(dirname(file));
  const cut = () => damaged(file, 'it has lost its end');
  if (length < metaBytes) throw cut();
  const pageSize = first.readUInt32LE(pageSizeAt);
  if (pageSize < 256 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) {
    throw damaged(file, `its pages cannot have ${pageSize} bytes`);
  }
  const second = Buffer.alloc(metaBytes);
  if (readSync(handle, second, 0, metaBytes, pageSize) < metaBytes) throw cut();
  if (second.readUInt32LE(magicAt) !== magic) throw damaged(file, 'its second page is not a meta page');
  const meta = readNumber(first, transactionAt) >= readNumber(second, transactionAt) ? first : second;
  return {
    pageSize,
    pages: readNumber(meta, lastPageAt) + 1,
    transaction: readNumber(meta, transactionAt),
    roots: [readNumber(meta, freeRootAt), readNumber(meta, mainRootAt)],
  };
}

/** Why the pages that can be reached from the roots are not trees within the first `pages` pages; undefined when they are. */
function faultOf(handle: number, { pageSize, roots }: Meta, pages: number): string | undefined {
  const page = Buffer.alloc(pageSize);
  const waiting = roots.filter(isPage);
  // Every page is visited at most once: more visits mean a cycle.
  for (let visited = 0; waiting.length > 0; visited++) {
    const number = waiting.pop() ?? 0;
    if (visited > pages) return 'its pages refer to each other in a circle';
    if (number >= pages || readSync(handle, page, 0, pageSize, number * pageSize) < pageSize) {
      return `page ${number} is missing`;
    }
    const found = readNumber(page, 0) === number ? referencesOf(page) : undefined;
    if (found === undefined) return `page ${number} is not what it should be`;
    if (found.end > pages) return `a long value of page ${number} is missing`;
    for (const tree of found.trees) waiting.push(tree);
  }
  return undefined;
}

/** Returns the tree pages to which a tree page refers and the end of its overflow pages; undefined for other pages. */
function referencesOf(page: Buffer): { readonly trees: readonly number[]; readonly end: number } | undefined {
  const kind = page.readUInt16LE(pageFlagsAt) & (branchPage | leafPage);
  if (kind !== branchPage && kind !== leafPage) return undefined;
  const trees: number[] = [];
  let end = 0;
  try {
    const nodes = page.readUInt16LE(lowerAt) / 2;
    // Only a root may have no node, and a tree without any has no root.
    if (nodes === 0) return undefined;
    for (let i = 0; i < nodes; i++) {
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
