import { escapeHtml, type Json, MAX_DEPTH } from './json.ts';
import { maxShown, quote, shorten } from './quote.ts';
import type { Steps } from './steps.ts';

/** The type of a field error: the `reason` of a Status cause. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueDuplicate'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueNotFound'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** A field error: `message` is complete, `field` its path such as `spec.ports[0].name`. */
export interface FieldError {
  readonly reason: FieldErrorReason;
  readonly field: string;
  readonly message: string;
}

/** A validation stops after this many errors, or this many characters in all their messages. */
export const maxErrors = 1_000;
export const maxErrorText = 512 * 1024;

/** The errors of the running validation; undefined outside of one. */
let current: ErrorCollection | undefined;

interface ErrorCollection {
  readonly errors: FieldError[];
  text: number;
}

/** The number of items of all lists that may still be checked in this step; undefined outside of a validation in steps. */
let room: number | undefined;

/** Stops a validation that has found {@link maxErrors} errors or {@link maxErrorText} characters of them. */
class ErrorLimitError extends Error {}

/**
 * The errors of a validation. A validation with more errors than a Status reports is stopped and returns the errors so
 * far, so that no rule needs a limit of its own.
 */
export function fieldErrors(validation: () => readonly FieldError[]): readonly FieldError[] {
  return fieldErrorsWithin(validation, undefined);
}

function fieldErrorsWithin(validation: () => readonly FieldError[], items: number | undefined): readonly FieldError[] {
  const collection: ErrorCollection = { errors: [], text: 0 };
  try {
    return runWithin(collection, validation, items);
  } catch (thrown) {
    if (thrown instanceof ErrorLimitError) return collection.errors;
    throw thrown;
  }
}

/** {@link fieldErrors} for a validation in steps. */
export function* fieldErrorsInSteps(validation: Steps<readonly FieldError[]>): Steps<readonly FieldError[]> {
  const collection: ErrorCollection = { errors: [], text: 0 };
  try {
    for (;;) {
      const step = runWithin(collection, () => validation.next(), itemsInStep);
      if (step.done === true) return step.value;
      yield;
    }
  } catch (thrown) {
    if (thrown instanceof ErrorLimitError) return collection.errors;
    throw thrown;
  }
}

function runWithin<T>(collection: ErrorCollection, run: () => T, items: number | undefined): T {
  const outer = current;
  const outerRoom = room;
  current = collection;
  room = items;
  try {
    return run();
  } finally {
    current = outer;
    room = outerRoom;
  }
}

function error(reason: FieldErrorReason, field: string, ...parts: string[]): FieldError {
  if (current !== undefined && (current.errors.length === maxErrors || current.text > maxErrorText))
    throw new ErrorLimitError();
  const result = { reason, field, message: parts.filter((part) => part !== '').join(': ') };
  if (current !== undefined) {
    current.errors.push(result);
    current.text += result.message.length;
  }
  return result;
}

/** The paths of the fields that are not validated, with all that is below them, because of these errors. */
const replacedSubtrees = new WeakMap<FieldError, string>();

/** Returns the errors that are not at or below a field that one of `others` replaces ({@link fieldError.inPlaceOf}). */
export function withoutReplaced(errors: readonly FieldError[], others: readonly FieldError[]): readonly FieldError[] {
  if (errors.length === 0) return errors;
  const fields = new Set(others.flatMap((other) => replacedSubtrees.get(other) ?? []));
  if (fields.size === 0) return errors;
  const longest = [...fields].reduce((most, { length }) => Math.max(most, length), 0);
  return errors.filter(({ field: path }) => !isWithin(path, fields, longest));
}

/** Whether a path, or the path of one of its parents, is among the given ones. A path may hold a key of any length. */
function isWithin(path: string, fields: ReadonlySet<string>, longest: number): boolean {
  for (let end = 1; end <= longest && end <= path.length; end++) {
    const next = path[end];
    if ((next === undefined || next === '.' || next === '[') && fields.has(path.slice(0, end))) return true;
  }
  return false;
}

/** Passed as the value of an error whose message must not contain it. */
export const omitted = Symbol('omitted');

/** Constructors of field errors, with the messages of the reference server. */
export const fieldError = {
  required: (field: string, detail = '') => error('FieldValueRequired', field, 'Required value', detail),
  invalid: (field: string, value: Json | undefined | typeof omitted, detail: string) =>
    error('FieldValueInvalid', field, 'Invalid value', quoteValue(value), detail),
  typeInvalid: (field: string, value: Json | undefined, detail: string) =>
    error('FieldValueTypeInvalid', field, 'Invalid value', quoteValue(value), detail),
  duplicate: (field: string, value: Json | typeof omitted) =>
    error('FieldValueDuplicate', field, 'Duplicate value', quoteValue(value)),
  notSupported: (field: string, value: Json, supported: readonly string[]) =>
    error(
      'FieldValueNotSupported',
      field,
      'Unsupported value',
      quoteValue(value),
      `supported values: ${supported.map((v) => quote(v)).join(', ')}`,
    ),
  forbidden: (field: string, detail: string) => error('FieldValueForbidden', field, 'Forbidden', detail),
  /** Forbids a field, so that errors at or below it are left out. `at`: its path, where the error names another one. */
  forbiddenSubtree: (field: string, detail: string, at = field) =>
    fieldError.inPlaceOf(at, error('FieldValueForbidden', field, 'Forbidden', detail)),
  /** Marks an error so that errors at or below the field `at` are left out, and returns it. */
  inPlaceOf: (at: string, result: FieldError): FieldError => {
    replacedSubtrees.set(result, at);
    return result;
  },
  notFound: (field: string, value: Json) => error('FieldValueNotFound', field, 'Not found', quoteValue(value)),
  /** `max` in bytes. */
  tooLong: (field: string, max: number) =>
    error('FieldValueTooLong', field, 'Too long', `may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`),
  tooMany: (field: string, actual: number, max: number) =>
    error(
      'FieldValueTooMany',
      field,
      'Too many',
      String(actual),
      `must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
    ),
  internal: (field: string, detail: string) => error('InternalError', field, 'Internal error', detail),
};

/** A value as shown in messages, shortened when it is long: a quoted string, or JSON with HTML escaped. */
function quoteValue(value: Json | undefined | typeof omitted): string {
  if (value === omitted) return '';
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return shorten(quote(value), maxShown);
  return escapeHtml(shorten(jsonText(value, maxShown, MAX_DEPTH), maxShown));
}

/** The JSON of a value; when it is longer than `room` characters, at least its first `room` characters. */
function jsonText(value: Json, room: number, levels: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, maxShown));
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (levels === 0) return '...';
  let text = '';
  const add = (label: string, part: Json | undefined) => {
    if (part === undefined) return;
    text += `${text === '' ? '' : ','}${label}`;
    text += jsonText(part, room - text.length, levels - 1);
  };
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && text.length <= room; i++) add('', value[i]);
    return `[${text}]`;
  }
  for (const key in value) {
    if (text.length > room) break;
    add(`${JSON.stringify(key.slice(0, maxShown))}:`, value[key]);
  }
  return `{${text}}`;
}

// Errors of checks that run later, in steps

/** Lists up to this length are checked immediately. */
const itemsAtOnce = 100;
/** The number of items of all lists that are checked in one step. */
const itemsInStep = 500;

/** A placeholder for errors of checks that run later, in steps. */
class LaterErrors implements FieldError {
  readonly reason: FieldErrorReason = 'InternalError';
  readonly field = '';
  readonly message = '';
  /** Yields undefined where a step ends. */
  readonly find: () => Generator<readonly FieldError[] | undefined, void, undefined>;

  constructor(find: () => Generator<readonly FieldError[] | undefined, void, undefined>) {
    this.find = find;
  }
}

/**
 * Returns the errors of all items in order. A long list is checked later, in steps, as is one for which the step has no time
 * left: the result is then a placeholder that the validation returns in place of the errors. Callers must neither read nor
 * count placeholders.
 */
export function errorsOfEach<T>(
  items: readonly T[],
  check: (item: T, index: number) => readonly FieldError[],
): FieldError[] {
  if (items.length > itemsAtOnce || (room !== undefined && items.length > room)) return [laterErrors(items, check)];
  if (room !== undefined) room -= items.length;
  return items.flatMap(check);
}

const laterErrors = <T>(items: readonly T[], check: (item: T, index: number) => readonly FieldError[]) =>
  new LaterErrors(function* () {
    for (const [i, item] of items.entries()) yield check(item, i);
  });

/** Returns a placeholder for the errors of one long check, which runs later in a separate step. */
export const errorsLater = (check: () => readonly FieldError[]): FieldError[] => [laterErrors([undefined], check)];

/** The same for a check that is in steps itself. */
export const errorsInSteps = (check: () => Steps<readonly FieldError[]>): FieldError[] => [
  new LaterErrors(function* () {
    yield yield* check();
  }),
];

/** Returns the errors of a check that depends on `first`. It runs later when some of the first checks run later. */
export const errorsAfter = (first: readonly FieldError[], check: () => readonly FieldError[]): readonly FieldError[] =>
  first.some((error) => error instanceof LaterErrors) ? [laterErrors([undefined], check)] : check();

/** Calls `all` with the errors of a check, once none of them is pending, and returns its errors. */
export const errorsWith = (
  first: readonly FieldError[],
  all: (found: readonly FieldError[]) => readonly FieldError[],
): readonly FieldError[] => {
  if (!first.some((error) => error instanceof LaterErrors)) return all(first);
  return errorsInSteps(function* () {
    const found: FieldError[] = [];
    yield* collectErrors(first, found, { items: 0 });
    return all(found);
  });
};

/** Runs pending checks immediately and returns all errors: for validations that depend on whether there are any. */
export const errorsNow = (errors: readonly FieldError[]): FieldError[] =>
  errors.flatMap((error) =>
    error instanceof LaterErrors ? [...error.find()].flatMap((found = []) => errorsNow(found)) : [error],
  );

/** Returns all errors of a validation and its pending checks, in steps of about {@link itemsInStep} items. */
export const allErrors = (validation: () => readonly FieldError[]): Steps<readonly FieldError[]> =>
  settledErrors(fieldErrorsWithin(validation, itemsInStep));

/** Returns errors with those of the pending checks among them, which run in steps. */
export function* settledErrors(errors: readonly FieldError[]): Steps<readonly FieldError[]> {
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
      if (more === undefined) yield;
      else if (more.length > 0) yield* collectErrors(more, found, checked);
      if (++checked.items % itemsAtOnce === 0 || room === 0) yield;
    }
  }
}
