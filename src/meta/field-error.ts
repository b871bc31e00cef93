import type { Json } from './json.ts';
import { quote } from './quote.ts';

/** What is wrong with a field; the names are the `reason` of a Status cause. */
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

/** One finding of a validation: `message` is complete, `field` its path such as `spec.ports[0].name`. */
export interface FieldError {
  readonly reason: FieldErrorReason;
  readonly field: string;
  readonly message: string;
}

/** How much one validation may find: more than any answer has room for. */
const MAX_FINDINGS = 1000;
const MAX_CHARACTERS = 1024 * 1024;

/** What the validation under way has found so far. */
let underWay: { readonly found: FieldError[]; characters: number } | undefined;

class Enough extends Error {}

/**
 * What a validation finds. One that finds far too much is broken off: then this is what it had found by then, so that
 * neither the number nor the length of its findings depends on what it was given. Every finding that is made counts,
 * even where only its being there was asked for.
 */
export function boundedFindings(validate: () => readonly FieldError[]): readonly FieldError[] {
  if (underWay !== undefined) return validate();
  const mine = { found: [], characters: 0 };
  underWay = mine;
  try {
    return validate();
  } catch (thrown) {
    if (thrown instanceof Enough) return mine.found;
    throw thrown;
  } finally {
    underWay = undefined;
  }
}

function error(reason: FieldErrorReason, field: string, ...parts: string[]): FieldError {
  const made = { reason, field, message: parts.filter((part) => part !== '').join(': ') };
  if (underWay !== undefined) {
    underWay.found.push(made);
    underWay.characters += field.length + made.message.length;
    if (underWay.found.length >= MAX_FINDINGS || underWay.characters >= MAX_CHARACTERS) throw new Enough();
  }
  return made;
}

/** Constructors of findings, with the wording that clients know. */
export const fieldError = {
  required: (field: string, detail = '') => error('FieldValueRequired', field, 'Required value', detail),
  invalid: (field: string, value: Json | undefined, detail: string) =>
    error('FieldValueInvalid', field, 'Invalid value', quoteValue(value), detail),
  typeInvalid: (field: string, value: Json | undefined, detail: string) =>
    error('FieldValueTypeInvalid', field, 'Invalid value', quoteValue(value), detail),
  duplicate: (field: string, value: Json) => error('FieldValueDuplicate', field, 'Duplicate value', quoteValue(value)),
  notSupported: (field: string, value: Json, supported: readonly string[]) =>
    error(
      'FieldValueNotSupported',
      field,
      'Unsupported value',
      quoteValue(value),
      `supported values: ${supported.map((v) => quote(v)).join(', ')}`,
    ),
  forbidden: (field: string, detail: string) => error('FieldValueForbidden', field, 'Forbidden', detail),
  notFound: (field: string, value: Json) => error('FieldValueNotFound', field, 'Not found', quoteValue(value)),
  /** `max` in bytes. */
  tooLong: (field: string, max: number) =>
    error('FieldValueTooLong', field, 'Too long', `may not be more than ${max} bytes`),
  tooMany: (field: string, actual: number, max: number) =>
    error('FieldValueTooMany', field, 'Too many', String(actual), `must have at most ${max} items`),
  internal: (field: string, detail: string) => error('InternalError', field, 'Internal error', detail),
};

/** A value as messages show it: text in quotes, the rest as JSON that could stand inside HTML. */
function quoteValue(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return quote(value);
  const json = JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? Number(v) : v));
  return json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
