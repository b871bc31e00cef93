/** Evaluates expressions within their cost budgets. */
import { Budget, CelError, CostLimitError, type Decide, evaluateWithDecisions, type Value } from '../../cel/index.ts';
import { inTurns, type Steps } from '../../meta/index.ts';
import type { Awaitable } from '../types.ts';
import { type Activation, maxCallCost } from './activation.ts';
import { type Compilation, type CompiledExpression, ExpressionFault } from './compile.ts';

/** The maximum cost of all expressions of a policy for one parameter; audit annotations have the same again. */
export const maxPolicyCost = 10_000_000;

export const outOfBudget = 'validation failed due to running out of cost budget';

/** The budget of all expressions is used up. */
export class OutOfBudget extends Error {
  constructor() {
    super(`${outOfBudget}, no further validation rules will be run`);
  }
}

/** The value of an expression, or why it has none. */
export type Evaluation =
  | { readonly value: Value; readonly failure?: never }
  | { readonly failure: string; readonly value?: never };

/**
 * Evaluates an expression, and takes its cost from the budget. The result is a promise only if the expression may ask the
 * authorizer, or takes more than a step, which few do.
 * @throws OutOfBudget
 */
export function evaluate(compiled: Compilation, activation: Activation, budget: Budget): Awaitable<Evaluation> {
  if (compiled instanceof ExpressionFault) return { failure: `compilation error: ${compiled.message}` };
  if (compiled.asksAuthorizer) return evaluateWithAuthorizer(compiled, activation, budget);
  const own = new Budget(maxCallCost);
  const steps = evaluation(compiled, activation, own);
  const { done, value } = steps.next();
  if (done !== true) return evaluateInTurns(steps, activation, own, budget);
  charge(budget, own, activation);
  return value;
}

async function evaluateInTurns(
  steps: Steps<Evaluation>,
  activation: Activation,
  own: Budget,
  budget: Budget,
): Promise<Evaluation> {
  const result = await inTurns(steps, activation.request.turns);
  charge(budget, own, activation);
  return result;
}

async function evaluateWithAuthorizer(
  compiled: CompiledExpression,
  activation: Activation,
  budget: Budget,
): Promise<Evaluation> {
  const { request } = activation;
  const own = new Budget(maxCallCost);
  const attempt = (decide: Decide) => {
    request.decide = decide;
    return inTurns(evaluation(compiled, activation, own), request.turns);
  };
  let result: Evaluation;
  try {
    result = await evaluateWithDecisions(attempt, request.authorize, { budget: own, known: request.known });
  } catch (thrown) {
    result = failureOf(compiled, thrown);
  }
  charge(budget, own, activation);
  return result;
}

/** Takes the cost of an evaluation and of the variables that it read first. */
function charge(budget: Budget, own: Budget, activation: Activation): void {
  budget.remaining -= activation.takeCost() + maxCallCost - own.remaining;
  if (budget.remaining < 0) throw new OutOfBudget();
}

function* evaluation(compiled: CompiledExpression, activation: Activation, budget: Budget): Steps<Evaluation> {
  try {
    return { value: yield* activation.evaluate(compiled, budget) };
  } catch (thrown) {
    return failureOf(compiled, thrown);
  }
}

/** The failure of an evaluation; anything else is thrown again. */
function failureOf({ source }: CompiledExpression, thrown: unknown): Evaluation {
  const prefix = `expression '${source}' resulted in error: `;
  // The stack is full: variables that read other variables nest too deeply.
  if (thrown instanceof RangeError) return { failure: `${prefix}the variables nest too deeply` };
  if (thrown instanceof CelError || thrown instanceof CostLimitError) {
    return { failure: prefix + thrown.message };
  }
  throw thrown;
}
