import type { FieldError } from '../../meta/index.ts';

/** What a validation in steps comes after. */
export interface ValidationSoFar {
  /** The errors of all other validation. */
  readonly found: readonly FieldError[];
  /** The part of the object that is written. */
  readonly part: 'whole' | 'status';
}
