import { quote, shorten } from './quote.ts';

/** The path of a value in a document: object keys and list indexes. */
export type Path = readonly (string | number)[];

/** The maximum length of a path in messages, in characters. */
const MAX_SHOWN = 500;

/** `spec.containers[0].name`; shortened when it is long. */
export function formatPath(path: Path): string {
  let text = '';
  for (const [i, step] of path.entries()) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += (i === 0 ? '' : '.') + step.slice(0, MAX_SHOWN + 1);
    if (text.length > MAX_SHOWN) break;
  }
  return shorten(text, MAX_SHOWN);
}

/** The order of paths: by keys, and by indexes as numbers; a path comes before those below it. */
export function comparePaths(a: Path, b: Path): number {
  for (const [i, step] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (step !== other) return step < other ? -1 : 1;
  }
  return a.length - b.length;
}

/** The strict decoding errors of a field. */
export const unknownField = (path: Path): string => `unknown field ${quote(formatPath(path))}`;
export const duplicateField = (path: Path): string => `duplicate field ${quote(formatPath(path))}`;
