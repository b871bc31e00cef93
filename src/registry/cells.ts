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
import { AgeCell, type Column } from './column.ts';
import type { Projection, ResourceDefinition } from './definition.ts';

/** Stands before and behind the time of an age: nothing that is JSON holds it. */
const mark = '\0';

/** What a row shows of an object. */
interface RowShape {
  readonly columns: readonly Column[];
  /** What is shown instead of the object itself. */
  readonly view?: Pick<Projection, 'read'> | undefined;
  readonly completion?: ResourceDefinition['completion'];
  readonly names: Names;
}

/**
 * The cells and conditions of an object's row at the time `now` (ms since 1970), as members of a JSON object. What it
 * cannot tell is an empty cell: a table shows broken objects too. What is the same at any time, ages aside, is kept
 * with the object, so that whoever shows it once more need not parse it.
 */
export function rowText(shape: RowShape, object: CachedObject, now: number): ByteString {
  const text =
    object.cells !== undefined && object.cellsOf === shape.columns ? object.cells : makeRow(shape, object, now);
  if (!text.includes(mark)) return text;
  const parts = text.split(mark);
  // Every other part is a time.
  for (let i = 1; i < parts.length; i += 2) parts[i] = AgeCell.age(Number(parts[i]), now);
  return parts.join('') as ByteString;
}

function makeRow({ columns, view, completion, names }: RowShape, object: CachedObject, now: number): ByteString {
  const stored = isCorrupt(object) ? undefined : readObject(object);
  const shown = stored === undefined ? undefined : (view?.read(stored) ?? stored);
  let lasting = true;
  const context = {
    names,
    get now() {
      lasting = false;
      return now;
    },
  };
  const cells = columns.map((column) => {
    const cell = shown === undefined ? withoutObject(column, object) : cellOf(column, shown, context);
    if (!(cell instanceof AgeCell)) return stringifyJson(cell);
    return `"${cell.before}${mark}${cell.time}${mark}${cell.after}"`;
  });
  const done = stored === undefined ? undefined : completion?.(stored);
  const conditions =
    done === undefined ? '' : `,"conditions":${stringifyJson([{ type: 'Completed', status: 'True', ...done }])}`;
  const text = encodeText(`"cells":[${cells.join(',')}]${conditions}`);
  if (!lasting) return text;
  // One flat string: what is kept a hundred thousand times must cost the collector little.
  object.cells = bytesOf(bufferOf(text));
  object.cellsOf = columns;
  return object.cells;
}

const withoutObject = ({ format }: Column, { name }: CachedObject): string => (format === 'name' ? name : '');

function cellOf(column: Column, stored: ApiObject, context: Parameters<Column['cell']>[1]): Json | AgeCell {
  try {
    return column.cell(stored, context);
  } catch {
    return '';
  }
}
