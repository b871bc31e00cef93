import { type Json, type JsonObject, setKey } from './json.ts';
import { duplicateField, type Path, unknownField } from './path.ts';
import { type StatusError, statusError } from './status-error.ts';
import { atOnce, Pace, type Steps } from './steps.ts';

/** Maximum number of findings of a body. */
const MAX_FINDINGS = 100;
/** Maximum number of fields whose findings are formatted; several can have the same text. */
const MAX_TOLD = 1000;
/** Maximum number of digits of an integer. */
const MAX_DIGITS = 1000;

export interface ExactOptions {
  readonly maxDepth: number;
  /** Unknown fields, to be reported in the order of the text. */
  readonly unknown?: readonly Path[];
}

export interface ExactResult {
  readonly value: Json;
  /** Duplicate keys and unknown fields, each once, in the order of the text. */
  readonly findings: readonly string[];
}

/** A tree of the paths of unknown fields. */
interface Unknown {
  readonly below: Map<string | number, Unknown>;
  /** This path is itself an unknown field. */
  here: boolean;
}

interface Reader {
  readonly text: string;
  readonly maxDepth: number;
  at: number;
  readonly path: (string | number)[];
  /** The unknown fields at the current path and below it. */
  unknown: Unknown | undefined;
  readonly findings: Set<string>;
  findingCount: number;
  readonly pace: Pace;
}

/**
 * Parses JSON, slower than `JSON.parse`: integers beyond 2^53 become bigint, duplicate keys are reported (the last
 * value wins), and unpaired surrogates become U+FFFD.
 * @throws StatusError 400 that names the invalid character and its context
 */
export const parseExact = (text: string, options: ExactOptions): ExactResult =>
  atOnce(parseExactInSteps(text, options));

/** The same in steps. */
export function* parseExactInSteps(text: string, { maxDepth, unknown = [] }: ExactOptions): Steps<ExactResult> {
  const reader: Reader = {
    text,
    maxDepth,
    at: 0,
    path: [],
    unknown: undefined,
    findings: new Set(),
    findingCount: 0,
    pace: new Pace(),
  };
  if (unknown.length > 0) reader.unknown = unknownTree(unknown);
  const value = yield* readAny(reader);
  skipSpace(reader);
  if (reader.at < text.length) throw unexpected(reader, 'after top-level value');
  return { value, findings: [...reader.findings] };
}

function unknownTree(paths: readonly Path[]): Unknown {
  const root: Unknown = { below: new Map(), here: false };
  for (const path of paths) {
    let node = root;
    for (const step of path) {
      const next = node.below.get(step) ?? { below: new Map(), here: false };
      node.below.set(step, next);
      node = next;
    }
    node.here = true;
  }
  return root;
}

function skipSpace(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    const code = text.charCodeAt(reader.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    reader.at++;
  }
}

/** The syntax error of the current character, or of the unexpected end of the text. */
function unexpected({ text, at }: Reader, context: string): StatusError {
  if (at >= text.length) return statusError.badRequest('unexpected end of JSON input');
  return statusError.badRequest(`invalid character ${quoteByte(text.charCodeAt(at))} ${context}`);
}

/** Quotes a byte as Go does; a byte beyond ASCII is shown as the character with its number. */
function quoteByte(byte: number): string {
  if (byte === 0x27) return "'\\''";
  if (byte === 0x22) return "'\"'";
  const escaped = new Map([
    [0x07, '\\a'],
    [0x08, '\\b'],
    [0x09, '\\t'],
    [0x0a, '\\n'],
    [0x0b, '\\v'],
    [0x0c, '\\f'],
    [0x0d, '\\r'],
    [0x5c, '\\\\'],
  ]).get(byte);
  if (escaped !== undefined) return `'${escaped}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  const char = String.fromCharCode(byte);
  return /[\x80-\xa0\xad]/.test(char) ? `'\\u00${byte.toString(16)}'` : `'${char}'`;
}

/** Reads a value. Only objects and lists take steps. */
function* readAny(reader: Reader): Steps<Json> {
  skipSpace(reader);
  const char = reader.text[reader.at];
  if (char === '{') return yield* readObject(reader);
  return char === '[' ? yield* readList(reader) : readScalar(reader);
}

/** Whether the value at the current place is an object or a list. */
function isContainer(reader: Reader): boolean {
  skipSpace(reader);
  const char = reader.text[reader.at];
  return char === '{' || char === '[';
}

function readScalar(reader: Reader): Json {
  const char = reader.text[reader.at];
  switch (char) {
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
  if (reader.path.length >= reader.maxDepth) throw statusError.badRequest('exceeded max depth');
  reader.at++;
  skipSpace(reader);
}

function* readObject(reader: Reader): Steps<JsonObject> {
  const out: JsonObject = {};
  const { unknown } = reader;
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
    reader.unknown = unknown?.below.get(key);
    if (reader.unknown?.here === true) tell(reader, unknownField);
    if (Object.hasOwn(out, key)) tell(reader, duplicateField);
    setKey(out, key, isContainer(reader) ? yield* readAny(reader) : readScalar(reader));
    reader.path.pop();
    if (reader.pace.over()) yield;
    skipSpace(reader);
    const after = reader.text[reader.at];
    if (after !== ',' && after !== '}') throw unexpected(reader, 'after object key:value pair');
    reader.at++;
    if (after === '}') return out;
  }
}

/** Adds a finding for the field at the current path. */
function tell(reader: Reader, words: (path: Path) => string): void {
  if (reader.findings.size < MAX_FINDINGS && reader.findingCount++ < MAX_TOLD) reader.findings.add(words(reader.path));
}

function* readList(reader: Reader): Steps<Json[]> {
  const out: Json[] = [];
  const { unknown } = reader;
  enter(reader);
  if (reader.text[reader.at] === ']') {
    reader.at++;
    return out;
  }
  for (;;) {
    reader.path.push(out.length);
    reader.unknown = unknown?.below.get(out.length);
    out.push(isContainer(reader) ? yield* readAny(reader) : readScalar(reader));
    reader.path.pop();
    if (reader.pace.over()) yield;
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

function readString(reader: Reader): string {
  const { text } = reader;
  const start = reader.at++;
  let escapes = false;
  for (;;) {
    const code = text.charCodeAt(reader.at++);
    if (code === QUOTE) break;
    if (code === BACKSLASH) {
      escapes = true;
      reader.at++;
    } else if (!(code >= 0x20)) throw stringFault(reader, start);
  }
  if (!escapes) return text.slice(start + 1, reader.at - 1);
  try {
    return wellFormed(JSON.parse(text.slice(start, reader.at)) as string);
  } catch {
    throw stringFault(reader, start);
  }
}

/** The text with U+FFFD in place of halves of surrogate pairs, as UTF-8 has it. */
const wellFormed = (text: string): string => (/\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The syntax error of the first invalid character of the string that starts there. */
function stringFault(reader: Reader, start: number): StatusError {
  const { text } = reader;
  for (reader.at = start + 1; text.charCodeAt(reader.at) >= 0x20; reader.at++) {
    if (text.charCodeAt(reader.at) !== BACKSLASH) continue;
    const kind = text[++reader.at] ?? '';
    if (!/^["\\/bfnrtu]$/.test(kind)) return unexpected(reader, 'in string escape code');
    for (let digits = kind === 'u' ? 4 : 0; digits > 0; digits--) {
      if (!/^[0-9a-fA-F]$/.test(text[++reader.at] ?? '')) {
        return unexpected(reader, 'in \\u hexadecimal character escape');
      }
    }
  }
  return unexpected(reader, 'in string literal');
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
 * Returns the value of a number. An integer beyond 2^53 becomes a bigint, and so does a number such as 1e20 that
 * `JSON.stringify` writes as an integer, so that the written text parses to the same value.
 * @throws StatusError 400 when it is out of range
 */
export function exactNumber(text: string, whole: boolean): number | bigint {
  const value = Number(text);
  if (whole && !Number.isSafeInteger(value) && text.length <= MAX_DIGITS) return BigInt(text);
  if (!Number.isFinite(value) || (whole && text.length > MAX_DIGITS)) {
    const excerpt = text.length > 40 ? `${text.slice(0, 40)} ...` : text;
    throw statusError.badRequest(`json: cannot unmarshal number ${excerpt} into Go value of type float64`);
  }
  const isWritten = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
  return isWritten ? BigInt(String(value)) : value;
}
