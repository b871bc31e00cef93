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
const tableBytes = 48;
const longValueBytes = 24;

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
 * read, long values are not: objects of less than 2 KB are in pages of trees, and 100,000 of 1.9 KB take 150 ms.
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
  const [one, other] = [viewOf(first), viewOf(second)];
  const meta = readNumber(one, transactionAt) >= readNumber(other, transactionAt) ? one : other;
  return {
    pageSize,
    pages: readNumber(meta, lastPageAt) + 1,
    transaction: readNumber(meta, transactionAt),
    roots: [readNumber(meta, freeRootAt), readNumber(meta, mainRootAt)],
  };
}

/** Pages of one level of the trees that are so close to each other are read at once, with the pages between them. */
const pagesBetween = 8;
/** Maximum size of one read (bytes): a few of the largest pages. */
const readBytes = 512 * 1024;

/** Why the pages that can be reached from the roots are not trees within the first `pages` pages; undefined when they are. */
function faultOf(handle: number, { pageSize, roots }: Meta, pages: number): string | undefined {
  const bytes = Buffer.allocUnsafe(readBytes);
  const view = viewOf(bytes);
  // Level by level, in the order of the file. Every page is visited at most once: more visits mean a cycle.
  for (let level = roots.filter(isPage), visited = 0; level.length > 0; ) {
    level.sort((a, b) => a - b);
    visited += level.length;
    if (visited > pages) return 'its pages refer to each other in a circle';
    const below: number[] = [];
    let [from, end] = [0, 0];
    for (const [i, number] of level.entries()) {
      if (number >= end) {
        from = number;
        end = endOfRun(level, i, readBytes / pageSize);
        const size = (end - from) * pageSize;
        if (end > pages || readSync(handle, bytes, 0, size, from * pageSize) < size)
          return `page ${end - 1} is missing`;
      }
      const at = (number - from) * pageSize;
      const dataEnd = readNumber(view, at) === number ? followPage(view, at, pageSize, below) : undefined;
      if (dataEnd === undefined) return `page ${number} is not what it should be`;
      if (dataEnd > pages) return `a long value of page ${number} is missing`;
    }
    level = below;
  }
  return undefined;
}

/** The end of the pages that are read with the page at `start`, at most `limit`. */
function endOfRun(level: readonly number[], start: number, limit: number): number {
  const first = level[start] ?? 0;
  let last = first;
  for (let i = start + 1; i < level.length; i++) {
    const next = level[i] ?? 0;
    if (next - last > pagesBetween || next - first >= limit) break;
    last = next;
  }
  return last + 1;
}

/**
 * Adds the tree pages to which the tree page at an offset refers. Returns the end of its overflow pages; undefined for other
 * pages.
 */
function followPage(view: DataView, at: number, pageSize: number, below: number[]): number | undefined {
  const kind = view.getUint16(at + pageFlagsAt, true) & (branchPage | leafPage);
  if (kind !== branchPage && kind !== leafPage) return undefined;
  const nodes = view.getUint16(at + lowerAt, true) / 2;
  // Only a root may have no node, and a tree without any has no root.
  if (nodes === 0 || pageHeader + 2 * nodes > pageSize) return undefined;
  let dataEnd = 0;
  for (let i = 0; i < nodes; i++) {
    const node = pageHeader + view.getUint16(at + pageHeader + 2 * i, true);
    if (node + nodeHeader > pageSize) return undefined;
    const flags = view.getUint16(at + node + 4, true);
    if (kind === branchPage) {
      below.push(flags * 2 ** 32 + view.getUint32(at + node, true));
      continue;
    }
    if ((flags & (longValue | table)) === 0) continue;
    const data = node + nodeHeader + view.getUint16(at + node + 6, true);
    if (data + ((flags & longValue) === 0 ? tableBytes : longValueBytes) > pageSize) return undefined;
    if ((flags & longValue) !== 0) {
      dataEnd = Math.max(dataEnd, readNumber(view, at + data) + readNumber(view, at + data + 16));
    } else {
      const root = readNumber(view, at + data + tableRootAt);
      if (isPage(root)) below.push(root);
    }
  }
  return dataEnd;
}

const viewOf = ({ buffer, byteOffset, length }: Buffer) => new DataView(buffer, byteOffset, length);
const readNumber = (view: DataView, at: number) => view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
/** An empty tree has a root of all ones. */
const isPage = (number: number) => number < 2 ** 64;
