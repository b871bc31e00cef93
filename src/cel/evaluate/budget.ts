import { CelError, CostLimitExceeded, type Value } from '../values.ts';

/** The cost of a list, a map and an object that are not constant, beside that of their elements. */
export const LIST_COST = 10;
export const MAP_COST = 30;
export const OBJECT_COST = 40;

/** What evaluations may still cost, in cost units. Those that belong together share one. */
export class Budget {
  /** Less than 0 when it is exceeded. */
  remaining: number;

  constructor(limit: number) {
    this.remaining = limit;
  }
}

/** The outcome of a step: a failure is an outcome, because an operator above may absorb it. */
export type Outcome = Value | CelError;

/** A compiled node. */
export type Step = (frame: Frame) => Outcome;

/** The state of one evaluation. */
export interface Frame {
  /** The values of the declared variables by slot. */
  readonly values: readonly Value[];
  /** The variables of comprehensions by slot; undefined: not yet initialized. */
  readonly locals: (Outcome | undefined)[];
  remaining: number;
}

/** @throws CostLimitExceeded */
export function charge(frame: Frame, cost: number): void {
  frame.remaining -= cost;
  if (frame.remaining < 0) throw new CostLimitExceeded('operation cancelled: actual cost limit exceeded');
}

/** The failure that was thrown; any other error is thrown again. */
export function failureOf(thrown: unknown): CelError {
  if (thrown instanceof CelError) return thrown;
  throw thrown;
}
