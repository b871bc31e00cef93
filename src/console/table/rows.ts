/** The rows of a table as the server sends them, filtered and sorted. */
import type { TypedObject } from '../../client/index.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  /** 0: shown in narrow tables too. */
  readonly priority: number;
}

export type Cell = string | number | boolean | null | undefined;

export interface Row {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly cells: readonly Cell[];
  /** Of the creation (ms since 1970). */
  readonly created: number;
  /** Labels as `name=value`, for the filter. */
  readonly labels: string;
  readonly deleting: boolean;
}

/** A table of the server: a chunk of a list, or an event with one row. */
export interface ServerTable extends TypedObject {
  readonly columnDefinitions?: readonly Column[] | null;
  readonly rows?: readonly { readonly cells: readonly Cell[]; readonly object?: { readonly metadata?: RowMetadata } }[];
}

interface RowMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: { readonly [name: string]: string };
}

export function rowsOf({ rows = [] }: ServerTable): Row[] {
  return rows.map(({ cells, object }) => rowOf(cells, object?.metadata ?? {}));
}

function rowOf(cells: readonly Cell[], metadata: RowMetadata): Row {
  const { name = '', namespace = '', creationTimestamp = '', deletionTimestamp, labels = {} } = metadata;
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    cells,
    created: Date.parse(creationTimestamp) || 0,
    labels: Object.entries(labels)
      .map(([label, value]) => `${label}=${value}`)
      .join(' '),
    deleting: deletionTimestamp !== undefined,
  };
}

/** The order of rows: by a column, or by namespace (`namespace`). */
export interface Order {
  readonly by: number | 'namespace';
  readonly descending: boolean;
}

/** Whether a column shows how long ago its object was created: its text is outdated soon. */
export const isAge = ({ name, type }: Column): boolean => name === 'Age' && (type === 'string' || type === 'date');

/** The rows that contain every word of a text, in an order. */
export function shownRows(rows: Iterable<Row>, columns: readonly Column[], text: string, order: Order | undefined) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = words.length === 0 ? [...rows] : [...rows].filter((row) => contains(row, words));
  if (order === undefined) return matching.sort((a, b) => (a.key < b.key ? -1 : 1));
  const direction = order.descending ? -1 : 1;
  const sortKey = sortKeyOf(columns, order);
  return matching.sort((a, b) => direction * compareCells(sortKey(a), sortKey(b)) || (a.key < b.key ? -1 : 1));
}

function sortKeyOf(columns: readonly Column[], { by }: Order): (row: Row) => Cell {
  if (by === 'namespace') return ({ namespace }) => namespace;
  const column = columns[by];
  return column !== undefined && isAge(column) ? ({ created }) => -created : ({ cells }) => cells[by];
}

function contains({ key, cells, labels }: Row, words: readonly string[]): boolean {
  const text = `${key} ${cells.join(' ')} ${labels}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Numbers before texts; texts that begin with a number, such as `3/5`, by that number. */
function compareCells(a: Cell, b: Cell): number {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y) && x !== y) return x - y;
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  const [left, right] = [String(a ?? ''), String(b ?? '')];
  return left < right ? -1 : left > right ? 1 : 0;
}

const numberOf = (cell: Cell): number => (typeof cell === 'number' ? cell : Number.parseFloat(String(cell ?? '')));

/** How long ago a time was, in the largest units that tell something: `45s`, `3m20s`, `5h`, `12d`. */
export function ageOf(created: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - created) / 1000));
  if (created === 0) return '';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
