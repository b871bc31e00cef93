/**
 * The types of expressions. A type with `maxSize` bounds its values for cost estimation; the bound is not part of the
 * type's identity.
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
  /** The largest number of code points, bytes, elements or entries; absent: unbounded. */
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

/** An object with declared fields. Two object types are the same type when their names are equal. */
export interface ObjectType extends DeclaredFields {
  readonly kind: 'object';
  /** The field of an (unescaped) identifier; undefined: no such field. */
  readonly field: (identifier: string) => ObjectField | undefined;
}

export interface ObjectField {
  readonly type: CelType;
  /** The JSON property it is read from: `a-b` for the identifier `a__dash__b`. */
  readonly property: string;
  readonly read: ReadJson;
}

/** An object that expressions construct: `Name{field: value}`. */
export interface LiteralObjectType extends LiteralFields {
  readonly kind: 'object';
  readonly literal: true;
  /** The field of an identifier; undefined: no such field. */
  readonly field: (identifier: string) => LiteralField | undefined;
}

export interface LiteralField {
  readonly type: CelType;
  /** The value of the field where the literal does not set it; undefined: reading it fails. */
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

/** A type of a library, such as `net.IP`: its name alone identifies it. */
export interface OpaqueType {
  readonly kind: 'opaque';
  readonly name: string;
  /** The largest number of code points that a comparison of its values reads; absent: a comparison costs 1. */
  readonly maxSize?: number;
}

/** A type parameter in the signature of a function. */
export interface ParameterType {
  readonly kind: 'parameter';
  readonly name: string;
}

/** A value of the type, or null (the wrapper types of protobuf). */
export interface NullableType {
  readonly kind: 'nullable';
  readonly of: SimpleType;
}

const simple = (kind: SimpleKind): SimpleType => ({ kind });
export const dynType = simple('dyn');
/** As dyn, but what has it is no range of a macro before it is converted: `dyn(x)`. Known by its identity. */
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
