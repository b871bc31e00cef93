import { describe, expect, it } from 'vitest';
import type { Expr } from '../ast.ts';
import { createEnvironment } from '../check/environment.ts';
import { listsLibrary } from '../library/lists.ts';
import { optionalsLibrary } from '../library/optionals.ts';
import { quantityLibrary } from '../library/quantity.ts';
import { regexLibrary } from '../library/regex.ts';
import { setsLibrary } from '../library/sets.ts';
import { standardLibrary } from '../library/standard.ts';
import { stringsLibrary4 } from '../library/strings.ts';
import { twoVariablesLibrary } from '../library/two-variables.ts';
import { urlLibrary } from '../library/url.ts';
import { parse } from '../syntax/parse.ts';
import { readCorpus } from '../testing/corpus.ts';
import { encodersLibrary } from '../testing/encoders.ts';
import { mathLibrary } from '../testing/math.ts';
import { unchecked } from '../testing/unchecked.ts';
import { CelError, Interruption } from '../values.ts';
import { Budget } from './budget.ts';
import { compileExpression } from './compile.ts';

const environment = createEnvironment({
  variables: [],
  libraries: [
    { name: 'corpus', syntax: { bindings: true, mathMacros: true }, functions: {} },
    ...[standardLibrary, optionalsLibrary, twoVariablesLibrary, stringsLibrary4, mathLibrary, encodersLibrary],
    ...[listsLibrary, setsLibrary, regexLibrary, urlLibrary, quantityLibrary],
  ],
});

const sources = [
  ...readCorpus().cases.map(({ expr }) => expr),
  "quantity('1k').add(quantity('2')).asInteger()",
  "url('https://a/b').getPort()",
  '[1, 2].sum() + [1, 2].max() + [1u, 2u].size() + [0.5].indexOf(1)',
  "[duration('1s')].sum() < [timestamp('2020-01-01T00:00:00Z')].min() || [3, 1].isSorted()",
  'sets.contains([1], [1]) && sets.intersects([[1]], [1])',
  "'abc'.find('b') + 'abc'.findAll('[a-c]', 2)[0]",
];

/** Numbers that look random and are the same in each run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state % below;
  };
}

const isNode = (value: unknown): value is Expr => typeof value === 'object' && value !== null && 'kind' in value;
const isTree = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Set) && !('type' in value);

function nodesOf(tree: unknown): Expr[] {
  if (!isTree(tree)) return [];
  const below = Object.values(tree).flatMap(nodesOf);
  return isNode(tree) ? [tree, ...below] : below;
}

/** A copy of a tree in which nodes are replaced with others, whatever their types. */
function mutated(tree: unknown, pool: readonly Expr[], random: (below: number) => number, percent: number): unknown {
  let id = 0;
  const copy = (node: unknown, rate: number): unknown => {
    if (!isTree(node)) return node;
    if (Array.isArray(node)) return node.map((item) => copy(item, rate));
    if (isNode(node) && random(100) < rate) return copy(pool[random(pool.length)], rate / 4);
    const entries = Object.entries(node).map(([key, value]) => [key, copy(value, rate)] as const);
    return { ...Object.fromEntries(entries), id: ++id };
  };
  return copy(tree, percent);
}

describe('an evaluation of operands of any types', () => {
  it('gives a value or a failure of the language', () => {
    const trees = sources.map((source) => parse(source, environment.syntax).expr).filter((expr) => expr !== undefined);
    const pool = trees.flatMap(nodesOf);
    const random = generator(1);
    let values = 0;
    for (let i = 0; i < 30_000; i++) {
      const expr = mutated(trees[random(trees.length)], pool, random, 15) as Expr;
      try {
        compileExpression(unchecked(environment, '', expr)).evaluate([], new Budget(10_000));
        values++;
      } catch (error) {
        if (!(error instanceof CelError || error instanceof Interruption)) throw error;
      }
    }
    expect(values).toBeGreaterThan(10_000);
    expect(values).toBeLessThan(29_000);
  });
});
