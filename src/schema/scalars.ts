import { canonicalDuration, canonicalQuantity, canonicalTime, type Json } from '../meta/index.ts';
import { base64ErrorOffset, canonicalBase64 } from './base64.ts';
import type { ScalarName, Schema } from './declare.ts';

/** A scalar type. */
export interface Scalar {
  /** The normal form of a value; undefined for a value of another type. */
  readonly read: (value: Json) => Json | undefined;
  /** The Go type in messages. */
  readonly typeName: string;
  /** The Go type in messages about a value of the wrong JSON type, where it differs. */
  readonly wrongTypeName?: string;
  /** Messages show the rejected number. */
  readonly numeric?: boolean;
  /** The error of a rejected value of the right JSON type; undefined when its JSON type is wrong. */
  readonly describeError?: (value: Json) => string | undefined;
  /** The value of `null` in a list or map, and of an absent field that is always encoded. */
  readonly zero: Json;
  /** A field that is not nullable is encoded even when it is zero. */
  readonly keepsZero?: boolean;
}

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

function readInt32(value: Json): number | undefined {
  // `| 0` also turns -0 into 0.
  return typeof value === 'number' && (value | 0) === value ? value | 0 : undefined;
}

function readInt64(value: Json): number | bigint | undefined {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value + 0;
    return Number.isInteger(value) ? readInt64(BigInt(value)) : undefined;
  }
  if (typeof value !== 'bigint' || value > MAX_INT64 || value < MIN_INT64) return undefined;
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
}

function readDouble(value: Json): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value + 0 : undefined;
}

const readText = (value: Json) => (typeof value === 'string' ? value : undefined);

const keep = (value: Json) => value;

/** A string with a syntax: `parse` returns its normal form or throws an error with a message for the client. */
function text(typeName: string, zero: Json, parse: (text: string) => string): Scalar {
  return {
    typeName,
    wrongTypeName: 'string',
    zero,
    keepsZero: true,
    read: (value) => (typeof value === 'string' ? attempt(parse, value) : undefined),
    describeError: (value) => (typeof value === 'string' ? errorMessage(parse, value) : undefined),
  };
}

function attempt(parse: (text: string) => string, value: string): string | undefined {
  try {
    return parse(value);
  } catch {
    return undefined;
  }
}

function errorMessage(parse: (text: string) => string, value: string): string | undefined {
  try {
    parse(value);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const zeroTimes: ReadonlySet<Json | undefined> = new Set(['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z']);

/** A time. The first moment of the first year is none. */
function timeScalar(typeName: string, micro: boolean): Scalar {
  const scalar = text(typeName, null, (value) => canonicalTime(value, micro));
  const read = (value: Json) => {
    const time = scalar.read(value);
    return zeroTimes.has(time) ? null : time;
  };
  return { ...scalar, read };
}

/** A quantity may stand between spaces. */
const quantityText = (value: Json): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value).trim() : '';

export const scalars: { readonly [name in ScalarName]: Scalar } = {
  string: { typeName: 'string', zero: '', read: readText },
  bool: { typeName: 'bool', zero: false, read: (value) => (typeof value === 'boolean' ? value : undefined) },
  int32: { typeName: 'int32', zero: 0, numeric: true, read: readInt32 },
  int64: { typeName: 'int64', zero: 0, numeric: true, read: readInt64 },
  double: { typeName: 'float64', zero: 0, numeric: true, read: readDouble },
  bytes: {
    typeName: '[]uint8',
    zero: '',
    read: (value) => (typeof value === 'string' ? canonicalBase64(value) : undefined),
    describeError: (value) =>
      typeof value === 'string' ? `illegal base64 data at input byte ${base64ErrorOffset(value) ?? 0}` : undefined,
  },
  time: timeScalar('v1.Time', false),
  microTime: timeScalar('v1.MicroTime', true),
  duration: text('v1.Duration', '0s', canonicalDuration),
  quantity: {
    typeName: 'resource.Quantity',
    zero: '0',
    keepsZero: true,
    read: (value) => attempt(canonicalQuantity, quantityText(value)),
    describeError: (value) => errorMessage(canonicalQuantity, quantityText(value)),
  },
  intOrString: {
    typeName: 'intstr.IntOrString',
    wrongTypeName: 'int32',
    numeric: true,
    zero: 0,
    keepsZero: true,
    read: (value) => (typeof value === 'string' ? value : readInt32(value)),
  },
  any: { typeName: 'interface {}', zero: null, keepsZero: true, read: keep },
  object: {
    typeName: 'runtime.RawExtension',
    zero: null,
    keepsZero: true,
    read: (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined),
  },
};

/** The scalar type of a schema; undefined for other schemas. */
export function scalarOf(schema: Schema): Scalar | undefined {
  return schema.type in scalars ? scalars[schema.type as ScalarName] : undefined;
}
