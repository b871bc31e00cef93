import { describe, expect, it } from 'vitest';
import { printTree } from '../testing/print.ts';
import { parse } from './parse.ts';

const options = { optionalSyntax: true, twoVariableMacros: true, bindings: true, mathMacros: true };
const folded = (macro: string, variables: string, rest: string): string =>
  `${macro}!(${variables} in r; @result = ${rest})`;
const all = 'true; while @not_strictly_false(@result); next _&&_(@result, p); result @result';
const exists = 'false; while @not_strictly_false(!_(@result)); next _||_(@result, p); result @result';
const existsOne = '0; while true; next _?_:_(p, _+_(@result, 1), @result); result _==_(@result, 1)';
const map = '[]; while true; next _+_(@result, [t]); result @result';
const mapFiltered = '[]; while true; next _?_:_(p, _+_(@result, [t]), @result); result @result';
const filter = '[]; while true; next _?_:_(p, _+_(@result, [x]), @result); result @result';
const insert = '{}; while true; next cel.@mapInsert(@result, i, t); result @result';
const insertFiltered = '{}; while true; next _?_:_(p, cel.@mapInsert(@result, i, t), @result); result @result';
const insertEntry = '{}; while true; next cel.@mapInsert(@result, t); result @result';
const insertEntryFiltered = '{}; while true; next _?_:_(p, cel.@mapInsert(@result, t), @result); result @result';
const bound = (macro: string, initial: string, result: string): string =>
  `${macro}!(#unused in []; x = ${initial}; while false; next x; result ${result})`;

describe('expansions', () => {
  it.each([
    ['has(a.b)', 'a.b~test-only~'],
    ['has(a.b.c)', 'a.b.c~test-only~'],
    ['a.has(b)', 'a.has(b)'],
    ['has(a, b)', 'has(a, b)'],
    ['.has(a)', '.has(a)'],
    ['r.all(x, p)', folded('all', 'x', all)],
    ['r.exists(x, p)', folded('exists', 'x', exists)],
    ['r.exists_one(x, p)', folded('exists_one', 'x', existsOne)],
    ['r.existsOne(x, p)', folded('exists_one', 'x', existsOne)],
    ['r.map(x, t)', folded('map', 'x', map)],
    ['r.map(x, p, t)', folded('map', 'x', mapFiltered)],
    ['r.filter(x, p)', folded('filter', 'x', filter)],
    ['r.all(i, v, p)', folded('all', 'i, v', all)],
    ['r.exists(i, v, p)', folded('exists', 'i, v', exists)],
    ['r.existsOne(i, v, p)', folded('exists_one', 'i, v', existsOne)],
    ['r.exists_one(i, v, p)', folded('exists_one', 'i, v', existsOne)],
    ['r.transformList(i, v, t)', folded('transformList', 'i, v', map)],
    ['r.transformList(i, v, p, t)', folded('transformList', 'i, v', mapFiltered)],
    ['r.transformMap(i, v, t)', folded('transformMap', 'i, v', insert)],
    ['r.transformMap(i, v, p, t)', folded('transformMap', 'i, v', insertFiltered)],
    ['r.transformMapEntry(i, v, t)', folded('transformMapEntry', 'i, v', insertEntry)],
    ['r.transformMapEntry(i, v, p, t)', folded('transformMapEntry', 'i, v', insertEntryFiltered)],
    ['o.optMap(x, t)', `_?_:_(o.hasValue(), optional.of(${bound('optMap', 'o.value()', 't')}), optional.none())`],
    ['o.optFlatMap(x, t)', `_?_:_(o.hasValue(), ${bound('optFlatMap', 'o.value()', 't')}, optional.none())`],
    ['cel.bind(x, a, t)', bound('bind', 'a', 't')],
    ['a.bind(x, b, t)', 'a.bind(x, b, t)'],
    ['math.greatest(a)', 'math.@max(a)'],
    ['math.greatest([1, 2u])', 'math.@max([1, 2u])'],
    ['math.least(a, 1.5)', 'math.@min(a, 1.5)'],
    ['math.least(a, b, c)', 'math.@min([a, b, c])'],
    ['a.least(b)', 'a.least(b)'],
    ['all(x, p)', 'all(x, p)'],
    ['r.all(x)', 'r.all(x)'],
    ['r.filter(i, v, p)', 'r.filter(i, v, p)'],
    ['r.toString(x)', 'r.toString(x)'],
  ])('%s', (source, expected) => {
    const { expr, issues } = parse(source, options);
    expect(issues).toEqual([]);
    expect(printTree(expr!)).toBe(expected);
  });

  it('have the offset of the parenthesis of the call', () => {
    const { expr } = parse('abc.all(x, x)', options);
    expect(expr).toMatchObject({ kind: 'comprehension', offset: 7, condition: { offset: 7 }, step: { offset: 7 } });
  });

  it('copy the operand of optMap with ids of its own', () => {
    const { expr } = parse('{"a": [b.c(d), has(e.f)], "g": M{h: i}.all(x, x)}.optMap(y, y)', options);
    const ids: number[] = [];
    JSON.stringify(expr, (key, value) => {
      if (key === 'id') ids.push(Number(value));
      return typeof value === 'bigint' ? String(value) : (value as unknown);
    });
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('arguments that are refused', () => {
  it.each([
    ['has(a)', 4, 'invalid argument to has() macro'],
    ['has(a.?b)', 5, 'invalid argument to has() macro'],
    ['r.all(1, p)', 6, 'argument must be a simple name'],
    ['r.exists(a.b, p)', 10, 'argument must be a simple name'],
    ['r.exists_one(f(), p)', 14, 'argument must be a simple name'],
    ['r.map(1, p)', 6, 'argument is not an identifier'],
    ['r.filter(x.y, p)', 10, 'argument is not an identifier'],
    ['r.all(__result__, p)', 6, 'iteration variable overwrites accumulator variable'],
    ['r.all(i, 1, p)', 9, 'argument must be a simple name'],
    ['r.all(i, i, p)', 9, 'duplicate variable name: i'],
    ['r.all(i, __result__, p)', 9, 'iteration variable overwrites accumulator variable'],
    ['o.optMap(1, t)', 9, 'optMap() variable name must be a simple identifier'],
    ['o.optFlatMap(1, t)', 13, 'optFlatMap() variable name must be a simple identifier'],
    ['cel.bind(1, a, t)', 9, 'cel.bind() variable names must be simple identifiers'],
    ['math.greatest()', 0, 'math.greatest() requires at least one argument'],
    ['math.least("a")', 11, 'math.least() invalid single argument value'],
    ['math.least([])', 11, 'math.least() invalid single argument value'],
    ['math.least(1, "a")', 14, 'math.least() simple literal arguments must be numeric'],
  ])('%s', (source, offset, message) => {
    expect(parse(source, options)).toEqual({ expr: undefined, issues: [{ offset, message }] });
  });

  it('a reserved name is not a variable', () => {
    expect(parse('[1].map(var, var)').issues).toEqual([
      { offset: 8, message: 'reserved identifier: var' },
      { offset: 13, message: 'reserved identifier: var' },
      { offset: 8, message: 'argument is not an identifier' },
    ]);
  });
});
