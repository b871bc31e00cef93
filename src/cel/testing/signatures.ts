/** Signatures of standard functions without implementations, for tests of checking and of estimation. */
import type { Library, Overload } from '../library.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  metaType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts';
import { CelError } from '../values.ts';

const a = parameterType('A');
const b = parameterType('B');

type Row = readonly [id: string, args: readonly CelType[], result: CelType, call?: Overload['call']];

const overloads = (member: boolean, rows: readonly Row[]): Overload[] =>
  rows.map(([id, args, result, call]) => ({ id, args, result, member, call: call ?? (() => null) }));

const binary = (name: string, types: readonly CelType[], result?: CelType): Row[] =>
  types.map((type) => [`${name}_${type.kind}`, [type, type], result ?? type]);

const numbers = [intType, uintType, doubleType];
const ordered = [boolType, ...numbers, stringType, bytesType, timestampType, durationType];

/** Fails for all but a text of digits and a unit. */
const parsesDuration: Overload['call'] = (text) => {
  if (!/^\d+[smh]$/.test(text as string)) throw new CelError('invalid');
  return null;
};

export const signatures: Library = {
  name: 'signatures',
  functions: {
    '_+_': overloads(false, [
      ...binary('add', [bytesType, ...numbers, stringType]),
      ['add_list', [listType(a), listType(a)], listType(a)],
      ['add_timestamp_duration', [timestampType, durationType], timestampType],
    ]),
    '_-_': overloads(false, binary('subtract', numbers)),
    '_%_': overloads(false, binary('modulo', [intType, uintType])),
    '-_': overloads(false, [['negate_int64', [intType], intType]]),
    '!_': overloads(false, [['logical_not', [boolType], boolType]]),
    '_==_': overloads(false, [['equals', [a, a], boolType]]),
    '_!=_': overloads(false, [['not_equals', [a, a], boolType]]),
    '_<_': overloads(false, [
      ...binary('less', ordered, boolType),
      ['less_int64_double', [intType, doubleType], boolType],
    ]),
    '_>_': overloads(false, binary('greater', ordered, boolType)),
    '_[_]': overloads(false, [
      ['index_list', [listType(a), intType], a],
      ['index_map', [mapType(a, b), a], b],
    ]),
    '@in': overloads(false, [
      ['in_list', [a, listType(a)], boolType],
      ['in_map', [a, mapType(a, b)], boolType],
    ]),
    size: [
      ...overloads(false, [
        ['size_string', [stringType], intType],
        ['size_list', [listType(a)], intType],
        ['size_map', [mapType(a, b)], intType],
      ]),
      ...overloads(true, [
        ['string_size', [stringType], intType],
        ['list_size', [listType(a)], intType],
      ]),
    ],
    type: overloads(false, [['type', [a], metaType(a)]]),
    dyn: overloads(false, [['to_dyn', [a], dynType]]),
    string: overloads(false, [['int64_to_string', [intType], stringType]]),
    duration: overloads(false, [['string_to_duration', [stringType], durationType, parsesDuration]]),
    startsWith: overloads(true, [['starts_with_string', [stringType, stringType], boolType]]),
    format: overloads(true, [['string_format', [stringType, listType(dynType)], stringType]]),
    'math.greatest': overloads(false, [['math_greatest', [intType, intType], intType]]),
  },
};
