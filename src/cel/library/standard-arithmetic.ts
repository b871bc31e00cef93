/** The operators `+`, `-`, `*`, `/`, `%` and `-a`. */
import { atOnce } from '../../meta/index.ts';
import { fixed, scale, sum } from '../cost/range.ts';
import { concatenate, concatenationCost } from '../evaluate/associative-lists.ts';
import type { CallEstimate, EstimatedArgument, Library, Overload } from '../library.ts';
import { checkTextLength } from '../result-limits.ts';
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts';
import { CelError, Double, Duration, type ListValue, type Timestamp, type Uint, type Value } from '../values.ts';
import { sizeOf, stringFactor } from './costs.ts';
import { checkedInt, checkedUint, exactOf } from './integers.ts';
import { functionOf } from './overloads.ts';
import { sizeOfValue } from './sizes.ts';
import { timestampPlus } from './times.ts';

const divisionByZero = () => new CelError('division by zero');
const modulusByZero = () => new CelError('modulus by zero');

function addInts(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInt(exactOf(a) + exactOf(b));
}

function subtractInts(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInt(exactOf(a) - exactOf(b));
}

// Adding 0 turns -0 into 0.
function multiplyInts(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return checkedInt(exactOf(a) * exactOf(b));
}

function divideInts(a: Value, b: Value): Value {
  if (b === 0) throw divisionByZero();
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0;
  return checkedInt(exactOf(a) / exactOf(b));
}

function moduloInts(a: Value, b: Value): Value {
  if (b === 0) throw modulusByZero();
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  // The quotient of the smallest int and -1 is not an int, so the remainder is not defined either.
  checkedInt(exactOf(a) / exactOf(b));
  return checkedInt(exactOf(a) % exactOf(b));
}

function negateInt(a: Value): Value {
  return typeof a === 'number' ? 0 - a : checkedInt(-exactOf(a));
}

const divideUints = (a: Value, b: Value): Value => {
  if ((b as Uint).value === 0n) throw divisionByZero();
  return checkedUint((a as Uint).value / (b as Uint).value);
};

const moduloUints = (a: Value, b: Value): Value => {
  if ((b as Uint).value === 0n) throw modulusByZero();
  return checkedUint((a as Uint).value % (b as Uint).value);
};

function addBytes(a: Value, b: Value): Value {
  checkTextLength((a as Uint8Array).length + (b as Uint8Array).length);
  const sum = new Uint8Array((a as Uint8Array).length + (b as Uint8Array).length);
  sum.set(a as Uint8Array);
  sum.set(b as Uint8Array, (a as Uint8Array).length);
  return sum;
}

function addTexts(a: Value, b: Value): Value {
  checkTextLength((a as string).length + (b as string).length);
  return (a as string) + (b as string);
}

const duration = (nanos: bigint): Duration => new Duration(exactOf(checkedInt(nanos)));

/** Nanoseconds since 1970. */
const nanosOf = (a: Value): bigint =>
  BigInt((a as Timestamp).seconds) * 1_000_000_000n + BigInt((a as Timestamp).nanos);

const int2 = [intType, intType] as const;
const uint2 = [uintType, uintType] as const;
const double2 = [doubleType, doubleType] as const;

const ints = (id: string, call: Overload['call']): Overload => functionOf(id, int2, intType, call);
const uints = (id: string, operator: (a: bigint, b: bigint) => bigint): Overload =>
  functionOf(id, uint2, uintType, (a, b) => checkedUint(operator((a as Uint).value, (b as Uint).value)));
const doubles = (id: string, operator: (a: number, b: number) => number): Overload =>
  functionOf(id, double2, doubleType, (a, b) => new Double(operator((a as Double).value, (b as Double).value)));

const concatenated = (args: readonly EstimatedArgument[]) => sum(sizeOf(args, 0), sizeOf(args, 1));

/** Strings and bytes are copied. */
const copying: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([a = null, b = null]) => Math.ceil((sizeOfValue(a) + sizeOfValue(b)) * stringFactor),
  estimate: (args): CallEstimate => {
    const resultSize = concatenated(args);
    return { cost: scale(resultSize, stringFactor), resultSize };
  },
};

const list = listType(parameterType('A'));

export const arithmetic: Library['functions'] = {
  '_+_': [
    functionOf('add_bytes', [bytesType, bytesType], bytesType, addBytes, copying),
    doubles('add_double', (a, b) => a + b),
    functionOf('add_duration_duration', [durationType, durationType], durationType, (a, b) =>
      duration((a as Duration).nanos + (b as Duration).nanos),
    ),
    functionOf('add_duration_timestamp', [durationType, timestampType], timestampType, (a, b) =>
      timestampPlus(b as Timestamp, (a as Duration).nanos),
    ),
    functionOf('add_timestamp_duration', [timestampType, durationType], timestampType, (a, b) =>
      timestampPlus(a as Timestamp, (b as Duration).nanos),
    ),
    ints('add_int64', addInts),
    functionOf('add_list', [list, list], list, (a, b) => atOnce(concatenate(a as ListValue, b as ListValue)), {
      steps: (a, b) => concatenate(a as ListValue, b as ListValue),
      cost: ([a, b]) => concatenationCost(a as ListValue, b as ListValue),
      estimate: (args) => ({ cost: fixed(1), resultSize: concatenated(args) }),
    }),
    functionOf('add_string', [stringType, stringType], stringType, addTexts, copying),
    uints('add_uint64', (a, b) => a + b),
  ],
  '_-_': [
    doubles('subtract_double', (a, b) => a - b),
    functionOf('subtract_duration_duration', [durationType, durationType], durationType, (a, b) =>
      duration((a as Duration).nanos - (b as Duration).nanos),
    ),
    ints('subtract_int64', subtractInts),
    functionOf('subtract_timestamp_duration', [timestampType, durationType], timestampType, (a, b) =>
      timestampPlus(a as Timestamp, duration(-(b as Duration).nanos).nanos),
    ),
    functionOf('subtract_timestamp_timestamp', [timestampType, timestampType], durationType, (a, b) =>
      duration(nanosOf(a) - nanosOf(b)),
    ),
    uints('subtract_uint64', (a, b) => a - b),
  ],
  '_*_': [
    doubles('multiply_double', (a, b) => a * b),
    ints('multiply_int64', multiplyInts),
    uints('multiply_uint64', (a, b) => a * b),
  ],
  '_/_': [
    doubles('divide_double', (a, b) => a / b),
    ints('divide_int64', divideInts),
    functionOf('divide_uint64', uint2, uintType, divideUints),
  ],
  '_%_': [ints('modulo_int64', moduloInts), functionOf('modulo_uint64', uint2, uintType, moduloUints)],
  '-_': [
    functionOf('negate_double', [doubleType], doubleType, (a) => new Double(-(a as Double).value)),
    functionOf('negate_int64', [intType], intType, negateInt),
  ],
};
