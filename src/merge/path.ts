import { type Json, type JsonObject, readJsonText } from '../meta/index.ts';

/**
 * One step of a path, spelled as on the wire: `f:name` a field, `k:{"name":"x"}` the entry of a list with these keys,
 * `v:"x"` the entry of a set with this value, `i:0` the entry at a place. Two steps are the same when their texts are.
 */
export type Element = string;
export type Path = readonly Element[];

/** A field that tells the entries of a list apart. */
export interface ListKey {
  readonly name: string;
  /** The name as it stands in the text of an element: `"name":`. */
  readonly label: string;
  /** What an absent field counts as. */
  readonly default: Json | undefined;
}

/** The path of a field below fields: `fieldPath('spec', 'replicas')`. */
export const fieldPath = (...names: string[]): Path => names.map(fieldElement);

export const fieldElement = (name: string): Element => `f:${name}`;

/** The entry of a set. */
export const valueElement = (value: Json): Element => `v:${stableText(value)}`;

/** The entry of a list whose keys, sorted by name, are these. A key that is missing counts as `null`. */
export function entryElement(keys: readonly ListKey[], entry: Json): Element {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return valueElement(entry);
  let text = '';
  for (const { name, label, default: absent } of keys) {
    const value = Object.hasOwn(entry, name) ? (entry[name] as Json) : (absent ?? null);
    text += `${text === '' ? 'k:{' : ','}${label}${stableText(value)}`;
  }
  return `${text}}`;
}

/** The one spelling of an element; undefined when the text is none. */
export function canonicalElement(text: string): Element | undefined {
  switch (text.slice(0, 2)) {
    case 'f:':
      return text;
    case 'i:':
      return /^i:(0|[1-9][0-9]{0,8})$/.test(text) ? text : undefined;
    case 'v:': {
      const value = parse(text);
      return value === undefined ? undefined : valueElement(value);
    }
    case 'k:': {
      const keys = parse(text);
      if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) return undefined;
      return Object.keys(keys).length === 0 ? undefined : `k:${stableText(keys)}`;
    }
    default:
      return undefined;
  }
}

function parse(element: string): Json | undefined {
  const text = element.slice(2);
  // Integers that a double does not hold keep their digits.
  if (/^-?[1-9][0-9]{15,40}$/.test(text)) return BigInt(text);
  return readJsonText(text);
}

/** A path as messages spell it: `.spec.containers[name="a"].image`. */
export function pathText(path: Path): string {
  return path.map(elementText).join('');
}

/** An element as messages spell it. */
export function elementText(element: Element): string {
  const text = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${text}`;
    case 'v':
      return `[=${text}]`;
    case 'k': {
      const keys = JSON.parse(text) as JsonObject;
      const terms = Object.keys(keys).map((name) => `${name}=${stableText(keys[name] as Json)}`);
      return `[${terms.join(',')}]`;
    }
    default:
      return `[${text}]`;
  }
}

/** Text that stands in JSON as it is. */
const plainText = /^[ !#-[\]-~]*$/;

/** JSON with the keys of every object sorted. */
export function stableText(value: Json): string {
  if (typeof value === 'string') return plainText.test(value) ? `"${value}"` : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(stableText).join(',')}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${stableText(value[key] as Json)}`).join(',')}}`;
}
