/** Calls of library functions: the overload is chosen by the types of the arguments at run time. */
import type { Steps } from '../../meta/index.ts';
import type { Overload } from '../library.ts';
import { CelError, ListValue, type Value } from '../values.ts';
import {
  affordable,
  charge,
  type Frame,
  failureOf,
  inSteps,
  isStepOver,
  type Outcome,
  outcomeOf,
  type Runnable,
  type Step,
} from './budget.ts';
import { type Accepts, acceptsType, typeNameOf } from './type-values.ts';

export type Apply1 = (frame: Frame, a: Outcome) => Outcome;
export type Apply2 = (frame: Frame, a: Outcome, b: Outcome) => Outcome;

interface Candidate {
  readonly overload: Overload;
  readonly accepts: readonly Accepts[];
}

/** The step of a call. */
export function callStep(name: string, overloads: readonly Overload[], args: readonly Step[]): Step {
  const [first, second] = args;
  if (first !== undefined && args.length === 1) {
    const apply = apply1(name, overloads);
    return (frame) => apply(frame, first(frame));
  }
  if (first !== undefined && second !== undefined && args.length === 2) {
    const apply = apply2(name, overloads);
    return (frame) => apply(frame, first(frame), second(frame));
  }
  return variadic(name, overloads, args);
}

/** Whether calls of these functions run in steps. */
export const areLong = (overloads: readonly Overload[]): boolean =>
  overloads.some(({ steps, readsLists }) => steps !== undefined || readsLists === true);

/** A call of functions that may take long, in steps. */
export function longCall(name: string, overloads: readonly Overload[], args: readonly Runnable[]): Runnable {
  const candidates = candidatesOf(overloads, args.length);
  return inSteps(function* (frame) {
    const values: Outcome[] = [];
    for (const arg of args) {
      const value = yield* outcomeOf(arg, frame);
      if (value instanceof CelError && args.length > 2) return value;
      values.push(value);
    }
    const chosen = choose(candidates, values);
    if (chosen === undefined) return mismatch(frame, name, values);
    if (chosen instanceof CelError) {
      charge(frame, 1);
      return chosen;
    }
    const known = values as readonly Value[];
    if (chosen.readsLists === true) for (const value of known) if (value instanceof ListValue) yield* value.readAll();
    let result: Outcome;
    let least = 1;
    try {
      if (chosen.cost !== undefined) least = affordable(frame, chosen.cost(known, null));
      result = chosen.steps === undefined ? chosen.call(...known) : yield* countSteps(frame, chosen.steps(...known));
    } catch (thrown) {
      result = failureOf(thrown);
    }
    const paid = chosen.cost === undefined || chosen.cost.length < 2;
    charge(frame, paid ? least : (chosen.cost?.(known, resultForCost(result)) ?? 1));
    if (isStepOver(frame)) yield;
    return result;
  });
}

/** Runs the steps of a function and charges their work to the evaluation. */
export function* countSteps(frame: Frame, steps: Steps<Value>): Steps<Value> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    isStepOver(frame);
    yield;
  }
}

function apply1(name: string, overloads: readonly Overload[]): Apply1 {
  const candidates = candidatesOf(overloads, 1);
  const [only] = candidates;
  if (only === undefined || candidates.length > 1) return (frame, a) => dispatch(frame, name, candidates, [a]);
  const { call, cost } = only.overload;
  const [accepts] = only.accepts as [Accepts];
  return (frame, a) => {
    let result: Outcome;
    let least = 1;
    try {
      if (!accepts(a)) return mismatch(frame, name, [a]);
      if (cost !== undefined) least = affordable(frame, cost([a as Value], null));
      result = call(a as Value);
    } catch (thrown) {
      result = failureOf(thrown);
    }
    charge(frame, cost === undefined || cost.length < 2 ? least : cost([a as Value], resultForCost(result)));
    return result;
  };
}

/** The outcome of a call with two evaluated arguments. */
export function apply2(name: string, overloads: readonly Overload[]): Apply2 {
  const candidates = candidatesOf(overloads, 2);
  const [only] = candidates;
  if (only === undefined || candidates.length > 1) return (frame, a, b) => dispatch(frame, name, candidates, [a, b]);
  const { call, cost } = only.overload;
  const [acceptsFirst, acceptsSecond] = only.accepts as [Accepts, Accepts];
  return (frame, a, b) => {
    let result: Outcome;
    let least = 1;
    try {
      if (!acceptsFirst(a) || !acceptsSecond(b)) return mismatch(frame, name, [a, b]);
      if (cost !== undefined) least = affordable(frame, cost([a as Value, b as Value], null));
      result = call(a as Value, b as Value);
    } catch (thrown) {
      result = failureOf(thrown);
    }
    const paid = cost === undefined || cost.length < 2;
    charge(frame, paid ? least : cost([a as Value, b as Value], resultForCost(result)));
    return result;
  };
}

/** The arguments after one that fails are not evaluated, and the call then costs nothing. */
function variadic(name: string, overloads: readonly Overload[], args: readonly Step[]): Step {
  const candidates = candidatesOf(overloads, args.length);
  return (frame) => {
    const values: Value[] = [];
    for (const arg of args) {
      const value = arg(frame);
      if (value instanceof CelError) return value;
      values.push(value);
    }
    return dispatch(frame, name, candidates, values);
  };
}

function candidatesOf(overloads: readonly Overload[], arity: number): Candidate[] {
  return overloads
    .filter(({ args }) => args.length === arity)
    .map((overload) => ({ overload, accepts: overload.args.map(acceptsType) }));
}

function dispatch(frame: Frame, name: string, candidates: readonly Candidate[], args: readonly Outcome[]): Outcome {
  const chosen = choose(candidates, args);
  if (chosen === undefined) return mismatch(frame, name, args);
  if (chosen instanceof CelError) {
    charge(frame, 1);
    return chosen;
  }
  const values = args as readonly Value[];
  let result: Outcome;
  try {
    if (chosen.cost !== undefined) affordable(frame, chosen.cost(values, null));
    result = chosen.call(...values);
  } catch (thrown) {
    result = failureOf(thrown);
  }
  charge(frame, chosen.cost?.(values, resultForCost(result)) ?? 1);
  return result;
}

function choose(candidates: readonly Candidate[], args: readonly Outcome[]): Overload | CelError | undefined {
  try {
    return candidates.find(({ accepts }) => accepts.every((accept, i) => accept(args[i])))?.overload;
  } catch (thrown) {
    return failureOf(thrown);
  }
}

const resultForCost = (result: Outcome): Value => (result instanceof CelError ? null : result);

/** Returns the first failure among the arguments, or the error that no overload matches. */
function mismatch(frame: Frame, name: string, args: readonly Outcome[]): CelError {
  charge(frame, 1);
  const failed = args.find((arg) => arg instanceof CelError);
  return failed instanceof CelError ? failed : new CelError(noSuchOverload(name, args as readonly Value[]));
}

function noSuchOverload(name: string, args: readonly Value[]): string {
  const isOperator = /^[^a-z]/i.test(name);
  return isOperator ? 'no such overload' : `no such overload: ${name}(${args.map(typeNameOf).join(', ')})`;
}
