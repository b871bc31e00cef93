/** The conversions between types: `int`, `uint`, `double`, `string`, `bytes`, `bool`, `timestamp`, `duration`, … */
import { scale } from '../cost/range.ts';
import { typeNameOf } from '../evaluate/type-values.ts';
import type { Library, Overload } from '../library.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  metaType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts';
import { CelError, Double, type Duration, intOf, type Timestamp, TypeValue, type Uint, type Value } from '../values.ts';
import { longCost, sizeOf, stringFactor } from './costs.ts';
import { checkedInt, checkedUint, exactOf, intOverflow, uintOverflow } from './integers.ts';
import { parseDouble, parseInteger, shortText } from './numbers.ts';
import { functionOf } from './overloads.ts';
import { sizeOfValue } from './sizes.ts';
import { durationOfText, formatSeconds, formatTimestamp, parseTimestamp, timestampOf } from './times.ts';

const a = parameterType('A');

const conversion = (
  id: string,
  from: CelType,
  to: CelType,
  call: (value: Value) => Value,
  costs: Pick<Overload, 'cost' | 'estimate'> = {},
): Overload => functionOf(id, [from], to, call as Overload['call'], costs);

/** Of a text, which is read to its end. */
const parsing = (id: string, to: CelType, call: (value: Value) => Value): Overload =>
  conversion(id, stringType, to, call, { cost: ([text]) => longCost((text as string).length) });

const same = (value: Value): Value => value;

const notConvertible = (type: string) => new CelError(`type conversion error from 'string' to '${type}'`);

/** Converts a text; fails when the text has no value of the type. */
const ofText =
  <T>(type: string, parse: (text: string) => T | undefined, make: (parsed: T) => Value) =>
  (text: Value): Value => {
    const parsed = parse(text as string);
    if (parsed === undefined) throw notConvertible(type);
    return make(parsed);
  };

function inRange(make: (exact: bigint) => Value, type: string): (exact: bigint) => Value {
  return (exact) => {
    try {
      return make(exact);
    } catch {
      throw notConvertible(type);
    }
  };
}

const bools = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/** Ints and uints lose their fraction. The limits themselves are out of range, because doubles there are inexact. */
function doubleToInt(value: Value): Value {
  const double = (value as Double).value;
  if (!(double > -(2 ** 63) && double < 2 ** 63)) throw intOverflow();
  return intOf(BigInt(Math.trunc(double)));
}

function doubleToUint(value: Value): Value {
  const double = (value as Double).value;
  if (!(double >= 0 && double < 2 ** 64)) throw uintOverflow();
  return checkedUint(BigInt(Math.trunc(double)));
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

function bytesToString(value: Value): Value {
  try {
    return decoder.decode(value as Uint8Array);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

const reading: Overload['cost'] = ([value = null]) => Math.ceil(sizeOfValue(value) * stringFactor);

/** A code point has one to four bytes. */
const encoding: Pick<Overload, 'cost' | 'estimate'> = {
  cost: reading,
  estimate: (args) => {
    const { min, max } = sizeOf(args, 0);
    return { cost: scale({ min, max }, stringFactor), resultSize: scale({ min: min / 4, max }, 4) };
  },
};

const decoding: Pick<Overload, 'cost' | 'estimate'> = {
  cost: reading,
  estimate: (args) => {
    const { min, max } = sizeOf(args, 0);
    return { cost: scale({ min, max }, stringFactor), resultSize: { min: Math.floor(min / 4), max } };
  },
};

export const conversions: Library['functions'] = {
  type: [conversion('type', a, metaType(a), (value) => new TypeValue(typeNameOf(value)))],
  dyn: [conversion('to_dyn', a, dynType, same)],
  bool: [
    conversion('bool_to_bool', boolType, boolType, same),
    parsing(
      'string_to_bool',
      boolType,
      ofText('bool', (text) => bools.get(text), same),
    ),
  ],
  bytes: [
    conversion('bytes_to_bytes', bytesType, bytesType, same),
    conversion('string_to_bytes', stringType, bytesType, (value) => encoder.encode(value as string), encoding),
  ],
  double: [
    conversion('double_to_double', doubleType, doubleType, same),
    conversion('int64_to_double', intType, doubleType, (value) => new Double(Number(value as number | bigint))),
    parsing(
      'string_to_double',
      doubleType,
      ofText('double', parseDouble, (value) => new Double(value)),
    ),
    conversion('uint64_to_double', uintType, doubleType, (value) => new Double(Number((value as Uint).value))),
  ],
  duration: [
    conversion('duration_to_duration', durationType, durationType, same),
    // It is declared, and no value has such a conversion.
    conversion('int64_to_duration', intType, durationType, () => {
      throw new CelError("type conversion error from 'int' to 'google.protobuf.Duration'");
    }),
    parsing('string_to_duration', durationType, (value) => durationOfText(value as string)),
  ],
  int: [
    conversion('int64_to_int64', intType, intType, same),
    conversion('double_to_int64', doubleType, intType, doubleToInt),
    conversion('duration_to_int64', durationType, intType, (value) => intOf((value as Duration).nanos)),
    parsing(
      'string_to_int64',
      intType,
      ofText('int', (text) => parseInteger(text, true), inRange(checkedInt, 'int')),
    ),
    conversion('timestamp_to_int64', timestampType, intType, (value) => (value as Timestamp).seconds),
    conversion('uint64_to_int64', uintType, intType, (value) => checkedInt((value as Uint).value)),
  ],
  string: [
    conversion('string_to_string', stringType, stringType, same),
    conversion('bool_to_string', boolType, stringType, (value) => `${value as boolean}`),
    conversion('bytes_to_string', bytesType, stringType, bytesToString, decoding),
    conversion('double_to_string', doubleType, stringType, (value) => shortText((value as Double).value)),
    conversion('duration_to_string', durationType, stringType, (value) => formatSeconds(value as Duration)),
    conversion('int64_to_string', intType, stringType, (value) => `${value as number | bigint}`),
    conversion('timestamp_to_string', timestampType, stringType, (value) => formatTimestamp(value as Timestamp)),
    conversion('uint64_to_string', uintType, stringType, (value) => `${(value as Uint).value}`),
  ],
  timestamp: [
    conversion('timestamp_to_timestamp', timestampType, timestampType, same),
    conversion('int64_to_timestamp', intType, timestampType, (value) =>
      timestampOf(Number(value as number | bigint), 0),
    ),
    parsing('string_to_timestamp', timestampType, (value) => parseTimestamp(value as string)),
  ],
  uint: [
    conversion('uint64_to_uint64', uintType, uintType, same),
    conversion('double_to_uint64', doubleType, uintType, doubleToUint),
    conversion('int64_to_uint64', intType, uintType, (value) => checkedUint(exactOf(value))),
    parsing(
      'string_to_uint64',
      uintType,
      ofText('uint', (text) => parseInteger(text, false), inRange(checkedUint, 'uint')),
    ),
  ],
};
