import { describe, expect, it } from 'vitest';
import { check } from '../check/check.ts';
import { createEnvironment } from '../check/environment.ts';
import { estimateCost } from '../cost/estimate.ts';
import { Budget } from '../evaluate/budget.ts';
import { compileExpression } from '../evaluate/compile.ts';
import { jsonOf } from '../json.ts';
import { dynType } from '../types.ts';
import { type ConstructedValue, OptionalValue, type Value } from '../values.ts';
import { listsLibrary } from './lists.ts';
import { literalTypeMismatches, mutationLibrary } from './mutation.ts';
import { optionalsLibrary } from './optionals.ts';
import { standardLibrary } from './standard.ts';

const environment = createEnvironment({
  libraries: [standardLibrary, optionalsLibrary, listsLibrary, mutationLibrary],
  variables: [{ name: 'one', type: dynType }],
});
const limit = 1000;

function run(source: string): { readonly value: Value; readonly cost: number } {
  const budget = new Budget(limit);
  const value = compileExpression(check(environment, source)).evaluate([1], budget);
  return { value, cost: limit - budget.remaining };
}

const json = (source: string) => jsonOf(run(source).value);

describe('object literals', () => {
  it.each([
    ['Object{}', {}],
    ['Object{spec: Object.spec{replicas: 3}}', { spec: { replicas: 3 } }],
    [
      'Object{spec: Object.spec{containers: [Object.spec.containers.item{name: "nginx", args: ["-g"]}]}}',
      { spec: { containers: [{ name: 'nginx', args: ['-g'] }] } },
    ],
    ['Object{intList: [1, 2, 3]}', { intList: [1, 2, 3] }],
    [
      'Object{annotations: {"foo": "bar", "__proto__": "x"}}',
      JSON.parse('{"annotations":{"foo":"bar","__proto__":"x"}}'),
    ],
    ['Object{__proto__: 1}', JSON.parse('{"__proto__":1}')],
    [
      'Object{a: 1.0, b: 2u, c: null, d: true, e: b"abc", f: duration("90s")}',
      { a: 1, b: 2, c: null, d: true, e: 'YWJj', f: '90s' },
    ],
    [
      'Object{a: timestamp("2020-01-01T00:00:00Z"), b: 9007199254740993}',
      { a: '2020-01-01T00:00:00Z', b: 9007199254740993n },
    ],
    ['Object{?a: optional.none(), ?b: optional.of(2)}', { b: 2 }],
    ['Object{a: 1, ?a: optional.none()}', {}],
    ['Object{a: 1, a: 2}', { a: 2 }],
    ['Object{?spec: optional.ofNonZeroValue(Object.spec{?replicas: Object{}.?replicas})}', {}],
    ['JSONPatch{op: "add", path: "/spec/replicas", value: 3}', { op: 'add', path: '/spec/replicas', value: 3 }],
    ['true ? JSONPatch{op: "move", from: "/a", path: "/b"} : JSONPatch{}', { op: 'move', from: '/a', path: '/b' }],
    ['[1, 2].map(i, Object{a: i})', [{ a: 1 }, { a: 2 }]],
  ])('%s', (source, expected) => {
    expect(json(source)).toEqual(expected);
  });

  it.each([
    ['Object{intList: [1, 2, 3]}.intList.sum()', 6],
    ['Object{spec: Object.spec{replicas: 3}} == Object{spec: Object.spec{replicas: 1 + 2}}', true],
    ['Object{a: 1} == Object{b: 1}', false],
    ['dyn(Object.a{}) == dyn(Object.b{})', false],
    ['type(Object.a{}) == Object.a', true],
    ['has(Object{a: 1}.a) && !has(Object{}.a)', true],
    ['Object{}.a', null],
    ['JSONPatch{op: "add"}.path + JSONPatch{op: "add"}.op', 'add'],
    ["jsonpatch.escapeKey('k8s.io/my~label')", 'k8s.io~1my~0label'],
  ])('%s is %j', (source, expected) => {
    expect(run(source).value).toBe(expected);
  });

  it('have optional fields', () => {
    expect(run('Object{}.?existing').value).toEqual(new OptionalValue(undefined));
    expect(run('Object{existing: 2}.?existing').value).toEqual(new OptionalValue(2));
    expect(run('Object{existing: 2}.?existing.orValue(3)').value).toBe(2);
  });

  it.each([
    ['Invalid{}', "undeclared reference to 'Invalid' (in container '')"],
    ['Objects.spec{}', "undeclared reference to 'Objects.spec' (in container '')"],
    ['int{}', "'int' is not a message type"],
    ['one{}', "'dyn' is not a type"],
    ['JSONPatch{op: "add", value: Invalid{}}', "undeclared reference to 'Invalid'"],
    ['JSONPatch{op: 1}', "expected type of field 'op' is 'string' but provided type is 'int'"],
    ['JSONPatch{path: 1}', "expected type of field 'path' is 'string' but provided type is 'int'"],
    ['JSONPatch{operation: "add"}', "undefined field 'operation'"],
    ['Object{?a: 1}', "expected type 'optional_type(int)' but found 'int'"],
    ['Object.a{} == Object.b{}', "found no matching overload for '_==_' applied to '(Object.a, Object.b)'"],
  ])('%s is refused', (source, message) => {
    expect(() => check(environment, source)).toThrow(message);
  });

  it.each([
    ['JSONPatch{op: one}', "unexpected type int for JSONPatchType 'op' field"],
    ['Object{?a: one}', "cannot initialize optional entry 'a' from non-optional value of type 'int'"],
    ['Object{a: 1 / 0}', 'division by zero'],
    ['JSONPatch{}.value', 'no such key: value'],
  ])('%s fails', (source, message) => {
    expect(() => run(source)).toThrow(message);
  });

  it.each(['Object{a: {1: 2}}', 'Object{a: type(1)}', 'Object{a: [optional.of(1)]}', 'Object{a: double("NaN")}'])(
    '%s is not JSON',
    (source) => {
      expect(() => json(source)).toThrow(/map key is of type int, not string|cannot be written as JSON/);
    },
  );

  it.each([
    ['Object{}', 40],
    ['Object{a: 1, b: Object.b{c: one}}', 81],
    ["jsonpatch.escapeKey('abc/def~ abc/def~')", 2],
  ])('%s costs %i', (source, cost) => {
    expect(run(source).cost).toBe(cost);
    expect(estimateCost(check(environment, source))).toEqual({ min: cost, max: cost });
  });
});

describe('literalTypeMismatches', () => {
  const mismatches = (source: string) => literalTypeMismatches(run(source).value as ConstructedValue);

  it('accepts literals whose types are those of their fields, within lists and maps too', () => {
    expect(mismatches('Object{spec: Object.spec{m: {"k": Object.spec.m{}}, l: [Object.spec.l{}]}}')).toEqual([]);
    expect(mismatches('Object.spec{a: Object.spec.a{}}')).toEqual([]);
  });

  it.each([
    ['Object{invalid: Object.spec{replicas: 100}}', '"Object.spec", expected "Object.invalid"'],
    ['Object{spec: Object.spec{m: {"k": Object.spec.invalid{}}}}', '"Object.spec.invalid", expected "Object.spec.m"'],
    ['Object{spec: Object.spec{l: [Object.spec.invalid{}]}}', '"Object.spec.invalid", expected "Object.spec.l"'],
  ])('names what is wrong with %s', (source, expected) => {
    expect(mismatches(source)).toEqual([
      `unexpected type name ${expected}, which matches field name path from root Object type`,
    ]);
  });
});
