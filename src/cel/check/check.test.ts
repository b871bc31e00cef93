import { describe, expect, test } from 'vitest';
import { optionalsLibrary } from '../library/optionals.ts';
import { standardLibrary } from '../library/standard.ts';
import type { Library } from '../library.ts';
import {
  boolType,
  type CelType,
  dynType,
  intType,
  listType,
  mapType,
  type ObjectType,
  opaqueType,
  optionalType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts';
import { check } from './check.ts';
import { createEnvironment } from './environment.ts';
import { ExpressionError } from './error.ts';
import { formatType } from './format.ts';

const read = (): null => null;
const objectType = (name: string, fields: { readonly [name: string]: CelType }): ObjectType => ({
  kind: 'object',
  name,
  field: (identifier) => {
    const type = Object.hasOwn(fields, identifier) ? fields[identifier] : undefined;
    return type && { type, property: identifier, read };
  },
  identifiers: () => Object.keys(fields),
});

const container = objectType('Container', { name: stringType, ports: listType(intType) });
const pod = objectType('Pod', {
  name: stringType,
  replicas: intType,
  labels: mapType(stringType, stringType),
  containers: listType(container),
  created: timestampType,
  any: dynType,
});

const libraries: readonly Library[] = [
  standardLibrary,
  optionalsLibrary,
  {
    name: 'net',
    syntax: { twoVariableMacros: true },
    functions: {
      format: [
        {
          id: 'string_format',
          args: [stringType, listType(dynType)],
          result: stringType,
          member: true,
          call: read,
          validate: ({ offset, target }, typeOf) =>
            target?.kind === 'literal' ? [] : [{ offset, message: `format is ${target && typeOf(target).kind}` }],
        },
      ],
      'math.greatest': [{ id: 'math_greatest', args: [intType, intType], result: intType, call: read }],
      ip: [{ id: 'string_to_ip', args: [stringType], result: opaqueType('net.IP'), call: read }],
    },
    types: { 'net.IP': opaqueType('net.IP'), 'acme.v1.Container': container },
  },
];

const environment = createEnvironment({
  libraries,
  container: 'acme.v1',
  variables: [
    { name: 'self', type: pod },
    { name: 'x', type: intType },
    { name: 's', type: stringType },
    { name: 'd', type: dynType },
    { name: 'wrapped', type: { kind: 'nullable', of: intType } },
    { name: 'maybe', type: optionalType(pod) },
    { name: 'a.b.c', type: uintType },
    { name: 'acme.shared', type: boolType },
    { name: 'm', type: mapType(stringType, listType(intType)) },
  ],
});

/** The type of an expression, or its issues. */
function typeOf(source: string): string {
  try {
    return formatType(check(environment, source).type);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return error.issues.map(({ offset, message }) => `${offset}: ${message}`).join('\n');
  }
}

describe('types of expressions', () => {
  test.each([
    // Literals.
    ['null', 'null'],
    ['[]', 'list(dyn)'],
    ['{}', 'map(dyn, dyn)'],
    ['[1, 2u]', "4: expected type 'int' but found 'uint'"],
    ['[1, "a", true]', "4: expected type 'int' but found 'string'"],
    ['["%d", 1]', "7: expected type 'string' but found 'int'"],
    ['"%d %s".format([1, "a"])', 'string'],
    ['[1, d]', "4: expected type 'int' but found 'dyn'"],
    ['[wrapped, 1]', 'list(wrapper(int))'],
    ['[[], [1]]', 'list(list(int))'],
    ['[[1], []] + [[]]', 'list(list(int))'],
    ['{"a": 1, 2: "b"}', "9: expected type 'string' but found 'int'\n12: expected type 'int' but found 'string'"],
    ['{"a": {}, "b": {"c": 1}}', 'map(string, map(string, int))'],
    // Operators and functions.
    ['x + 1', 'int'],
    ['x + s', "2: found no matching overload for '_+_' applied to '(int, string)'"],
    ['d + 1', 'int'],
    ['d + d', 'dyn'],
    ['size(d)', 'int'],
    ['s.size(1)', "6: found no matching overload for 'size' applied to 'string.(int)'"],
    ['size()', "4: found no matching overload for 'size' applied to '()'"],
    ['x < 2.0', 'bool'],
    ['x < 2u', 'bool'],
    ['x < s', "2: found no matching overload for '_<_' applied to '(int, string)'"],
    ['wrapped + 1', 'int'],
    ['wrapped == null', 'bool'],
    ['x == null', "2: found no matching overload for '_==_' applied to '(int, null)'"],
    ['self == null', 'bool'],
    ['self.created == null', 'bool'],
    ['self.containers == null', "16: found no matching overload for '_==_' applied to '(list(Container), null)'"],
    ['"a" in m', 'bool'],
    ['1 in m', "2: found no matching overload for '@in' applied to '(int, map(string, list(int)))'"],
    ['m["a"][0]', 'int'],
    ['m[1]', "1: found no matching overload for '_[_]' applied to '(map(string, list(int)), int)'"],
    ['true ? 1 : 2', 'int'],
    ['true ? 1 : "a"', "5: found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
    ['true ? d : 1', 'dyn'],
    ['true && x', "8: expected type 'bool' but found 'int'"],
    ['x || s', "0: expected type 'bool' but found 'int'\n5: expected type 'bool' but found 'string'"],
    ['d && true', 'bool'],
    // Names.
    ['nope', "0: undeclared reference to 'nope' (in container 'acme.v1')"],
    ['nope(1)', "4: undeclared reference to 'nope' (in container 'acme.v1')"],
    ['s.nope()', "6: undeclared reference to 'nope' (in container 'acme.v1')"],
    [
      'nope + 1 == nope.x',
      "0: undeclared reference to 'nope' (in container 'acme.v1')\n12: undeclared reference to 'nope' (in container 'acme.v1')",
    ],
    ['a.b.c', 'uint'],
    ['a.b.d', "0: undeclared reference to 'a' (in container 'acme.v1')"],
    ['shared', 'bool'],
    ['.shared', "1: undeclared reference to '.shared' (in container 'acme.v1')"],
    ['.acme.shared', 'bool'],
    ['math.greatest(1, x)', 'int'],
    ['math.greatest(s, 1)', "13: found no matching overload for 'math.greatest' applied to '(string, int)'"],
    ['[1].all(x, x > 0) && x == 1', 'bool'],
    ['["a"].all(x, x > 0)', "15: found no matching overload for '_>_' applied to '(string, int)'"],
    ['[{"b": 1}].all(a, a.b == 1)', 'bool'],
    // Types as values.
    ['type(x) == int', 'bool'],
    ['type(s)', 'type(string)'],
    ['int', 'type(int)'],
    ['type', 'type(type)'],
    ['type(ip("::1")) == net.IP', 'bool'],
    ['type(self.created) == google.protobuf.Timestamp', 'bool'],
    // Fields.
    ['self.replicas', 'int'],
    ['self.nope', "4: undefined field 'nope'"],
    ['self.nope.x + 1', "4: undefined field 'nope'"],
    ['self.replicas.x', "13: type 'int' does not support field selection"],
    ['self.labels.app', 'string'],
    ['self.any.thing.x', 'dyn'],
    ['has(self.labels.app)', 'bool'],
    ['has(self.nope)', "3: undefined field 'nope'"],
    ['ip("::1").x', "9: type 'net.IP' does not support field selection"],
    ['Container{name: "a", ports: [1]}.name', 'string'],
    ['Container{name: 1}', "14: expected type of field 'name' is 'string' but provided type is 'int'"],
    ['Container{nope: 1}', "14: undefined field 'nope'"],
    ['net.IP{}', "6: 'net.IP' is not a message type"],
    ['Nope{}', "4: undeclared reference to 'Nope' (in container 'acme.v1')"],
    // Comprehensions.
    ['self.containers.map(c, c.ports)', 'list(list(int))'],
    ['self.containers.filter(c, c.name == "a")', 'list(Container)'],
    ['self.labels.all(k, k.startsWith("a"))', 'bool'],
    ['x.all(y, y)', "0: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
    ['d.all(y, y.z > 1)', 'bool'],
    ['[].map(y, y)', 'list(dyn)'],
    ['[1].exists(y, y)', "14: expected type 'bool' but found 'int'"],
    ['self.labels.all(k, v, k == v)', 'bool'],
    ['[s].all(i, v, i > 0 && v > "")', 'bool'],
    // Optional values.
    ['maybe.name', 'optional_type(string)'],
    ['maybe.?labels.app', 'optional_type(string)'],
    ['self.?labels[?"app"].orValue("")', 'string'],
    ['self.?nope', "4: undefined field 'nope'"],
    ['m[?"a"][0]', 'optional_type(int)'],
    ['d.?a', 'optional_type(dyn)'],
    ['optional.none()', 'optional_type(dyn)'],
    ['optional.of(1).or(optional.none())', 'optional_type(int)'],
    [
      'optional.of(1).orValue("a")',
      "22: found no matching overload for 'orValue' applied to 'optional_type(int).(string)'",
    ],
    ['maybe.hasValue()', 'bool'],
    ['type(maybe) == optional_type', 'bool'],
    ['maybe == null', 'bool'],
    ['[?optional.of(1), 2]', 'list(int)'],
    ['[?1]', "2: expected type 'optional_type(int)' but found 'int'"],
    ['{?"a": optional.of(1)}', 'map(string, int)'],
    ['maybe.optMap(p, p.replicas + 1)', 'optional_type(int)'],
    ['[optional.of(1)].unwrapOpt() + optional.unwrap([optional.of(2)])', 'list(int)'],
    ['[1, 2].first()', 'optional_type(int)'],
    // Literals of functions that would fail at run time.
    ['duration("1h")', 'duration'],
    ['s.matches("[")', '10: invalid matches argument'],
    ['s.format([1])', '8: format is string'],
    ['duration("one")', '9: invalid duration argument'],
  ])('%s', (source, expected) => {
    expect(typeOf(source)).toBe(expected);
  });

  test('issues are ordered by their places, at most a hundred, and all are counted', () => {
    const source = Array.from({ length: 130 }, (_, i) => `size(n${i})`).join(' + ');
    let error: unknown;
    try {
      check(environment, source);
    } catch (thrown) {
      error = thrown;
    }
    if (!(error instanceof ExpressionError)) throw error;
    expect(error.issues).toHaveLength(100);
    expect(error.issues.map((issue) => issue.offset)).toEqual(
      error.issues.map((issue) => issue.offset).toSorted((p, q) => p - q),
    );
    expect(error.message).toContain('30 more errors were truncated');
  });

  test('the message shows the line and a mark below the place', () => {
    expect(() => check(environment, 'x ==\n  nope')).toThrow(
      "ERROR: <input>:2:3: undeclared reference to 'nope' (in container 'acme.v1')\n |   nope\n | ..^",
    );
  });
});

describe('references', () => {
  test('name the variables that are used, and no local ones', () => {
    const checked = check(environment, 'self.containers.all(x, x.name == s) && acme.shared && type(s) == string');
    expect([...checked.variables]).toEqual(['self', 's', 'acme.shared']);
  });

  test.each([
    ['x + 1', ['add_int64']],
    ['d + 1', ['add_int64']],
    ['d + 1.5 + 2.5', ['add_double']],
    [
      'd - d',
      [
        'subtract_double',
        'subtract_duration_duration',
        'subtract_int64',
        'subtract_timestamp_duration',
        'subtract_timestamp_timestamp',
        'subtract_uint64',
      ],
    ],
    ['math.greatest(1, 2)', ['math_greatest']],
    ['self.?name', ['select_optional_field']],
    ['true || d', ['logical_or']],
  ])('%s has the candidates %j', (source, ids) => {
    const checked = check(environment, source);
    const reference = checked.referenceOf[checked.expr.id];
    if (reference?.kind !== 'function') throw new Error('no function');
    expect(reference.overloads.map((overload) => overload.id)).toEqual(ids);
    expect(reference.qualified).toBe(source.startsWith('math.'));
  });

  test('a select that is a qualified name refers to the variable and its slot', () => {
    const checked = check(environment, 'a.b.c');
    expect(checked.referenceOf[checked.expr.id]).toEqual({ kind: 'variable', name: 'a.b.c', slot: 6 });
  });
});
