/** The operators that do not evaluate all operands, or that absorb failures. Only their operands have a cost. */
import { CelError, OptionalValue } from '../values.ts';
import { charge, inSteps, type Outcome, outcomeOf, type Runnable, type Step } from './budget.ts';

/** `left && right`, or `left || right`, where one operand that is `decisive` decides, whatever the other one is. */
export function logical(decisive: boolean, left: Runnable, right: Runnable): Runnable {
  if (left.long !== undefined || right.long !== undefined) {
    return inSteps(function* (frame) {
      const a = yield* outcomeOf(left, frame);
      return a === decisive ? decisive : decide(decisive, a, yield* outcomeOf(right, frame));
    });
  }
  const [first, second] = [left.step, right.step];
  const step: Step = (frame) => {
    const a = first(frame);
    return a === decisive ? decisive : decide(decisive, a, second(frame));
  };
  return { step, long: undefined };
}

function decide(decisive: boolean, a: Outcome, b: Outcome): Outcome {
  if (b === decisive) return decisive;
  if (a === !decisive && b === !decisive) return !decisive;
  return failedOperand(a === !decisive ? b : a);
}

/** The failure of an operand of a logical operator that is not a bool. */
export function failedOperand(operand: Outcome): CelError {
  return operand instanceof CelError ? operand : new CelError('no such overload');
}

export function conditional(condition: Runnable, whenTrue: Runnable, whenFalse: Runnable): Runnable {
  if ([condition, whenTrue, whenFalse].some(({ long }) => long !== undefined)) {
    return inSteps(function* (frame) {
      const decision = yield* outcomeOf(condition, frame);
      if (typeof decision !== 'boolean') return failedOperand(decision);
      return yield* outcomeOf(decision ? whenTrue : whenFalse, frame);
    });
  }
  const step: Step = (frame) => {
    const decision = condition.step(frame);
    if (decision === true) return whenTrue.step(frame);
    return decision === false ? whenFalse.step(frame) : failedOperand(decision);
  };
  return { step, long: undefined };
}

/** True unless the operand is false: also for a failure. */
export function notStrictlyFalse(operand: Step): Step {
  return (frame) => {
    const value = operand(frame);
    charge(frame, 1);
    return value !== false;
  };
}

/** `optional.or(alternative)`, or with `unwrap` `optional.orValue(alternative)`. */
export function optionalOr(unwrap: boolean, left: Runnable, alternative: Runnable): Runnable {
  const chosen = (value: Outcome): Outcome | undefined => {
    if (!(value instanceof OptionalValue)) return failedOperand(value);
    return unwrap || value.value === undefined ? value.value : value;
  };
  if (left.long !== undefined || alternative.long !== undefined) {
    return inSteps(function* (frame) {
      return chosen(yield* outcomeOf(left, frame)) ?? (yield* outcomeOf(alternative, frame));
    });
  }
  return { step: (frame) => chosen(left.step(frame)) ?? alternative.step(frame), long: undefined };
}
