import type { CachedObject } from '../cache/index.ts';
import { stringifyJson } from '../codec/index.ts';
import { type ApiObject, type ByteString, encodeText, type Json, type Names } from '../meta/index.ts';
import { isCorrupt, readObject } from './bytes.ts';
import { type Column, Since } from './definition.ts';

/** Cells as text, but for how long ago a time was: that is told when they are shown. */
type Cells = readonly (ByteString | Since)[];

interface Known {
  readonly columns: readonly Column[];
  readonly cells: Cells;
}

/** Cells that are the same at any time. Whoever shows an object once more need not parse it. */
const known = new WeakMap<CachedObject, Known>();

/**
 * The cells of an object at the time `now` (ms since 1970), as JSON. What it cannot tell is an empty cell: a table
 * shows broken objects too.
 */
export function cellsText(columns: readonly Column[], object: CachedObject, names: Names, now: number): ByteString {
  const found = known.get(object);
  let text = '';
  for (const cell of found?.columns === columns ? found.cells : makeCells(columns, object, names, now)) {
    text += `${text === '' ? '[' : ','}${typeof cell === 'string' ? cell : asText(cell.text(now))}`;
  }
  return `${text}]` as ByteString;
}

function makeCells(columns: readonly Column[], object: CachedObject, names: Names, now: number): Cells {
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
    return cell instanceof Since ? cell : asText(cell);
  });
  if (lasting) known.set(object, { columns, cells });
  return cells;
}

const asText = (cell: Json): ByteString => encodeText(stringifyJson(cell));

const withoutObject = ({ format }: Column, { name }: CachedObject): string => (format === 'name' ? name : '');

function cellOf(column: Column, stored: ApiObject, context: Parameters<Column['cell']>[1]): Json | Since {
  try {
    return column.cell(stored, context);
  } catch {
    return '';
  }
}
