import {
  expandNames,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  largeWeight,
  type Names,
  type Pace,
  type Steps,
  setKey,
  sortedTexts,
  statusError,
  weigh,
} from '../meta/index.ts';
import { fieldsOf, remember, resolve } from './access.ts';
import type { EitherSchema, Field, Schema, StructSchema } from './declare.ts';
import { MAX_DEPTH, MAX_QUANTITIES } from './limits.ts';
import { type Scalar, scalarOf, scalars } from './scalars.ts';

/** The state of one decoding. */
export interface Walk {
  /** An undeclared field was pruned. */
  dropped: boolean;
  depth: number;
  /** Whether the most recently decoded map is empty. */
  emptyMap: boolean;
}

export const newWalk = (): Walk => ({ dropped: false, depth: 0, emptyMap: false });

/** Returns the normal form of a value. @throws TypeMismatchError for a value of the wrong type */
type Decoder = (value: Json, walk: Walk) => Json;

/** The same in steps, for a large value. */
type StepDecoder = (value: Json, walk: Walk, pace: Pace) => Steps<Json>;

/** A value of the wrong type. Contains neither path nor reason: {@link inspect} finds them. */
export class TypeMismatchError extends Error {}
const typeMismatch = new TypeMismatchError('the value is not of its type');

/** Compiles decoders: one per struct, completed on first use. */
export class DecoderFactory {
  readonly #names: Names;
  readonly #structs = new WeakMap<StructSchema, StructDecoder>();

  constructor(names: Names) {
    this.#names = names;
  }

  struct(schema: StructSchema): StructDecoder {
    return remember(this.#structs, schema, () => structDecoder(() => compileStruct(schema, this, this.#names)));
  }

  of(schema: Schema): ValueDecoder {
    switch (schema.type) {
      case 'struct':
        return this.struct(schema);
      case 'list':
        return listDecoder(this.of(schema.element), schema.most ?? Number.POSITIVE_INFINITY);
      case 'map':
        return mapDecoder(
          this.of(schema.value),
          schema.value.type === 'quantity' ? MAX_QUANTITIES : Number.POSITIVE_INFINITY,
        );
      case 'either':
        return eitherDecoder(schema, this);
      case 'lazy':
        return lazyDecoder(() => this.of(resolve(schema)));
      default:
        return scalarDecoders[schema.type];
    }
  }
}

interface ValueDecoder {
  readonly decode: Decoder;
  /** Undefined for scalars. */
  readonly decodeInSteps: StepDecoder | undefined;
  /** The value of `null` in a list or map. */
  readonly zero: () => Json;
}

/** Decodes a value, in steps if it is large. */
export function* decodeInSteps(
  decoder: Pick<ValueDecoder, 'decode' | 'decodeInSteps'>,
  value: Json,
  walk: Walk,
  pace: Pace,
): Steps<Json> {
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  if (weight < largeWeight || decoder.decodeInSteps === undefined) return decoder.decode(value, walk);
  return yield* decoder.decodeInSteps(value, walk, pace);
}

/** The same for an entry of a list or map. */
function* entryInSteps(decoder: ValueDecoder, item: Json, walk: Walk, pace: Pace): Steps<Json> {
  return item === null ? decoder.zero() : yield* decodeInSteps(decoder, item, walk, pace);
}

export interface StructDecoder extends ValueDecoder {
  readonly decode: (value: Json, walk: Walk) => JsonObject;
}

const scalarDecoders = Object.fromEntries(
  Object.entries(scalars).map(([name, scalar]) => [name, scalarDecoder(scalar)]),
) as { readonly [name in keyof typeof scalars]: ValueDecoder };

function scalarDecoder({ read, zero }: Scalar): ValueDecoder {
  return {
    decode: (value) => {
      const normal = read(value);
      if (normal === undefined) throw typeMismatch;
      return normal;
    },
    decodeInSteps: undefined,
    zero: () => zero,
  };
}

function listDecoder(element: ValueDecoder, most: number): ValueDecoder {
  const { decode, zero } = element;
  return {
    decode: (value, walk) => {
      if (!Array.isArray(value)) throw typeMismatch;
      if (value.length > most) throw statusError.tooMany('items in one list', most);
      const out: Json[] = [];
      for (const item of value) out.push(item === null ? zero() : decode(item, walk));
      return out;
    },
    *decodeInSteps(value, walk, pace) {
      if (!Array.isArray(value)) throw typeMismatch;
      if (value.length > most) throw statusError.tooMany('items in one list', most);
      const out: Json[] = [];
      for (const item of value) out.push(yield* entryInSteps(element, item, walk, pace));
      return out;
    },
    zero: () => [],
  };
}

function mapDecoder(element: ValueDecoder, most: number): ValueDecoder {
  const { decode, zero } = element;
  return {
    decode: (value, walk) => {
      if (!isJsonObject(value)) throw typeMismatch;
      const keys = Object.keys(value);
      if (keys.length > most) throw tooManyQuantities();
      if (!isSorted(keys)) keys.sort();
      const out: JsonObject = {};
      for (const key of keys) {
        const item = value[key] as Json;
        setKey(out, key, item === null ? zero() : decode(item, walk));
      }
      walk.emptyMap = keys.length === 0;
      return out;
    },
    *decodeInSteps(value, walk, pace) {
      if (!isJsonObject(value)) throw typeMismatch;
      const unsortedKeys = Object.keys(value);
      if (unsortedKeys.length > most) throw tooManyQuantities();
      yield;
      const keys = isSorted(unsortedKeys) ? unsortedKeys : yield* sortedTexts(unsortedKeys);
      const out: JsonObject = {};
      for (const key of keys) setKey(out, key, yield* entryInSteps(element, value[key] as Json, walk, pace));
      walk.emptyMap = keys.length === 0;
      return out;
    },
    zero: () => ({}),
  };
}

const tooManyQuantities = () => statusError.tooMany('quantities in one list of resources', MAX_QUANTITIES);

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  }
  return true;
}

function eitherDecoder(schema: EitherSchema, factory: DecoderFactory): ValueDecoder {
  let options: readonly { readonly schema: Schema; readonly decoder: ValueDecoder }[] | undefined;
  const optionFor = (value: Json): ValueDecoder => {
    options ??= schema.options.map((option) => ({ schema: option, decoder: factory.of(option) }));
    for (const option of options) if (suits(option.schema, value)) return option.decoder;
    throw typeMismatch;
  };
  return {
    decode: (value, walk) => optionFor(value).decode(value, walk),
    decodeInSteps: (value, walk, pace) => decodeInSteps(optionFor(value), value, walk, pace),
    zero: () => null,
  };
}

/** Whether a value has the JSON type of an option of an either schema. */
export function suits(schema: Schema, value: Json): boolean {
  const { type } = resolve(schema);
  switch (type) {
    case 'any':
      return true;
    case 'struct':
    case 'map':
    case 'object':
      return isJsonObject(value);
    case 'list':
      return Array.isArray(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'int32':
    case 'int64':
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'intOrString':
    case 'quantity':
      return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string';
    default:
      return typeof value === 'string';
  }
}

/** Counts the depth: every recursive type has a lazy schema. */
function lazyDecoder(make: () => ValueDecoder): ValueDecoder {
  let decoder: ValueDecoder | undefined;
  return {
    decode: (value, walk) => {
      decoder ??= make();
      if (walk.depth === MAX_DEPTH) throw typeMismatch;
      walk.depth++;
      const out = decoder.decode(value, walk);
      walk.depth--;
      return out;
    },
    *decodeInSteps(value, walk, pace) {
      decoder ??= make();
      if (walk.depth === MAX_DEPTH) throw typeMismatch;
      walk.depth++;
      const out = yield* decodeInSteps(decoder, value, walk, pace);
      walk.depth--;
      return out;
    },
    zero: () => {
      decoder ??= make();
      return decoder.zero();
    },
  };
}

/** A compiled struct. */
interface CompiledStruct {
  readonly indexes: ReadonlyMap<string, number>;
  readonly fields: readonly FieldDecoder[];
}

interface FieldDecoder {
  readonly name: string;
  readonly decode: Decoder;
  readonly decodeInSteps: StepDecoder | undefined;
  /** A zero value is treated as absent. */
  readonly dropsZero: boolean;
  /** A map: its decoder reports whether it is empty, which is expensive to find out for a large map. */
  readonly isMap: boolean;
  /** The value of an absent field; undefined when it is omitted. */
  readonly absent: (() => Json) | undefined;
}

function structDecoder(make: () => CompiledStruct): StructDecoder {
  let compiled: CompiledStruct | undefined;
  let zero: JsonObject | undefined;
  const decode = (value: Json, walk: Walk): JsonObject => {
    if (!isJsonObject(value)) throw typeMismatch;
    compiled ??= make();
    const { indexes, fields } = compiled;
    const fieldValues = new Array<Json | undefined>(fields.length);
    for (const key in value) {
      const index = indexes.get(key);
      if (index === undefined) walk.dropped = true;
      else fieldValues[index] = value[key];
    }
    const out: JsonObject = {};
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as FieldDecoder;
      const item = fieldValues[i];
      setField(
        out,
        field,
        item === undefined || item === null ? undefined : (field.decode(item, walk) ?? undefined),
        walk,
      );
    }
    return out;
  };
  return {
    decode,
    *decodeInSteps(value, walk, pace) {
      if (!isJsonObject(value)) throw typeMismatch;
      compiled ??= make();
      const { indexes, fields } = compiled;
      const fieldValues = new Array<Json | undefined>(fields.length);
      const keys = Object.keys(value);
      yield;
      for (const key of keys) {
        const index = indexes.get(key);
        if (index === undefined) walk.dropped = true;
        else fieldValues[index] = value[key];
      }
      const out: JsonObject = {};
      for (const [i, field] of fields.entries()) {
        const item = fieldValues[i];
        const absent = item === undefined || item === null;
        setField(out, field, absent ? undefined : ((yield* decodeInSteps(field, item, walk, pace)) ?? undefined), walk);
      }
      return out;
    },
    zero: () => {
      zero ??= decode({}, newWalk());
      return jsonCopy(zero);
    },
  };
}

/** Sets a decoded field; `undefined` means that it is absent. */
function setField(out: JsonObject, field: FieldDecoder, value: Json | undefined, { emptyMap }: Walk): void {
  if (value !== undefined && !(field.dropsZero && (field.isMap ? emptyMap : isZero(value)))) {
    setKey(out, field.name, value);
  } else if (field.absent !== undefined) setKey(out, field.name, field.absent());
}

function isZero(value: Json): boolean {
  switch (typeof value) {
    case 'string':
      return value === '';
    case 'number':
      return value === 0;
    case 'boolean':
      return !value;
    case 'bigint':
      return false;
    default:
      if (Array.isArray(value)) return value.length === 0;
      for (const _ in value) return false;
      return true;
  }
}

function compileStruct(schema: StructSchema, factory: DecoderFactory, names: Names): CompiledStruct {
  const entries = [...fieldsOf(schema, names)];
  return {
    indexes: new Map(entries.map(([name], index) => [name, index])),
    fields: entries.map(([name, field]) => fieldDecoder(name, field, factory, names)),
  };
}

function fieldDecoder(name: string, field: Field, factory: DecoderFactory, names: Names): FieldDecoder {
  const { decode, decodeInSteps, zero } = factory.of(field.schema);
  const schema = resolve(field.schema);
  const scalar = scalarOf(schema);
  const keepsZero = schema.type === 'struct' || schema.type === 'either' || scalar?.keepsZero === true;
  return {
    name,
    decode,
    decodeInSteps,
    dropsZero: field.nullable !== true && !keepsZero,
    isMap: schema.type === 'map',
    absent: absentValue(field, names, scalar, schema.type === 'struct' ? zero : undefined),
  };
}

/** The value of an absent field: its default, else its zero value when it is always encoded. */
function absentValue(
  field: Field,
  names: Names,
  scalar: Scalar | undefined,
  struct: (() => Json) | undefined,
): (() => Json) | undefined {
  const nullable = field.nullable === true;
  const fallback = field.default === undefined ? undefined : expand(field.default, names);
  if (fallback !== undefined && (nullable || !isZero(fallback))) {
    return typeof fallback === 'object' && fallback !== null ? () => jsonCopy(fallback) : () => fallback;
  }
  if (nullable) return field.always === true ? () => null : undefined;
  if (struct !== undefined) return struct;
  if (field.always !== true && scalar?.keepsZero !== true) return undefined;
  const zero = scalar?.zero ?? null;
  return () => zero;
}

function expand(value: Json, names: Names): Json {
  return typeof value === 'string' ? expandNames(value, names) : value;
}
