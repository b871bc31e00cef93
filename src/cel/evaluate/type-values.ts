/** The types of values at run time. */
import type { CelType } from '../types.ts';
import {
  ConstructedValue,
  Double,
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  OpaqueValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';

const simpleNames = {
  dyn: 'dyn',
  null: 'null_type',
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
} as const;

/** The name of a type at run time, which has no type arguments: `list` for `list(int)`. */
export function runtimeTypeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'type':
      return type.kind;
    case 'optional':
      return 'optional_type';
    case 'object':
    case 'opaque':
    case 'parameter':
      return type.name;
    case 'nullable':
      return runtimeTypeName(type.of);
    default:
      return simpleNames[type.kind];
  }
}

/** The name of the type of a value: `type(value)`. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
  }
  if (value === null) return 'null_type';
  if (value instanceof ObjectValue || value instanceof ConstructedValue) return value.type.name;
  if (value instanceof OpaqueValue) return value.typeName;
  return classNames.find(([type]) => value instanceof type)?.[1] ?? 'dyn';
}

const classNames = [
  [ListValue, 'list'],
  [MapValue, 'map'],
  [Uint, 'uint'],
  [Double, 'double'],
  [Uint8Array, 'bytes'],
  [Timestamp, simpleNames.timestamp],
  [Duration, simpleNames.duration],
  [OptionalValue, 'optional_type'],
  [TypeValue, 'type'],
] as const;

/** Whether a value may be an argument of a type. Of lists and maps, the first element or entry decides. */
export type Accepts = (value: unknown) => boolean;

const isError = (value: unknown): boolean => value instanceof Error;

/** A test for values of a type; failures are of no type. */
export function acceptsType(type: CelType): Accepts {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return (value) => !isError(value);
    case 'null':
      return (value) => value === null;
    case 'bool':
      return (value) => typeof value === 'boolean';
    case 'string':
      return (value) => typeof value === 'string';
    case 'int':
      return (value) => typeof value === 'number' || typeof value === 'bigint';
    case 'uint':
      return (value) => value instanceof Uint;
    case 'double':
      return (value) => value instanceof Double;
    case 'bytes':
      return (value) => value instanceof Uint8Array;
    case 'timestamp':
      return (value) => value instanceof Timestamp;
    case 'duration':
      return (value) => value instanceof Duration;
    case 'type':
      return (value) => value instanceof TypeValue;
    case 'optional':
      return (value) => value instanceof OptionalValue;
    case 'opaque':
      return (value) => value instanceof OpaqueValue && value.typeName === type.name;
    case 'object':
      return (value) =>
        (value instanceof ObjectValue || value instanceof ConstructedValue) && value.type.name === type.name;
    case 'nullable': {
      const accepts = acceptsType(type.of);
      return (value) => value === null || accepts(value);
    }
    case 'list':
      return acceptsList(type.element);
    case 'map':
      return acceptsMap(type.key, type.value);
  }
}

function acceptsList(element: CelType): Accepts {
  if (isAny(element)) return (value) => value instanceof ListValue;
  const accepts = acceptsType(element);
  return (value) => value instanceof ListValue && (value.size === 0 || accepts(value.get(0)));
}

function acceptsMap(key: CelType, element: CelType): Accepts {
  if (isAny(key) && isAny(element)) return (value) => value instanceof MapValue;
  const acceptsKey = acceptsType(key);
  const acceptsElement = acceptsType(element);
  return (value) => {
    if (!(value instanceof MapValue)) return false;
    for (const first of value.keys()) return acceptsKey(first) && acceptsElement(value.get(first));
    return true;
  };
}

const isAny = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'parameter';
