/**
 * How a type is declared: one description from which decoding, pruning, defaulting, validation, OpenAPI, the wire
 * codecs, the merge rules and the expression language all take what they need.
 *
 *     export const ContainerPort = struct('core/v1.ContainerPort', {
 *       name: field(1, string),
 *       containerPort: field(3, int32, { required: true, always: true, min: 1, max: 65535 }),
 *       protocol: field(4, string, { default: 'TCP', known: ['TCP', 'UDP', 'SCTP'] }),
 *     });
 *     export type ContainerPort = Infer<typeof ContainerPort>;
 */
import type { FeatureName, Json, JsonObject } from '../meta/index.ts';

export type ScalarName =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  /** Base64 text in JSON. */
  | 'bytes'
  /** RFC 3339 in UTC, whole seconds. */
  | 'time'
  /** RFC 3339 in UTC, six decimals. */
  | 'microTime'
  /** Text such as `1m30s`. */
  | 'duration'
  /** Decimal or binary amount such as `500m`, `1Gi`; text or a number on the wire, text at rest. */
  | 'quantity'
  /** A 32-bit integer or text. */
  | 'intOrString'
  /** Any JSON value, kept as it is. */
  | 'any'
  /** Any JSON object, kept as it is. */
  | 'object';

export interface ScalarSchema<T = unknown> {
  readonly type: ScalarName;
  /** Never set: carries the TypeScript type of a value. */
  readonly $value?: T;
}

export interface ListSchema<E extends Schema = Schema> {
  readonly type: 'list';
  readonly element: E;
}

/** An object with free keys. */
export interface MapSchema<V extends Schema = Schema> {
  readonly type: 'map';
  readonly value: V;
}

/** One of several schemas, told apart by the JSON type of the value (boolean, array, object, string). */
export interface EitherSchema<S extends Schema = Schema> {
  readonly type: 'either';
  readonly name: string;
  readonly options: readonly S[];
}

export interface StructSchema<F extends Fields = Fields> {
  readonly type: 'struct';
  /** `<package>/<version>.<Name>`, such as `core/v1.Pod`; unique. */
  readonly name: string;
  /** In the order in which the fields are written. */
  readonly fields: F;
  /** `atomic`: one manager owns the whole struct and a merge replaces it. */
  readonly structType?: 'atomic' | 'granular';
}

/** A schema that is declared further down, or that contains itself. */
export interface LazySchema<S extends Schema = Schema> {
  readonly type: 'lazy';
  readonly resolve: () => S;
}

// The members are spelled with `any` inside so that a declaration may contain itself; the type of a value is exact.
export type Schema = ScalarSchema | ListAny | MapAny | EitherAny | StructAny | LazyAny;
interface ListAny extends ListSchema<Schema> {}
interface MapAny extends MapSchema<Schema> {}
interface EitherAny extends EitherSchema<Schema> {}
interface StructAny extends StructSchema<Fields> {}
interface LazyAny extends LazySchema<Schema> {}

export interface Fields {
  readonly [name: string]: Field;
}

export interface FieldOptions {
  /** Absent, `null` or empty text is an error of validation. */
  readonly required?: boolean;
  /** `required` speaks only of OpenAPI: an empty value is accepted. */
  readonly emptyOk?: boolean;
  /** Written even when absent or empty: as `""`, `0`, `false`, `{}`, or `null` for a list or map. A struct that is not nullable always is. */
  readonly always?: boolean;
  /** Tells an absent value from a zero one: `0`, `false`, `""` and `{}` are kept. Without it zero values are dropped. */
  readonly nullable?: boolean;
  /** What an absent value becomes on decoding. */
  readonly default?: Json;
  /** Values with a meaning. Others are refused unless `open`. */
  readonly known?: readonly string[];
  readonly open?: boolean;
  /** Bounds of a number, both included. */
  readonly min?: number;
  readonly max?: number;
  /** `atomic` is the default. `set`: unique scalars. `map`: structs told apart by `listMapKeys`. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** Entries of a `set` or `map` may repeat: the kind looks at them itself, or nobody minds. */
  readonly duplicates?: boolean;
  readonly mapType?: 'atomic' | 'granular';
  /** As on the wire: `merge`, `replace`, `retainKeys`, `merge,retainKeys`. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  /** Name in protobuf where it is not the JSON name. */
  readonly protoName?: string;
  /** Nullable in JSON alone: in protobuf it is written even when absent. */
  readonly protoAlways?: boolean;
  /** A list that protobuf holds in a message of its own, as field 1 `items`: a named list type. In a map each list is. */
  readonly protoMessage?: boolean;
  /** The feature without which the field is dropped from what is written, unless the object had such a field before. */
  readonly gate?: FeatureName;
  /**
   * The rules here are also written by hand in the kind. Its own findings are what counts, and those of the declaration
   * are compared with them, unless a feature says otherwise.
   */
  readonly declarative?: boolean;
  readonly doc?: string;
}

export interface Field<S extends Schema = Schema> extends FieldOptions {
  /** Protobuf field number. */
  readonly tag: number;
  readonly schema: S;
  /** In protobuf the field stands in this message of its own; in JSON it stands in the parent. */
  readonly via?: Via;
}

/** A message whose fields stand in the parent in JSON. */
export interface Via {
  /** Its number in the parent. */
  readonly tag: number;
  readonly protoName: string;
  readonly message: string;
  /** The message inside it in which the field stands, where it has such messages itself. */
  readonly inner?: Via;
}

const scalar = <T>(type: ScalarName): ScalarSchema<T> => ({ type });
export const string = scalar<string>('string');
export const bool = scalar<boolean>('bool');
export const int32 = scalar<number>('int32');
/** `bigint` only beyond 2^53. */
export const int64 = scalar<number>('int64');
export const double = scalar<number>('double');
export const bytes = scalar<string>('bytes');
export const time = scalar<string>('time');
export const microTime = scalar<string>('microTime');
export const duration = scalar<string>('duration');
export const quantity = scalar<string>('quantity');
export const intOrString = scalar<number | string>('intOrString');
export const anyValue = scalar<Json>('any');
export const anyObject = scalar<JsonObject>('object');

export const list = <E extends Schema>(element: E): ListSchema<E> => ({ type: 'list', element });
export const map = <V extends Schema>(value: V): MapSchema<V> => ({ type: 'map', value });
export const either = <S extends Schema>(name: string, ...options: S[]): EitherSchema<S> => ({
  type: 'either',
  name,
  options,
});
export const lazy = <S extends Schema>(resolve: () => S): LazySchema<S> => ({ type: 'lazy', resolve });

export const field = <S extends Schema>(tag: number, schema: S, options: FieldOptions = {}): Field<S> => ({
  tag,
  schema,
  ...options,
});

export const struct = <const F extends Fields>(
  name: string,
  fields: F,
  options: { structType?: 'atomic' | 'granular' } = {},
): StructSchema<F> => ({ type: 'struct', name, fields, ...options });

/** The fields of another struct, to be spread into a declaration: in JSON they stand in the parent. */
export function inline<F extends Fields>(tag: number, protoName: string, message: StructSchema<F>): F {
  const outer: Via = { tag, protoName, message: message.name };
  const moved = ({ via, ...rest }: Field): Field => ({
    ...rest,
    via: via === undefined ? outer : { ...outer, inner: via },
  });
  return Object.fromEntries(Object.entries(message.fields).map(([name, f]) => [name, moved(f)])) as unknown as F;
}

/** The TypeScript type of a decoded value. */
// The first line ends what would not end: the inference of every schema there is.
export type Infer<S> = Schema extends S
  ? unknown
  : S extends { readonly type: 'struct'; readonly fields: infer F }
    ? { -readonly [K in keyof F]?: F[K] extends { readonly schema: infer T } ? Infer<T> : never }
    : S extends { readonly type: 'list'; readonly element: infer E }
      ? Infer<E>[]
      : S extends { readonly type: 'map'; readonly value: infer V }
        ? { [key: string]: Infer<V> }
        : S extends { readonly type: 'either'; readonly options: readonly (infer O)[] }
          ? Infer<O>
          : S extends { readonly type: 'lazy'; readonly resolve: () => infer T }
            ? Infer<T>
            : S extends { readonly $value?: infer T }
              ? T
              : never;
