import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isJsonObject,
  type Json,
  type JsonObject,
  parseQuantity,
  type Quantity,
  setKey,
  subtractQuantities,
} from '../meta/index.ts';
import { allContainersOf, containersOf, fieldsOf, initContainersOf } from './fields.ts';

/** Amounts of named things, such as `cpu`. */
export type Amounts = Map<string, Quantity>;

export const zero: Quantity = { nano: 0n, format: 'DecimalSI' };
export const count = (number: number): Quantity => ({ nano: BigInt(number) * 1_000_000_000n, format: 'DecimalSI' });

/** An amount as decoded: its text, or a plain number; nothing where there is none. */
export function amountOf(value: Json | undefined): Quantity {
  if (typeof value === 'string') return parseQuantity(value);
  return typeof value === 'number' || typeof value === 'bigint' ? parseQuantity(String(value)) : zero;
}

/** Amounts as an object holds them, such as `resources.requests`. */
export function readAmounts(value: Json | undefined): Amounts {
  const out: Amounts = new Map();
  if (isJsonObject(value)) for (const name of Object.keys(value)) out.set(name, amountOf(value[name]));
  return out;
}

export function writeAmounts(amounts: Amounts): JsonObject {
  const out: JsonObject = {};
  for (const [name, amount] of sorted(amounts)) setKey(out, name, formatQuantity(amount));
  return out;
}

/** `cpu=1,pods=10`, ordered by name. */
export const tellAmounts = (amounts: Amounts): string =>
  sorted(amounts)
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .join(',');

export const sorted = (amounts: Amounts): [string, Quantity][] =>
  [...amounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** Adds `more` to `amounts` in place. */
export function addTo(amounts: Amounts, more: Amounts): void {
  for (const [name, amount] of more) amounts.set(name, addQuantities(amounts.get(name) ?? zero, amount));
}

/** `a` less `b`, nothing below zero; what is only in `b` is left out. */
export function lessAtLeastZero(a: Amounts, b: Amounts): Amounts {
  const out: Amounts = new Map();
  for (const [name, amount] of a) {
    const rest = subtractQuantities(amount, b.get(name) ?? zero);
    out.set(name, rest.nano < 0n ? zero : rest);
  }
  return out;
}

/** Raises each amount in place to that of `others` where that is more. */
function raiseTo(amounts: Amounts, others: Amounts): void {
  for (const [name, amount] of others) {
    const found = amounts.get(name);
    if (found === undefined || compareQuantities(found, amount) < 0) amounts.set(name, amount);
  }
}

/**
 * What a pod asks for or is limited to as a whole: its containers run together, those that initialise it one after
 * the other, and of these the ones that are always restarted run beside all that come later.
 */
export function podAmounts(spec: JsonObject, which: 'requests' | 'limits'): Amounts {
  const amountsOf = (container: JsonObject) => readAmounts(fieldsOf(container['resources'])[which]);
  const total: Amounts = new Map();
  for (const container of containersOf(spec)) addTo(total, amountsOf(container));
  const beside: Amounts = new Map();
  const most: Amounts = new Map();
  for (const container of initContainersOf(spec)) {
    const own = amountsOf(container);
    if (container['restartPolicy'] === 'Always') {
      addTo(total, own);
      addTo(beside, own);
      raiseTo(most, beside);
    } else {
      addTo(own, beside);
      raiseTo(most, own);
    }
  }
  raiseTo(total, most);
  return total;
}

/** The same with what the pod's runtime takes for itself; limits are raised only where there are some. */
export function podAmountsWithOverhead(spec: JsonObject, which: 'requests' | 'limits'): Amounts {
  const total = podAmounts(spec, which);
  for (const [name, amount] of readAmounts(spec['overhead'])) {
    const found = total.get(name);
    if (which === 'requests' || found !== undefined) total.set(name, addQuantities(found ?? zero, amount));
  }
  return total;
}

/** Whether no container asks for anything or is limited in processor or memory. */
export function isBestEffort(spec: JsonObject): boolean {
  return allContainersOf(spec).every((container) => {
    const { requests, limits } = fieldsOf(container['resources']);
    return [requests, limits].every((list) =>
      sorted(readAmounts(list)).every(([name, { nano }]) => (name !== 'cpu' && name !== 'memory') || nano === 0n),
    );
  });
}
