/** Mathematical functions of the conformance corpus, which expressions of API objects do not have. */
import { compareValues } from '../evaluate/equality.ts';
import { checkedInt, exactOf, indexNumber } from '../library/integers.ts';
import { functionOf } from '../library/overloads.ts';
import type { Library, Overload } from '../library.ts';
import { boolType, type CelType, doubleType, dynType, intType, listType, uintType } from '../types.ts';
import { CelError, Double, intOf, type ListValue, Uint, type Value } from '../values.ts';

const numbers: readonly (readonly [name: string, type: CelType])[] = [
  ['double', doubleType],
  ['int', intType],
  ['uint', uintType],
];

const same = (value: Value | undefined): Value => value as Value;

/** The overloads of `math.@min` and `math.@max`: of one, of two, and of a list. `sign` is that of the order. */
function extreme(name: 'min' | 'max', sign: number): Overload[] {
  const id = (suffix: string) => `math_@${name}_${suffix}`;
  const pair = (a: Value, b: Value): Value => (compareValues(a, b) * sign > 0 ? b : a);
  const ofList = (list: ListValue): Value => {
    if (list.size === 0) throw new CelError(`math.@${name}(list) argument must not be empty`);
    let found = list.get(0);
    for (let i = 1; i < list.size; i++) found = pair(found, list.get(i));
    return found;
  };
  return [
    ...numbers.map(([suffix, type]) => functionOf(id(suffix), [type], type, same)),
    ...numbers.flatMap(([a, left]) =>
      numbers.map(([b, right]) =>
        functionOf(id(`${a}_${b}`), [left, right], a === b ? left : dynType, pair as Overload['call']),
      ),
    ),
    ...numbers.map(([suffix, type]) =>
      functionOf(id(`list_${suffix}`), [listType(type)], type, ofList as Overload['call']),
    ),
  ];
}

const ofDouble = (name: string, of: (value: number) => number): readonly Overload[] => [
  functionOf(`math_${name}_double`, [doubleType], doubleType, (value) => new Double(of((value as Double).value))),
];

const testOfDouble = (name: string, test: (value: number) => boolean): readonly Overload[] => [
  functionOf(`math_${name}_double`, [doubleType], boolType, (value) => test((value as Double).value)),
];

/** Half away from zero. */
const round = (value: number): number => {
  const size = Math.trunc(Math.abs(value));
  return Math.sign(value) * (Math.abs(value) - size >= 0.5 ? size + 1 : size);
};

const wrapInt = (exact: bigint): Value => intOf(BigInt.asIntN(64, exact));
const wrapUint = (exact: bigint): Value => new Uint(BigInt.asUintN(64, exact));

const bitwise = (name: string, of: (a: bigint, b: bigint) => bigint): readonly Overload[] => [
  functionOf(`math_${name}_int_int`, [intType, intType], intType, (a, b) =>
    wrapInt(of(exactOf(a as Value), exactOf(b as Value))),
  ),
  functionOf(`math_${name}_uint_uint`, [uintType, uintType], uintType, (a, b) =>
    wrapUint(of((a as Uint).value, (b as Uint).value)),
  ),
];

/** Shifts of 64 bits: the bits of an int are those of the uint. */
const shift = (name: string, of: (bits: bigint, by: bigint) => bigint): readonly Overload[] => {
  const shifted = (bits: bigint, by: Value): bigint => {
    const places = indexNumber(by);
    if (places < 0) throw new CelError(`math.${name}() negative offset: ${by as number}`);
    return places > 63 ? 0n : of(BigInt.asUintN(64, bits), BigInt(places));
  };
  return [
    functionOf(`math_${name}_int_int`, [intType, intType], intType, (a, by) =>
      wrapInt(shifted(exactOf(a as Value), by as Value)),
    ),
    functionOf(`math_${name}_uint_int`, [uintType, intType], uintType, (a, by) =>
      wrapUint(shifted((a as Uint).value, by as Value)),
    ),
  ];
};

const sign = (a: bigint): bigint => (a > 0n ? 1n : a < 0n ? -1n : 0n);

export const mathLibrary: Library = {
  name: 'math',
  functions: {
    'math.@min': extreme('min', 1),
    'math.@max': extreme('max', -1),
    'math.ceil': ofDouble('ceil', Math.ceil),
    'math.floor': ofDouble('floor', Math.floor),
    'math.round': ofDouble('round', round),
    'math.trunc': ofDouble('trunc', Math.trunc),
    'math.isInf': testOfDouble('isInf', (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
    'math.isNaN': testOfDouble('isNaN', Number.isNaN),
    'math.isFinite': testOfDouble('isFinite', Number.isFinite),
    'math.abs': [
      ...ofDouble('abs', Math.abs),
      functionOf('math_abs_int', [intType], intType, (a) => {
        const exact = exactOf(a as Value);
        return checkedInt(exact < 0n ? -exact : exact);
      }),
      functionOf('math_abs_uint', [uintType], uintType, same),
    ],
    'math.sign': [
      ...ofDouble('sign', (value) => Math.sign(value) + 0),
      functionOf('math_sign_int', [intType], intType, (a) => intOf(sign(exactOf(a as Value)))),
      functionOf('math_sign_uint', [uintType], uintType, (a) => new Uint(sign((a as Uint).value))),
    ],
    'math.sqrt': [
      ...ofDouble('sqrt', Math.sqrt),
      functionOf('math_sqrt_int', [intType], doubleType, (a) => new Double(Math.sqrt(Number(a as number | bigint)))),
      functionOf('math_sqrt_uint', [uintType], doubleType, (a) => new Double(Math.sqrt(Number((a as Uint).value)))),
    ],
    'math.bitAnd': bitwise('bitAnd', (a, b) => a & b),
    'math.bitOr': bitwise('bitOr', (a, b) => a | b),
    'math.bitXor': bitwise('bitXor', (a, b) => a ^ b),
    'math.bitNot': [
      functionOf('math_bitNot_int_int', [intType], intType, (a) => wrapInt(~exactOf(a as Value))),
      functionOf('math_bitNot_uint_uint', [uintType], uintType, (a) => wrapUint(~(a as Uint).value)),
    ],
    'math.bitShiftLeft': shift('bitShiftLeft', (bits, by) => bits << by),
    'math.bitShiftRight': shift('bitShiftRight', (bits, by) => bits >> by),
  },
};
