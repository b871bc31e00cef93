import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  StatusError,
  type Steps,
  setKey,
  shorten,
  statusError,
} from '../meta/index.ts';
import { type ParsedBody, parsePlainJson, parsePlainJsonInSteps } from './json.ts';
import { resolveCorePlain, resolvePlain } from './yaml-scalar.ts';

/** Maximum number of tokens of a document: the library needs a few hundred bytes for each. */
const MAX_TOKENS = 400_000;
/** The most directives, and the longest one (characters): each tag with its prefix is a string of that length. */
const MAX_DIRECTIVES = 100;
const MAX_DIRECTIVE = 200;
/** Entries of the parser's stack besides the collections around a token: the document and the scalar. */
const DEPTH_BESIDES = 2;
/** The most values and characters that aliases may add to a document. */
const MAX_ALIASED = 1_000_000;
/** The most duplicate keys that are reported. */
const MAX_DUPLICATES = 100;

/** The YAML library takes 30 ms to load, so it is loaded with the first document. */
let library: typeof Yaml | undefined;
export function yaml(): typeof Yaml {
  library ??= createRequire(import.meta.url)('yaml') as typeof Yaml;
  return library;
}

/**
 * Parses the first document of a YAML body, which may be JSON: booleans, null, numbers and keys as in YAML 1.1;
 * timestamps and binary data are strings. An empty document is null. The last value of a duplicate key wins; the
 * duplicates are one finding with a line for each. Takes a second or more for a large document. `coreBooleans`: only
 * `true` and `false` are booleans, as in YAML 1.2.
 * @throws StatusError 400
 */
export function parseYaml(bytes: Uint8Array, { coreBooleans = false } = {}): ParsedBody {
  const json = parseYamlAsJson(bytes);
  if (json !== undefined) return json;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (/[^\P{Cc}\t\n\r\x85]/u.test(text)) throw refuse('control characters are not allowed');
  const lines = new (yaml().LineCounter)();
  const document = readDocument(text, lines);
  if (document === undefined) return { value: null, findings: [] };
  const resolve = coreBooleans ? resolveCorePlain : resolvePlain;
  const reader: Reader = { lines, resolve, anchors: new Map(), depth: 0, aliasDepth: 0, aliased: 0, duplicates: [] };
  const value = readNode(document.contents, reader);
  const { duplicates } = reader;
  return { value, findings: duplicates.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`] };
}

/** Parses a YAML body that is a JSON object without findings; undefined for any other. */
export const parseYamlAsJson = (bytes: Uint8Array): ParsedBody | undefined =>
  bytes[0] === 0x7b ? parsePlainJson(bytes) : undefined;

/** The same in steps, for a large body; undefined when it is not plain JSON. */
export function parseYamlAsJsonInSteps(bytes: Uint8Array): Steps<ParsedBody | undefined> | undefined {
  return bytes[0] === 0x7b ? parsePlainJsonInSteps(bytes) : undefined;
}

const refuse = (why: string, line?: number): StatusError =>
  statusError.badRequest(
    `error converting YAML to JSON: yaml: ${line === undefined ? '' : `line ${line}: `}${shorten(why)}`,
  );

/** Parses the first document of a text. @throws StatusError 400 for its first error */
function readDocument(text: string, lines: Yaml.LineCounter): Yaml.Document.Parsed | undefined {
  const faultAt = (offset: number, code: string, message: string) =>
    refuse(explain(code, message, text), lines.linePos(offset).line);
  let fault: StatusError | undefined;
  // The library collects all errors, which takes seconds and a gigabyte for a text full of them. It also continues
  // after an exception, and reports that as another error.
  const onError: OnError = (source, code, message, warning) => {
    if (warning === true) return;
    fault ??= faultAt(offsetOf(source), code, message);
    throw fault;
  };
  const composer = new (yaml().Composer)({
    schema: 'failsafe',
    version: '1.1',
    uniqueKeys: false,
    resolveKnownTags: false,
    logLevel: 'silent',
  });
  Object.assign(composer, { onError });
  try {
    const [document] = composer.compose(firstDocument(text, lines, faultAt), true, text.length);
    const [error] = document?.errors ?? [];
    if (error !== undefined) throw faultAt(error.pos[0], error.code, error.message);
    return document as Yaml.Document.Parsed | undefined;
  } catch (error) {
    throw error instanceof StatusError ? error : refuse('cannot be read');
  }
}

type OnError = (
  source: number | readonly number[] | { readonly offset: number },
  code: string,
  message: string,
  warning?: boolean,
) => void;

function offsetOf(source: Parameters<OnError>[0]): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : (source[0] ?? 0);
}

/** The syntax tokens of the first document of a text. @throws StatusError 400 above a limit */
function* firstDocument(
  text: string,
  lines: Yaml.LineCounter,
  faultAt: (offset: number, code: string, message: string) => StatusError,
): Generator<Yaml.CST.Token> {
  const { Lexer, Parser } = yaml();
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let tokens = 0;
  let directives = 0;
  let complete = false;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > MAX_TOKENS) {
      throw refuse(`document is too large: it may not have more than ${MAX_TOKENS} tokens`);
    }
    for (const part of parser.next(token)) {
      if (part.type === 'error') {
        const excerpt = part.source === '' ? '' : `: ${JSON.stringify(shorten(part.source))}`;
        throw faultAt(part.offset, 'UNEXPECTED_TOKEN', part.message + excerpt);
      }
      if (part.type === 'directive' && (++directives > MAX_DIRECTIVES || part.source.length > MAX_DIRECTIVE)) {
        throw refuse('too many directives, or one that is too long');
      }
      yield part;
      complete ||= part.type === 'document';
    }
    if (parser.stack.length > MAX_DEPTH + DEPTH_BESIDES) throw refuse('exceeded max depth');
    // The second document has started.
    if (complete && parser.stack.length > 0) return;
  }
  yield* parser.end();
}

/** The message of the reference server for an error of the library, where it is known. */
function explain(code: string, message: string, text: string): string {
  const [, flow] = /^Flow (map|sequence)/.exec(message) ?? [];
  if (flow !== undefined) {
    if (/[[{,]\s*$/.test(text.slice(-1000))) return 'did not find expected node content';
    return `did not find expected ',' or '${flow === 'map' ? '}' : ']'}'`;
  }
  if (code === 'TAB_AS_INDENT' || code === 'BAD_SCALAR_START') return 'found character that cannot start any token';
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return 'mapping values are not allowed in this context';
  return message.split('\n', 1)[0] as string;
}

interface Reader {
  readonly lines: Yaml.LineCounter;
  /** The value of a plain scalar. */
  readonly resolve: (text: string) => Json;
  /** The latest node of each anchor; undefined while the node is being read. */
  readonly anchors: Map<string, Yaml.Node | undefined>;
  depth: number;
  /** Above 0 inside an alias. */
  aliasDepth: number;
  aliased: number;
  readonly duplicates: string[];
}

const lineOf = (node: Yaml.Node, { lines }: Reader): number => lines.linePos(node.range?.[0] ?? 0).line;

function readNode(node: unknown, reader: Reader): Json {
  const { isAlias, isMap, isNode, isScalar, isSeq } = yaml();
  if (!isNode(node)) return null;
  if (isAlias(node)) return readAlias(node, reader);
  if (isScalar(node)) {
    const value = readScalar(node, reader);
    if (node.anchor !== undefined) reader.anchors.set(node.anchor, node);
    charge(reader, typeof value === 'string' ? value.length + 1 : 1);
    return value;
  }
  if (++reader.depth > MAX_DEPTH) throw refuse('exceeded max depth');
  charge(reader, 1);
  if (node.anchor !== undefined && reader.aliasDepth === 0) reader.anchors.set(node.anchor, undefined);
  let value: Json = null;
  if (isSeq(node)) value = node.items.map((item) => readNode(item, reader));
  else if (isMap(node)) value = readMap(node, reader);
  if (node.anchor !== undefined && reader.aliasDepth === 0) reader.anchors.set(node.anchor, node);
  reader.depth--;
  return value;
}

function charge(reader: Reader, cost: number): void {
  if (reader.aliasDepth === 0) return;
  reader.aliased += cost;
  if (reader.aliased > MAX_ALIASED) throw refuse('document contains excessive aliasing');
}

function readAlias(alias: Yaml.Alias, reader: Reader): Json {
  const name = alias.source;
  if (!reader.anchors.has(name)) throw refuse(`unknown anchor '${shorten(name)}' referenced`);
  const node = reader.anchors.get(name);
  if (node === undefined) throw refuse(`anchor '${shorten(name)}' value contains itself`);
  reader.aliasDepth++;
  const value = readNode(node, reader);
  reader.aliasDepth--;
  return value;
}

function readScalar(node: Yaml.Scalar, reader: Reader): Json {
  let text = typeof node.value === 'string' ? node.value : (node.source ?? '');
  if (node.type === 'QUOTE_DOUBLE') text = text.replace(/\p{Surrogate}/gu, '\ufffd');
  const tag = node.tag ?? '';
  if (tag === '!' || tag.endsWith(':str') || tag.endsWith(':binary') || tag.endsWith(':timestamp')) return text;
  if (tag === '' && node.type !== 'PLAIN' && node.type !== undefined) return text;
  if (/^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/.test(text)) {
    throw refuse(`unsupported value: ${text}`, lineOf(node, reader));
  }
  return reader.resolve(text);
}

function readMap(map: Yaml.YAMLMap, reader: Reader): JsonObject {
  const out: JsonObject = {};
  const merged: unknown[] = [];
  for (const { key, value } of map.items) {
    if (yaml().isScalar(key) && key.type === 'PLAIN' && key.value === '<<') {
      merged.push(value);
      continue;
    }
    const name = readKey(key, map, reader);
    const read = readNode(value, reader);
    // A duplicate is found at its value, after those within the value.
    if (Object.hasOwn(out, name.text) && reader.aliasDepth === 0 && reader.duplicates.length < MAX_DUPLICATES) {
      const line = lineOf(yaml().isNode(value) ? value : map, reader);
      reader.duplicates.push(`line ${line}: key ${name.display} already set in map`);
    }
    setKey(out, name.text, read);
  }
  for (const value of merged) mergeInto(out, readNode(value, reader), reader, map);
  return out;
}

/** A key as a JSON key, and as messages show it. */
function readKey(key: unknown, map: Yaml.YAMLMap, reader: Reader): { text: string; display: string } {
  const value = readNode(key, reader);
  if (typeof value === 'string') return { text: value, display: JSON.stringify(shorten(value)) };
  if (value === null || typeof value === 'object') {
    const line = lineOf(yaml().isNode(key) ? key : map, reader);
    throw refuse('a key must be text, a number or a boolean', line);
  }
  return { text: String(value), display: shorten(String(value)) };
}

/** Adds the fields of a merge key `<<`: existing keys win, then those of the first map. */
function mergeInto(out: JsonObject, value: Json, reader: Reader, map: Yaml.YAMLMap): void {
  for (const source of Array.isArray(value) ? value : [value]) {
    if (!isJsonObject(source))
      throw refuse('map merge requires map or sequence of maps as the value', lineOf(map, reader));
    for (const key of Object.keys(source)) if (!Object.hasOwn(out, key)) setKey(out, key, source[key] as Json);
  }
}
