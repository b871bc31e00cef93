import { stringifyJson } from '../codec/index.ts';
import { type ByteString, encodeText, isJsonObject, type Json, type JsonObject } from '../meta/index.ts';

/**
 * Who owns the fields of the large objects that were written last. That is two thirds of the text of an object with
 * many entries, and mostly the same at the next write: it is then neither read nor spelled anew.
 */
interface Known {
  readonly text: ByteString;
  readonly owners: Json[];
}

/** By store key, the oldest first. */
const recent = new Map<string, Known>();
/** How much text is kept; with what was read from it, it takes some six times as much memory. */
const maxLength = 1024 * 1024;
let length = 0;

/** From how long a text on an object is large. */
const largeText = 16 * 1024;

/** Keeps the owners of an object that was written with so long a text; nobody changes them any more. */
export function rememberManagedFields(key: string, owners: Json[] | undefined, textLength = largeText): void {
  forget(key);
  if (textLength < largeText || owners === undefined || !owners.some(isLarge)) return;
  const text = encodeText(managedFieldsText(owners));
  if (text.length > maxLength) return;
  recent.set(key, { text, owners });
  length += text.length;
  for (const oldest of recent.keys()) {
    if (length <= maxLength) break;
    forget(oldest);
  }
}

function forget(key: string): void {
  const known = recent.get(key);
  if (known === undefined) return;
  recent.delete(key);
  length -= known.text.length;
}

const mark = '"managedFields":';

/** An object with a number in the place of its owners, and the owners; undefined when they are not known by its bytes. */
export function spliceManagedFields(key: string, bytes: ByteString): { rest: ByteString; owners: Json[] } | undefined {
  const known = recent.get(key);
  if (known === undefined) return undefined;
  const start = bytes.indexOf(mark) + mark.length;
  if (!bytes.startsWith(known.text, start)) return undefined;
  const rest = `${bytes.slice(0, start)}0${bytes.slice(start + known.text.length)}` as ByteString;
  return { rest, owners: [...known.owners] };
}

/** From how many elements on a set is worth remembering. */
const largeSet = 200;
/** Sets that are known to have that many: to begin a look at one takes as long as to count it all. */
const counted = new WeakSet<JsonObject>();

function isLarge(entry: Json): boolean {
  const set = isJsonObject(entry) ? entry['fieldsV1'] : undefined;
  if (!isJsonObject(set)) return false;
  if (counted.has(set)) return true;
  const large = elementsOf(set, largeSet) >= largeSet;
  if (large) counted.add(set);
  return large;
}

/** How many elements a set has; it is counted no further than to the limit. */
function elementsOf(set: JsonObject, limit: number): number {
  let count = 0;
  for (const element in set) {
    count += 1 + elementsOf(set[element] as JsonObject, limit - count);
    if (count >= limit) break;
  }
  return count;
}

/** The texts of large sets that have been spelled. */
const spelled = new WeakMap<JsonObject, string>();

/** The JSON text of `metadata.managedFields`. */
export const managedFieldsText = (owners: Json[]): string =>
  owners.some(isLarge) ? `[${owners.map(entryText).join(',')}]` : stringifyJson(owners);

function entryText(entry: Json): string {
  if (!isJsonObject(entry) || !isLarge(entry)) return stringifyJson(entry);
  const members = Object.keys(entry).map((name) => {
    const value = entry[name] as Json;
    return `${JSON.stringify(name)}:${name === 'fieldsV1' ? setText(value as JsonObject) : stringifyJson(value)}`;
  });
  return `{${members.join(',')}}`;
}

function setText(set: JsonObject): string {
  let text = spelled.get(set);
  if (text === undefined) {
    text = stringifyJson(set);
    spelled.set(set, text);
  }
  return text;
}
