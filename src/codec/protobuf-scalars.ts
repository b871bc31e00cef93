import {
  formatDuration,
  formatTime,
  isJsonObject,
  isLarge,
  type Json,
  MAX_DEPTH,
  parseDuration,
  type StatusError,
  type Steps,
  statusError,
} from '../meta/index.ts';
import type { ScalarName } from '../schema/index.ts';
import { parseAnyJsonInSteps, parseJson, stringifyJson, stringifyJsonInSteps } from './json.ts';
import { FIXED64, type Input, type Output, SIZED, VARINT, type Wire } from './protobuf-wire.ts';

/** Encodes and decodes the values of a type. */
export interface Codec {
  readonly wire: Wire;
  /** Encodes a value without its length; undefined and null as the zero value. Throws when it is of another type. */
  readonly put: (out: Output, value: Json | undefined) => void;
  /**
   * Decodes a value, to the end of the input if it is length-delimited. `before` is the value that the field already
   * has: repeated occurrences of a message are merged. Undefined when the value is absent.
   */
  readonly take: (input: Input, before: Json | undefined) => Json | undefined;
  /** The same in steps, for values that may be large. */
  readonly putInSteps?: (out: Output, value: Json | undefined) => Steps<void>;
  readonly takeInSteps?: (input: Input, before: Json | undefined) => Steps<Json | undefined>;
  /** The value of a map entry without a value. */
  readonly zero: () => Json;
  /** An absent value is never encoded, whatever the field declares. */
  readonly optional?: boolean;
}

/** The 500 for a value that is not of its declared type, because it was not decoded by its schema. */
export function unfit(type: string): StatusError {
  return statusError.internal(`a value is not of type ${type} and has no protobuf form`);
}

export function wrongWire(wireType: number, name: string): StatusError {
  return statusError.badRequest(`proto: wrong wireType = ${wireType} for field ${name}`);
}

const text: Codec = {
  wire: SIZED,
  put: (out, value) => {
    if (typeof value === 'string') out.text(value);
    else if (value !== undefined && value !== null) throw unfit('string');
  },
  take: (input) => input.text(),
  zero: () => '',
};

const bool: Codec = {
  wire: VARINT,
  put: (out, value) => out.varint(value === true ? 1 : 0),
  take: (input) => input.bool(),
  zero: () => false,
};

const integer = (name: string, take: (input: Input) => number | bigint): Codec => ({
  wire: VARINT,
  put: (out, value) => {
    if (value === undefined || value === null) out.varint(0);
    else if (typeof value === 'bigint' || Number.isInteger(value)) out.int64(value as number | bigint);
    else throw unfit(name);
  },
  take,
  zero: () => 0,
});
const int32 = integer('int32', (input) => input.int32());
const int64 = integer('int64', (input) => input.int64());

const double: Codec = {
  wire: FIXED64,
  put: (out, value) => out.double(Number(value ?? 0)),
  take: (input) => input.double(),
  zero: () => 0,
};

const bytes: Codec = {
  wire: SIZED,
  put: (out, value) => {
    if (typeof value === 'string') out.raw(Buffer.from(value, 'base64'));
    else if (value !== undefined && value !== null) throw unfit('text of bytes');
  },
  take: (input) => input.rest().toString('base64'),
  zero: () => '',
  optional: true,
};

// Messages of a few scalars

/** Encodes a message with all of the fields 1, 2, …. */
function putParts(out: Output, parts: readonly Codec[], values: readonly (Json | undefined)[]): void {
  for (let i = parts.length - 1; i >= 0; i--) putPart(out, i + 1, parts[i] as Codec, values[i]);
}

/** Encodes one field. */
export function putPart(out: Output, tag: number, { wire, put }: Codec, value: Json | undefined): void {
  const mark = out.size;
  put(out, value);
  if (wire === SIZED) out.close(mark);
  out.varint(tag * 8 + wire);
}

export function* putPartInSteps(out: Output, tag: number, codec: Codec, value: Json | undefined): Steps<void> {
  const mark = out.size;
  yield* putInSteps(out, codec, value);
  if (codec.wire === SIZED) out.close(mark);
  out.varint(tag * 8 + codec.wire);
}

/** Encodes a value without its length: a large one in steps. */
export function* putInSteps(out: Output, codec: Codec, value: Json | undefined): Steps<void> {
  if (codec.putInSteps !== undefined && isLarge(value)) {
    yield;
    yield* codec.putInSteps(out, value);
  } else codec.put(out, value);
  if (out.isStepOver()) yield;
}

/** Decodes a message with the fields 1, 2, …; undefined for an absent one. */
export function takeParts(input: Input, parts: readonly Codec[], name: string): (Json | undefined)[] {
  const values = new Array<Json | undefined>(parts.length);
  while (input.at < input.end) {
    const key = input.key();
    const i = (key >>> 3) - 1;
    const codec = parts[i];
    if (codec === undefined) input.skip(key);
    else if ((key & 7) !== codec.wire) throw wrongWire(key & 7, name);
    else values[i] = takeOne(input, codec, values[i]);
  }
  return values;
}

export function* takePartsInSteps(input: Input, parts: readonly Codec[], name: string): Steps<(Json | undefined)[]> {
  const values = new Array<Json | undefined>(parts.length);
  while (input.at < input.end) {
    if (input.isStepOver()) yield;
    const key = input.key();
    const i = (key >>> 3) - 1;
    const codec = parts[i];
    if (codec === undefined) input.skip(key);
    else if ((key & 7) !== codec.wire) throw wrongWire(key & 7, name);
    else values[i] = yield* takeOneInSteps(input, codec, values[i]);
  }
  return values;
}

/** Decodes one value, with its length if it is length-delimited. */
export function takeOne(input: Input, { wire, take }: Codec, before: Json | undefined): Json | undefined {
  if (wire !== SIZED) return take(input, before);
  const outer = input.enter();
  const value = take(input, before);
  input.leave(outer);
  return value;
}

/** The same, of a large value in steps. */
export function* takeOneInSteps(input: Input, codec: Codec, before: Json | undefined): Steps<Json | undefined> {
  if (codec.takeInSteps === undefined || !input.isLargeAhead()) return takeOne(input, codec, before);
  const outer = input.enter();
  const value = yield* codec.takeInSteps(input, before);
  input.leave(outer);
  return value;
}

const timeParts = [int64, int32];
/** The range of RFC 3339: the years 0000 to 9999. */
const MIN_SECONDS = -62_167_219_200;
const MAX_SECONDS = 253_402_300_799;

/** `length` is that of the canonical text of the type. */
const time = (name: string, length: number): Codec => ({
  wire: SIZED,
  put: (out, value) => {
    if (value === undefined || value === null) return;
    const ms = typeof value === 'string' && value.length === length ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(ms)) throw unfit(name);
    const micros = length === WHOLE ? 0 : Number((value as string).slice(WHOLE, -1));
    putParts(out, timeParts, [Math.floor(ms / 1000), micros * 1000]);
  },
  take: (input) => {
    if (input.at === input.end) return undefined;
    const [wholeSeconds = 0, nanos = 0] = takeParts(input, timeParts, name) as (number | undefined)[];
    const micros = length === WHOLE ? 0 : Math.trunc(nanos / 1000);
    const seconds = Number(wholeSeconds) + Math.floor(micros / 1e6);
    if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw statusError.badRequest(`${name}: year out of range`);
    const timeText = formatTime(seconds * 1000);
    if (length === WHOLE) return timeText;
    return `${timeText.slice(0, -1)}.${String(micros - Math.floor(micros / 1e6) * 1e6).padStart(6, '0')}Z`;
  },
  zero: () => null,
});
/** The length of a time in whole seconds, and the offset of the decimals in a longer one. */
const WHOLE = '2006-01-02T15:04:05Z'.length;

const durationParts = [int64];
const duration: Codec = {
  wire: SIZED,
  put: (out, value) => {
    if (value !== undefined && value !== null && typeof value !== 'string') throw unfit('duration');
    putParts(out, durationParts, [typeof value === 'string' ? parseDuration(value) : 0]);
  },
  take: (input) => formatDuration(BigInt((takeParts(input, durationParts, 'duration')[0] ?? 0) as number)),
  zero: () => '0s',
};

const quantityParts = [text];
const quantity: Codec = {
  wire: SIZED,
  put: (out, value) => {
    if (value !== undefined && value !== null && typeof value !== 'string') throw unfit('quantity');
    putParts(out, quantityParts, [value ?? '0']);
  },
  take: (input) => takeParts(input, quantityParts, 'quantity')[0] ?? '0',
  zero: () => '0',
};

const intOrStringParts = [int64, int32, text];
const intOrString: Codec = {
  wire: SIZED,
  put: (out, value) => {
    const isText = typeof value === 'string';
    putParts(out, intOrStringParts, [isText ? 1 : 0, isText ? 0 : value, isText ? value : '']);
  },
  take: (input) => {
    const [type = 0, number = 0, string = ''] = takeParts(input, intOrStringParts, 'intOrString');
    if (type !== 0 && type !== 1)
      throw statusError.badRequest(`an integer or text cannot be of type ${type as number}`);
    return type === 0 ? number : string;
  },
  zero: () => 0,
};

/** JSON inside protobuf. Its nesting counts together with that of the message. */
const json: Codec = {
  wire: SIZED,
  put: (out, value) => out.text(stringifyJson(value ?? null)),
  *putInSteps(out, value) {
    out.text(yield* stringifyJsonInSteps(value ?? null));
  },
  take: (input) => (input.at === input.end ? undefined : parseJson(input.rest(), MAX_DEPTH - input.depth).value),
  *takeInSteps(input) {
    yield;
    return (yield* parseAnyJsonInSteps(input.rest(), MAX_DEPTH - input.depth)).value;
  },
  zero: () => null,
};
const rawParts = [json];
const raw = (fits: (value: Json) => boolean): Codec => ({
  wire: SIZED,
  put: (out, value) => {
    if (value === undefined || value === null) return;
    if (!fits(value)) throw unfit('object');
    putParts(out, rawParts, [value]);
  },
  *putInSteps(out, value) {
    if (!fits(value as Json)) throw unfit('object');
    yield* putPartInSteps(out, 1, json, value);
  },
  take: (input) => takeParts(input, rawParts, 'raw')[0],
  *takeInSteps(input) {
    return (yield* takePartsInSteps(input, rawParts, 'raw'))[0];
  },
  zero: () => null,
});

export const scalarCodecs: { readonly [name in ScalarName]: Codec } = {
  string: text,
  bool,
  int32,
  int64,
  double,
  bytes,
  time: time('time', WHOLE),
  microTime: time('microTime', WHOLE + '.000000'.length),
  duration,
  quantity,
  intOrString,
  any: raw(() => true),
  object: raw(isJsonObject),
};
