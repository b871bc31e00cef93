import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  StatusError,
  type Steps,
  setKey,
  statusError,
} from '../meta/index.ts';
import { MAX_DEPTH, type ParsedBody, parseJsonInSteps } from './json.ts';
import { resolvePlain } from './yaml-scalar.ts';

/** Most tokens that are read: the library keeps a few hundred bytes for each. */
const MAX_TOKENS = 400_000;
/** Tokens that one step reads: some milliseconds. */
const STEP_TOKENS = 2_000;
/** What the lexer puts before the text of a scalar. */
const SCALAR_MARK = '\u001f';
/** What aliases may add to a document: one for each value, and one for each character. */
const MAX_ALIASED = 1_000_000;
/** Duplicate keys past this many are not collected. */
const MAX_DUPLICATES = 100;

/** The YAML library costs 30 ms to load and few servers need it: it waits for the first document. */
let library: typeof Yaml | undefined;
function yaml(): typeof Yaml {
  library ??= createRequire(import.meta.url)('yaml') as typeof Yaml;
  return library;
}

/**
 * Reads the first document of a YAML body, which may well be JSON: words, numbers and keys as in YAML 1.1, times and
 * binary data as text. An empty document is null. Of a duplicate key the last value counts; the finding about them is
 * one text with a line for each.
 * @throws StatusError 400
 */
export function parseYaml(bytes: Uint8Array): ParsedBody {
  const steps = parseYamlInSteps(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same, for whoever lets others run between two steps: only the last one takes longer the larger the document is. */
export function* parseYamlInSteps(bytes: Uint8Array): Generator<undefined, ParsedBody> {
  const json = yield* asJson(bytes);
  if (json !== undefined) return json;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const lines = new (yaml().LineCounter)();
  const document = yield* readDocument(text, lines);
  if (document === undefined) return { value: null, findings: [] };
  const [error] = document.errors;
  if (error !== undefined) throw refuse(explain(error, text), lines.linePos(error.pos[0]).line);
  const reader: Reader = { lines, anchors: new Map(), depth: 0, aliasDepth: 0, aliased: 0, duplicates: [] };
  const value = readNode(document.contents, reader);
  const { duplicates } = reader;
  return { value, findings: duplicates.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`] };
}

/** What a body says that is plain JSON without oddities; undefined for any other. */
function* asJson(bytes: Uint8Array): Steps<ParsedBody | undefined> {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    const body = yield* parseJsonInSteps(bytes);
    return body.findings.length === 0 ? body : undefined;
  } catch {
    return undefined;
  }
}

const refuse = (why: string, line?: number): StatusError =>
  statusError.badRequest(`error converting YAML to JSON: yaml: ${line === undefined ? '' : `line ${line}: `}${why}`);

/** Refuses a text that would take a lot of memory or stack before that is built of it. */
class SizeCheck {
  tokens = 0;
  #depth = 0;
  #before = '';

  next(token: string): void {
    if (this.#before !== SCALAR_MARK) {
      if (token === '[' || token === '{') this.#depth++;
      else if (token === ']' || token === '}') this.#depth--;
    }
    if (this.#depth > MAX_DEPTH) throw refuse('exceeded max depth');
    if (++this.tokens > MAX_TOKENS) {
      throw refuse(`document is too large: it may not have more than ${MAX_TOKENS} tokens`);
    }
    this.#before = token;
  }
}

function* readDocument(text: string, lines: Yaml.LineCounter): Generator<undefined, Yaml.Document.Parsed | undefined> {
  const { Composer, Lexer, Parser } = yaml();
  const composer = new Composer({ schema: 'failsafe', version: '1.1', uniqueKeys: false, logLevel: 'silent' });
  const parser = new Parser(lines.addNewLine);
  const size = new SizeCheck();
  lines.addNewLine(0);
  try {
    for (const token of new Lexer().lex(text)) {
      size.next(token);
      const document = firstOf(composer, parser.next(token));
      if (document !== undefined) return document;
      if (size.tokens % STEP_TOKENS === 0) yield;
    }
    const last = firstOf(composer, parser.end()) ?? [...composer.end(true, text.length)][0];
    return last as Yaml.Document.Parsed | undefined;
  } catch (error) {
    if (error instanceof StatusError) throw error;
    if (error instanceof RangeError) throw refuse('exceeded max depth');
    throw refuse('cannot be read');
  }
}

/** The first document that is complete with these parts. */
function firstOf(composer: Yaml.Composer, parts: Iterable<Yaml.CST.Token>): Yaml.Document.Parsed | undefined {
  for (const part of parts) for (const document of composer.next(part)) return document as Yaml.Document.Parsed;
  return undefined;
}

/** The fault in the words of the wire where they are known. */
function explain({ code, message }: Yaml.YAMLParseError, text: string): string {
  const [, flow] = /^Flow (map|sequence)/.exec(message) ?? [];
  if (flow !== undefined) {
    if (/[[{,]\s*$/.test(text.slice(-1000))) return 'did not find expected node content';
    return `did not find expected ',' or '${flow === 'map' ? '}' : ']'}'`;
  }
  if (code === 'TAB_AS_INDENT' || code === 'BAD_SCALAR_START') return 'found character that cannot start any token';
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return 'mapping values are not allowed in this context';
  if (message.startsWith('Maximum call stack')) return 'exceeded max depth';
  return message.split('\n')[0] as string;
}

interface Reader {
  readonly lines: Yaml.LineCounter;
  /** The last node of each name so far; undefined while the node is being read. */
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
  if (!reader.anchors.has(name)) throw refuse(`unknown anchor '${name}' referenced`);
  const node = reader.anchors.get(name);
  if (node === undefined) throw refuse(`anchor '${name}' value contains itself`);
  reader.aliasDepth++;
  const value = readNode(node, reader);
  reader.aliasDepth--;
  return value;
}

function readScalar(node: Yaml.Scalar, reader: Reader): Json {
  const text = typeof node.value === 'string' ? node.value : (node.source ?? '');
  const tag = node.tag ?? '';
  if (tag === '!' || tag.endsWith(':str') || tag.endsWith(':binary') || tag.endsWith(':timestamp')) return text;
  if (tag === '' && node.type !== 'PLAIN' && node.type !== undefined) return text;
  if (/^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/.test(text)) {
    throw refuse(`unsupported value: ${text}`, lineOf(node, reader));
  }
  return resolvePlain(text);
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
    if (Object.hasOwn(out, name.text) && reader.aliasDepth === 0 && reader.duplicates.length < MAX_DUPLICATES) {
      const line = lineOf(yaml().isNode(key) ? key : map, reader);
      reader.duplicates.push(`line ${line}: key ${name.shown} already set in map`);
    }
    setKey(out, name.text, readNode(value, reader));
  }
  for (const value of merged) mergeInto(out, readNode(value, reader), reader, map);
  return out;
}

/** A key as JSON has it, and as messages show it. */
function readKey(key: unknown, map: Yaml.YAMLMap, reader: Reader): { text: string; shown: string } {
  const value = readNode(key, reader);
  if (typeof value === 'string') return { text: value, shown: JSON.stringify(value) };
  if (value === null || typeof value === 'object') {
    const line = lineOf(yaml().isNode(key) ? key : map, reader);
    throw refuse('a key must be text, a number or a boolean', line);
  }
  return { text: String(value), shown: String(value) };
}

/** Adds what `<<` brings: keys of its own win, then those of the first map. */
function mergeInto(out: JsonObject, value: Json, reader: Reader, map: Yaml.YAMLMap): void {
  for (const source of Array.isArray(value) ? value : [value]) {
    if (!isJsonObject(source))
      throw refuse('map merge requires map or sequence of maps as the value', lineOf(map, reader));
    for (const key of Object.keys(source)) if (!Object.hasOwn(out, key)) setKey(out, key, source[key] as Json);
  }
}
