import { type FieldError, type FieldErrorReason, fieldErrors, fieldErrorsInSteps, maxErrors } from './field-error.ts';
import type { Steps } from './steps.ts';

/** The errors of so many items are found at once. */
const itemsAtOnce = 100;

/** Stands for errors that are yet to be found. */
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
 * The errors of all items, in their order. Those of a long list are found later, in steps: the result stands for them, and
 * a validation returns it in their place among other errors. It may neither read nor count them.
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

/** The errors of one long check, which are found later, in a step of its own. */
export const errorsLater = (check: () => readonly FieldError[]): FieldError[] => [laterErrors([undefined], check)];

/** The errors of a check that needs the `first` one to be done: later, if some of the first ones are found later. */
export const errorsAfter = (first: readonly FieldError[], check: () => readonly FieldError[]): readonly FieldError[] =>
  first.some((error) => error instanceof LaterErrors) ? [laterErrors([undefined], check)] : check();

/** The errors themselves, found at once: for a validation that depends on whether there are any. */
export const errorsNow = (errors: readonly FieldError[]): FieldError[] =>
  errors.flatMap((error) => (error instanceof LaterErrors ? [...error.find()].flatMap(errorsNow) : [error]));

/** The errors of a validation, also those that it leaves for later: so many items are checked in one step. */
export function* allErrors(validation: () => readonly FieldError[]): Steps<readonly FieldError[]> {
  const errors = fieldErrors(validation);
  if (!errors.some((error) => error instanceof LaterErrors)) return errors;
  yield;
  const found = yield* fieldErrorsInSteps(settled(errors));
  return found.length > maxErrors ? found.slice(0, maxErrors) : found;
}

/** The errors themselves, found in steps. */
export const errorsInSteps = (errors: readonly FieldError[]): Steps<readonly FieldError[]> => settled(errors);

function* settled(errors: readonly FieldError[]): Steps<readonly FieldError[]> {
  const found: FieldError[] = [];
  yield* settle(errors, found, { items: 0 });
  return found;
}

function* settle(errors: readonly FieldError[], found: FieldError[], checked: { items: number }): Steps<void> {
  for (const error of errors) {
    if (!(error instanceof LaterErrors)) {
      found.push(error);
      continue;
    }
    yield;
    for (const more of error.find()) {
      if (more.length > 0) yield* settle(more, found, checked);
      if (++checked.items % itemsAtOnce === 0) yield;
    }
  }
}
