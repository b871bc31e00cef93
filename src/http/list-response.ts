import { setImmediate as nextTurn } from 'node:timers/promises';
import { prettyJson, stringifyYaml, stringifyYamlInSteps } from '../codec/index.ts';
import { type ByteString, encodeText, type Json, type JsonObject, type Steps } from '../meta/index.ts';
import {
  type ObjectList,
  type Representation,
  representList,
  representObject,
  type Target,
} from '../registry/index.ts';
import { type Form, headersOf, readOwnBytes } from './media.ts';
import type { Protobuf } from './protobuf.ts';
import type { ApiResponse } from './types.ts';

/**
 * Answers with a list: in one piece when it is small, else piece by piece, each made when the one before was taken and
 * with a turn for everybody else between them.
 */
export function listResponse(
  target: Target,
  list: ObjectList,
  view: Representation,
  form: Form,
): ApiResponse | Promise<ApiResponse> {
  const headers = headersOf(form);
  if (form.protobuf !== undefined) return protobufAnswer(target, list, view, form.protobuf, headers);
  const pieces = form.yaml || form.pretty ? rewritten(target, list, view, form) : representList(target, list, view);
  const first = pieces.next().value as ByteString;
  const second = pieces.next();
  const end = form.yaml || form.pretty ? '' : '\n';
  if (second.done === true) return { status: 200, headers, body: (first + end) as ByteString };
  return { status: 200, headers, body: inTurns(first, second.value, pieces, end) };
}

async function* inTurns(
  first: ByteString,
  second: ByteString,
  rest: Iterator<ByteString>,
  end: string,
): AsyncGenerator<ByteString> {
  let piece = first;
  for (let next: IteratorResult<ByteString> = { value: second }; next.done !== true; next = rest.next()) {
    // A step of the writing of a large item has no text of its own.
    if (piece !== '') yield piece;
    piece = next.value;
    await nextTurn();
  }
  yield (piece + end) as ByteString;
}

type Item = ObjectList['items'] extends Iterable<infer T> ? T : never;

/** Objects are written until so much JSON was read (bytes); then everybody else has a turn. */
const strideBytes = 128 * 1024;
/** Pieces of a list in protobuf are about this long, and so much of its beginning is written only once (bytes). */
const pieceBytes = 64 * 1024;
const keptBytes = 1024 * 1024;

/**
 * Answers with a list in protobuf. Its length comes first: what an object takes up is kept with it, so that none need
 * be written before it is sent, its beginning aside.
 */
async function protobufAnswer(
  target: Target,
  list: ObjectList,
  view: Representation,
  protobuf: Protobuf,
  headers: ApiResponse['headers'],
): Promise<ApiResponse> {
  const { metadata, ...rest } = readOwnBytes(
    [...representList(target, { ...list, items: [] }, view)].join(''),
  ) as JsonObject;
  const { apiVersion, kind } = rest as { apiVersion: string; kind: string };
  const { list: written, schema } = protobuf.list({ apiVersion, kind: kind.replace(/List$/, '') });
  const write = (object: Item) => written.item(readOwnBytes(representObject(target, object, view)));
  const items: Item[] = [];
  const kept: ByteString[] = [];
  let size = 0;
  let read = 0;
  for (const object of list.items) {
    read += 64;
    if (object.sizeOf !== schema) {
      const item = write(object);
      if (size < keptBytes && kept.length === items.length) kept.push(item);
      object.size = item.length;
      object.sizeOf = schema;
      read += object.bytes.length;
    }
    size += object.size ?? 0;
    items.push(object);
    if (read < strideBytes) continue;
    read = 0;
    await nextTurn();
  }
  const head = written.head({ apiVersion, kind }, metadata as Json, size);
  if (size <= pieceBytes) {
    const texts = items.map((object, i) => kept[i] ?? write(object));
    return { status: 200, headers, body: [head, ...texts, written.tail].join('') as ByteString };
  }
  return { status: 200, headers, body: protobufPieces(items, kept, write, head, written.tail) };
}

async function* protobufPieces(
  items: readonly Item[],
  kept: readonly ByteString[],
  write: (object: Item) => ByteString,
  head: ByteString,
  tail: ByteString,
): AsyncGenerator<ByteString> {
  let piece: string = head;
  for (const [i, object] of items.entries()) {
    piece += kept[i] ?? write(object);
    if (piece.length < pieceBytes) continue;
    yield piece as ByteString;
    piece = '';
    await nextTurn();
  }
  yield (piece + tail) as ByteString;
}

/** The list in another form, made from its pieces: each holds whole items. Of a large item some steps give an empty piece. */
function* rewritten(target: Target, list: ObjectList, view: Representation, form: Form): Generator<ByteString> {
  const empty = [...representList(target, { ...list, items: [] }, view)].join('');
  const opening = empty.slice(0, -closing.length);
  const fields = readOwnBytes(empty as ByteString) as JsonObject;
  const frame = form.yaml ? yamlFrame(fields) : prettyFrame(fields);
  const pieces = representList(target, list, view);
  let begun = false;
  let piece = (pieces.next().value as string).slice(opening.length);
  for (let over = false; !over; ) {
    const next = pieces.next();
    over = next.done === true;
    const items = itemsOf(over ? piece.slice(0, -closing.length) : piece);
    let text = begun ? '' : frame.head;
    for (const item of items) {
      const written = frame.item(item);
      text += begun ? frame.between : frame.first;
      text += typeof written === 'string' ? written : yield* emptyPieces(written);
      begun = true;
    }
    if (over) text += begun ? frame.tail : frame.emptyTail;
    yield encodeText(text);
    if (next.done !== true) piece = next.value;
  }
}

/** The result of all steps; each of them gives an empty piece. */
function* emptyPieces(steps: Steps<string>): Generator<ByteString, string> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield '' as ByteString;
  }
}

/** How a list ends. */
const closing = ']}';

const itemsOf = (piece: string): Json[] =>
  readOwnBytes(`[${piece.startsWith(',') ? piece.slice(1) : piece}]` as ByteString) as Json[];

/** The fixed texts of a list around the texts of its items. */
interface Frame {
  readonly head: string;
  readonly first: string;
  readonly between: string;
  readonly tail: string;
  /** The end of a list that has no items. */
  readonly emptyTail: string;
  readonly item: (value: Json) => string | Steps<string>;
}

const itemsField = (fields: JsonObject) => (Object.hasOwn(fields, 'rows') ? 'rows' : 'items');

function prettyFrame(fields: JsonObject): Frame {
  // `…"items": []` and a closing brace.
  const text = prettyJson(fields);
  return {
    head: text.slice(0, text.lastIndexOf(']')),
    first: '\n    ',
    between: ',\n    ',
    tail: '\n  ]\n}',
    emptyTail: ']\n}',
    item: (value) => prettyJson(value).replaceAll('\n', '\n    '),
  };
}

/** Keys stand in their natural order, which puts the items of a list before its kind and the rows of a table last. */
function yamlFrame(fields: JsonObject): Frame {
  const name = itemsField(fields);
  const mark = `${name}: []\n`;
  const text = stringifyYaml(fields);
  const at = text.indexOf(mark, text.startsWith(mark) ? 0 : text.indexOf(`\n${mark}`) + 1);
  const after = text.slice(at + mark.length);
  return {
    head: `${text.slice(0, at)}${name}:`,
    first: '\n- ',
    between: '\n- ',
    tail: `\n${after}`,
    emptyTail: ` []\n${after}`,
    *item(value) {
      const text = yield* stringifyYamlInSteps(value);
      return text.trimEnd().replaceAll('\n', '\n  ');
    },
  };
}
