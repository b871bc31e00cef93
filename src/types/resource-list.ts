/** ResourceLists: quantities by resource name, as they are encoded and parsed. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  setKey,
  subtractQuantities,
} from '../meta/index.ts';

/** A ResourceList as objects have it: canonical quantities by resource name. */
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

/** The resources sorted by name. */
export function encodeResourceList(amounts: Quantities): ResourceList {
  const out: ResourceList = {};
  for (const [name, amount] of sortedByName(amounts)) setKey(out, name, formatQuantity(amount));
  return out;
}

export const sortedByName = (amounts: Quantities): [string, Quantity][] =>
  [...amounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** Adds `more` to `amounts`, which is modified. */
export function addInPlace(amounts: Quantities, more: Quantities): void {
  for (const [name, amount] of more) amounts.set(name, addQuantities(amounts.get(name) ?? zero, amount));
}

/** Sets each quantity of `amounts`, which is modified, to the maximum of both lists. */
export function maxInPlace(amounts: Quantities, others: Quantities): void {
  for (const [name, amount] of others) {
    const found = amounts.get(name);
    if (found === undefined || compareQuantities(found, amount) < 0) amounts.set(name, amount);
  }
}

/** `a - b` for the names of `a`; a negative result becomes zero. */
export function subtractNonNegative(a: Quantities, b: Quantities): Quantities {
  const out: Quantities = new Map();
  for (const [name, amount] of a) {
    const rest = subtractQuantities(amount, b.get(name) ?? zero);
    out.set(name, rest.nano < 0n ? zero : rest);
  }
  return out;
}

/** Whether both lists have the same names with equal quantities, however these are written. */
export const equalQuantities = (a: Quantities, b: Quantities): boolean =>
  a.size === b.size && [...a].every(([name, { nano }]) => b.get(name)?.nano === nano);
