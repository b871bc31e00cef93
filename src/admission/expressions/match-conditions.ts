/** Match conditions: expressions that decide whether a webhook or a policy is concerned. */
import { Budget } from '../../cel/index.ts';
import type { JsonObject, Steps } from '../../meta/index.ts';
import { Activation, type RequestValues } from './activation.ts';
import { type Compilation, ExpressionCompiler, resultTypes } from './compile.ts';
import { evaluate, OutOfBudget } from './evaluate.ts';

/** The maximum cost of all match conditions of a webhook or policy. */
const maxConditionsCost = 2_500_000;

export interface MatchCondition {
  readonly name?: string;
  readonly expression?: string;
}

export interface CompiledConditions {
  readonly conditions: readonly { readonly name: string; readonly compiled: Compilation }[];
}

/** Compiles stored match conditions, in steps; `params`: those of a policy with parameters have them. */
export function* compileMatchConditions(
  declared: readonly MatchCondition[] = [],
  params = false,
): Steps<CompiledConditions> {
  const compiler = new ExpressionCompiler({ params, composed: false });
  const conditions: CompiledConditions['conditions'][number][] = [];
  for (const { name = '', expression = '' } of declared) {
    if (conditions.length > 0) yield;
    const compiled = yield* compiler.compileInSteps(expression, { returns: resultTypes.condition, isStored: true });
    conditions.push({ name, compiled });
  }
  return { conditions };
}

/** A condition that is false, or the failures of those that could not be evaluated. */
export type ConditionsResult =
  | { readonly result: 'match' }
  | { readonly result: 'no match'; readonly condition: string }
  | { readonly result: 'error'; readonly message: string };

const match: ConditionsResult = { result: 'match' };

/** Whether all conditions are true. A condition that is false decides, whatever others fail. */
export async function matchesConditions(
  { conditions }: CompiledConditions,
  request: RequestValues,
  params?: JsonObject,
): Promise<ConditionsResult> {
  if (conditions.length === 0) return match;
  const activation = new Activation(request, { params });
  const budget = new Budget(maxConditionsCost);
  const failures: string[] = [];
  const { turns } = request;
  for (const { name, compiled } of conditions) {
    if (turns.over) await turns.next();
    try {
      const { value, failure } = await evaluate(compiled, activation, budget);
      if (failure !== undefined) failures.push(failure);
      else if (value === false) return { result: 'no match', condition: name };
    } catch (thrown) {
      if (thrown instanceof OutOfBudget) return { result: 'error', message: thrown.message };
      throw thrown;
    }
  }
  if (failures.length === 0) return match;
  return { result: 'error', message: aggregated(failures) };
}

/** Several failures as one text, each once. */
function aggregated(failures: readonly string[]): string {
  const distinct = [...new Set(failures)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`;
}
