import { type Json, type JsonObject, type StatusError, setKey, statusError } from '../meta/index.ts';

/** Findings past this many are not collected. */
const MAX_FINDINGS = 100;
/** Longest integer, in digits. */
const MAX_DIGITS = 1000;

export interface ExactOptions {
  readonly maxDepth: number;
  /** Told of every key in the order of the text; `again` for one that its object already had. */
  readonly onKey?: (path: string, again: boolean) => void;
}

export interface ExactResult {
  readonly value: Json;
  /** Paths of keys that their object already had, each once, in the order of the text. */
  readonly duplicates: readonly string[];
}

/** A place in an object (its key) or list (its index). */
type Step = string | number;

interface Reader {
  readonly text: string;
  readonly options: ExactOptions;
  at: number;
  readonly path: Step[];
  readonly duplicates: Set<string>;
}

/**
 * Reads JSON the slow way: integers beyond 2^53 become bigint, duplicate keys are found (the last one counts), and
 * surrogates without a partner become U+FFFD.
 * @throws StatusError 400 that says which character is wrong where
 */
export function parseExact(text: string, options: ExactOptions): ExactResult {
  const reader: Reader = { text, options, at: 0, path: [], duplicates: new Set() };
  const value = readValue(reader);
  skipSpace(reader);
  if (reader.at < text.length) throw unexpected(reader, 'after top-level value');
  return { value, duplicates: [...reader.duplicates] };
}

/** `spec.containers[0].name` */
function formatPath(path: readonly Step[]): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}

function skipSpace(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    const code = text.charCodeAt(reader.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    reader.at++;
  }
}

/** The complaint about the character at the reader's place, or about the end of the text. */
function unexpected({ text, at }: Reader, context: string): StatusError {
  if (at >= text.length) return statusError.badRequest('unexpected end of JSON input');
  return statusError.badRequest(`invalid character ${quoteByte(text.charCodeAt(at))} ${context}`);
}

/** A byte as clients know it from messages: one that is no ASCII stands as the character of that number. */
function quoteByte(byte: number): string {
  if (byte === 0x27) return "'\\''";
  if (byte === 0x22) return "'\"'";
  const named = new Map([
    [0x07, '\\a'],
    [0x08, '\\b'],
    [0x09, '\\t'],
    [0x0a, '\\n'],
    [0x0b, '\\v'],
    [0x0c, '\\f'],
    [0x0d, '\\r'],
    [0x5c, '\\\\'],
  ]).get(byte);
  if (named !== undefined) return `'${named}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  const char = String.fromCharCode(byte);
  return /[\x80-\xa0\xad]/.test(char) ? `'\\u00${byte.toString(16)}'` : `'${char}'`;
}

function readValue(reader: Reader): Json {
  skipSpace(reader);
  const char = reader.text[reader.at];
  switch (char) {
    case '{':
      return readObject(reader);
    case '[':
      return readList(reader);
    case '"':
      return readString(reader);
    case 't':
      return readLiteral(reader, 'true', true);
    case 'f':
      return readLiteral(reader, 'false', false);
    case 'n':
      return readLiteral(reader, 'null', null);
    default:
      if (char === '-' || (char !== undefined && char >= '0' && char <= '9')) return readNumber(reader);
      throw unexpected(reader, 'looking for beginning of value');
  }
}

function enter(reader: Reader): void {
  if (reader.path.length >= reader.options.maxDepth) throw statusError.badRequest('exceeded max depth');
  reader.at++;
  skipSpace(reader);
}

function readObject(reader: Reader): JsonObject {
  const out: JsonObject = {};
  enter(reader);
  if (reader.text[reader.at] === '}') {
    reader.at++;
    return out;
  }
  for (;;) {
    skipSpace(reader);
    if (reader.text[reader.at] !== '"') throw unexpected(reader, 'looking for beginning of object key string');
    const key = readString(reader);
    skipSpace(reader);
    if (reader.text[reader.at] !== ':') throw unexpected(reader, 'after object key');
    reader.at++;
    reader.path.push(key);
    noteKey(reader, Object.hasOwn(out, key));
    setKey(out, key, readValue(reader));
    reader.path.pop();
    skipSpace(reader);
    const after = reader.text[reader.at];
    if (after !== ',' && after !== '}') throw unexpected(reader, 'after object key:value pair');
    reader.at++;
    if (after === '}') return out;
  }
}

function noteKey({ path, options, duplicates }: Reader, again: boolean): void {
  if (options.onKey !== undefined) options.onKey(formatPath(path), again);
  if (again && duplicates.size < MAX_FINDINGS) duplicates.add(formatPath(path));
}

function readList(reader: Reader): Json[] {
  const out: Json[] = [];
  enter(reader);
  if (reader.text[reader.at] === ']') {
    reader.at++;
    return out;
  }
  for (;;) {
    reader.path.push(out.length);
    out.push(readValue(reader));
    reader.path.pop();
    skipSpace(reader);
    const after = reader.text[reader.at];
    if (after !== ',' && after !== ']') throw unexpected(reader, 'after array element');
    reader.at++;
    if (after === ']') return out;
  }
}

function readLiteral(reader: Reader, literal: string, value: Json): Json {
  for (const char of literal) {
    if (reader.text[reader.at] !== char) throw unexpected(reader, `in literal ${literal} (expecting '${char}')`);
    reader.at++;
  }
  return value;
}

const ESCAPES = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

function readString(reader: Reader): string {
  const { text } = reader;
  reader.at++;
  const parts: string[] = [];
  for (let from = reader.at; ; reader.at++) {
    const code = text.charCodeAt(reader.at);
    if (code === 0x22) {
      parts.push(text.slice(from, reader.at++));
      return parts.join('').replace(/\p{Surrogate}/gu, '\ufffd');
    }
    if (code === 0x5c) {
      parts.push(text.slice(from, reader.at++), readEscape(reader));
      from = reader.at + 1;
    } else if (!(code >= 0x20)) throw unexpected(reader, 'in string literal');
  }
}

/** Reads what follows a backslash; leaves the reader at its last character. */
function readEscape(reader: Reader): string {
  const char = reader.text[reader.at];
  const escaped = char === undefined ? undefined : ESCAPES.get(char);
  if (escaped !== undefined) return escaped;
  if (char !== 'u') throw unexpected(reader, 'in string escape code');
  for (let i = 0; i < 4; i++) {
    reader.at++;
    if (!/^[0-9a-fA-F]$/.test(reader.text[reader.at] ?? '')) {
      throw unexpected(reader, 'in \\u hexadecimal character escape');
    }
  }
  return String.fromCharCode(Number.parseInt(reader.text.slice(reader.at - 3, reader.at + 1), 16));
}

function readNumber(reader: Reader): number | bigint {
  const start = reader.at;
  if (reader.text[reader.at] === '-') reader.at++;
  if (reader.text[reader.at] === '0') reader.at++;
  else readDigits(reader, 'in numeric literal');
  let whole = true;
  if (reader.text[reader.at] === '.') {
    whole = false;
    reader.at++;
    readDigits(reader, 'after decimal point in numeric literal');
  }
  if (reader.text[reader.at] === 'e' || reader.text[reader.at] === 'E') {
    whole = false;
    reader.at++;
    if (reader.text[reader.at] === '+' || reader.text[reader.at] === '-') reader.at++;
    readDigits(reader, 'in exponent of numeric literal');
  }
  return exactNumber(reader.text.slice(start, reader.at), whole);
}

function readDigits(reader: Reader, context: string): void {
  const start = reader.at;
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (!(code >= 0x30 && code <= 0x39)) break;
    reader.at++;
  }
  if (reader.at === start) throw unexpected(reader, context);
}

/**
 * The value of a number: bigint when it is written without fraction and exponent and a double would change it.
 * @throws StatusError 400 when it is out of all bounds
 */
export function exactNumber(text: string, whole: boolean): number | bigint {
  const value = Number(text);
  if (whole && !Number.isSafeInteger(value) && text.length <= MAX_DIGITS) return BigInt(text);
  if (!Number.isFinite(value) || (whole && text.length > MAX_DIGITS)) {
    const shown = text.length > 40 ? `${text.slice(0, 40)} ...` : text;
    throw statusError.badRequest(`json: cannot unmarshal number ${shown} into Go value of type float64`);
  }
  return value;
}
