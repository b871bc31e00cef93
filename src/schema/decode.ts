import { expandNames, isJsonObject, type Json, type JsonObject, jsonCopy, type Names, setKey } from '../meta/index.ts';
import { fieldsOf, remember, resolve } from './access.ts';
import type { EitherSchema, Field, Schema, StructSchema } from './declare.ts';
import { MAX_DEPTH } from './limits.ts';
import { type Scalar, scalarOf, scalars } from './scalars.ts';

/** What one walk carries along. */
export interface Walk {
  /** A field was dropped because its struct does not declare it. */
  dropped: boolean;
  depth: number;
  /** The map that was decoded last has no entries. */
  emptyMap: boolean;
}

export const newWalk = (): Walk => ({ dropped: false, depth: 0, emptyMap: false });

/** The normal form of a value. Throws {@link Mismatch} when the value is none of the type. */
type Decoder = (value: Json, walk: Walk) => Json;

/** Says only that a value is not of its type; a second walk finds out where and why. */
export class Mismatch extends Error {}
const mismatch = new Mismatch('the value is not of its type');

/** Makes decoders, one for each struct however often it is used; they are completed on first use. */
export class DecoderFactory {
  readonly #names: Names;
  readonly #structs = new WeakMap<StructSchema, StructDecoder>();

  constructor(names: Names) {
    this.#names = names;
  }

  struct(schema: StructSchema): StructDecoder {
    return remember(this.#structs, schema, () => structDecoder(() => shapeOf(schema, this, this.#names)));
  }

  /** The decoder of a value, and what stands for `null` in a list or map. */
  of(schema: Schema): { readonly decode: Decoder; readonly zero: () => Json } {
    switch (schema.type) {
      case 'struct':
        return this.struct(schema);
      case 'list':
        return { decode: listDecoder(this.of(schema.element)), zero: () => [] };
      case 'map':
        return { decode: mapDecoder(this.of(schema.value)), zero: () => ({}) };
      case 'either':
        return { decode: eitherDecoder(schema, this), zero: () => null };
      case 'lazy':
        return lazyDecoder(() => this.of(resolve(schema)));
      default:
        return scalarDecoders[schema.type];
    }
  }
}

interface ValueDecoder {
  readonly decode: Decoder;
  readonly zero: () => Json;
}

interface StructDecoder extends ValueDecoder {
  readonly decode: (value: Json, walk: Walk) => JsonObject;
}

const scalarDecoders = Object.fromEntries(
  Object.entries(scalars).map(([name, scalar]) => [name, scalarDecoder(scalar)]),
) as { readonly [name in keyof typeof scalars]: ValueDecoder };

function scalarDecoder({ read, zero }: Scalar): ValueDecoder {
  return {
    decode: (value) => {
      const normal = read(value);
      if (normal === undefined) throw mismatch;
      return normal;
    },
    zero: () => zero,
  };
}

function listDecoder(element: ValueDecoder): Decoder {
  const { decode, zero } = element;
  return (value, walk) => {
    if (!Array.isArray(value)) throw mismatch;
    const out: Json[] = [];
    for (const item of value) out.push(item === null ? zero() : decode(item, walk));
    return out;
  };
}

function mapDecoder(element: ValueDecoder): Decoder {
  const { decode, zero } = element;
  return (value, walk) => {
    if (!isJsonObject(value)) throw mismatch;
    const keys = sortedKeys(value);
    const out: JsonObject = {};
    for (const key of keys) {
      const item = value[key] as Json;
      setKey(out, key, item === null ? zero() : decode(item, walk));
    }
    walk.emptyMap = keys.length === 0;
    return out;
  };
}

function sortedKeys(value: JsonObject): string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort();
  }
  return keys;
}

function eitherDecoder(schema: EitherSchema, factory: DecoderFactory): Decoder {
  let options: readonly { readonly schema: Schema; readonly decode: Decoder }[] | undefined;
  return (value, walk) => {
    options ??= schema.options.map((option) => ({ schema: option, decode: factory.of(option).decode }));
    for (const option of options) {
      if (suits(option.schema, value)) return option.decode(value, walk);
    }
    throw mismatch;
  };
}

/** Whether a value has the JSON type that tells this option from the others. */
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

/** Recursion passes here, and is counted here. */
function lazyDecoder(make: () => ValueDecoder): ValueDecoder {
  let made: ValueDecoder | undefined;
  return {
    decode: (value, walk) => {
      made ??= make();
      if (walk.depth === MAX_DEPTH) throw mismatch;
      walk.depth++;
      const out = made.decode(value, walk);
      walk.depth--;
      return out;
    },
    zero: () => {
      made ??= make();
      return made.zero();
    },
  };
}

/** A struct made ready for decoding. */
interface Shape {
  readonly places: ReadonlyMap<string, number>;
  readonly plans: readonly FieldPlan[];
}

interface FieldPlan {
  readonly name: string;
  readonly decode: Decoder;
  /** A zero value counts as absent. */
  readonly dropsZero: boolean;
  /** Whether a large map is empty is dear to find out: its decoder tells. */
  readonly isMap: boolean;
  /** What is written for an absent field; undefined: nothing. */
  readonly absent: (() => Json) | undefined;
}

function structDecoder(make: () => Shape): StructDecoder {
  let shape: Shape | undefined;
  let zero: JsonObject | undefined;
  const decode = (value: Json, walk: Walk): JsonObject => {
    if (!isJsonObject(value)) throw mismatch;
    shape ??= make();
    const { places, plans } = shape;
    const given = new Array<Json | undefined>(plans.length);
    for (const key in value) {
      const place = places.get(key);
      if (place === undefined) walk.dropped = true;
      else given[place] = value[key];
    }
    const out: JsonObject = {};
    for (let i = 0; i < plans.length; i++) {
      const plan = plans[i] as FieldPlan;
      const item = given[i];
      if (item !== undefined && item !== null) {
        const normal = plan.decode(item, walk);
        if (!plan.dropsZero || !(plan.isMap ? walk.emptyMap : isZero(normal))) {
          setKey(out, plan.name, normal);
          continue;
        }
      }
      if (plan.absent !== undefined) setKey(out, plan.name, plan.absent());
    }
    return out;
  };
  return {
    decode,
    zero: () => {
      zero ??= decode({}, newWalk());
      return jsonCopy(zero);
    },
  };
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

function shapeOf(schema: StructSchema, factory: DecoderFactory, names: Names): Shape {
  const entries = [...fieldsOf(schema, names)];
  return {
    places: new Map(entries.map(([name], place) => [name, place])),
    plans: entries.map(([name, field]) => fieldPlan(name, field, factory, names)),
  };
}

function fieldPlan(name: string, field: Field, factory: DecoderFactory, names: Names): FieldPlan {
  const { decode, zero } = factory.of(field.schema);
  const schema = resolve(field.schema);
  const scalar = scalarOf(schema);
  const solid = schema.type === 'struct' || schema.type === 'either' || scalar?.solid === true;
  return {
    name,
    decode,
    dropsZero: field.nullable !== true && !solid,
    isMap: schema.type === 'map',
    absent: absence(field, names, scalar, schema.type === 'struct' ? zero : undefined),
  };
}

/** What is written for a field that is absent: its default, else its zero value when it is always written. */
function absence(
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
  if (field.always !== true && scalar?.solid !== true) return undefined;
  const zero = scalar?.zero ?? null;
  return () => zero;
}

function expand(value: Json, names: Names): Json {
  return typeof value === 'string' ? expandNames(value, names) : value;
}
