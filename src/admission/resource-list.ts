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

/** Quantities by resource name, such as `cpu`. */
export type ResourceList = Map<string, Quantity>;

export const zero: Quantity = { nano: 0n, format: 'DecimalSI' };
export const count = (number: number): Quantity => ({ nano: BigInt(number) * 1_000_000_000n, format: 'DecimalSI' });

/** A decoded quantity: a string or a number; zero when the field is absent. */
export function toQuantity(value: Json | undefined): Quantity {
  if (typeof value === 'string') return parseQuantity(value);
  return typeof value === 'number' || typeof value === 'bigint' ? parseQuantity(String(value)) : zero;
}

/** Decodes a resource list of an object, such as `resources.requests`. */
export function parseResourceList(value: Json | undefined): ResourceList {
  const out: ResourceList = new Map();
  if (isJsonObject(value)) for (const name of Object.keys(value)) out.set(name, toQuantity(value[name]));
  return out;
}

export function encodeResourceList(amounts: ResourceList): JsonObject {
  const out: JsonObject = {};
  for (const [name, amount] of sorted(amounts)) setKey(out, name, formatQuantity(amount));
  return out;
}

/** `cpu=1,pods=10`, sorted by name. */
export const formatResourceList = (amounts: ResourceList): string =>
  sorted(amounts)
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .join(',');

export const sorted = (amounts: ResourceList): [string, Quantity][] =>
  [...amounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** Adds `more` to `amounts`, which is modified. */
export function addInPlace(amounts: ResourceList, more: ResourceList): void {
  for (const [name, amount] of more) amounts.set(name, addQuantities(amounts.get(name) ?? zero, amount));
}

/** `a - b` for the names of `a`; a negative result becomes zero. */
export function subtractNonNegative(a: ResourceList, b: ResourceList): ResourceList {
  const out: ResourceList = new Map();
  for (const [name, amount] of a) {
    const rest = subtractQuantities(amount, b.get(name) ?? zero);
    out.set(name, rest.nano < 0n ? zero : rest);
  }
  return out;
}

/** Sets each quantity of `amounts`, which is modified, to the maximum of both lists. */
function maxInPlace(amounts: ResourceList, others: ResourceList): void {
  for (const [name, amount] of others) {
    const found = amounts.get(name);
    if (found === undefined || compareQuantities(found, amount) < 0) amounts.set(name, amount);
  }
}

/** Whether both lists have the same names with equal quantities, however these are written. */
export const equalResourceLists = (a: ResourceList, b: ResourceList): boolean =>
  a.size === b.size && [...a].every(([name, { nano }]) => b.get(name)?.nano === nano);

type Requirement = 'requests' | 'limits';

const declaredResources = (container: JsonObject, requirement: Requirement): ResourceList =>
  parseResourceList(fieldsOf(container['resources'])[requirement]);

/**
 * The effective sum over the containers of a pod: the maximum of what the containers need together and what each init
 * container needs, where restartable init containers (sidecars) count from their turn on and beside the containers.
 */
function aggregateContainers(spec: JsonObject, amountsOf: (container: JsonObject) => ResourceList): ResourceList {
  const total: ResourceList = new Map();
  for (const container of containersOf(spec)) addInPlace(total, amountsOf(container));
  const sidecars: ResourceList = new Map();
  const initMax: ResourceList = new Map();
  for (const container of initContainersOf(spec)) {
    const own = amountsOf(container);
    if (container['restartPolicy'] === 'Always') {
      addInPlace(total, own);
      addInPlace(sidecars, own);
      maxInPlace(initMax, sidecars);
    } else {
      addInPlace(own, sidecars);
      maxInPlace(initMax, own);
    }
  }
  maxInPlace(total, initMax);
  return total;
}

/** Whether the resource name has a domain prefix that is not the product's own. */
const isNotNative = (name: string, { labels }: Pick<Names, 'labels'>): boolean =>
  name.includes('/') && !name.includes(`${labels}/`);

/** Whether containers request this as an extended resource; quotas limit it as `requests.<name>`. */
export const isExtendedResource = (name: string, names: Pick<Names, 'labels'>): boolean =>
  isNotNative(name, names) && !name.startsWith('requests.');

/** Whether a quota limits an extended resource under this name. */
export const isExtendedResourceForQuota = (name: string, names: Pick<Names, 'labels'>): boolean =>
  isNotNative(name, names) && name.startsWith('requests.');

/** Resources that may be set at pod level. */
const isPodLevelResource = (name: string) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

const podLevelResources = (spec: JsonObject, requirement: Requirement): ResourceList =>
  new Map([...declaredResources(spec, requirement)].filter(([name]) => isPodLevelResource(name)));

/** Requests or limits of a pod: the pod-level ones where set, else those aggregated from its containers. */
export const podResources = (spec: JsonObject, requirement: Requirement): ResourceList =>
  new Map([
    ...aggregateContainers(spec, (container) => declaredResources(container, requirement)),
    ...podLevelResources(spec, requirement),
  ]);

/**
 * Requests or limits of a pod for quota: per container the maximum of the spec and what the status reports as
 * allocated (the spec is ignored while a resize is infeasible), plus the pod overhead, which is added to limits only
 * where a limit is set.
 */
export function allocatedPodResources(pod: ApiObject, requirement: Requirement): ResourceList {
  const spec = specOf(pod);
  const status = fieldsOf(pod['status']);
  const statuses = new Map(
    ['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
      objectsOf(status[list]).map((one) => [textOf(one['name']), one] as const),
    ),
  );
  const infeasible = objectsOf(status['conditions']).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const total = aggregateContainers(spec, (container) => {
    const found = statuses.get(textOf(container['name']));
    if (found?.['resources'] === undefined) return declaredResources(container, requirement);
    const amounts = infeasible ? new Map() : declaredResources(container, requirement);
    maxInPlace(amounts, declaredResources(found, requirement));
    if (requirement === 'requests') maxInPlace(amounts, parseResourceList(found['allocatedResources']));
    return amounts;
  });
  for (const [name, amount] of podLevelResources(spec, requirement)) total.set(name, amount);
  for (const [name, amount] of parseResourceList(spec['overhead'])) {
    const found = total.get(name) ?? zero;
    if (requirement === 'requests' || found.nano > 0n) total.set(name, addQuantities(found, amount));
  }
  return total;
}

export const hasPodLevelResources = (spec: JsonObject): boolean =>
  podLevelResources(spec, 'requests').size + podLevelResources(spec, 'limits').size > 0;

/** Whether a pod has the BestEffort QoS class: no request and no limit for cpu or memory. */
export function isBestEffort(spec: JsonObject): boolean {
  const containers = hasPodLevelResources(spec) ? [spec] : allContainersOf(spec);
  return containers.every((container) =>
    [declaredResources(container, 'requests'), declaredResources(container, 'limits')].every((amounts) =>
      ['cpu', 'memory'].every((name) => (amounts.get(name) ?? zero).nano === 0n),
    ),
  );
}
