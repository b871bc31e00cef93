import { type FieldError, type FieldErrorReason, fieldErrors, fieldErrorsInSteps, maxErrors } from './field-error.ts';
import type { Steps } from './steps.ts';

/** Lists up to this length are checked immediately. */
const itemsAtOnce = 100;

/** A placeholder for errors of checks that run later, in steps. */
class LaterErrors implements FieldError {
  readonly reason: FieldErrorReason = 'InternalError';
  readonly field = '';
  readonly message = '';
  readonly find: () => Generator<readonly FieldError[], void, undefined>;

  constructor(find: () => Generator<readonly FieldError[], void, undefined>) {
    this.find = find;
  }
}

/**
 * Returns the errors of all items in order. A long list is checked later, in steps: the result is then a placeholder that
 * the validation returns in place of the errors. Callers must neither read nor count placeholders.
 */
export function errorsOfEach<T>(
  items: readonly T[],
  check: (item: T, index: number) => readonly FieldError[],
): FieldError[] {
  if (items.length <= itemsAtOnce) return items.flatMap(check);
  return [laterErrors(items, check)];
}

const laterErrors = <T>(items: readonly T[], check: (item: T, index: number) => readonly FieldError[]) =>
  new LaterErrors(function* () {
    for (const [i, item] of items.entries()) yield check(item, i);
  });

/** Returns a placeholder for the errors of one long check, which runs later in a separate step. */
export const errorsLater = (check: () => readonly FieldError[]): FieldError[] => [laterErrors([undefined], check)];

/** Returns the errors of a check that depends on `first`. It runs later when some of the first checks run later. */
export const errorsAfter = (first: readonly FieldError[], check: () => readonly FieldError[]): readonly FieldError[] =>
  first.some((error) => error instanceof LaterErrors) ? [laterErrors([undefined], check)] : check();

/** Runs pending checks immediately and returns all errors: for validations that depend on whether there are any. */
export const errorsNow = (errors: readonly FieldError[]): FieldError[] =>
  errors.flatMap((error) => (error instanceof LaterErrors ? [...error.find()].flatMap(errorsNow) : [error]));

/** Returns all errors of a validation and its pending checks, at most {@link itemsAtOnce} items in a step. */
export function* allErrors(validation: () => readonly FieldError[]): Steps<readonly FieldError[]> {
  const errors = fieldErrors(validation);
  if (!errors.some((error) => error instanceof LaterErrors)) return errors;
  yield;
  const allFound = yield* fieldErrorsInSteps(runChecks(errors));
  return allFound.length > maxErrors ? allFound.slice(0, maxErrors) : allFound;
}

function* runChecks(errors: readonly FieldError[]): Steps<readonly FieldError[]> {
  const found: FieldError[] = [];
  yield* collectErrors(errors, found, { items: 0 });
  return found;
}

function* collectErrors(errors: readonly FieldError[], found: FieldError[], checked: { items: number }): Steps<void> {
  for (const error of errors) {
    if (!(error instanceof LaterErrors)) {
      found.push(error);
      continue;
    }
    yield;
    for (const more of error.find()) {
      if (more.length > 0) yield* collectErrors(more, found, checked);
      if (++checked.items % itemsAtOnce === 0) yield;
    }
  }
}
