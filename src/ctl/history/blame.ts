/** The lines of an object as YAML, each with the writers that own it. */
import { type Writer, writersOf } from '../../client/index.ts';
import { stringifyYaml } from '../../codec/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

export interface OwnedLine {
  readonly text: string;
  /** Empty: no field manager owns the field. */
  readonly owners: readonly Writer[];
}

/** The fields of a value that a writer owns: a part of `fieldsV1`, or everything below the value. */
interface Share {
  readonly writer: Writer;
  readonly fields: JsonObject | 'all';
}

/** The lines of the object without its managed fields. */
export function ownedLines(object: JsonObject): OwnedLine[] {
  const shares = writersOf(object).map((writer): Share => ({ writer, fields: writer.fields }));
  const { metadata } = object;
  const shown = isJsonObject(metadata) ? { ...object, metadata: { ...metadata } } : object;
  if (isJsonObject(shown.metadata)) delete shown.metadata['managedFields'];
  return [...linesOfMap(shown, '', shares)];
}

const isLeaf = (value: Json): boolean => typeof value !== 'object' || value === null || Object.keys(value).length === 0;

/** Those who own the value itself, not only something below it. */
const ownersOf = (shares: readonly Share[], value: Json): Writer[] =>
  shares
    .filter(({ fields }) => fields === 'all' || isLeaf(value) || Object.hasOwn(fields, '.'))
    .map(({ writer }) => writer);

function* linesOfMap(value: JsonObject, indent: string, shares: readonly Share[]): Generator<OwnedLine> {
  for (const { key, text } of keysOf(value)) {
    yield* linesOfMember(value[key] as Json, text, indent, below(shares, `f:${key}`));
  }
}

/** The keys of a map in the order and the form of YAML: `text` ends with a colon, and long keys take two lines. */
function keysOf(value: JsonObject): { readonly key: string; readonly text: string }[] {
  const keys = Object.keys(value);
  const numbered = stringifyYaml(Object.fromEntries(keys.map((key, i) => [key, i])));
  return [...numbered.matchAll(/(.*?) (\d+)\n/gs)].map(([, text = '', i]) => ({ key: keys[Number(i)] ?? '', text }));
}

function* linesOfMember(value: Json, key: string, indent: string, shares: readonly Share[]): Generator<OwnedLine> {
  const owners = ownersOf(shares, value);
  const keyLines = key.split('\n').map((line) => indent + line);
  const [first = '', ...rest] = isLeaf(value) ? stringifyYaml({ k: value }).trimEnd().split('\n') : ['k:'];
  const lines = [...keyLines.slice(0, -1), `${keyLines.at(-1)}${first.slice('k:'.length)}`];
  for (const text of lines) yield { text, owners };
  for (const line of rest) yield { text: line === '' ? '' : indent + line, owners };
  if (isLeaf(value)) return;
  if (Array.isArray(value)) yield* linesOfList(value, indent, shares);
  else yield* linesOfMap(value as JsonObject, `${indent}  `, shares);
}

function* linesOfList(items: readonly Json[], indent: string, shares: readonly Share[]): Generator<OwnedLine> {
  for (const [i, item] of items.entries()) {
    const inside = sharesOfItem(shares, item, i);
    const lines =
      isJsonObject(item) && !isLeaf(item) ? linesOfMap(item, `${indent}  `, inside) : itemLines(item, indent, inside);
    let isFirst = true;
    for (const { text, owners } of lines) {
      yield { text: isFirst ? `${indent}- ${text.slice(indent.length + 2)}` : text, owners };
      isFirst = false;
    }
  }
}

/** The lines of a list or a scalar in a list, as if they were those of a map. */
function* itemLines(item: Json, indent: string, shares: readonly Share[]): Generator<OwnedLine> {
  const owners = ownersOf(shares, isLeaf(item) ? item : null);
  for (const line of stringifyYaml(item).trimEnd().split('\n')) yield { text: `${indent}  ${line}`, owners };
}

/** The shares of a member, from those of its parent. */
function below(shares: readonly Share[], element: string): Share[] {
  return shares.flatMap(({ writer, fields }): Share[] => {
    if (fields === 'all') return [{ writer, fields }];
    const inner = fields[element];
    if (!isJsonObject(inner)) return [];
    return [{ writer, fields: Object.keys(inner).length === 0 ? 'all' : inner }];
  });
}

/** The shares of an item, from those of its list: an item is named by its keys, its value or its position. */
function sharesOfItem(shares: readonly Share[], item: Json, position: number): Share[] {
  return shares.flatMap((share): Share[] => {
    if (share.fields === 'all') return [share];
    const element = Object.keys(share.fields).find((name) => isElementOf(name, item, position));
    return element === undefined ? [] : below([share], element);
  });
}

function isElementOf(element: string, item: Json, position: number): boolean {
  const text = element.slice(2);
  if (element.startsWith('i:')) return text === String(position);
  if (element.startsWith('v:')) return text === JSON.stringify(item);
  if (!element.startsWith('k:') || !isJsonObject(item)) return false;
  const keys: unknown = JSON.parse(text);
  return typeof keys === 'object' && keys !== null && Object.entries(keys).every(([key, value]) => item[key] === value);
}
