/** The operators that do not evaluate all operands, or that absorb failures. Only their operands have a cost. */
import { CelError, OptionalValue } from '../values.ts';
import { charge, type Outcome, type Step } from './budget.ts';

/** `left && right`, or `left || right`, where one operand that is `decisive` decides, whatever the other one is. */
export function logical(decisive: boolean, left: Step, right: Step): Step {
  return (frame) => {
    const a = left(frame);
    if (a === decisive) return decisive;
    const b = right(frame);
    if (b === decisive) return decisive;
    if (a === !decisive && b === !decisive) return !decisive;
    return failedOperand(a === !decisive ? b : a);
  };
}

/** The failure of an operand of a logical operator that is no bool. */
export function failedOperand(operand: Outcome): CelError {
  return operand instanceof CelError ? operand : new CelError('no such overload');
}

export function conditional(condition: Step, whenTrue: Step, whenFalse: Step): Step {
  return (frame) => {
    const decision = condition(frame);
    if (decision === true) return whenTrue(frame);
    return decision === false ? whenFalse(frame) : failedOperand(decision);
  };
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
export function optionalOr(unwrap: boolean, left: Step, alternative: Step): Step {
  return (frame) => {
    const value = left(frame);
    if (!(value instanceof OptionalValue)) return failedOperand(value);
    if (value.value === undefined) return alternative(frame);
    return unwrap ? value.value : value;
  };
}
