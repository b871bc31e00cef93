import { type FieldError, fieldError, percent } from '../../meta/index.ts';
import { byRule, nonNegative } from '../shared/field-rules.ts';

/** An int-or-string value: a number, or a percentage. */
export type IntOrPercent = number | string | undefined;

const isPercent = (share: IntOrPercent): share is string => typeof share === 'string' && percent(share).length === 0;

/** The number, or the number of percent. */
export function intOrPercentValue(share: IntOrPercent): number {
  if (typeof share === 'number') return share;
  if (isPercent(share)) return Number.parseInt(share, 10);
  return /^[+-]?[0-9]+$/.test(share ?? '') ? Number(share) : 0;
}

/** Requires a number that is not negative, or a percentage. */
export const validateIntOrPercent = (share: IntOrPercent, path: string): FieldError[] =>
  typeof share === 'string' ? byRule(path, share, percent) : nonNegative(path, share ?? 0);

export const validateAtMost100Percent = (share: IntOrPercent, path: string): FieldError[] =>
  isPercent(share) && intOrPercentValue(share) > 100
    ? [fieldError.invalid(path, share, 'must not be greater than 100%')]
    : [];
