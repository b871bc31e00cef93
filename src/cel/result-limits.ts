/** How large the results of functions and operators may become. What a client sends is smaller than these limits. */
import { CelError } from './values.ts';

/** The most elements of a list: as many as all objects and lists of a body together may have. */
export const maxListSize = 400_000;

/** The longest text (UTF-16 code units), and the most bytes. */
export const maxTextLength = 4_000_000;

/** @throws CelError */
export function checkListSize(size: number): void {
  if (size > maxListSize) throw new CelError('the list is too large');
}

/** @throws CelError */
export function checkTextLength(length: number): void {
  if (length > maxTextLength) throw new CelError(`the result is longer than ${maxTextLength} characters`);
}
