import type { CachedObject } from '../cache/index.ts';
import { stringifyJson } from '../codec/index.ts';
import {
  type ApiObject,
  type ByteString,
  bufferOf,
  bytesOf,
  encodeText,
  type Json,
  type Names,
} from '../meta/index.ts';
import { isCorrupt, readObject } from './bytes.ts';
import { type Column, Since } from './definition.ts';

/** Stands before and behind the time of an age: nothing that is JSON holds it. */
const mark = '\0';

/**
 * The cells of an object at the time `now` (ms since 1970), as JSON. What it cannot tell is an empty cell: a table
 * shows broken objects too. Cells that are the same at any time, ages aside, are kept with the object, so that whoever
 * shows it once more need not parse it.
 */
export function cellsText(columns: readonly Column[], object: CachedObject, names: Names, now: number): ByteString {
  const text =
    object.cells !== undefined && object.cellsOf === columns ? object.cells : makeCells(columns, object, names, now);
  if (!text.includes(mark)) return text;
  const parts = text.split(mark);
  // Every other part is a time.
  for (let i = 1; i < parts.length; i += 2) parts[i] = Since.age(Number(parts[i]), now);
  return parts.join('') as ByteString;
}

function makeCells(columns: readonly Column[], object: CachedObject, names: Names, now: number): ByteString {
  const stored = isCorrupt(object) ? undefined : readObject(object);
  let lasting = true;
  const context = {
    names,
    get now() {
      lasting = false;
      return now;
    },
  };
  const cells = columns.map((column) => {
    const cell = stored === undefined ? withoutObject(column, object) : cellOf(column, stored, context);
    if (!(cell instanceof Since)) return stringifyJson(cell);
    return `"${cell.before}${mark}${cell.time}${mark}${cell.after}"`;
  });
  const text = encodeText(`[${cells.join(',')}]`);
  if (!lasting) return text;
  // One flat string: what is kept a hundred thousand times must cost the collector little.
  object.cells = bytesOf(bufferOf(text));
  object.cellsOf = columns;
  return object.cells;
}

const withoutObject = ({ format }: Column, { name }: CachedObject): string => (format === 'name' ? name : '');

function cellOf(column: Column, stored: ApiObject, context: Parameters<Column['cell']>[1]): Json | Since {
  try {
    return column.cell(stored, context);
  } catch {
    return '';
  }
}
