import {
  type ApiObject,
  addQuantities,
  compareQuantities,
  formatQuantity,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  parseQuantity,
  type Quantity,
  setKey,
  subtractQuantities,
} from '../meta/index.ts';
import { allContainersOf, containersOf, fieldsOf, initContainersOf, objectsOf, specOf, textOf } from './fields.ts';

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

/** Whether both name the same things, with the same amount of each, however it is written. */
export const sameAmounts = (a: Amounts, b: Amounts): boolean =>
  a.size === b.size && [...a].every(([name, { nano }]) => b.get(name)?.nano === nano);

type Which = 'requests' | 'limits';

const stated = (holder: JsonObject, which: Which): Amounts => readAmounts(fieldsOf(holder['resources'])[which]);

/**
 * What containers take together: they run side by side, those that initialise the pod one after the other, and of
 * these the ones that are always restarted run beside all that come later.
 */
function together(spec: JsonObject, amountsOf: (container: JsonObject) => Amounts): Amounts {
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

/** Whether a resource is one that someone other than the product brings: its name has another domain. */
const isForeign = (name: string, { labels }: Pick<Names, 'labels'>): boolean =>
  name.includes('/') && !name.includes(`${labels}/`);

/** What containers ask for under a foreign name; quotas limit it as `requests.` and the name. */
export const isExtended = (name: string, names: Pick<Names, 'labels'>): boolean =>
  isForeign(name, names) && !name.startsWith('requests.');

export const isExtendedInQuota = (name: string, names: Pick<Names, 'labels'>): boolean =>
  isForeign(name, names) && name.startsWith('requests.');

/** What a pod may state as a whole. */
const isWholePods = (name: string) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

const asWhole = (spec: JsonObject, which: Which): Amounts =>
  new Map([...stated(spec, which)].filter(([name]) => isWholePods(name)));

/** What a pod asks for or is limited to: what it states as a whole, else what its containers state. */
export const podAmounts = (spec: JsonObject, which: Which): Amounts =>
  new Map([...together(spec, (container) => stated(container, which)), ...asWhole(spec, which)]);

/**
 * What a pod takes up on a node: no less than its containers have been given there, which may be more than the pod
 * asks for by now, and with what its runtime takes for itself. Limits are raised by that only where there are some.
 */
export function takenAmounts(pod: ApiObject, which: Which): Amounts {
  const spec = specOf(pod);
  const status = fieldsOf(pod['status']);
  const given = new Map(
    ['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
      objectsOf(status[list]).map((one) => [textOf(one['name']), one] as const),
    ),
  );
  const refused = objectsOf(status['conditions']).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const total = together(spec, (container) => {
    const found = given.get(textOf(container['name']));
    if (found?.['resources'] === undefined) return stated(container, which);
    const amounts = refused ? new Map() : stated(container, which);
    raiseTo(amounts, stated(found, which));
    if (which === 'requests') raiseTo(amounts, readAmounts(found['allocatedResources']));
    return amounts;
  });
  for (const [name, amount] of asWhole(spec, which)) total.set(name, amount);
  for (const [name, amount] of readAmounts(spec['overhead'])) {
    const found = total.get(name) ?? zero;
    if (which === 'requests' || found.nano > 0n) total.set(name, addQuantities(found, amount));
  }
  return total;
}

export const statesWhole = (spec: JsonObject): boolean =>
  asWhole(spec, 'requests').size + asWhole(spec, 'limits').size > 0;

/** Whether a pod asks for nothing and is limited in nothing, as far as processor and memory go. */
export function isBestEffort(spec: JsonObject): boolean {
  const holders = statesWhole(spec) ? [spec] : allContainersOf(spec);
  return holders.every((holder) =>
    [stated(holder, 'requests'), stated(holder, 'limits')].every((amounts) =>
      ['cpu', 'memory'].every((name) => (amounts.get(name) ?? zero).nano === 0n),
    ),
  );
}
