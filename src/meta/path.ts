import { quote, shorten } from './quote.ts';

/** Where a value stands in a document: keys of objects, indexes of lists. */
export type Path = readonly (string | number)[];

/** How much of a path a message shows (characters). */
const MAX_SHOWN = 500;

/** `spec.containers[0].name`; cut when it is long. */
export function formatPath(path: Path): string {
  let text = '';
  for (const [i, step] of path.entries()) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += (i === 0 ? '' : '.') + step.slice(0, MAX_SHOWN + 1);
    if (text.length > MAX_SHOWN) break;
  }
  return shorten(text, MAX_SHOWN);
}

/** The strict findings about a field, as the wire words them. */
export const unknownField = (path: Path): string => `unknown field ${quote(formatPath(path))}`;
export const duplicateField = (path: Path): string => `duplicate field ${quote(formatPath(path))}`;
