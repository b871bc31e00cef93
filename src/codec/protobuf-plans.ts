import {
  encodeText,
  getKey,
  isJsonObject,
  isLarge,
  type Json,
  type JsonObject,
  Pace,
  type Steps,
  setKey,
  sortedInSteps,
  sortedTexts,
} from '../meta/index.ts';
import type { Field } from '../schema/index.ts';
import {
  type Codec,
  putPart,
  putPartInSteps,
  scalarCodecs,
  takeOne,
  takeOneInSteps,
  takeParts,
  takePartsInSteps,
  unfit,
  wrongWire,
} from './protobuf-scalars.ts';
import { type Input, type Output, SIZED } from './protobuf-wire.ts';

/** A compiled field: encodes its value from the JSON object of the message, and decodes it into that object. */
export interface Plan {
  readonly tag: number;
  readonly put: (out: Output, parent: JsonObject) => void;
  readonly take: (input: Input, wire: number, parent: JsonObject) => void;
  /** The same in steps, where the value may be large: then it is length-delimited. */
  readonly putInSteps?: (out: Output, parent: JsonObject) => Steps<void>;
  readonly takeInSteps?: (input: Input, parent: JsonObject) => Steps<void>;
}

/** The fields of a message, by ascending field number. */
export interface Layout {
  readonly plans: readonly Plan[];
  readonly byTag: ReadonlyMap<number, Plan>;
}

export const nothing: JsonObject = Object.freeze({});

export function putFields(out: Output, { plans }: Layout, value: JsonObject): void {
  for (let i = plans.length - 1; i >= 0; i--) (plans[i] as Plan).put(out, value);
}

export function* putFieldsInSteps(out: Output, { plans }: Layout, value: JsonObject): Steps<void> {
  for (let i = plans.length - 1; i >= 0; i--) {
    const plan = plans[i] as Plan;
    if (plan.putInSteps === undefined) plan.put(out, value);
    else yield* plan.putInSteps(out, value);
  }
}

export function takeFields(input: Input, { byTag }: Layout, target: JsonObject): void {
  while (input.at < input.end) {
    const key = input.key();
    const plan = byTag.get(key >>> 3);
    if (plan === undefined) input.skip(key);
    else plan.take(input, key & 7, target);
  }
}

export function* takeFieldsInSteps(input: Input, { byTag }: Layout, target: JsonObject): Steps<void> {
  while (input.at < input.end) {
    if (input.isStepOver()) yield;
    const key = input.key();
    const plan = byTag.get(key >>> 3);
    if (plan === undefined) input.skip(key);
    else if (plan.takeInSteps !== undefined && (key & 7) === SIZED && input.isLargeAhead()) {
      yield* plan.takeInSteps(input, target);
    } else plan.take(input, key & 7, target);
  }
}

/** An embedded message, whose fields are inlined in the parent in JSON. */
export function inlinePlan(tag: number, layout: Layout): Plan {
  return {
    tag,
    put: (out, parent) => {
      const mark = out.size;
      putFields(out, layout, parent);
      out.close(mark);
      out.varint(tag * 8 + SIZED);
    },
    take: (input, wire, parent) => {
      if (wire !== SIZED) throw wrongWire(wire, String(tag));
      const outer = input.enter();
      takeFields(input, layout, parent);
      input.leave(outer);
    },
    *putInSteps(out, parent) {
      const mark = out.size;
      yield* putFieldsInSteps(out, layout, parent);
      out.close(mark);
      out.varint(tag * 8 + SIZED);
    },
    *takeInSteps(input, parent) {
      const outer = input.enter();
      yield* takeFieldsInSteps(input, layout, parent);
      input.leave(outer);
    },
  };
}

/** Reads a member of a JSON object; a name of `Object.prototype` only when it is an own property. */
const readerOf = (name: string): ((parent: JsonObject) => Json | undefined) =>
  name in Object.prototype ? (parent) => getKey(parent, name) : (parent) => parent[name];

export function singlePlan(name: string, { tag, nullable = false, protoAlways }: Field, codec: Codec): Plan {
  const { put, wire, takeInSteps } = codec;
  const read = readerOf(name);
  const key = tag * 8 + wire;
  // An absent value of a field that is not nullable is encoded as zero.
  const skips = (nullable && protoAlways !== true) || codec.optional === true;
  const zero = codec.zero();
  const set = (parent: JsonObject, before: Json | undefined, value: Json | undefined) => {
    // Zero is dropped where it equals an absent value.
    if (value !== undefined && (nullable || before !== undefined || value !== zero)) setKey(parent, name, value);
  };
  const plan: Plan = {
    tag,
    put: (out, parent) => {
      const value = read(parent);
      if (skips && (value === undefined || value === null)) return;
      const mark = out.size;
      put(out, value);
      if (wire === SIZED) out.close(mark);
      out.varint(key);
    },
    take: (input, wireType, parent) => {
      if (wireType !== wire) throw wrongWire(wireType, name);
      const before = read(parent);
      set(parent, before, takeOne(input, codec, before));
    },
  };
  if (takeInSteps === undefined) return plan;
  return {
    ...plan,
    *putInSteps(out, parent) {
      const value = read(parent);
      if (isLarge(value)) {
        yield;
        yield* putPartInSteps(out, tag, codec, value);
      } else plan.put(out, parent);
    },
    *takeInSteps(input, parent) {
      const before = read(parent);
      set(parent, before, yield* takeOneInSteps(input, codec, before));
    },
  };
}

export function listPlan(name: string, tag: number, codec: Codec): Plan {
  const { wire } = codec;
  const read = readerOf(name);
  const listIn = (parent: JsonObject): Json[] => {
    const found = read(parent);
    if (Array.isArray(found)) return found;
    const list: Json[] = [];
    setKey(parent, name, list);
    return list;
  };
  const listOf = (parent: JsonObject): readonly Json[] => {
    const value = read(parent) ?? [];
    if (!Array.isArray(value)) throw unfit('list');
    return value;
  };
  return {
    tag,
    put: (out, parent) => {
      const list = listOf(parent);
      for (let i = list.length - 1; i >= 0; i--) putPart(out, tag, codec, list[i]);
    },
    *putInSteps(out, parent) {
      const list = listOf(parent);
      for (let i = list.length - 1; i >= 0; i--) yield* putPartInSteps(out, tag, codec, list[i]);
    },
    take: (input, wireType, parent) => {
      const packed = wireType === SIZED && wire !== SIZED;
      if (wireType !== wire && !packed) throw wrongWire(wireType, name);
      const list = listIn(parent);
      input.descend();
      if (packed) {
        const outer = input.enter();
        while (input.at < input.end) takePacked(input, codec, list);
        input.leave(outer);
      } else {
        input.add(list, takeOne(input, codec, undefined) ?? null);
      }
      input.depth--;
    },
    *takeInSteps(input, parent) {
      const list = listIn(parent);
      input.descend();
      if (wire === SIZED) {
        input.add(list, (yield* takeOneInSteps(input, codec, undefined)) ?? null);
      } else {
        const outer = input.enter();
        while (input.at < input.end) {
          if (input.isStepOver()) yield;
          takePacked(input, codec, list);
        }
        input.leave(outer);
      }
      input.depth--;
    },
  };
}

function takePacked(input: Input, codec: Codec, list: Json[]): void {
  input.countMember();
  input.add(list, codec.take(input, undefined) ?? null);
}

const keyCodec = scalarCodecs.string;

export function mapPlan(name: string, tag: number, codec: Codec): Plan {
  const read = readerOf(name);
  const parts = [keyCodec, codec];
  const mapIn = (parent: JsonObject): JsonObject => {
    const found = read(parent);
    if (isJsonObject(found)) return found;
    const map: JsonObject = {};
    setKey(parent, name, map);
    return map;
  };
  const mapOf = (parent: JsonObject): JsonObject => {
    const value = read(parent) ?? nothing;
    if (!isJsonObject(value)) throw unfit('map');
    return value;
  };
  return {
    tag,
    put: (out, parent) => {
      const map = mapOf(parent);
      const keys = sortedKeys(map);
      for (let i = keys.length - 1; i >= 0; i--) putEntry(out, tag, codec, map, keys[i] as string);
    },
    *putInSteps(out, parent) {
      const map = mapOf(parent);
      const keys = isLarge(map) ? yield* sortedKeysInSteps(map) : sortedKeys(map);
      for (let i = keys.length - 1; i >= 0; i--) yield* putEntryInSteps(out, tag, codec, map, keys[i] as string);
    },
    take: (input, wireType, parent) => {
      if (wireType !== SIZED) throw wrongWire(wireType, name);
      const map = mapIn(parent);
      const outer = input.enter();
      input.descend();
      const [key = '', value = codec.zero()] = takeParts(input, parts, name);
      input.depth--;
      input.leave(outer);
      input.setEntry(map, key as string, value);
    },
    *takeInSteps(input, parent) {
      const map = mapIn(parent);
      const outer = input.enter();
      input.descend();
      const [key = '', value = codec.zero()] = yield* takePartsInSteps(input, parts, name);
      input.depth--;
      input.leave(outer);
      input.setEntry(map, key as string, value);
    },
  };
}

function putEntry(out: Output, tag: number, codec: Codec, map: JsonObject, key: string): void {
  const mark = out.size;
  const value = map[key];
  if (value !== null || codec.optional !== true) putPart(out, 2, codec, value);
  putPart(out, 1, keyCodec, key);
  out.close(mark);
  out.varint(tag * 8 + SIZED);
}

function* putEntryInSteps(out: Output, tag: number, codec: Codec, map: JsonObject, key: string): Steps<void> {
  const mark = out.size;
  const value = map[key];
  if (value !== null || codec.optional !== true) yield* putPartInSteps(out, 2, codec, value);
  putPart(out, 1, keyCodec, key);
  out.close(mark);
  out.varint(tag * 8 + SIZED);
}

/** The orders of UTF-16 and UTF-8 differ only for these characters. */
const differs = /[\ud800-\uffff]/;

interface Key {
  readonly key: string;
  readonly bytes: string;
}
const withBytes = (key: string): Key => ({ key, bytes: encodeText(key) });
const byBytes = (a: Key, b: Key): number => (a.bytes < b.bytes ? -1 : a.bytes > b.bytes ? 1 : 0);

/** The keys of a map, ordered by their UTF-8 bytes. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map);
  if (!keys.some((key) => differs.test(key))) return keys.sort();
  return keys
    .map(withBytes)
    .sort(byBytes)
    .map(({ key }) => key);
}

function* sortedKeysInSteps(map: JsonObject): Steps<string[]> {
  yield;
  const keys = Object.keys(map);
  yield;
  if (!keys.some((key) => differs.test(key))) return yield* sortedTexts(keys);
  const pace = new Pace();
  const encoded: Key[] = [];
  for (const key of keys) {
    encoded.push(withBytes(key));
    if (pace.over()) yield;
  }
  return (yield* sortedInSteps(encoded, byBytes)).map(({ key }) => key);
}
