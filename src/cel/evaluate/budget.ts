import { atOnce, type Steps } from '../../meta/index.ts';
import { CelError, CostLimitError, type Value } from '../values.ts';
import { stepWork, work } from './work.ts';

/** The cost of a list, map or object that is not constant, apart from that of its elements. */
export const LIST_COST = 10;
export const MAP_COST = 30;
export const OBJECT_COST = 40;

/** The remaining cost of evaluations, in cost units. Evaluations that belong together share one budget. */
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

/** The same in steps. */
export type LongStep = (frame: Frame) => Steps<Outcome>;

/** A compiled node that may take long. */
export interface Runnable {
  readonly step: Step;
  /** Undefined: it takes no longer than what a step may take. */
  readonly long: LongStep | undefined;
}

/** The state of one evaluation. */
export interface Frame {
  /** The values of the declared variables by slot. */
  readonly values: readonly Value[];
  /** The variables of comprehensions by slot; undefined before initialization. */
  readonly locals: (Outcome | undefined)[];
  remaining: number;
  /** The remainder at which the current step ends. */
  pauseAt: number;
  /** The work of functions beyond their cost. */
  worked: number;
}

/** Maximum cost of one step of an evaluation. */
const stepCost = 5_000;
/** Maximum work of functions beyond their cost, in total. */
const maxWork = 20_000_000;

export const frameOf = (values: readonly Value[], slots: number, remaining: number): Frame => ({
  values,
  locals: new Array(slots).fill(undefined),
  remaining,
  pauseAt: remaining - stepCost,
  worked: 0,
});

/** Whether the current step should end. @throws CostLimitError when functions have done far more work than they cost */
export function isStepOver(frame: Frame): boolean {
  if (frame.remaining > frame.pauseAt && work.done < stepWork) return false;
  frame.pauseAt = frame.remaining - stepCost;
  frame.worked += work.done;
  work.done = 0;
  if (frame.worked > maxWork) throw exceeded();
  return true;
}

/** A node whose operands may take long: it runs in steps. */
export const inSteps = (long: LongStep): Runnable => ({ step: (frame) => atOnce(long(frame)), long });

/** The outcome of a node, in steps where it may take long. */
export function* outcomeOf({ step, long }: Runnable, frame: Frame): Steps<Outcome> {
  return long === undefined ? step(frame) : yield* long(frame);
}

/** @throws CostLimitError */
export function charge(frame: Frame, cost: number): void {
  frame.remaining -= cost;
  if (frame.remaining < 0) throw exceeded();
}

/** Charges the minimum cost of a call before it runs. @throws CostLimitError when the budget is too small */
export function affordable(frame: Frame, cost: number): number {
  if (cost <= frame.remaining) return cost;
  frame.remaining -= cost;
  throw exceeded();
}

const exceeded = () => new CostLimitError('operation cancelled: actual cost limit exceeded');

/** The failure that was thrown; any other error is thrown again. */
export function failureOf(thrown: unknown): CelError {
  if (thrown instanceof CelError) return thrown;
  throw thrown;
}
