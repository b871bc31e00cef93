import {
  atOnce,
  isLarge,
  type Json,
  type JsonObject,
  largeWeight,
  MAX_DEPTH,
  MAX_MEMBERS,
  type Path,
  parseExact,
  parseExactInSteps,
  StatusError,
  type Steps,
  setKey,
  statusError,
  weigh,
} from '../meta/index.ts';

/** Maximum number of bytes of an invalid body in a message. */
const SUMMARY_BYTES = 30;

/** The value of a request body, and the findings of strict field validation. */
export interface ParsedBody<T extends Json = Json> {
  readonly value: T;
  /** Strict findings, such as `duplicate field "metadata.name"`, in the order of the text. */
  readonly findings: readonly string[];
  /** The bytes of a JSON body, for {@link strictFindings}. */
  readonly json?: Uint8Array;
}

const NO_FINDINGS: readonly string[] = Object.freeze([]);

/**
 * Parses a JSON body. Integers beyond 2^53 become bigint, the last value of a duplicate key wins, and invalid UTF-8
 * becomes U+FFFD. Limits: `maxDepth` levels of nesting, `maxMembers` entries and fields.
 * @throws StatusError 400 with a message that says why the text is not JSON, or 413 above `maxMembers`
 */
export function parseJson(bytes: Uint8Array, maxDepth = MAX_DEPTH, maxMembers = MAX_MEMBERS): ParsedBody {
  return atOnce(parseScanned(bytes, scan(bytes), maxDepth, maxMembers));
}

function* parseScanned(bytes: Uint8Array, shape: Shape, maxDepth: number, maxMembers: number): Steps<ParsedBody> {
  if (shape.commas > maxMembers) throw statusError.tooManyMembers();
  if (shape.depth > maxDepth) throw statusError.badRequest('exceeded max depth');
  const text = textOf(bytes);
  yield;
  const body = read(bytes, text, shape, maxDepth);
  if (body !== undefined) return body;
  yield;
  throw explain(bytes);
}

/** Bodies with at least this many members are read in steps: the engine's parser takes up to a microsecond for each. */
const manyMembers = 4_000;

/** The same in steps, for bodies that are long or have many members; undefined for one that can be read in one step. */
export function parseJsonInSteps(
  bytes: Uint8Array,
  maxDepth = MAX_DEPTH,
  maxMembers = MAX_MEMBERS,
): Steps<ParsedBody> | undefined {
  if (bytes.length > scanBytes) return parseLong(bytes, maxDepth, maxMembers);
  const shape = scan(bytes);
  return hasMany(shape) && shape.commas <= maxMembers && shape.depth <= maxDepth
    ? readInSteps(bytes, maxDepth)
    : undefined;
}

/** The value of any body in steps: one step for most. @throws as {@link parseJson} does */
export function* parseAnyJsonInSteps(
  bytes: Uint8Array,
  maxDepth = MAX_DEPTH,
  maxMembers = MAX_MEMBERS,
): Steps<ParsedBody> {
  const steps = parseJsonInSteps(bytes, maxDepth, maxMembers);
  return steps === undefined ? parseJson(bytes, maxDepth, maxMembers) : yield* steps;
}

const hasMany = ({ colons, commas, containers }: Shape): boolean =>
  colons + commas >= manyMembers || containers >= manyMembers;

function* parseLong(bytes: Uint8Array, maxDepth: number, maxMembers: number): Steps<ParsedBody> {
  const shape = yield* scanInSteps(bytes);
  // Long integers take long, and the engine's parser is not used for them.
  if ((hasMany(shape) || shape.exact) && shape.commas <= maxMembers && shape.depth <= maxDepth) {
    return yield* readInSteps(bytes, maxDepth);
  }
  return yield* parseScanned(bytes, shape, maxDepth, maxMembers);
}

function* readInSteps(bytes: Uint8Array, maxDepth: number): Steps<ParsedBody> {
  yield;
  let fault: unknown;
  // The text of an invalid body is parsed again byte by byte for the message.
  for (const encoding of ['utf8', 'latin1'] as const) {
    try {
      const { value, findings } = yield* parseExactInSteps(textOf(bytes, encoding), { maxDepth });
      if (fault !== undefined) break;
      return { value, findings: findings.length === 0 ? NO_FINDINGS : findings, json: bytes };
    } catch (error) {
      fault = error;
    }
    yield;
  }
  throw fault instanceof StatusError ? fault : statusError.badRequest('invalid JSON');
}

/** Parses a JSON body, without its bytes; undefined when it is invalid, nests too deep or has findings. */
export function parsePlainJson(bytes: Uint8Array): ParsedBody | undefined {
  const shape = scan(bytes);
  const body = shape.depth > MAX_DEPTH ? undefined : read(bytes, textOf(bytes), shape, MAX_DEPTH);
  return body?.findings.length === 0 ? { value: body.value, findings: NO_FINDINGS } : undefined;
}

/** The same in steps, for a body with many members; undefined for one that can be read in one step. */
export function parsePlainJsonInSteps(bytes: Uint8Array): Steps<ParsedBody | undefined> | undefined {
  const steps = parseJsonInSteps(bytes);
  return steps === undefined ? undefined : withoutFindings(steps);
}

function* withoutFindings(steps: Steps<ParsedBody>): Steps<ParsedBody | undefined> {
  try {
    const { value, findings } = yield* steps;
    return findings.length === 0 ? { value, findings } : undefined;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** Parses a body; undefined when it is invalid. */
function read(bytes: Uint8Array, text: string, { exact, colons }: Shape, maxDepth: number): ParsedBody | undefined {
  try {
    if (!exact) {
      const value = JSON.parse(text) as Json;
      if (countKeys(value) === colons) return { value, findings: NO_FINDINGS, json: bytes };
    }
    const { value, findings } = parseExact(text, { maxDepth });
    return { value, findings: findings.length === 0 ? NO_FINDINGS : findings, json: bytes };
  } catch {
    return undefined;
  }
}

/** Stored objects nest deeper than request bodies: `metadata.managedFields` repeats their structure. */
const ownDepth = 2 * MAX_DEPTH;

/** Parses JSON text that this server wrote, which has no duplicate keys. Integers stay exact. */
export function readOwnJson(text: string): Json {
  // Only an integer of 16 digits or more can be beyond 2^53.
  return /[0-9]{16}/.test(text)
    ? parseJson(Buffer.from(text), ownDepth, Number.POSITIVE_INFINITY).value
    : (JSON.parse(text) as Json);
}

/** JSON of at least this length (bytes) is scanned for many members first: a shorter text is read in one step. */
const longJson = 64 * 1024;

/** The same in steps, for a long text with many members. */
export function* readOwnJsonInSteps(text: string): Steps<Json> {
  if (text.length < longJson) return readOwnJson(text);
  const shape = yield* scanInSteps(Buffer.from(text));
  if (!hasMany(shape)) return readOwnJson(text);
  return (yield* parseExactInSteps(text, { maxDepth: ownDepth })).value;
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array, encoding?: 'latin1' | 'utf8'): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString(encoding);

/** Returns the syntax error of a body. As in the reference server, a byte beyond ASCII is shown as one character. */
function explain(bytes: Uint8Array): StatusError {
  try {
    parseExact(textOf(bytes, 'latin1'), { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof StatusError) return error;
  }
  return statusError.badRequest('invalid JSON');
}

interface Shape {
  /** Colons outside strings: the number of keys in the text, duplicates included. */
  colons: number;
  /** Commas outside strings: a lower bound of the number of entries and fields. */
  commas: number;
  /** Objects and lists. */
  containers: number;
  depth: number;
  /** Whether `JSON.parse` may return another value: a long integer, an exponent or an escaped surrogate. */
  exact: boolean;
  /** The nesting at the end of the scanned text. */
  level: number;
}

/** The size of a scanned step (bytes), apart from the rest of its last string. */
const scanBytes = 256 * 1024;

/** Scans a JSON text once for what `JSON.parse` does not report. */
function scan(bytes: Uint8Array): Shape {
  const shape = unscanned();
  scanPart(bytes, shape, 0, bytes.length);
  return shape;
}

function* scanInSteps(bytes: Uint8Array): Steps<Shape> {
  const shape = unscanned();
  for (let from = 0; from < bytes.length; yield) from = scanPart(bytes, shape, from, from + scanBytes);
  return shape;
}

const unscanned = (): Shape => ({ colons: 0, commas: 0, containers: 0, depth: 0, exact: false, level: 0 });

/** Scans the tokens that begin before `to`, and returns the end of the last one. */
function scanPart(bytes: Uint8Array, shape: Shape, from: number, to: number): number {
  let { colons, commas, containers, level, depth, exact } = shape;
  const end = Math.min(to, bytes.length);
  let i = from;
  for (; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      for (i++; i < bytes.length; i++) {
        const inside = bytes[i] as number;
        if (inside === 0x22) break;
        // `\ud...`, a surrogate that may be unpaired.
        if (inside === 0x5c && bytes[++i] === 0x75 && ((bytes[i + 1] ?? 0) | 0x20) === 0x64) exact = true;
      }
    } else if (byte === 0x3a) colons++;
    else if (byte === 0x2c) commas++;
    else if (byte === 0x7b || byte === 0x5b) {
      containers++;
      if (++level > depth) depth = level;
    } else if (byte === 0x7d || byte === 0x5d) level--;
    else if (byte >= 0x30 && byte <= 0x39) {
      const start = i;
      let next = 0;
      do next = bytes[++i] ?? 0;
      while (next >= 0x30 && next <= 0x39);
      if (i - start >= 16 || (next | 0x20) === 0x65) exact = true;
      i--;
    }
  }
  Object.assign(shape, { colons, commas, containers, level, depth, exact });
  return i;
}

function countKeys(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countKeys(item);
    return count;
  }
  for (const key in value) {
    const item = value[key] as Json;
    count += typeof item === 'object' ? 1 + countKeys(item) : 1;
  }
  return count;
}

/** The strict findings of a JSON body, duplicate keys and the given unknown fields, in their order. Parses it again. */
export const strictFindings = (body: Uint8Array, unknown: readonly Path[]): readonly string[] =>
  atOnce(strictFindingsInSteps(body, unknown));

export function* strictFindingsInSteps(body: Uint8Array, unknown: readonly Path[]): Steps<readonly string[]> {
  const { findings } = yield* parseExactInSteps(textOf(body), { maxDepth: MAX_DEPTH, unknown });
  return findings;
}

/** The beginning of a body for a message: its text when it looks like an object, else its bytes in hexadecimal. */
export function summarizeBody(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const start = Buffer.from(body.subarray(0, SUMMARY_BYTES));
  return start.toString(start[0] === 0x7b ? 'utf8' : 'hex') + (body.length > SUMMARY_BYTES ? ' ...' : '');
}

/** The 400 for a body whose kind is unknown. `kind` is the expected one. */
export const unrecognizedBody = (kind: string, body: Uint8Array, why: string, cause?: StatusError): StatusError =>
  statusError.badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summarizeBody(body)})`,
    cause,
  );

/** The compact JSON text of a value; a bigint is written as an integer. */
export function stringifyJson(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return write(value, '', '');
  }
}

/** The same, made in steps for a large value. */
export function* stringifyJsonInSteps(value: Json): Steps<string> {
  if (!isLarge(value)) return stringifyJson(value);
  const parts: string[] = [];
  yield* writeParts(value, parts);
  return parts.join('');
}

/** Writes a large value. Adjacent small values are written together. */
function* writeParts(value: Json, parts: string[]): Steps<void> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) {
    parts.push(stringifyJson(value));
    return;
  }
  yield;
  const isList = Array.isArray(value);
  const [open, close] = isList ? '[]' : '{}';
  let separator = open as string;
  let run = new Run(isList);
  const finishRun = () => {
    const text = run.text();
    if (text !== '') parts.push(separator, text);
    if (text !== '') separator = ',';
    run = new Run(isList);
  };
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const item = (value as { readonly [key: string | number]: Json })[key] as Json;
    const weight = weigh(item);
    if (weight < largeWeight) {
      if (run.add(key, item, weight)) continue;
      finishRun();
      yield;
      continue;
    }
    finishRun();
    parts.push(separator, isList ? '' : `${JSON.stringify(key)}:`);
    separator = ',';
    yield* writeParts(item, parts);
    yield;
  }
  finishRun();
  parts.push(separator === open ? open : '', close as string);
}

/** Adjacent entries of a list, or members of an object, that are written together. */
class Run {
  readonly #list: Json[] | undefined;
  readonly #object: JsonObject = {};
  #weight = 0;

  constructor(isList: boolean) {
    this.#list = isList ? [] : undefined;
  }

  /** Returns false when the group is full. */
  add(key: string | number, item: Json, weight: number): boolean {
    if (this.#list === undefined) setKey(this.#object, key as string, item);
    else this.#list.push(item);
    this.#weight += weight;
    return this.#weight < largeWeight;
  }

  /** Its text without brackets. */
  text(): string {
    return stringifyJson(this.#list ?? this.#object).slice(1, -1);
  }
}

/** The JSON text of a value, indented by two spaces, without a final line feed. */
export function prettyJson(value: Json): string {
  try {
    return JSON.stringify(value, undefined, 2);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return write(value, '  ', '\n');
  }
}

/** As `JSON.stringify`, with bigint. `line` is a line feed and the current indentation, or empty for compact text. */
function write(value: Json | undefined, indent: string, line: string): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const inner = line + indent;
  const wrap = (open: string, parts: string[], close: string) =>
    parts.length === 0 ? open + close : `${open}${inner}${parts.join(`,${inner}`)}${line}${close}`;
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((item) => write(item, indent, inner)),
      ']',
    );
  const colon = indent === '' ? ':' : ': ';
  const parts: string[] = [];
  for (const [key, item] of Object.entries(value as JsonObject & { [key: string]: Json | undefined })) {
    if (item !== undefined) parts.push(JSON.stringify(key) + colon + write(item, indent, inner));
  }
  return wrap('{', parts, '}');
}
