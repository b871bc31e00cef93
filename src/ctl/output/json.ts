import type { Json } from '../../meta/index.ts';

/** JSON with four spaces of indentation, as kubectl prints it: keys sorted, and `<`, `>` and `&` escaped. */
export function indentedJson(value: Json, { sorted = true, indent = 4 } = {}): string {
  const unit = ' '.repeat(indent);
  const write = (item: Json, before: string): string => {
    if (typeof item === 'string') return jsonString(item);
    if (typeof item !== 'object' || item === null) return String(item);
    const inner = before + unit;
    if (Array.isArray(item)) {
      if (item.length === 0) return '[]';
      return `[\n${item.map((one) => inner + write(one, inner)).join(',\n')}\n${before}]`;
    }
    const keys = sorted ? Object.keys(item).sort() : Object.keys(item);
    if (keys.length === 0) return '{}';
    const lines = keys.map((key) => `${inner}${jsonString(key)}: ${write(item[key] ?? null, inner)}`);
    return `{\n${lines.join(',\n')}\n${before}}`;
  };
  return write(value, '');
}

/** The text of a scalar; other values as JSON. Empty for a value that is absent or null. */
export function jsonText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? compactJson(value) : String(value);
}

/** JSON without spaces, with sorted keys. */
export function compactJson(value: Json): string {
  if (typeof value === 'string') return jsonString(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${jsonString(key)}:${compactJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

const escapes: { readonly [character: string]: string } = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

const jsonString = (text: string): string =>
  JSON.stringify(text).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? character);
