import { type Json, MAX_DEPTH } from './json.ts';
import { maxShown, quote, shorten } from './quote.ts';

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

/** How many errors one validation makes before it is stopped, and how much text in all of them, in characters. */
const maxErrors = 1_000;
const maxText = 512 * 1024;

/** What the validation under way has made; undefined when none is. */
let made: { readonly errors: FieldError[]; text: number } | undefined;

class TooManyErrors extends Error {}

/**
 * The errors that a validation finds. One that makes more than anyone is told is stopped, and what it has made until
 * then is the result: no rule need count what a caller makes it find.
 */
export function fieldErrors(validation: () => readonly FieldError[]): readonly FieldError[] {
  const own = { errors: [] as FieldError[], text: 0 };
  const outer = made;
  made = own;
  try {
    return validation();
  } catch (fault) {
    if (fault instanceof TooManyErrors) return own.errors;
    throw fault;
  } finally {
    made = outer;
  }
}

function error(reason: FieldErrorReason, field: string, ...parts: string[]): FieldError {
  if (made !== undefined && (made.errors.length === maxErrors || made.text > maxText)) throw new TooManyErrors();
  const found = { reason, field, message: parts.filter((part) => part !== '').join(': ') };
  if (made !== undefined) {
    made.errors.push(found);
    made.text += found.message.length;
  }
  return found;
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

/** A value as messages show it, cut when it is long: text in quotes, the rest as JSON that could stand inside HTML. */
function quoteValue(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return shorten(quote(value), maxShown);
  const json = shorten(jsonText(value, maxShown, MAX_DEPTH), maxShown);
  return json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The JSON text of a value; of one that takes more than `room` characters, at least that much of its beginning. */
function jsonText(value: Json, room: number, levels: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, maxShown));
  if (typeof value !== 'object' || value === null)
    return JSON.stringify(typeof value === 'bigint' ? Number(value) : value);
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
