import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { jsonText } from './json.ts';

/** Fields of the metadata that the head of a description shows, or that say nothing to people. */
const headFields = new Set(['name', 'namespace', 'labels', 'annotations', 'managedFields']);

/** Annotations are cut after this many characters. */
const maxAnnotation = 140;

/**
 * The description of an object of any kind: its name, labels and annotations, and all other fields under readable names.
 * `end`: a last line, such as that about events.
 */
export function descriptionOf(object: JsonObject, end?: readonly [name: string, value: string]): string {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { apiVersion, kind, metadata: _, ...fields } = object;
  const others = Object.fromEntries(Object.entries(metadata).filter(([key]) => !headFields.has(key))) as JsonObject;
  const secret = kind === 'Secret';
  const lines: Line[] = [
    row('Name', jsonText(metadata['name'] ?? '')),
    row('Namespace', jsonText(metadata['namespace'] ?? '')),
    ...pairs('Labels', metadata['labels'], '='),
    ...pairs('Annotations', metadata['annotations'], ': '),
    row('API Version', jsonText(apiVersion)),
    row('Kind', jsonText(kind)),
    { indent: 0, name: 'Metadata', value: undefined },
    ...linesOf(others, 2),
    ...linesOf(secret ? sizesOf(fields as JsonObject) : (fields as JsonObject), 0),
    ...(end === undefined ? [] : [row(...end)]),
  ];
  return printed(lines);
}

interface Line {
  readonly indent: number;
  readonly name: string;
  /** Undefined: the lines below it have the value. */
  readonly value: string | undefined;
}

const row = (name: string, value: string): Line => ({ indent: 0, name, value });

/** The values of a secret are shown by their sizes. */
function sizesOf(fields: JsonObject): JsonObject {
  const { data } = fields;
  if (!isJsonObject(data)) return fields;
  const sizes = Object.entries(data).map(([key, value]) => [
    key,
    `${Buffer.from(jsonText(value), 'base64').length} bytes`,
  ]);
  return { ...fields, data: Object.fromEntries(sizes) };
}

function pairs(name: string, values: Json | undefined, between: string): Line[] {
  const keys = isJsonObject(values) ? Object.keys(values).sort() : [];
  if (!isJsonObject(values) || keys.length === 0) return [row(name, '<none>')];
  return keys.map((key, i) => row(i === 0 ? name : '', `${key}${between}${shortened(jsonText(values[key]))}`));
}

const shortened = (text: string) => (text.length > maxAnnotation ? `${text.slice(0, maxAnnotation)}...` : text);

/** The fields of an object in the order of their names. */
function linesOf(object: JsonObject, indent: number): Line[] {
  return Object.keys(object)
    .sort()
    .flatMap((key): Line[] => {
      const value = object[key] ?? null;
      const name = readable(key);
      if (isJsonObject(value) && Object.keys(value).length > 0) {
        return [{ indent, name, value: undefined }, ...linesOf(value, indent + 2)];
      }
      if (Array.isArray(value) && value.length > 0)
        return [{ indent, name, value: undefined }, ...itemLines(value, indent + 2)];
      return [{ indent, name, value: scalarText(value) }];
    });
}

function itemLines(items: readonly Json[], indent: number): Line[] {
  return items.flatMap((item): Line[] => {
    if (isJsonObject(item)) return linesOf(item, indent);
    return Array.isArray(item) ? itemLines(item, indent + 2) : [{ indent, name: '', value: scalarText(item) }];
  });
}

const scalarText = (value: Json): string =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0) ? '' : jsonText(value);

const acronyms = new Set(['API', 'URL', 'UID', 'OSB', 'GUID']);

/** `creationTimestamp` as `Creation Timestamp`; keys with anything but letters and hyphens stay as they are. */
function readable(key: string): string {
  if (/[^a-zA-Z-]/.test(key)) return key;
  const words = key.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|-+/g) ?? [];
  return words
    .map((word) =>
      acronyms.has(word.toUpperCase()) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1),
    )
    .join(' ');
}

/** Aligns the values of neighbouring lines. */
function printed(lines: readonly Line[]): string {
  const widths = lines.map(() => 0);
  for (let start = 0; start < lines.length; ) {
    let end = start;
    while (end < lines.length && lines[end]?.value !== undefined) end++;
    const longest = lines
      .slice(start, end)
      .reduce((width, { indent, name }) => Math.max(width, indent + name.length), 0);
    widths.fill(longest, start, end);
    start = end + 1;
  }
  return lines
    .map(({ indent, name, value }, i) => {
      const space = ' '.repeat(indent);
      if (value === undefined) return `${space}${name}:\n`;
      const text = value.split('\n').join(`\n${space}  `);
      if (name === '' && indent > 0) return `${space}${text}\n`;
      const label = name === '' ? '' : `${name}:`;
      return `${space}${label.padEnd((widths[i] ?? 0) + 3 - indent)}${text}\n`;
    })
    .join('');
}
