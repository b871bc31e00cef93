import { stringifyJson, stringifyJsonInSteps } from '../../codec/index.ts';
import {
  atOnce,
  type ByteString,
  encodeText,
  isJsonObject,
  type Json,
  type JsonObject,
  type Steps,
  weigh,
} from '../../meta/index.ts';

/** The managedFields of an object, and their text in its stored bytes. */
interface Known {
  readonly text: ByteString;
  readonly entries: Json[];
}

/** How much text is kept; with the parsed entries it takes some six times as much memory. */
const maxLength = 1024 * 1024;
/** Shorter objects are not worth an entry. */
const largeText = 16 * 1024;
/** Sets with fewer fields are not worth an entry. */
const largeSet = 200;

const mark = '"managedFields":';

/**
 * The managedFields of the large objects that were written last. They are two thirds of the text of an object with many
 * fields, and mostly the same at its next write, which then neither parses nor encodes them. One for each registry.
 */
export class ManagedFieldsCache {
  /** By store key, the oldest first. */
  readonly #recent = new Map<string, Known>();
  #length = 0;
  readonly #texts = new WeakMap<JsonObject, string>();

  /** Keeps the managedFields of an object that was stored with so long a text; nobody may change them from then on. */
  remember(key: string, entries: Json[] | undefined, textLength = largeText): void {
    this.#forget(key);
    if (textLength < largeText || entries === undefined || !entries.some(isLarge)) return;
    // The texts of large sets are known from the write.
    const text = encodeText(atOnce(this.text(entries)));
    if (text.length > maxLength) return;
    this.#recent.set(key, { text, entries });
    this.#length += text.length;
    for (const oldest of this.#recent.keys()) {
      if (this.#length <= maxLength) break;
      this.#forget(oldest);
    }
  }

  /** The object's bytes with a 0 in place of its managedFields, and these; undefined when they are not in the cache. */
  splice(key: string, bytes: ByteString): { rest: ByteString; entries: Json[] } | undefined {
    const cached = this.#recent.get(key);
    if (cached === undefined) return undefined;
    const start = bytes.indexOf(mark) + mark.length;
    if (!bytes.startsWith(cached.text, start)) return undefined;
    const rest = `${bytes.slice(0, start)}0${bytes.slice(start + cached.text.length)}` as ByteString;
    return { rest, entries: [...cached.entries] };
  }

  /** The JSON text of `metadata.managedFields`. */
  *text(entries: Json[]): Steps<string> {
    if (!entries.some(isLarge)) return yield* stringifyJsonInSteps(entries);
    const texts: string[] = [];
    for (const entry of entries) texts.push(yield* this.#entryText(entry));
    return `[${texts.join(',')}]`;
  }

  #forget(key: string): void {
    const cached = this.#recent.get(key);
    if (cached === undefined) return;
    this.#recent.delete(key);
    this.#length -= cached.text.length;
  }

  *#entryText(entry: Json): Steps<string> {
    if (!isJsonObject(entry) || !isLarge(entry)) return stringifyJson(entry);
    const members: string[] = [];
    for (const name of Object.keys(entry)) {
      const value = entry[name] as Json;
      const text = name === 'fieldsV1' ? yield* this.#setText(value as JsonObject) : stringifyJson(value);
      members.push(`${JSON.stringify(name)}:${text}`);
    }
    return `{${members.join(',')}}`;
  }

  *#setText(set: JsonObject): Steps<string> {
    let text = this.#texts.get(set);
    if (text === undefined) {
      text = yield* stringifyJsonInSteps(set);
      this.#texts.set(set, text);
    }
    return text;
  }
}

/** Whether an entry has a large set. */
const isLarge = (entry: Json): boolean => isJsonObject(entry) && weigh(entry['fieldsV1']) >= largeSet;
