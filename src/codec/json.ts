import {
  type Json,
  type JsonObject,
  MAX_DEPTH,
  MAX_MEMBERS,
  type Path,
  StatusError,
  statusError,
} from '../meta/index.ts';
import { parseExact } from './json-exact.ts';

/** How much of a body that could not be read is shown. */
const SUMMARY_BYTES = 30;

/** What stands in a body, and what is odd about the way it is written. */
export interface ParsedBody<T extends Json = Json> {
  readonly value: T;
  /** Strict findings, such as `duplicate field "metadata.name"`, in the order of the text. */
  readonly findings: readonly string[];
  /** The bytes of a JSON body that has findings, for {@link strictFindings}. */
  readonly json?: Uint8Array;
}

const NO_FINDINGS: readonly string[] = Object.freeze([]);

/**
 * Reads a JSON body. Integers beyond 2^53 become bigint, of a duplicate key the last value counts, bytes that are no
 * UTF-8 become U+FFFD. Nothing may nest deeper than `maxDepth`, nor have more entries and fields than `maxMembers`.
 * @throws StatusError 400 with the place of the fault in the words of the wire; see {@link unrecognizedBody}. 413
 */
export function parseJson(bytes: Uint8Array, maxDepth = MAX_DEPTH, maxMembers = MAX_MEMBERS): ParsedBody {
  const shape = scan(bytes);
  if (shape.commas > maxMembers) throw statusError.tooManyMembers();
  if (shape.depth > maxDepth) throw statusError.badRequest('exceeded max depth');
  const body = read(bytes, shape, maxDepth);
  if (body === undefined) throw explain(bytes);
  return body;
}

/** The same, and undefined for what is no JSON, nests too deep or has findings. */
export function parsePlainJson(bytes: Uint8Array): ParsedBody | undefined {
  const shape = scan(bytes);
  const body = shape.depth > MAX_DEPTH ? undefined : read(bytes, shape, MAX_DEPTH);
  return body?.findings.length === 0 ? body : undefined;
}

/** Undefined: it is no JSON. */
function read(bytes: Uint8Array, { exact, colons }: Shape, maxDepth: number): ParsedBody | undefined {
  const text = textOf(bytes);
  try {
    if (!exact) {
      const value = JSON.parse(text) as Json;
      if (countKeys(value) === colons) return { value, findings: NO_FINDINGS };
    }
    const { value, findings } = parseExact(text, { maxDepth });
    return findings.length === 0 ? { value, findings: NO_FINDINGS } : { value, findings, json: bytes };
  } catch {
    return undefined;
  }
}

/** Stored objects nest deeper than bodies: their managedFields stand below the metadata. */
const ownDepth = 2 * MAX_DEPTH;

/** The value of JSON text that this program wrote: no key stands twice in it, and integers stay exact. */
export function readOwnJson(text: string): Json {
  // Only a long run of digits can be an integer that a double does not hold.
  return /[0-9]{16}/.test(text)
    ? parseJson(Buffer.from(text), ownDepth, Number.POSITIVE_INFINITY).value
    : (JSON.parse(text) as Json);
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array, encoding?: 'latin1'): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString(encoding);

/** What is wrong is told of the bytes, each as a character of its own. */
function explain(bytes: Uint8Array): StatusError {
  try {
    parseExact(textOf(bytes, 'latin1'), { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof StatusError) return error;
  }
  return statusError.badRequest('invalid JSON');
}

interface Shape {
  /** Colons outside strings: as many as there are keys in the text. */
  colons: number;
  /** Commas outside strings: fewer than there are entries and fields in the text. */
  commas: number;
  depth: number;
  /** There is something that the platform's parser reads otherwise than we do. */
  exact: boolean;
}

/** One look at the bytes of a JSON text, for what the platform's parser does not tell. */
function scan(bytes: Uint8Array): Shape {
  let colons = 0;
  let commas = 0;
  let level = 0;
  let depth = 0;
  let exact = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      for (i++; i < bytes.length; i++) {
        const inside = bytes[i] as number;
        if (inside === 0x22) break;
        // `\ud...`, a surrogate that may lack its partner.
        if (inside === 0x5c && bytes[++i] === 0x75 && ((bytes[i + 1] ?? 0) | 0x20) === 0x64) exact = true;
      }
    } else if (byte === 0x3a) colons++;
    else if (byte === 0x2c) commas++;
    else if (byte === 0x7b || byte === 0x5b) {
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
  return { colons, commas, depth, exact };
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

/**
 * The findings about a JSON body, duplicate keys and these unknown fields, in the order in which they stand in it. Reads
 * the body again.
 */
export const strictFindings = (body: Uint8Array, unknown: readonly Path[]): readonly string[] =>
  parseExact(textOf(body), { maxDepth: MAX_DEPTH, unknown }).findings;

/** The beginning of a body for a message: its text when it looks like an object, else its bytes in hexadecimal. */
export function summarizeBody(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const start = Buffer.from(body.subarray(0, SUMMARY_BYTES));
  return start.toString(start[0] === 0x7b ? 'utf8' : 'hex') + (body.length > SUMMARY_BYTES ? ' ...' : '');
}

/**
 * The refusal of a body in which not even the kind could be found. `kind` is what was expected; `fault` what
 * {@link parseJson} threw.
 */
export function unrecognizedBody(kind: string, body: Uint8Array, fault: StatusError): StatusError {
  return statusError.badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${fault.message} (${summarizeBody(body)})`,
    fault,
  );
}

/** The JSON text of a value, integers exact. */
export function stringifyJson(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return write(value, '', '');
  }
}

/** The JSON text of a value for people: indented by two spaces, without a line feed at its end. */
export function prettyJson(value: Json): string {
  try {
    return JSON.stringify(value, undefined, 2);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return write(value, '  ', '\n');
  }
}

/** As the platform writes it, but for bigint. `line` is a line feed and the indentation so far, or empty. */
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
