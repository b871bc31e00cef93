/**
 * The types of the expression language. `maxSize` bounds the values of a type for cost estimation; it is not part of the
 * identity of the type.
 */
import type { DeclaredFields, LiteralFields, ReadJson, Value } from './values.ts';

export type SimpleKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration';

export type CelType =
  | SimpleType
  | ListType
  | MapType
  | ObjectType
  | LiteralObjectType
  | OptionalType
  | MetaType
  | OpaqueType
  | ParameterType
  | NullableType;

interface Sized {
  /** Maximum number of code points, bytes, elements or entries; absent: unbounded. */
  readonly maxSize?: number;
}

export interface SimpleType extends Sized {
  readonly kind: SimpleKind;
}

export interface ListType extends Sized {
  readonly kind: 'list';
  readonly element: CelType;
}

export interface MapType extends Sized {
  readonly kind: 'map';
  readonly key: CelType;
  readonly value: CelType;
}

/** An object with declared fields. Two object types are identical when their names are equal. */
export interface ObjectType extends DeclaredFields {
  readonly kind: 'object';
  /** Returns the field of an (unescaped) identifier; undefined when the type has no such field. */
  readonly field: (identifier: string) => ObjectField | undefined;
}

export interface ObjectField {
  readonly type: CelType;
  /** The JSON property of the field: `a-b` for the identifier `a__dash__b`. */
  readonly property: string;
  readonly read: ReadJson;
}

/** An object that an expression constructs: `Name{field: value}`. */
export interface LiteralObjectType extends LiteralFields {
  readonly kind: 'object';
  readonly literal: true;
  /** Returns the field of an identifier; undefined when the type has no such field. */
  readonly field: (identifier: string) => LiteralField | undefined;
}

export interface LiteralField {
  readonly type: CelType;
  /** The value of the field when the literal omits it; undefined: reading it fails. */
  readonly initial: Value | undefined;
}

/** `optional_type(value)`. */
export interface OptionalType {
  readonly kind: 'optional';
  readonly value: CelType;
}

/** The type of a type: `type(int)`. */
export interface MetaType {
  readonly kind: 'type';
  readonly of: CelType;
}

/** A type of a library, such as `net.IP`, identified by its name. */
export interface OpaqueType {
  readonly kind: 'opaque';
  readonly name: string;
  /** Maximum number of code points that a comparison of values reads; absent: a comparison costs 1. */
  readonly maxSize?: number;
}

/** A type parameter of a function signature. */
export interface ParameterType {
  readonly kind: 'parameter';
  readonly name: string;
}

/** A value of the type or null (a protobuf wrapper type). */
export interface NullableType {
  readonly kind: 'nullable';
  readonly of: SimpleType;
}

const simple = (kind: SimpleKind): SimpleType => ({ kind });
export const dynType = simple('dyn');
/** Like dyn, but a macro accepts such a value as its range only after a conversion (`dyn(x)`). Compared by reference. */
export const anyType = simple('dyn');
export const nullType = simple('null');
export const boolType = simple('bool');
export const intType = simple('int');
export const uintType = simple('uint');
export const doubleType = simple('double');
export const stringType = simple('string');
export const bytesType = simple('bytes');
export const timestampType = simple('timestamp');
export const durationType = simple('duration');
export const listType = (element: CelType, maxSize?: number): ListType =>
  maxSize === undefined ? { kind: 'list', element } : { kind: 'list', element, maxSize };
export const mapType = (key: CelType, value: CelType, maxSize?: number): MapType =>
  maxSize === undefined ? { kind: 'map', key, value } : { kind: 'map', key, value, maxSize };
export const optionalType = (value: CelType): OptionalType => ({ kind: 'optional', value });
export const metaType = (of: CelType): MetaType => ({ kind: 'type', of });
export const opaqueType = (name: string, maxSize?: number): OpaqueType =>
  maxSize === undefined ? { kind: 'opaque', name } : { kind: 'opaque', name, maxSize };
export const parameterType = (name: string): ParameterType => ({ kind: 'parameter', name });
