/** ResourceLists (quantities by resource name), encoded and parsed. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  setKey,
  subtractQuantities,
} from '../meta/index.ts';

/** A ResourceList as stored in objects: canonical quantities by resource name. */
export interface ResourceList {
  [resource: string]: string;
}

/** A parsed ResourceList. */
export type Quantities = Map<string, Quantity>;

export const zero: Quantity = { nano: 0n, format: 'DecimalSI' };

export const compareQuantityTexts = (a: string, b: string): number =>
  a === b ? 0 : compareQuantities(parseQuantity(a), parseQuantity(b));

export function parseResourceList(amounts: ResourceList | undefined): Quantities {
  const out: Quantities = new Map();
  for (const [name, amount] of Object.entries(amounts ?? {})) out.set(name, parseQuantity(amount));
  return out;
}

/** Encodes the resources in the order of their names. */
export function encodeResourceList(amounts: Quantities): ResourceList {
  const out: ResourceList = {};
  for (const [name, amount] of sortedByName(amounts)) setKey(out, name, formatQuantity(amount));
  return out;
}

export const sortedByName = (amounts: Quantities): [string, Quantity][] =>
  [...amounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** Adds `more` to `amounts`, which is modified in place. */
export function addInPlace(amounts: Quantities, more: Quantities): void {
  for (const [name, amount] of more) amounts.set(name, addQuantities(amounts.get(name) ?? zero, amount));
}

/** Raises each quantity of `amounts`, which is modified in place, to the maximum of both lists. */
export function maxInPlace(amounts: Quantities, others: Quantities): void {
  for (const [name, amount] of others) {
    const current = amounts.get(name);
    if (current === undefined || compareQuantities(current, amount) < 0) amounts.set(name, amount);
  }
}

/** Subtracts `b` from `a` for the names in `a`; negative results become zero. */
export function subtractNonNegative(a: Quantities, b: Quantities): Quantities {
  const out: Quantities = new Map();
  for (const [name, amount] of a) {
    const difference = subtractQuantities(amount, b.get(name) ?? zero);
    out.set(name, difference.nano < 0n ? zero : difference);
  }
  return out;
}

/** Whether both lists have the same names with equal quantities, in any format. */
export const equalQuantities = (a: Quantities, b: Quantities): boolean =>
  a.size === b.size && [...a].every(([name, { nano }]) => b.get(name)?.nano === nano);
