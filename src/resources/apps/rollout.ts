import { type FieldError, fieldError, percent } from '../../meta/index.ts';
import { byRule, nonNegative } from '../core/pod-spec/field-rules.ts';

/** So many, or such a part of all. */
export type Share = number | string | undefined;

const isPercent = (share: Share): share is string => typeof share === 'string' && percent(share).length === 0;

/** The number, of the percentage too. */
export function shareSize(share: Share): number {
  if (typeof share === 'number') return share;
  if (isPercent(share)) return Number.parseInt(share, 10);
  return /^[+-]?[0-9]+$/.test(share ?? '') ? Number(share) : 0;
}

/** A number that is not negative, or a percentage. */
export const validateShare = (share: Share, path: string): FieldError[] =>
  typeof share === 'string' ? byRule(path, share, percent) : nonNegative(path, share ?? 0);

export const validateAtMostAll = (share: Share, path: string): FieldError[] =>
  isPercent(share) && shareSize(share) > 100 ? [fieldError.invalid(path, share, 'must not be greater than 100%')] : [];
