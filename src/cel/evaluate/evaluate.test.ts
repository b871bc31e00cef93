import { describe, expect, it } from 'vitest';
import { textOf } from '../testing/corpus-values.ts';
import { evaluate, type Variables } from '../testing/evaluate.ts';
import { boolType, dynType, intType, listType, mapType, type ObjectType, optionalType, stringType } from '../types.ts';
import { CelError, JsonMapValue, ListValue, ObjectValue, OptionalValue, type Value } from '../values.ts';

const fields = new Map([
  ['replicas', { type: intType, property: 'replicas', read: (json: unknown) => json as Value }],
  ['a__dash__b', { type: stringType, property: 'a-b', read: (json: unknown) => json as Value }],
  [
    'broken',
    {
      type: stringType,
      property: 'broken',
      read: (): Value => {
        throw new CelError('expected a string');
      },
    },
  ],
]);

const type: ObjectType = {
  kind: 'object',
  name: 'Spec',
  field: (identifier) => fields.get(identifier),
  identifiers: () => fields.keys(),
};

const json = { replicas: 3, 'a-b': 'dash', broken: 1, nothing: null };
const read = (value: unknown): Value => value as Value;

const variables: Variables = {
  self: [type, new ObjectValue(type, json)],
  old: [type, new ObjectValue(type, { replicas: null })],
  labels: [mapType(stringType, stringType), new JsonMapValue({ a: 'x', __proto__x: 'y' }, read)],
  list: [listType(intType), new ListValue([1, 2, 3], read as never)],
  d: [dynType, 'text'],
  anything: [dynType, new ObjectValue(type, json)],
  b: [boolType, true],
  present: [optionalType(intType), new OptionalValue(7)],
  unset: [intType, undefined as never],
};

const outcomeOf = (source: string): string => {
  try {
    return textOf(evaluate(source, variables));
  } catch (error) {
    if (error instanceof CelError) return `error: ${error.message}`;
    throw error;
  }
};

describe('evaluation', () => {
  it.each([
    ['self.replicas', '3'],
    ['self.a__dash__b', '"dash"'],
    ['self.replicas <= 3 && self.a__dash__b.size() == 4', 'true'],
    ['has(self.replicas)', 'true'],
    ['has(old.replicas)', 'false'],
    ['old.replicas', 'error: no such key: replicas'],
    ['self.broken', 'error: expected a string'],
    ['self.broken == "" || true', 'true'],
    ['anything.replicas + 1', '4'],
    ['anything["replicas"]', '3'],
    ['has(anything.undeclared)', 'false'],
    ['old == old', 'true'],
    ['self == old', 'false'],
    ['unset + 1', 'error: no such attribute(s): unset'],
  ])('of objects: %s', (source, outcome) => {
    expect(outcomeOf(source)).toBe(outcome);
  });

  it.each([
    ['labels.a', '"x"'],
    ['labels.absent', 'error: no such key: absent'],
    ['labels["constructor"]', 'error: no such key: constructor'],
    ['"toString" in labels', 'false'],
    ['has(labels.absent)', 'false'],
    ['{true: null}[true]', 'null'],
    ['list[2]', '3'],
    ['list[3]', 'error: index out of bounds: 3'],
    ['list[-1]', 'error: index out of bounds: -1'],
    ['list[dyn(1u)]', '2'],
    ['list[dyn("1")]', "error: unsupported index type 'string' in list"],
    ['d.field', 'error: no such key: field'],
    ['{d: 1, dyn("text"): 2}', 'error: Failed with repeated key'],
    ['{dyn(1.5): 1}', 'error: unsupported key type'],
  ])('of maps and lists: %s', (source, outcome) => {
    expect(outcomeOf(source)).toBe(outcome);
  });

  it.each([
    ['1 / 0 == 1 || true', 'true'],
    ['true || 1 / 0 == 1', 'true'],
    ['1 / 0 == 1 || false', 'error: division by zero'],
    ['1 / 0 == 1 && false', 'false'],
    ['false && 1 / 0 == 1', 'false'],
    ['1 / 0 == 1 && 1 % 0 == 1', 'error: division by zero'],
    ['dyn(1) || true', 'true'],
    ['dyn(1) && true', 'error: no such overload'],
    ['dyn(1) ? 1 : 2', 'error: no such overload'],
    ['b ? 1 : 1 / 0', '1'],
    ['1 / 0 == 1 ? 1 : 2', 'error: division by zero'],
    ['list.exists(x, x / 0 == 1 || x == 3)', 'true'],
    ['list.all(x, x / (x - 1) > 5)', 'false'],
    ['list.all(x, 2 / (x - 1) > 0)', 'error: division by zero'],
    ['list.exists_one(x, 2 / (x - 1) > 0)', 'error: division by zero'],
    ['list.map(x, 2 / (x - 1))', 'error: division by zero'],
    ['list.filter(x, 2 / (x - 1) > 0)', 'error: division by zero'],
  ])('of failures: %s', (source, outcome) => {
    expect(outcomeOf(source)).toBe(outcome);
  });

  it.each([
    ['d + d', '"texttext"'],
    ['d + 1', 'error: no such overload'],
    ['d < dyn(1)', 'error: no such overload'],
    ['d.startsWith("te")', 'true'],
    ['dyn(1).startsWith("te")', 'error: no such overload: startsWith(int, string)'],
    ['dyn([1]) == dyn([1.0])', 'true'],
    ['!dyn(1)', 'error: no such overload'],
    ['size(d)', '4'],
    ['9007199254740991 + 1', '9007199254740992'],
    ['9223372036854775807 + 1', 'error: integer overflow'],
    ['0 - 9007199254740991 - 2', '-9007199254740993'],
    ['9007199254740993 - 2', '9007199254740991'],
  ])('of calls: %s', (source, outcome) => {
    expect(outcomeOf(source)).toBe(outcome);
  });

  it.each([
    ['labels.?a', 'optional("x")'],
    ['labels.?absent', 'optional()'],
    ['labels.?absent.orValue("none")', '"none"'],
    ['labels[?"a"].or(optional.of("other")).value()', '"x"'],
    ['self.?replicas.orValue(1)', '3'],
    ['old.?replicas.orValue(1)', '1'],
    ['list[?5].hasValue()', 'false'],
    ['[?labels.?a, ?labels.?absent, "z"]', '["x", "z"]'],
    ['{?"a": labels.?a, ?"b": labels.?absent}', '{"a": "x"}'],
    ['present.optMap(x, x + 1)', 'optional(8)'],
    ['optional.of({"k": {"j": 1}}).k.j', 'optional(1)'],
    ['has(optional.of({"k": {"j": 1}}).k.j)', 'true'],
    ['has(optional.of({"k": {"j": 1}}).k.i)', 'false'],
  ])('of optionals: %s', (source, outcome) => {
    expect(outcomeOf(source)).toBe(outcome);
  });

  it.each([
    ['list.map(x, list.map(y, x * y))', '[[1, 2, 3], [2, 4, 6], [3, 6, 9]]'],
    ['list.map(x, list.filter(x, x > 1).map(y, y))', '[[2, 3], [2, 3], [2, 3]]'],
    ['list.map(x, x > 1, x * 10)', '[20, 30]'],
    ['labels.map(k, labels[k])', '["x", "y"]'],
    ['labels.all(k, v, k != v)', 'true'],
    ['labels.exists(k, v, v == "y")', 'true'],
    ['list.exists_one(x, x == 2)', 'true'],
    ['list.exists_one(i, v, v > i)', 'false'],
    ['list.transformList(i, v, i > 0, i + v)', '[3, 5]'],
    ['labels.transformMap(k, v, v == "x", v + k)', '{"a": "xa"}'],
    ['list.transformMapEntry(i, v, {v: i})', '{1: 0, 2: 1, 3: 2}'],
    ['list.transformMapEntry(i, v, {"same": i})', 'error: insert failed: key same already exists'],
    ['cel.bind(x, list.map(y, y + 1), x + x.map(y, y))', '[2, 3, 4, 2, 3, 4]'],
    ['cel.bind(x, 1 / 0, b || x == 1)', 'true'],
    ['list.map(x, cel.bind(y, x + 1, y * y))', '[4, 9, 16]'],
    ['dyn(1).all(x, true)', 'error: the range of a comprehension is not iterable'],
    ['[].all(x, x == 1)', 'true'],
    ['{}.exists(x, x == 1)', 'false'],
  ])('of comprehensions: %s', (source, outcome) => {
    expect(outcomeOf(source)).toBe(outcome);
  });

  it.each([
    ['1 in [1, 2]', 'true'],
    ['d in ["text", "other"]', 'true'],
    ['dyn(1.0) in [1, 2]', 'true'],
    ['dyn(null) in [1, 2]', 'false'],
    ['9007199254740993 in [9007199254740993]', 'true'],
    ['b"a" in [b"a"]', 'true'],
    ['type(1) == int', 'true'],
    ['type(type(1)) == type', 'true'],
    ['type(d) == string', 'true'],
    ['type(1u) == uint && type(null) == null_type && type(labels) == map', 'true'],
  ])('of membership and types: %s', (source, outcome) => {
    expect(outcomeOf(source)).toBe(outcome);
  });

  it('converts constants when the expression is compiled', () => {
    expect(() => evaluate('true || int("x") == 1')).toThrow(CelError);
  });
});
