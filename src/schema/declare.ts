/**
 * The declaration of a structural schema: the one description of a type for decoding, pruning, defaulting, declarative
 * validation, OpenAPI, protobuf, managed fields and strategic merge patch.
 *
 *     export const ContainerPort = struct('core/v1.ContainerPort', {
 *       name: field(1, string),
 *       containerPort: field(3, int32, { required: true, always: true, min: 1, max: 65535 }),
 *       protocol: field(4, string, { default: 'TCP', known: ['TCP', 'UDP', 'SCTP'] }),
 *     });
 *     export type ContainerPort = Infer<typeof ContainerPort>;
 */
import type { FeatureName, Json, JsonObject, ObjectMeta } from '../meta/index.ts';
import { MAX_SHORT_LIST } from './limits.ts';

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
  /** A resource quantity such as `500m`, `1Gi`: text or a number in requests, text when stored. */
  | 'quantity'
  /** A 32-bit integer or text. */
  | 'intOrString'
  /** Any JSON value, unchanged. */
  | 'any'
  /** Any JSON object, unchanged. */
  | 'object';

export interface ScalarSchema<T = unknown> {
  readonly type: ScalarName;
  /** The name of the type in OpenAPI documents, where it has one of its own: `meta/v1.FieldsV1`. */
  readonly name?: string;
  /** Never set; carries the TypeScript type of a value. */
  readonly $value?: T;
}

export interface ListSchema<E extends Schema = Schema> {
  readonly type: 'list';
  readonly element: E;
  /** Maximum number of items; decoding rejects a longer list with 413. */
  readonly most?: number;
  /** As in {@link FieldOptions}, for a list that is not the value of a field. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
}

/** An object with arbitrary keys. */
export interface MapSchema<V extends Schema = Schema> {
  readonly type: 'map';
  readonly value: V;
  /** As in {@link FieldOptions}, for a map that is not the value of a field. */
  readonly mapType?: 'atomic' | 'granular';
}

/** One of several schemas, chosen by the JSON type of the value (boolean, array, object, string). */
export interface EitherSchema<S extends Schema = Schema> {
  readonly type: 'either';
  readonly name: string;
  readonly options: readonly S[];
}

export interface Union {
  readonly discriminator: string;
  /** The fields of which at most one is set. The value of the discriminator for each is its name, capitalized. */
  readonly members: readonly string[];
}

export interface StructSchema<F extends Fields = Fields> {
  readonly type: 'struct';
  /** `<package>/<version>.<Name>`, such as `core/v1.Pod`; unique. */
  readonly name: string;
  /** In the order of encoding. */
  readonly fields: F;
  /**
   * A field by its name, where a struct has so many that each is declared when it is first asked for. Its `fields` are
   * then those with declared types, or with some below.
   */
  readonly fieldOf?: (name: string) => Field | undefined;
  /** `atomic`: the whole struct has one field manager, and an apply replaces it. */
  readonly structType?: 'atomic' | 'granular';
  /** One field says which of the others is set. */
  readonly union?: Union;
  /** Undeclared fields may have any value and are tracked in managed fields. Decoding drops them. */
  readonly open?: boolean;
  /** The field names are plain data without placeholders of `expandNames`. */
  readonly literal?: boolean;
}

/** A reference to a schema that is declared later or is recursive. */
export interface LazySchema<S extends Schema = Schema> {
  readonly type: 'lazy';
  readonly resolve: () => S;
}

// Interfaces, because a type alias cannot refer to itself here.
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
  /** Validation rejects an absent value, `null` and the empty string. */
  readonly required?: boolean;
  /** Required in OpenAPI only: validation accepts an empty value. */
  readonly emptyOk?: boolean;
  /**
   * Whether the field is encoded even when absent or empty: as `""`, `0`, `false`, `{}`, or `null` for a list or map. A
   * struct that is not nullable is always encoded.
   */
  readonly always?: boolean;
  /** Whether `0`, `false`, `""` and `{}` differ from an absent value (a pointer field). Otherwise decoding drops them. */
  readonly nullable?: boolean;
  /** The default value, set by decoding when the field is absent. */
  readonly default?: Json;
  /** The supported values. Validation rejects others unless `open`. */
  readonly known?: readonly string[];
  readonly open?: boolean;
  /** Whether OpenAPI lists the supported values; by default unless `open`. */
  readonly enum?: boolean;
  /** The validation of the kind checks the supported values, because it tolerates others in some objects. */
  readonly checkedByKind?: boolean;
  /** Inclusive bounds of a number. */
  readonly min?: number;
  readonly max?: number;
  /** `atomic` is the default. `set`: unique scalars. `map`: structs with unique `listMapKeys`. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** Declarative validation does not reject duplicates of a `set` or `map`. */
  readonly duplicates?: boolean;
  readonly mapType?: 'atomic' | 'granular';
  /** As in OpenAPI: `merge`, `replace`, `retainKeys` or `merge,retainKeys`. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  /** The protobuf name where it differs from the JSON name. */
  readonly protoName?: string;
  /** Whether protobuf encodes the field even when absent, although it is nullable in JSON. */
  readonly protoAlways?: boolean;
  /** A named list type, which protobuf encodes as a message with the field 1 `items`, as it does every list in a map. */
  readonly protoMessage?: boolean;
  /**
   * The feature gate of the field: while it is off, writes drop the field unless the stored object uses the feature.
   */
  readonly gate?: FeatureName;
  /**
   * The value that is dropped with the field: `holder`, the struct that has it; `empty holder`, that struct once it is
   * empty.
   */
  readonly gateDrops?: 'holder' | 'empty holder';
  /**
   * The kind also has handwritten validation for the field. Its errors are reported, and compared with those of declarative
   * validation, unless the feature DeclarativeValidationTakeover is on.
   */
  readonly declarative?: boolean;
}

export interface Field<S extends Schema = Schema> extends FieldOptions {
  /** Protobuf field number. */
  readonly tag: number;
  readonly schema: S;
  /** The message that contains the field in protobuf; in JSON the field is inlined in the parent. */
  readonly via?: Via;
}

/** An embedded message whose fields are inlined in JSON. */
export interface Via {
  /** Its field number in the parent. */
  readonly tag: number;
  readonly protoName: string;
  readonly message: string;
  /** The embedded message inside this one that contains the field. */
  readonly inner?: Via;
}

const scalar = <T>(type: ScalarName): ScalarSchema<T> => ({ type });
export const string = scalar<string>('string');
export const bool = scalar<boolean>('bool');
export const int32 = scalar<number>('int32');
/** A `bigint` where a double is not exact (beyond 2^53). */
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
/** A scalar under a name of its own in OpenAPI documents. */
export const named = <S extends ScalarSchema>(name: string, schema: S): S => ({ ...schema, name });

export const list = <E extends Schema>(element: E, options: { readonly most?: number } = {}): ListSchema<E> => ({
  type: 'list',
  element,
  ...options,
});
/** A list that is short in every legitimate object, such as the containers of a pod: each item costs several checks. */
export const shortList = <E extends Schema>(element: E): ListSchema<E> => list(element, { most: MAX_SHORT_LIST });
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
  options: { structType?: 'atomic' | 'granular'; union?: Union } = {},
): StructSchema<F> => ({ type: 'struct', name, fields, ...options });

/** Returns the fields of an embedded struct, to spread into a declaration: JSON inlines them in the parent. */
export function inline<F extends Fields>(tag: number, protoName: string, message: StructSchema<F>): F {
  const outer: Via = { tag, protoName, message: message.name };
  const moved = ({ via, ...rest }: Field): Field => ({
    ...rest,
    via: via === undefined ? outer : { ...outer, inner: via },
  });
  return Object.fromEntries(Object.entries(message.fields).map(([name, f]) => [name, moved(f)])) as unknown as F;
}

/** The TypeScript type of a decoded value. */
// The first line stops infinite inference for the general type `Schema`.
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

/** The TypeScript type of a decoded object of a kind, which always has metadata. */
export type ObjectOf<S extends StructSchema> = Infer<S> & { metadata: ObjectMeta };
