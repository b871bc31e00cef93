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
  return compareAsQuantities(x, y) ?? naturalOrder(x, y);
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

/** Numbers within texts count as numbers, `a2` before `a10`; of equal ones that with fewer leading zeros is first. */
function naturalOrder(a: string, b: string): number {
  const partsOf = (text: string): string[] => text.match(/\d+|\D/g) ?? [];
  const [parts, others] = [partsOf(a), partsOf(b)];
  for (const [i, part] of parts.entries()) {
    const other = others[i];
    if (other === undefined) return 1;
    const order = isNumber(part) && isNumber(other) ? compareNumbers(part, other) : compareParts(part, other);
    if (order !== 0) return order;
  }
  return parts.length - others.length;
}

const isNumber = (part: string): boolean => /^\d/.test(part);

/** Digits come before other characters. */
function compareParts(a: string, b: string): number {
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares numbers with any number of digits. */
function compareNumbers(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return x.length - y.length || compareParts(x, y) || a.length - b.length;
}
