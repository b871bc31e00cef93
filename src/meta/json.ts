/** A JSON value. Integers that a double cannot represent exactly are `bigint`; other numbers never are. */
export type Json = null | boolean | number | bigint | string | JsonArray | JsonObject;
export type JsonArray = Json[];
/** Keys are plain data, `__proto__` included: set keys from clients with {@link setKey}. */
export interface JsonObject {
  [key: string]: Json;
}

/** Maximum nesting depth of a request body and of a patched object. */
export const MAX_DEPTH = 512;

/** The maximum number of items of one list, of fields of one object, and of both in one body. */
export const MAX_ITEMS = 64 * 1024;
export const MAX_FIELDS = 16 * 1024;
export const MAX_MEMBERS = 400_000;

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON type of a value as shown in messages: `array`, `bool`, `null`, `number`, `object`, `string`. */
export function jsonType(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

/** Sets an own property under any key, `__proto__` included. */
export function setKey<V>(target: { [key: string]: V }, key: string, value: V): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** The value if it is a string, else the empty string: for values whose type a schema has checked. */
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Returns the own property of any key; undefined for inherited properties. */
export function getKey<V>(target: { [key: string]: V }, key: string): V | undefined {
  return Object.hasOwn(target, key) ? target[key] : undefined;
}

/** Whether two JSON values are equal, in any order of object keys. */
export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!jsonEqual(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let others = 0;
  for (const _ in b) others++;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key])) return false;
    others--;
  }
  return others === 0;
}

/** Parses untrusted JSON; undefined when it is invalid or nests deeper than a request body may. */
export function readJsonText(text: string): Json | undefined {
  if (textNestsDeeper(text, MAX_DEPTH)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Whether the objects and arrays of a JSON text nest deeper than `levels`. The parser needs much time for each level. */
function textNestsDeeper(text: string, levels: number): boolean {
  let level = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quoteCode) {
      for (i++; i < text.length; i++) {
        const inside = text.charCodeAt(i);
        if (inside === quoteCode) break;
        if (inside === backslashCode) i++;
      }
    } else if (code === 0x5b || code === 0x7b) {
      if (++level > levels) return true;
    } else if (code === 0x5d || code === 0x7d) level--;
  }
  return false;
}

const quoteCode = 0x22;
const backslashCode = 0x5c;

/** JSON with the characters escaped that HTML or JavaScript treat specially, as Go's encoder does. */
export const escapeHtml = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Copies a value deeply. */
export function jsonCopy<T extends Json>(value: T): T;
export function jsonCopy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => jsonCopy(item));
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setKey(out, key, jsonCopy(value[key] as Json));
  return out;
}
