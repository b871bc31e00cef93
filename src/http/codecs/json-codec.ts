import {
  parseJson,
  parseJsonInSteps,
  prettyJson,
  prettyJsonInSteps,
  readOwnJsonInSteps,
  stringifyJson,
  stringifyJsonInSteps,
} from '../../codec/index.ts';
import { type ByteString, decodeText, encodeText, type JsonObject, type Steps } from '../../meta/index.ts';
import { eventWriter, type ListLayout, listFields, representList } from '../../registry/index.ts';
import { fromJson, inPieces } from './encode-steps.ts';
import type { WatchCodec, WireCodec } from './wire-codec.ts';

/** One event on each line. */
const watch: WatchCodec = {
  listed: 'application/json;stream=watch',
  contentType: (mediaType) => mediaType,
  text: true,
  writer: eventWriter,
  encodeError: (status) => encodeText(`${JSON.stringify({ type: 'ERROR', object: status })}\n`),
  payload: (frame) => frame,
};

const common = {
  mediaTypes: ['application/json'],
  tables: true,
  watch,
  completeErrors: false,
  decode: (body: Uint8Array) => parseJson(body),
  decodeInSteps: (body: Uint8Array) => parseJsonInSteps(body),
} as const;

const encodePretty = (value: JsonObject) => encodeText(prettyJson(value));

function* encodePrettyInSteps(value: JsonObject): Steps<ByteString> {
  return encodeText(yield* prettyJsonInSteps(value));
}

const prettyCodec: WireCodec = {
  ...common,
  encodeValue: encodePretty,
  encodeObject: (json, turns) => fromJson(json, turns, encodePretty, encodePrettyInSteps),
  encodeList: (target, list, view, turns) =>
    inPieces(representList(target, list, view, prettyLayout(listFields(target, list, view))), '', turns),
};

/** Copies the JSON bytes of objects, lists and events. */
export const jsonCodec: WireCodec = {
  ...common,
  pretty: prettyCodec,
  encodeValue: (value) => encodeText(`${stringifyJson(value)}\n`),
  *encodeValueInSteps(value) {
    return encodeText(`${yield* stringifyJsonInSteps(value)}\n`);
  },
  encodeObject: (json) => `${json}\n` as ByteString,
  encodeList: (target, list, view, turns) => inPieces(representList(target, list, view), '\n', turns),
};

function prettyLayout(fields: JsonObject): ListLayout {
  const emptyTail = ']\n}' as ByteString;
  return {
    head: encodeText(prettyJson(fields).slice(0, -emptyTail.length)),
    first: '\n    ',
    separator: ',\n    ',
    tail: '\n  ]\n}' as ByteString,
    emptyTail,
    *item(json) {
      const value = yield* readOwnJsonInSteps(decodeText(json));
      yield;
      const text = yield* prettyJsonInSteps(value);
      yield;
      return encodeText(text.replaceAll('\n', '\n    '));
    },
  };
}
