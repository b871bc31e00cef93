import { type Json, type JsonObject, type Names, Pace, type Path, type Steps, statusError } from '../meta/index.ts';
import { remember } from './access.ts';
import type { StructSchema } from './declare.ts';
import { DecoderFactory, decodeInSteps, newWalk, type StructDecoder, TypeMismatchError } from './decode.ts';
import { inspect, inspectInSteps } from './inspect.ts';

/** A compiled struct schema, which decodes values. */
export interface CompiledType extends Decoder {
  readonly schema: StructSchema;
  readonly names: Names;
  /** Decodes objects into which a configuration has been applied, where that differs. */
  readonly applied?: Decoder;
}

/** Decodes the values of a type. */
export interface Decoder {
  /**
   * Checks the types of a value and returns its normal form: undeclared fields pruned, fields in the order of the
   * declaration, map keys sorted, constant defaults set, zero values dropped or written as the fields declare. The
   * result shares values of the types `any` and `object` with the argument, and nothing else.
   * @throws StatusError 400 naming the field with a value of the wrong type
   */
  decode(value: Json): Decoded;
  /** The same in steps, for a large value. @throws StatusError 400 */
  decodeInSteps(value: Json): Steps<Decoded>;
}

export interface Decoded {
  readonly value: JsonObject;
  /** The paths of the pruned fields. */
  readonly unknown: readonly Path[];
}

const none: readonly Path[] = [];
const factories = new WeakMap<Names, DecoderFactory>();
const types = new WeakMap<Names, WeakMap<StructSchema, CompiledType>>();

/** Compiles a struct schema, once for the same names; nested structs are compiled on first use. */
export function compile(schema: StructSchema, names: Names): CompiledType {
  const known = remember(types, names, () => new WeakMap<StructSchema, CompiledType>());
  return remember(known, schema, () => {
    const factory = remember(factories, names, () => new DecoderFactory(names));
    const decoder = factory.struct(schema);
    return {
      schema,
      names,
      decode: (value) => decodeWhole(schema, names, decoder, value),
      decodeInSteps: (value) => decodeWholeInSteps(schema, names, decoder, value),
    };
  });
}

function decodeWhole(schema: StructSchema, names: Names, { decode }: StructDecoder, input: Json): Decoded {
  const walk = newWalk();
  try {
    const value = decode(input, walk);
    return { value, unknown: walk.dropped ? inspect(schema, input, names) : none };
  } catch (error) {
    if (!(error instanceof TypeMismatchError)) throw error;
    inspect(schema, input, names);
    throw statusError.internal(`a value is not of type ${schema.name}`, error);
  }
}

function* decodeWholeInSteps(schema: StructSchema, names: Names, decoder: StructDecoder, input: Json): Steps<Decoded> {
  const walk = newWalk();
  yield;
  try {
    const value = (yield* decodeInSteps(decoder, input, walk, new Pace())) as JsonObject;
    return { value, unknown: walk.dropped ? yield* inspectInSteps(schema, input, names) : none };
  } catch (error) {
    if (!(error instanceof TypeMismatchError)) throw error;
    yield* inspectInSteps(schema, input, names);
    throw statusError.internal(`a value is not of type ${schema.name}`, error);
  }
}
