import { atOnce, type Json, type JsonObject, StatusError, type Steps, statusError } from '../meta/index.ts';
import { parseExact } from './json-exact.ts';

/** Deepest nesting of objects and lists that is read; what walks a value may therefore call itself. */
export const MAX_DEPTH = 512;

/** A body of so many bytes is large. */
const LARGE_BYTES = 256 * 1024;

/** How much of a body that could not be read is shown. */
const SUMMARY_BYTES = 30;

/** What stands in a body, and what is odd about the way it is written. */
export interface ParsedBody<T extends Json = Json> {
  readonly value: T;
  /** Strict findings, such as `duplicate field "metadata.name"`, in the order of the text. */
  readonly findings: readonly string[];
  /** The bytes of a JSON body that has findings, for {@link sortFindings}. */
  readonly json?: Uint8Array;
}

const NO_FINDINGS: readonly string[] = Object.freeze([]);

/**
 * Reads a JSON body. Integers beyond 2^53 become bigint, of a duplicate key the last value counts, bytes that are no
 * UTF-8 become U+FFFD. Nothing may nest deeper than `maxDepth`.
 * @throws StatusError 400 with the place of the fault in the words of the wire; see {@link unrecognizedBody}
 */
export const parseJson = (bytes: Uint8Array, maxDepth = MAX_DEPTH): ParsedBody =>
  atOnce(parseJsonInSteps(bytes, maxDepth));

/** The same in steps where the body is large. */
export function* parseJsonInSteps(bytes: Uint8Array, maxDepth = MAX_DEPTH): Steps<ParsedBody> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const shape = scan(bytes);
  if (shape.depth > maxDepth) throw statusError.badRequest('exceeded max depth');
  const large = bytes.length >= LARGE_BYTES;
  if (large) yield;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw explain(bytes, error);
  }
  if (large) yield;
  if (!shape.exact && countKeys(value) === shape.colons) return { value, findings: NO_FINDINGS };
  const { value: exact, duplicates } = parseExact(text, { maxDepth: MAX_DEPTH });
  if (duplicates.length === 0) return { value: exact, findings: NO_FINDINGS };
  return { value: exact, findings: duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`), json: bytes };
}

/** The value of JSON text that this program wrote: no key stands twice in it, and integers stay exact. */
export function readOwnJson(text: string): Json {
  // Only a long run of digits can be an integer that a double does not hold.
  return /[0-9]{16}/.test(text) ? parseJson(Buffer.from(text)).value : (JSON.parse(text) as Json);
}

/** What is wrong is told of the bytes, each as a character of its own. */
function explain(bytes: Uint8Array, cause: unknown): StatusError {
  try {
    parseExact(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'), {
      maxDepth: MAX_DEPTH,
    });
  } catch (error) {
    if (error instanceof StatusError) return error;
  }
  return statusError.badRequest('invalid JSON', cause);
}

interface Shape {
  /** Colons outside strings: as many as there are keys in the text. */
  colons: number;
  depth: number;
  /** There is something that the platform's parser reads otherwise than we do. */
  exact: boolean;
}

/** One look at the bytes of a JSON text, for what the platform's parser does not tell. */
function scan(bytes: Uint8Array): Shape {
  let colons = 0;
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
  return { colons, depth, exact };
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
 * Findings about a JSON body (`duplicate field "…"`, `unknown field "…"`) in the order in which their fields stand in
 * it; others first. Reads the body again.
 */
export function sortFindings(body: Uint8Array, findings: readonly string[]): string[] {
  if (findings.length < 2) return [...findings];
  const places = new Map<string, number>();
  const onKey = (path: string, again: boolean) => {
    const finding = `${again ? 'duplicate' : 'unknown'} field ${JSON.stringify(path)}`;
    if (!places.has(finding)) places.set(finding, places.size);
  };
  parseExact(Buffer.from(body).toString(), { maxDepth: MAX_DEPTH, onKey });
  const place = (finding: string) => places.get(finding) ?? -1;
  return [...findings].sort((a, b) => place(a) - place(b));
}

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

/** The JSON text of a value for people: indented by two spaces, with a line feed at its end. */
export function prettyJson(value: Json): string {
  try {
    return `${JSON.stringify(value, undefined, 2)}\n`;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return `${write(value, '  ', '\n')}\n`;
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
