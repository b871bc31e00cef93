import { type Json, type JsonObject, type Names, type Path, statusError } from '../meta/index.ts';
import { remember } from './access.ts';
import type { StructSchema } from './declare.ts';
import { DecoderFactory, Mismatch, newWalk, type Walk } from './decode.ts';
import { inspect } from './inspect.ts';

/** A type made ready to read values. */
export interface CompiledType {
  readonly schema: StructSchema;
  readonly names: Names;
  /**
   * Checks the types of a value and gives its normal form: declared fields alone and in the order of the declaration,
   * map keys sorted, constant defaults in, zero values dropped or written as the fields say. The result is fresh but
   * for values of the types `any` and `object`, which it takes from the argument. Throws a bad request whose message
   * says which value is of the wrong type.
   */
  decode(value: Json): Decoded;
}

export interface Decoded {
  readonly value: JsonObject;
  /** Where the fields stood that were dropped because nothing declares them. */
  readonly unknown: readonly Path[];
}

const none: readonly Path[] = [];
const factories = new WeakMap<Names, DecoderFactory>();
const types = new WeakMap<Names, WeakMap<StructSchema, CompiledType>>();

/** The compiled type of a struct, the same one for the same names; the structs inside are compiled on first use. */
export function compile(schema: StructSchema, names: Names): CompiledType {
  const known = remember(types, names, () => new WeakMap<StructSchema, CompiledType>());
  return remember(known, schema, () => {
    const factory = remember(factories, names, () => new DecoderFactory(names));
    const { decode } = factory.struct(schema);
    return { schema, names, decode: (value) => decodeWhole(schema, names, decode, value) };
  });
}

function decodeWhole(
  schema: StructSchema,
  names: Names,
  decode: (value: Json, walk: Walk) => JsonObject,
  input: Json,
): Decoded {
  const walk = newWalk();
  try {
    const value = decode(input, walk);
    return { value, unknown: walk.dropped ? inspect(schema, input, names) : none };
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    inspect(schema, input, names);
    throw statusError.internal(`a value is not of type ${schema.name}`, error);
  }
}
