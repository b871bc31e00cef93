import { canonicalDuration, canonicalQuantity, canonicalTime, type Json } from '../meta/index.ts';
import { base64Fault, canonicalBase64 } from './base64.ts';
import type { ScalarName, Schema } from './declare.ts';

/** What holds for the values of one scalar type. */
export interface Scalar {
  /** The normal form of a value; undefined when it is none of this type. */
  readonly read: (value: Json) => Json | undefined;
  /** How messages spell the type. */
  readonly spelling: string;
  /** How messages spell the type a value of the wrong JSON type was read as, where that is another. */
  readonly readAs?: string;
  /** Messages tell which number was refused, not just that one was. */
  readonly numeric?: boolean;
  /** Says what is wrong with a refused value of the right JSON type; undefined when its JSON type is wrong. */
  readonly fault?: (value: Json) => string | undefined;
  /** What `null` in a list or map becomes, and an absent field that is always written. */
  readonly zero: Json;
  /** A field that is not nullable is written even when it is zero. */
  readonly solid?: boolean;
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

/** A text with a grammar of its own: `parse` gives its normal form or throws an error whose message is for the client. */
function text(spelling: string, zero: Json, parse: (text: string) => string): Scalar {
  return {
    spelling,
    readAs: 'string',
    zero,
    solid: true,
    read: (value) => (typeof value === 'string' ? attempt(parse, value) : undefined),
    fault: (value) => (typeof value === 'string' ? complaint(parse, value) : undefined),
  };
}

function attempt(parse: (text: string) => string, value: string): string | undefined {
  try {
    return parse(value);
  } catch {
    return undefined;
  }
}

function complaint(parse: (text: string) => string, value: string): string | undefined {
  try {
    parse(value);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const quantityText = (value: Json): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';

export const scalars: { readonly [name in ScalarName]: Scalar } = {
  string: { spelling: 'string', zero: '', read: readText },
  bool: { spelling: 'bool', zero: false, read: (value) => (typeof value === 'boolean' ? value : undefined) },
  int32: { spelling: 'int32', zero: 0, numeric: true, read: readInt32 },
  int64: { spelling: 'int64', zero: 0, numeric: true, read: readInt64 },
  double: { spelling: 'float64', zero: 0, numeric: true, read: readDouble },
  bytes: {
    spelling: '[]uint8',
    zero: '',
    read: (value) => (typeof value === 'string' ? canonicalBase64(value) : undefined),
    fault: (value) =>
      typeof value === 'string' ? `illegal base64 data at input byte ${base64Fault(value) ?? 0}` : undefined,
  },
  time: text('v1.Time', null, (value) => canonicalTime(value)),
  microTime: text('v1.MicroTime', null, (value) => canonicalTime(value, true)),
  duration: text('v1.Duration', '0s', canonicalDuration),
  quantity: {
    spelling: 'resource.Quantity',
    zero: '0',
    solid: true,
    read: (value) => attempt(canonicalQuantity, quantityText(value)),
    fault: (value) => complaint(canonicalQuantity, quantityText(value)),
  },
  intOrString: {
    spelling: 'intstr.IntOrString',
    readAs: 'int32',
    numeric: true,
    zero: 0,
    solid: true,
    read: (value) => (typeof value === 'string' ? value : readInt32(value)),
  },
  any: { spelling: 'interface {}', zero: null, solid: true, read: keep },
  object: {
    spelling: 'runtime.RawExtension',
    zero: null,
    solid: true,
    read: (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined),
  },
};

/** What holds for the values of a schema that is a scalar. */
export function scalarOf(schema: Schema): Scalar | undefined {
  return schema.type in scalars ? scalars[schema.type as ScalarName] : undefined;
}
