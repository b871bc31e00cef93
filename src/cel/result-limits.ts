/** Limits on the results of functions and operators. Values that clients send are below these limits. */
import { CelError } from './values.ts';

/** The maximum number of elements of a list: that of all objects and lists of a body together. */
export const maxListSize = 400_000;

/** The maximum length of a text (UTF-16 code units) or of bytes. */
export const maxTextLength = 4_000_000;

/** @throws CelError for a list that is too large */
export function checkListSize(size: number): void {
  if (size > maxListSize) throw new CelError('the list is too large');
}

/** @throws CelError for a text, or bytes, that are too long */
export function checkTextLength(length: number): void {
  if (length > maxTextLength) throw new CelError(`the result is longer than ${maxTextLength} characters`);
}
