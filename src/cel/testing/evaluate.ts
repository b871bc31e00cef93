/** Evaluation of an expression in one call, for tests. */
import { check } from '../check/check.ts';
import { createEnvironment } from '../check/environment.ts';
import { Budget } from '../evaluate/budget.ts';
import { compileExpression } from '../evaluate/compile.ts';
import { optionalsLibrary } from '../library/optionals.ts';
import { standardLibrary } from '../library/standard.ts';
import { twoVariablesLibrary } from '../library/two-variables.ts';
import type { Library } from '../library.ts';
import type { CelType } from '../types.ts';
import type { Value } from '../values.ts';

/** The type and the value of each variable. */
export type Variables = { readonly [name: string]: readonly [type: CelType, value: Value] };

const bindings: Library = { name: 'bindings', syntax: { bindings: true }, functions: {} };
const libraries: readonly Library[] = [standardLibrary, optionalsLibrary, twoVariablesLibrary, bindings];

/** @throws what the check or the evaluation throws */
export function evaluate(source: string, variables: Variables = {}, limit = 1_000_000): Value {
  return measured(source, variables, limit).value;
}

/** The cost of an evaluation. */
export function costOf(source: string, variables: Variables = {}): number {
  return measured(source, variables, 1_000_000).cost;
}

function measured(source: string, variables: Variables, limit: number): { value: Value; cost: number } {
  const entries = Object.entries(variables);
  const environment = createEnvironment({ libraries, variables: entries.map(([name, [type]]) => ({ name, type })) });
  const budget = new Budget(limit);
  const program = compileExpression(check(environment, source));
  const value = program.evaluate(
    entries.map(([, [, bound]]) => bound),
    budget,
  );
  return { value, cost: limit - budget.remaining };
}
