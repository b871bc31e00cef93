import { type Json, type JsonObject, readJsonText, StatusError } from '../meta/index.ts';

/**
 * A path element, encoded as in `fieldsV1`: `f:name` a field, `k:{"name":"x"}` the entry of an associative list with
 * these keys, `v:"x"` the entry of a set with this value, `i:0` the entry at an index. Equal elements have equal texts.
 */
export type PathElement = string;
export type Path = readonly PathElement[];

/** A list map key. */
export interface ListKey {
  readonly name: string;
  /** The name as encoded in a path element: `"name":`. */
  readonly label: string;
  /** The value of an absent key. */
  readonly default: Json | undefined;
}

/** The path of a nested field: `fieldPath('spec', 'replicas')`. */
export const fieldPath = (...names: string[]): Path => names.map(fieldElement);

export const fieldElement = (name: string): PathElement => `f:${name}`;

/** The path element of an entry of a set. */
export const valueElement = (value: Json): PathElement => `v:${stableText(value)}`;

/** An entry of an associative list without one of its keys. */
export class UnkeyedEntryError extends StatusError {
  constructor(key: string) {
    super(500, '', missingKey(key));
  }
}

export const missingKey = (key: string): string =>
  `associative list with keys has an element that omits key field "${key}" (and doesn't have default value)`;

/**
 * The path element of an entry of an associative list; `keys` are sorted by name.
 * @throws UnkeyedEntryError when a key without default is missing
 */
export function entryElement(keys: readonly ListKey[], entry: Json): PathElement {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return valueElement(entry);
  let text = '';
  for (const { name, label, default: absent } of keys) {
    const value = Object.hasOwn(entry, name) ? (entry[name] as Json) : absent;
    if (value === undefined) throw new UnkeyedEntryError(name);
    text += `${text === '' ? 'k:{' : ','}${label}${stableText(value)}`;
  }
  return `${text}}`;
}

/** The maximum length of the keys or the composite value of an entry (characters), which are parsed and written in one step. */
const maxEntryLength = 65_536;

/** The canonical form of a path element; undefined when the text is not one. */
export function canonicalElement(text: string): PathElement | undefined {
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
  if (text.length > maxEntryLength && !text.startsWith('"')) return undefined;
  // Integers that a double cannot represent retain their digits.
  if (/^-?[1-9][0-9]{15,40}$/.test(text)) return BigInt(text);
  return readJsonText(text);
}

/** A path as shown in messages: `.spec.containers[name="a"].image`. */
export function pathText(path: Path): string {
  return path.map(pathElementText).join('');
}

/** A path element as shown in messages. */
export function pathElementText(element: PathElement): string {
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

/** Text that needs no escapes in JSON. */
const plainText = /^[ !#-[\]-~]*$/;

/** JSON with the keys of every object sorted. */
export function stableText(value: Json): string {
  if (typeof value === 'string') return plainText.test(value) ? `"${value}"` : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(stableText).join(',')}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${stableText(value[key] as Json)}`).join(',')}}`;
}
