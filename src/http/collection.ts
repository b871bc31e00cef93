import { setImmediate as nextTurn } from 'node:timers/promises';
import { prettyJson, stringifyYaml } from '../codec/index.ts';
import { type ByteString, encodeText, type Json, type JsonObject } from '../meta/index.ts';
import { type ObjectList, type Target, type View, viewList, viewObject } from '../registry/index.ts';
import { type Form, headersOf, readOwnBytes } from './media.ts';
import type { Protobuf } from './protobuf.ts';
import type { ApiResponse } from './types.ts';

/**
 * Answers with a list: in one piece when it is small, else piece by piece, each made when the one before was taken and
 * with a turn for everybody else between them.
 */
export function listAnswer(
  target: Target,
  list: ObjectList,
  view: View,
  form: Form,
): ApiResponse | Promise<ApiResponse> {
  if (form.protobuf !== undefined) return protobufAnswer(target, list, view, form.protobuf);
  const pieces = form.yaml || form.pretty ? rewritten(target, list, view, form) : viewList(target, list, view);
  const first = pieces.next().value as ByteString;
  const second = pieces.next();
  const headers = headersOf(form);
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
  yield first;
  let piece = second;
  for (;;) {
    await nextTurn();
    const next = rest.next();
    if (next.done === true) break;
    yield piece;
    piece = next.value;
  }
  yield (piece + end) as ByteString;
}

/** Objects are written until so much JSON was read (bytes); then everybody else has a turn. */
const strideBytes = 128 * 1024;

/** Answers with a list that is whole before its first byte is sent: its length comes first. */
async function protobufAnswer(target: Target, list: ObjectList, view: View, protobuf: Protobuf): Promise<ApiResponse> {
  const frame = readOwnBytes([...viewList(target, { ...list, items: [] }, view)].join('')) as JsonObject;
  const kind = (frame['kind'] as string).replace(/List$/, '');
  const written = protobuf.list({ apiVersion: frame['apiVersion'] as string, kind });
  let read = 0;
  for (const object of list.items) {
    written.add(readOwnBytes(viewObject(target, object, view)));
    read += object.bytes.length;
    if (read < strideBytes) continue;
    read = 0;
    await nextTurn();
  }
  const pieces = protobuf.finish(written, frame);
  const body = pieces.length <= 3 ? Buffer.concat(pieces) : inOrder(pieces);
  return { status: 200, headers: protobuf.headers, body };
}

async function* inOrder(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** The list in another form, made from its pieces: each holds whole items. */
function* rewritten(target: Target, list: ObjectList, view: View, form: Form): Generator<ByteString> {
  const empty = [...viewList(target, { ...list, items: [] }, view)].join('');
  const opening = empty.slice(0, -closing.length);
  const fields = readOwnBytes(empty as ByteString) as JsonObject;
  const frame = form.yaml ? yamlFrame(fields) : prettyFrame(fields);
  const pieces = viewList(target, list, view);
  let begun = false;
  let piece = (pieces.next().value as string).slice(opening.length);
  for (let over = false; !over; ) {
    const next = pieces.next();
    over = next.done === true;
    const items = itemsOf(over ? piece.slice(0, -closing.length) : piece);
    let text = begun ? '' : frame.head;
    for (const item of items) {
      text += (begun ? frame.between : frame.first) + frame.item(item);
      begun = true;
    }
    if (over) text += begun ? frame.tail : frame.emptyTail;
    yield encodeText(text);
    if (next.done !== true) piece = next.value;
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
  readonly item: (value: Json) => string;
}

const itemsField = (fields: JsonObject) => (Object.hasOwn(fields, 'rows') ? 'rows' : 'items');

function prettyFrame(fields: JsonObject): Frame {
  // `…"items": []` and a closing brace.
  const text = prettyJson(fields).trimEnd();
  return {
    head: text.slice(0, text.lastIndexOf(']')),
    first: '\n    ',
    between: ',\n    ',
    tail: '\n  ]\n}\n',
    emptyTail: ']\n}\n',
    item: (value) => prettyJson(value).trimEnd().replaceAll('\n', '\n    '),
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
    item: (value) => stringifyYaml(value).trimEnd().replaceAll('\n', '\n  '),
  };
}
