import type { CachedObject } from '../../cache/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import {
  type ApiObject,
  type ByteString,
  bufferOf,
  bytesOf,
  encodeText,
  type Json,
  type Names,
} from '../../meta/index.ts';
import type { Projection, ResourceDefinition } from '../resource/definition.ts';
import type { ObjectFormat } from '../stored/format.ts';
import { isCorrupt, readObject } from '../stored/read.ts';
import { AgeCell, type Column } from './column.ts';

/** Delimits the times of age cells: JSON text never contains it. */
const mark = '\0';

/** The size of a row that an object of any size may have (characters). Larger objects may have rows of their own size. */
const smallRow = 64 * 1024;

/** What a row is made from. */
interface RowShape {
  readonly columns: readonly Column[];
  /** Read in place of the object itself. */
  readonly projection?: Pick<Projection, 'read'> | undefined;
  readonly completion?: ResourceDefinition['completion'];
  readonly names: Names;
  readonly format: ObjectFormat;
}

/** Whether a row of these columns is kept with the object. */
export const hasRow = (columns: readonly Column[], { cells, cellsOf }: CachedObject): boolean =>
  cells !== undefined && cellsOf === columns;

/**
 * The cells and conditions of an object's row at the time `now` (ms since 1970), as members of a JSON object. A cell that
 * fails is empty: tables show corrupt objects too. A row that depends on the time by ages alone is kept with the object,
 * so that the next table need not parse it. `read`: the object, if it has been parsed. Cells for which a row has no room left are empty: columns do not multiply an
 * object.
 */
export function rowText(shape: RowShape, object: CachedObject, now: number, read?: ApiObject): ByteString {
  const text = hasRow(shape.columns, object) ? (object.cells as ByteString) : makeRow(shape, object, now, read);
  if (!text.includes(mark)) return text;
  const parts = text.split(mark);
  // Every other part is a time.
  for (let i = 1; i < parts.length; i += 2) parts[i] = AgeCell.age(Number(parts[i]), now);
  return parts.join('') as ByteString;
}

function makeRow(
  { columns, projection, completion, names, format }: RowShape,
  object: CachedObject,
  now: number,
  read: ApiObject | undefined,
): ByteString {
  const stored = isCorrupt(object) ? undefined : (read ?? readObject(format, object));
  const visible = stored === undefined ? undefined : (projection?.read(stored) ?? stored);
  let reusable = true;
  const context = {
    names,
    get now() {
      reusable = false;
      return now;
    },
  };
  let room = Math.max(smallRow, object.bytes.length);
  const textOf = (column: Column): string => {
    const cell = visible === undefined ? withoutObject(column, object) : cellOf(column, visible, context);
    if (!(cell instanceof AgeCell)) return stringifyJson(cell);
    return `"${cell.before}${mark}${cell.time}${mark}${cell.after}"`;
  };
  const cells = columns.map((column) => {
    const text = room <= 0 ? '""' : textOf(column);
    room -= text.length;
    return room < 0 ? '""' : text;
  });
  const done = stored === undefined ? undefined : completion?.(stored);
  const conditions =
    done === undefined ? '' : `,"conditions":${stringifyJson([{ type: 'Completed', status: 'True', ...done }])}`;
  const text = encodeText(`"cells":[${cells.join(',')}]${conditions}`);
  if (!reusable) return text;
  // One flat string costs the garbage collector least: there may be a hundred thousand of them.
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
