import { describe, expect, it } from 'vitest';
import { costOf, evaluate, type Variables } from '../testing/evaluate.ts';
import { boolType, dynType, intType, listType, mapType, optionalType, stringType } from '../types.ts';
import { CostLimitError, EntriesValue, ListValue, OptionalValue } from '../values.ts';

const nested = new EntriesValue([['key', new EntriesValue([['nested', 'v']])]]);
const variables: Variables = {
  b: [boolType, false],
  i: [intType, 0],
  s: [stringType, 'x'.repeat(500)],
  short: [stringType, 'idc'],
  list: [listType(intType), new ListValue([1, 2, 3])],
  empty: [listType(intType), new ListValue([])],
  map: [mapType(stringType, mapType(stringType, stringType)), nested],
  d: [dynType, nested],
  present: [optionalType(mapType(stringType, stringType)), new OptionalValue(new EntriesValue([['key', 'v']]))],
  none: [optionalType(mapType(stringType, stringType)), new OptionalValue(undefined)],
};

describe('the cost of', () => {
  it.each([
    ['"Hello World!"', 0],
    ['[1, 2, 3]', 0],
    ['{"a": [1], "b": [2]}', 0],
    ['[i]', 11],
    ['{"a": i}', 31],
    ['[{"a": i}]', 41],
    ['int', 0],
    ['int("1")', 0],
    ['int(short == "x" ? "1" : "2")', 3],
  ])('a literal or constant: %s', (source, cost) => {
    expect(costOf(source, variables)).toBe(cost);
  });

  it.each([
    ['list', 1],
    ['list[0]', 2],
    ['list[i]', 2],
    ['list[list[0]]', 3],
    ['list[1 - 1]', 3],
    ['map["key"]', 2],
    ['map.key.nested', 3],
    ['map["ke" + "y"]', 3],
    ['[1, 2, 3][0]', 2],
    ['[i][0]', 13],
    ['(list + list)[0]', 5],
    ['has(map.key)', 1],
    ['has(map.key.nested)', 2],
    ['has(map.absent)', 1],
    ['has({"a": 1}.a)', 1],
    ['map.?key', 2],
    ['map.?absent', 1],
    ['map.?absent.?nested', 1],
    ['present.key', 2],
    ['none.key', 1],
    ['present.?key.orValue("")', 2],
    ['present.?absent.orValue(short)', 2],
  ])('an attribute: %s', (source, cost) => {
    expect(costOf(source, variables)).toBe(cost);
  });

  it.each([
    ['b || b || b || b', 4],
    ['true || b', 0],
    ['b && b', 1],
    ['true ? 1 : 2', 0],
    ['b ? i : i', 1],
    ['b ? map.key : map.key', 2],
    ['(b ? map : map).key', 2],
    ['(1 > 2 ? 5 : 3) > 1', 2],
    ['(1 > 2 || 2 > 1) == true', 3],
    ['1 + 1', 1],
    ['1 <= 2', 1],
    ['1 == 2', 1],
    ['2 in [1, 2, 3]', 0],
    ['i in [1, 2, 3]', 1],
    ['i in []', 0],
    ['2 in list', 4],
    ['size("123")', 1],
    ['short.size()', 2],
    ["'12345678901234567890' == '123456789012345678901234567890'", 2],
    ["'12345' == '123456789012345678901234567890'", 1],
    ["'' == short", 1],
    ["s == s + '1'", 103],
    ['string(bytes(s))', 101],
    ['s.contains(s)', 2502],
    ["s.matches('[0-9]')", 103],
    ['short.startsWith(s)', 3],
    ['"abcdefg".contains("val1" + short)', 3],
  ])('an operator or call: %s', (source, cost) => {
    expect(costOf(source, variables)).toBe(cost);
  });

  it.each([
    ['empty.all(x, true)', 2],
    ['[1, 2, 3].all(x, true)', 10],
    ['[1, 2, 3].exists(x, false)', 13],
    ['[1, 2, 3].exists_one(x, x == 2)', 10],
    ['[1, 2, 3, 4, 5].filter(x, x % 2 == 0)', 42],
    ['[1, 2, 3, 4, 5].map(x, x)', 66],
    ['[1, 2, 3, 4, 5].map(x, 1)', 11],
    ['[1, 2, 3, 4, 5].map(x, x > 3, x)', 37],
    ['[1, 2, 3, 4, 5].map(x, x).filter(x, x % 2 == 0)', 108],
    ['[1, 2, 3, 4, 5].map(x, x).exists(x, x == 5) == true', 98],
    ['[1, 2, 3, 4, 5].map(x, [x, x]).all(y, y.all(y, y == 1))', 151],
    ['[1, 2, 3].all(i, i in [1, 2, 3].map(j, j + j))', 56],
    ['map.all(k, map[k].nested == "v")', 9],
    ['list.all(i, v, i < v)', 20],
    ['list.transformList(i, v, i + v)', 47],
    ['list.transformMap(i, v, v)', 14],
    ['cel.bind(x, i + 1, x + x)', 5],
    ['cel.bind(x, i + 1, 1)', 0],
    ['list.exists(x, x > 1)', 17],
  ])('a comprehension: %s', (source, cost) => {
    expect(costOf(source, variables)).toBe(cost);
  });

  it.each([
    ['d.absent == 1 || true', 3],
    ['[1, 2, 3].all(x, 1 / 0 == x)', 19],
    ['d.key.absent.more == 1 || true', 4],
  ])('an absorbed or passing failure: %s', (source, cost) => {
    expect(costOfAny(source)).toBe(cost);
  });
});

/** The cost of an expression that may fail: the smallest limit that it does not exceed. */
function costOfAny(source: string): number {
  for (let limit = 0; ; limit++) {
    try {
      evaluate(source, variables, limit);
      return limit;
    } catch (error) {
      if (!(error instanceof CostLimitError)) return limit;
    }
  }
}

describe('the budget', () => {
  it.each([
    '1 / 0 == 1 || s.contains(s)',
    's.contains(s) || true',
    'true && s.contains(s)',
    's.contains(s) ? 1 : 2',
    '[1, 2].exists(x, s.contains(s))',
    '[1, 2].all(x, s.contains(s) || true)',
    '[1, 2].map(x, s.contains(s))',
    'optional.of(s.contains(s)).orValue(true)',
    'present.?absent.orValue(string(s.contains(s)))',
    'cel.bind(x, s.contains(s), x || true)',
  ])('is not absorbed when it is exceeded: %s', (source) => {
    expect(() => evaluate(source, variables, 2000)).toThrow(CostLimitError);
  });

  it('allows what costs no more than it', () => {
    expect(evaluate('short.size() == 3', variables, 3)).toBe(true);
    expect(() => evaluate('short.size() == 3', variables, 2)).toThrow(CostLimitError);
  });
});
