import { compareQuantities, type Json, type JsonObject, parseQuantity, StatusError } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { relaxedPath } from './custom-columns.ts';
import { jsonText } from './json.ts';

/** Sorts rows by a field of their objects, as `--sort-by` names it. @throws CommandError when no object has the field */
export function sortedBy<T>(rows: readonly T[], expression: string, objectOf: (row: T) => JsonObject): T[] {
  const path = relaxedPath(expression);
  const keyed = rows.map((row) => ({ row, key: path.values(objectOf(row))[0] }));
  if (rows.length > 0 && keyed.every(({ key }) => key === undefined)) {
    throw new CommandError(
      `couldn't find any field with path "{${expression.replace(/^\{?(\.?)/, '$1').replace(/\}$/, '')}}" in the list of objects`,
    );
  }
  return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ row }) => row);
}

/** Rows without the field come first. */
function compare(a: Json | undefined, b: Json | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [x, y] = [jsonText(a), jsonText(b)];
  return compareAsQuantities(x, y) ?? Buffer.compare(Buffer.from(x), Buffer.from(y));
}

/** Undefined when a text is no quantity. */
function compareAsQuantities(a: string, b: string): number | undefined {
  try {
    return compareQuantities(parseQuantity(a), parseQuantity(b));
  } catch (error) {
    if (error instanceof StatusError || error instanceof Error) return undefined;
    throw error;
  }
}
