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
import type { Row } from '../stored/row-cache.ts';
import { AgeCell, type Column } from './column.ts';

/** Delimits the times of age cells: JSON text never contains it. */
const mark = '\0';

/** The size of a row that an object of any size may have (characters). Larger objects may have rows of their own size. */
const smallRow = 64 * 1024;

/** The source of the rows of a table. */
export interface RowShape {
  readonly columns: readonly Column[];
  /** Read in place of the object itself. */
  readonly projection?: Pick<Projection, 'read'> | undefined;
  readonly completion?: ResourceDefinition['completion'];
  readonly names: Names;
  readonly format: ObjectFormat;
}

/** Whether a row of these columns is kept, so that the object need not be parsed. */
export const hasRow = ({ columns, format }: Pick<RowShape, 'columns' | 'format'>, object: CachedObject): boolean =>
  format.shared.rows.has(object, columns);

/**
 * The start of an object's row: its cells and conditions, up to the included object. A cell that fails is empty: tables
 * show corrupt objects too. A row that depends on the time by ages alone is kept, so that the next table need not parse
 * the object. `now`: milliseconds since 1970. `read`: the object, if it has been parsed. Cells for which a row has no room
 * left are empty: columns do not multiply an object.
 */
export const rowOf = (shape: RowShape, object: CachedObject, now: number, read?: ApiObject): Row =>
  shape.format.shared.rows.get(object, shape.columns) ?? makeRow(shape, object, now, read);

/** Returns how old something is at `now`. Objects that follow each other were often created in the same second. */
export function agesAt(now: number): (time: number) => string {
  let last: number | undefined;
  let age = '';
  return (time) => {
    if (time !== last) {
      last = time;
      age = AgeCell.age(time, now);
    }
    return age;
  };
}

function makeRow(
  { columns, projection, completion, names, format }: RowShape,
  object: CachedObject,
  now: number,
  read: ApiObject | undefined,
): Row {
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
  // Every other part is a time.
  const row = encodeText(`{"cells":[${cells.join(',')}]${conditions},"object":`)
    .split(mark)
    // Flat strings cost the garbage collector least: there may be a hundred thousand of them.
    .map((part, index) => (index % 2 === 0 ? bytesOf(bufferOf(part as ByteString)) : Number(part)));
  if (reusable) format.shared.rows.set(object, columns, row);
  return row;
}

const withoutObject = ({ format }: Column, { name }: CachedObject): string => (format === 'name' ? name : '');

function cellOf(column: Column, stored: ApiObject, context: Parameters<Column['cell']>[1]): Json | AgeCell {
  try {
    return column.cell(stored, context);
  } catch {
    return '';
  }
}
