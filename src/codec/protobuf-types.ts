import { encodeText, getKey, isJsonObject, type Json, type JsonObject, type Names, setKey } from '../meta/index.ts';
import {
  type EitherSchema,
  type Field,
  fieldsOf,
  remember,
  resolve,
  type Schema,
  type StructSchema,
  suits,
} from '../schema/index.ts';
import { type Codec, putPart, scalarCodecs, takeOne, takeParts, unfit, wrongWire } from './protobuf-scalars.ts';
import { type Input, type Output, SIZED } from './protobuf-wire.ts';

/** A compiled field: encodes its value from the JSON object of the message, and decodes it into that object. */
interface Plan {
  readonly tag: number;
  readonly put: (out: Output, parent: JsonObject) => void;
  readonly take: (input: Input, wire: number, parent: JsonObject) => void;
}

/** The fields of a message, by ascending field number. */
interface Layout {
  readonly plans: readonly Plan[];
  readonly byTag: ReadonlyMap<number, Plan>;
}

const codecs = new WeakMap<Names, WeakMap<StructSchema, Codec>>();
const nothing: JsonObject = Object.freeze({});

/** The codec of a struct, one for each `Names`; its fields are compiled on first use. */
export function structCodec(schema: StructSchema, names: Names): Codec {
  const known = remember(codecs, names, () => new WeakMap<StructSchema, Codec>());
  return remember(known, schema, () => makeStruct(schema, names));
}

function makeStruct(schema: StructSchema, names: Names): Codec {
  let layout: Layout | undefined;
  const made = (): Layout => {
    layout ??= layoutOf([...fieldsOf(schema, names)], names);
    return layout;
  };
  return {
    wire: SIZED,
    put: (out, value) => {
      if (value !== undefined && value !== null && !isJsonObject(value)) throw unfit(schema.name);
      putFields(out, made(), value ?? nothing);
    },
    take: (input, before) => {
      const target = isJsonObject(before) ? before : {};
      input.descend();
      takeFields(input, made(), target);
      input.depth--;
      return target;
    },
    zero: () => ({}),
  };
}

function putFields(out: Output, { plans }: Layout, value: JsonObject): void {
  for (let i = plans.length - 1; i >= 0; i--) (plans[i] as Plan).put(out, value);
}

function takeFields(input: Input, { byTag }: Layout, target: JsonObject): void {
  while (input.at < input.end) {
    const key = input.key();
    const plan = byTag.get(key >>> 3);
    if (plan === undefined) input.skip(key);
    else plan.take(input, key & 7, target);
  }
}

/** `fields` are those of a message and of its embedded messages, whose fields are inlined in JSON. */
function layoutOf(fields: readonly (readonly [string, Field])[], names: Names): Layout {
  const plans: Plan[] = [];
  const inner = new Map<number, [string, Field][]>();
  for (const [name, field] of fields) {
    if (field.tag === 0) continue;
    if (field.via === undefined) {
      plans.push(fieldPlan(name, field, names));
      continue;
    }
    const { via, ...rest } = field;
    const group = inner.get(via.tag) ?? [];
    inner.set(via.tag, group);
    group.push([name, via.inner === undefined ? rest : { ...rest, via: via.inner }]);
  }
  for (const [tag, group] of inner) plans.push(inlinePlan(tag, layoutOf(group, names)));
  plans.sort((a, b) => a.tag - b.tag);
  return { plans, byTag: new Map(plans.map((plan) => [plan.tag, plan])) };
}

/** An embedded message, whose fields are inlined in the parent in JSON. */
function inlinePlan(tag: number, layout: Layout): Plan {
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
  };
}

function fieldPlan(name: string, field: Field, names: Names): Plan {
  const schema = resolve(field.schema);
  if (field.protoMessage) return singlePlan(name, { ...field, nullable: true }, wrapped(schema, names));
  if (schema.type === 'list') return listPlan(name, field.tag, elementCodec(schema.element, names));
  if (schema.type === 'map') return mapPlan(name, field.tag, elementCodec(schema.value, names));
  return singlePlan(name, field, elementCodec(schema, names));
}

/** The codec of a single value or of an element of a list or map. */
function elementCodec(given: Schema, names: Names): Codec {
  const schema = resolve(given);
  switch (schema.type) {
    case 'struct':
      return structCodec(schema, names);
    case 'either':
      return eitherCodec(schema, names);
    case 'list':
    case 'map':
      return wrapped(schema, names);
    default:
      return scalarCodecs[schema.type];
  }
}

/** Reads a member of a JSON object; a name of `Object.prototype` only when it is an own property. */
const readerOf = (name: string): ((parent: JsonObject) => Json | undefined) =>
  name in Object.prototype ? (parent) => getKey(parent, name) : (parent) => parent[name];

function singlePlan(name: string, { tag, nullable = false, protoAlways }: Field, codec: Codec): Plan {
  const { put, wire } = codec;
  const read = readerOf(name);
  const key = tag * 8 + wire;
  // An absent value of a field that is not nullable is encoded as zero.
  const skips = (nullable && protoAlways !== true) || codec.optional === true;
  const zero = codec.zero();
  return {
    tag,
    put: (out, parent) => {
      const value = read(parent);
      if (skips && (value === undefined || value === null)) return;
      const mark = out.size;
      put(out, value);
      if (wire === SIZED) out.close(mark);
      out.varint(key);
    },
    take: (input, given, parent) => {
      if (given !== wire) throw wrongWire(given, name);
      const before = read(parent);
      const value = takeOne(input, codec, before);
      if (value === undefined) return;
      // Zero is dropped where it equals an absent value.
      if (nullable || before !== undefined || value !== zero) setKey(parent, name, value);
    },
  };
}

function listPlan(name: string, tag: number, codec: Codec): Plan {
  const { wire } = codec;
  const read = readerOf(name);
  const listIn = (parent: JsonObject): Json[] => {
    const found = read(parent);
    if (Array.isArray(found)) return found;
    const list: Json[] = [];
    setKey(parent, name, list);
    return list;
  };
  return {
    tag,
    put: (out, parent) => {
      const value = read(parent);
      if (value === undefined || value === null) return;
      if (!Array.isArray(value)) throw unfit('list');
      for (let i = value.length - 1; i >= 0; i--) putPart(out, tag, codec, value[i]);
    },
    take: (input, given, parent) => {
      const packed = given === SIZED && wire !== SIZED;
      if (given !== wire && !packed) throw wrongWire(given, name);
      const list = listIn(parent);
      input.descend();
      if (packed) {
        const outer = input.enter();
        while (input.at < input.end) list.push(codec.take(input, undefined) ?? null);
        input.leave(outer);
      } else {
        list.push(takeOne(input, codec, undefined) ?? null);
      }
      input.depth--;
    },
  };
}

const keyCodec = scalarCodecs.string;

function mapPlan(name: string, tag: number, codec: Codec): Plan {
  const read = readerOf(name);
  const parts = [keyCodec, codec];
  const mapIn = (parent: JsonObject): JsonObject => {
    const found = read(parent);
    if (isJsonObject(found)) return found;
    const map: JsonObject = {};
    setKey(parent, name, map);
    return map;
  };
  return {
    tag,
    put: (out, parent) => {
      const value = read(parent);
      if (value === undefined || value === null) return;
      if (!isJsonObject(value)) throw unfit('map');
      const keys = sortedKeys(value);
      for (let i = keys.length - 1; i >= 0; i--) putEntry(out, tag, codec, value, keys[i] as string);
    },
    take: (input, given, parent) => {
      if (given !== SIZED) throw wrongWire(given, name);
      const map = mapIn(parent);
      const outer = input.enter();
      input.descend();
      const [key = '', value = codec.zero()] = takeParts(input, parts, name);
      input.depth--;
      input.leave(outer);
      setKey(map, key as string, value);
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

/** The keys of a map, ordered by their UTF-8 bytes. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map).sort();
  // The orders of UTF-16 and UTF-8 differ only for these characters.
  if (!keys.some((key) => /[\ud800-\uffff]/.test(key))) return keys;
  const byBytes = keys.map((key) => ({ key, bytes: encodeText(key) }));
  byBytes.sort((a, b) => (a.bytes < b.bytes ? -1 : a.bytes > b.bytes ? 1 : 0));
  return byBytes.map(({ key }) => key);
}

/** A list or map as a single value: a message with the field 1 `items`. */
function wrapped(schema: Schema, names: Names): Codec {
  const name = 'items';
  const layout = layoutOf([[name, { tag: 1, schema }]], names);
  const empty = (): Json => (resolve(schema).type === 'list' ? [] : {});
  return {
    wire: SIZED,
    put: (out, value) => putFields(out, layout, { [name]: value ?? null }),
    take: (input) => {
      const target: JsonObject = {};
      takeFields(input, layout, target);
      return target[name] ?? empty();
    },
    zero: empty,
  };
}

/**
 * A message with a field for each option. If one option is a boolean, it is true whenever another option is set; of
 * several other options the last one wins.
 */
function eitherCodec({ name, options }: EitherSchema, names: Names): Codec {
  const flag = options.findIndex((option) => resolve(option).type === 'bool');
  const plans = options.map((schema, i) => fieldPlan(String(i), { tag: i + 1, schema, nullable: i !== flag }, names));
  const layout: Layout = { plans, byTag: new Map(plans.map((plan) => [plan.tag, plan])) };
  return {
    wire: SIZED,
    put: (out, value) => {
      if (value === undefined || value === null) return putFields(out, layout, nothing);
      const chosen = options.findIndex((option) => suits(option, value));
      if (chosen < 0) throw unfit(name);
      putFields(out, layout, { [flag]: true, [chosen]: value });
    },
    take: (input) => {
      const found: JsonObject = {};
      takeFields(input, layout, found);
      for (let i = options.length - 1; i >= 0; i--) {
        const value = found[i];
        if (value !== undefined && i !== flag) return value;
      }
      return flag < 0 ? undefined : found[flag] === true;
    },
    zero: () => (flag < 0 ? null : false),
  };
}
