import { type ApiObject, escapeHtml, isJsonObject, type Json, parseTime } from '../../meta/index.ts';
import { AgeCell, type Column, type SelectableField } from '../../registry/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  CustomResourceColumnDefinition,
  SelectableField as DeclaredSelectableField,
} from '../../types/apiextensions-v1.ts';
import { firstResult, type JsonPath, maxVisited, maxVisitedOfRow, parseJsonPath } from '../json-path.ts';

type Declared = Infer<typeof CustomResourceColumnDefinition>;

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique among its kind and namespace.',
  cell: ({ metadata }) => metadata.name ?? '',
};

export const ageColumn: Declared = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
};

/** The columns of the tables of a version: the name, then what the definition declares, or the age. */
export function columnsOf(declared: readonly Declared[] | undefined): Column[] {
  const columns = declared === undefined || declared.length === 0 ? [ageColumn] : declared;
  const most = Math.min(maxVisited, Math.floor(maxVisitedOfRow / columns.length));
  return [nameColumn, ...columns.map((column) => columnOf(column, most))];
}

function columnOf(
  { name = '', type = '', format = '', description = '', priority = 0, jsonPath = '' }: Declared,
  mostVisited: number,
): Column {
  const result = resultOf(jsonPath, mostVisited);
  const fallback = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
  return {
    name,
    type: type as Column['type'],
    format,
    description: description === '' ? fallback : description,
    priority,
    cell: (object) => cellOf(type, result(object)),
  };
}

/** A cell shows a value of its type; one of another type is not shown. */
function cellOf(type: string, value: Json | undefined): Json | AgeCell {
  if (value === undefined) return null;
  if (type === 'string') return value === null ? '<no value>' : textOf(value);
  if (value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      return typeof value === 'string' ? ageOf(value) : null;
  }
}

function ageOf(text: string): Json | AgeCell {
  if (text === '' || text === 'null') return '<unknown>';
  try {
    parseTime(text);
    return new AgeCell(text);
  } catch {
    return '<invalid>';
  }
}

/** Lists and objects are shown as JSON with HTML escaped, null as nothing. */
const textOf = (value: Json): string =>
  typeof value === 'string' ? value : value === null ? '' : escapeHtml(sortedJson(value));

/** JSON whose members are in the order of their names, so that equal objects have equal cells. */
function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value === 'bigint') return value.toString();
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${sortedJson(value[name] ?? null)}`).join(',')}}`;
}

/** The first result of a path, which is parsed on first use; nothing for a path that cannot be parsed. */
function resultOf(jsonPath: string, mostVisited = maxVisited): (object: ApiObject) => Json | undefined {
  let path: JsonPath | undefined;
  return (object) => {
    if (path === undefined) {
      try {
        path = parseJsonPath(jsonPath);
      } catch {
        return undefined;
      }
    }
    return firstResult(path, object, mostVisited);
  };
}

/** The selectable fields of a version. Their values are texts, booleans and integers. */
export function selectableFieldsOf(
  declared: readonly Infer<typeof DeclaredSelectableField>[] | undefined,
): SelectableField[] {
  return (declared ?? []).map(({ jsonPath = '' }) => {
    const result = resultOf(jsonPath);
    return {
      path: jsonPath.replace(/^\./, ''),
      value: (object) => textOf(result(object) ?? null),
    };
  });
}
