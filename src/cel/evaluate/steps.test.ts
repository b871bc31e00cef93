import { describe, expect, it } from 'vitest';
import { check } from '../check/check.ts';
import { createEnvironment } from '../check/environment.ts';
import { listsLibrary } from '../library/lists.ts';
import { setsLibrary } from '../library/sets.ts';
import { standardLibrary } from '../library/standard.ts';
import { stringsLibrary } from '../library/strings.ts';
import { dynType, intType, listType, stringType } from '../types.ts';
import { CostLimitError, JsonMapValue, ListValue, type Value } from '../values.ts';
import { Budget } from './budget.ts';
import { compileExpression } from './compile.ts';

const environment = createEnvironment({
  libraries: [standardLibrary, listsLibrary, setsLibrary, stringsLibrary],
  variables: [
    { name: 'numbers', type: listType(intType) },
    { name: 'text', type: stringType },
    { name: 'same', type: listType(dynType) },
  ],
});
const limit = 1_000_000;

interface Run {
  readonly value: Value;
  readonly cost: number;
  readonly pauses: number;
}

function run(source: string, count: number): { readonly atOnce: Run; readonly inSteps: Run } {
  const program = compileExpression(check(environment, source));
  const read = (json: unknown) => json as Value;
  const values = () => [
    new ListValue(
      Array.from({ length: count }, (_, i) => i),
      read,
    ),
    'ab'.repeat(count),
    new ListValue([]),
  ];
  const budget = new Budget(limit);
  const value = program.evaluate(values(), budget);
  const own = new Budget(limit);
  const steps = program.evaluateInSteps?.(values(), own);
  let pauses = 0;
  let step = steps?.next();
  for (; step?.done === false; step = steps?.next()) pauses++;
  return {
    atOnce: { value, cost: limit - budget.remaining, pauses: 0 },
    inSteps: { value: step?.value ?? null, cost: limit - own.remaining, pauses },
  };
}

describe('an evaluation in steps', () => {
  it.each([
    'numbers.all(x, x >= 0)',
    'numbers.exists(x, x < 0) || numbers.all(x, x >= 0)',
    'numbers.size() > 0 && numbers.filter(x, x % 2 == 0).size() > 1',
    'numbers.all(x, x < 0) ? 1 : numbers.map(x, x + 1)[numbers.filter(x, x == 3).size()]',
    '[numbers.map(x, x)[0], numbers.filter(x, x > 5)[0]]',
    "{'a': numbers.exists_one(x, x == 7)}",
    'numbers.map(x, numbers[0] + x).sum()',
    'numbers + numbers == numbers + numbers',
    'numbers != numbers + [1] && numbers + [1] != numbers + [2]',
    '(numbers + numbers).indexOf(-1) + (numbers + numbers).lastIndexOf(-1)',
    '(numbers + numbers).isSorted() && numbers.max() > numbers.min()',
    '-1 in numbers + numbers',
    "numbers.map(x, string(x)).join(',').size()",
    "'%s'.format([numbers + numbers]).size()",
    "text.replace('a', 'bc').size()",
    '(text + text + text + text).upperAscii().lowerAscii().size()',
    "text.matches('^(ab)*$')",
    'numbers.all(x, [1, 2].exists(y, y + x > 0))',
  ])('%s has the same value and cost as at once, and pauses', (source) => {
    const { atOnce, inSteps } = run(source, 20_000);
    expect(inSteps.cost).toBe(atOnce.cost);
    if (typeof atOnce.value !== 'object') expect(inSteps.value).toBe(atOnce.value);
    expect(inSteps.pauses).toBeGreaterThan(0);
  });

  it('pauses in proportion to the elements', () => {
    const of = (count: number) => run('numbers.all(x, x >= 0)', count).inSteps.pauses;
    expect(of(40_000)).toBeGreaterThanOrEqual(2 * of(20_000) - 1);
    expect(of(40_000)).toBeLessThanOrEqual(2 * of(20_000) + 1);
  });

  it('pauses after each large pattern that it compiles', () => {
    const source = "['p', 'q', 'r'].exists(x, 'z'.matches('(x|y){900}' + x))";
    const steps = compileExpression(check(environment, source)).evaluateInSteps?.([], new Budget(limit));
    let pauses = 0;
    while (steps?.next().done === false) pauses++;
    expect(pauses).toBeGreaterThanOrEqual(3);
  });

  it('does not begin a call that costs more than is left', () => {
    expect(() => run('sets.contains(numbers, numbers)', 60_000)).toThrow(CostLimitError);
  });

  it('ends when functions do far more than they cost', () => {
    const program = compileExpression(check(environment, 'numbers.all(x, same[0] == same[1])'));
    const large = () => new JsonMapValue({ a: 1 }, () => new ListValue(Array.from({ length: 100_000 }, (_, i) => i)));
    const values = [new ListValue(Array.from({ length: 60_000 }, (_, i) => i)), '', new ListValue([large(), large()])];
    const steps = program.evaluateInSteps?.(values, new Budget(limit));
    let pauses = 0;
    const toTheEnd = () => {
      while (steps?.next().done === false) pauses++;
    };
    expect(toTheEnd).toThrow(CostLimitError);
    expect(pauses).toBeGreaterThanOrEqual(900);
    expect(pauses).toBeLessThan(1_100);
  });
});
