/** Tables that the server makes of objects (resource-api.md, tables). */

import { isJsonObject, type Json, type JsonObject, type Names } from '../../meta/index.ts';
import { printedType, type Resource } from '../cluster/resource.ts';
import { jsonText } from './json.ts';

/** The media types of a table, and of objects where a server has none. */
export const tableAccept = ({ domain }: Names): string =>
  `application/json;as=Table;v=v1;g=meta.${domain},application/json`;

export interface TableOptions {
  readonly wide: boolean;
  readonly noHeaders: boolean;
  readonly withNamespace: boolean;
  /** The type precedes the name: `pod/a`. */
  readonly withKind: boolean;
  readonly showLabels: boolean;
  readonly labelColumns: readonly string[];
  /** Colours a cell of the column `STATUS`. */
  readonly paintStatus: (status: string) => string;
}

interface Column {
  readonly name: string;
  readonly priority: number;
  readonly isName: boolean;
}

/** A row of a table: its cells, and the object that it shows. */
export interface TableRow {
  readonly cells: readonly Json[];
  readonly object: JsonObject;
}

/** A table, or a part of one: tables of watches have columns in their first event only. */
export interface ServerTable {
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
  readonly metadata: JsonObject;
}

const objectsIn = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const objectIn = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** Reads a table. A list or an object without a table becomes one with names and ages. */
export function readTable(body: JsonObject): ServerTable {
  if (body['kind'] !== 'Table') return plainTable(body);
  return {
    columns: objectsIn(body['columnDefinitions']).map(({ name = '', priority = 0, format, type }) => ({
      name: jsonText(name),
      priority: Number(priority),
      isName: format === 'name' && type === 'string',
    })),
    rows: objectsIn(body['rows']).map(({ cells = [], object }) => ({
      cells: Array.isArray(cells) ? cells : [],
      object: objectIn(object),
    })),
    metadata: objectIn(body['metadata']),
  };
}

function plainTable(body: JsonObject): ServerTable {
  const items = Array.isArray(body['items']) ? objectsIn(body['items']) : [body];
  return {
    columns: [
      { name: 'Name', priority: 0, isName: true },
      { name: 'Created At', priority: 0, isName: false },
    ],
    rows: items.map((object) => {
      const { name = '', creationTimestamp = '' } = objectIn(object['metadata']);
      return { cells: [name, creationTimestamp], object };
    }),
    metadata: objectIn(body['metadata']),
  };
}

/** The header of a table. */
export function headerOf(columns: readonly Column[], options: TableOptions): string[] {
  const { withNamespace, labelColumns, showLabels } = options;
  return [
    ...(withNamespace ? ['NAMESPACE'] : []),
    ...columns.filter(isShown(options)).map(({ name }) => name.toUpperCase()),
    ...labelColumns.map((label) => label.slice(label.lastIndexOf('/') + 1).toUpperCase()),
    ...(showLabels ? ['LABELS'] : []),
  ];
}

const isShown =
  ({ wide }: TableOptions) =>
  ({ priority }: Column) =>
    wide || priority === 0;

/** The cells of a row as text. */
export function cellsOf(
  row: TableRow,
  columns: readonly Column[],
  resource: Pick<Resource, 'kind' | 'group'>,
  options: TableOptions,
): string[] {
  const { namespace = '', labels } = objectIn(row.object['metadata']);
  const values = objectIn(labels);
  const nameColumn = columns.findIndex(({ isName }) => isName);
  const cells = columns.flatMap((column, i) => {
    if (i >= row.cells.length || !isShown(options)(column)) return [];
    const text = cellText(row.cells[i] ?? null);
    return [options.withKind && i === nameColumn ? `${printedType(resource)}/${text}` : text];
  });
  return [
    ...(options.withNamespace ? [jsonText(namespace)] : []),
    ...cells,
    ...options.labelColumns.map((label) => (Object.hasOwn(values, label) ? jsonText(values[label]) : '')),
    ...(options.showLabels ? [labelsText(values)] : []),
  ];
}

/** The labels of an object as `a=1,b=2`; `<none>` without labels. */
function labelsText(labels: JsonObject): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${jsonText(labels[key])}`);
  return pairs.length === 0 ? '<none>' : pairs.join(',');
}

/** The first line of a text; control characters are escaped, as a terminal would obey them. */
function cellText(cell: Json): string {
  if (cell === null) return '';
  if (typeof cell === 'object') return JSON.stringify(cell);
  const text = String(cell);
  const end = text.search(/[\f\n\r]/);
  const line = end < 0 ? text : `${text.slice(0, end)}...`;
  return line.replaceAll('\u001b', '^[').replaceAll('\t', ' ');
}
