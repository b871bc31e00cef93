import {
  aggregateMessages,
  compareQuantities,
  formatQuantity,
  inTurns,
  type Quantity,
  type Steps,
  serverTurns,
  setKey,
  statusError,
} from '../../meta/index.ts';
import {
  parseResourceList,
  podResources,
  type Quantities,
  type ResourceList,
  sortedByName,
  zero,
} from '../../rules/index.ts';
import {
  type Container,
  LimitRange,
  type LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
  type PodSpec,
} from '../../types/core-v1.ts';
import { forbidden, typedRequest } from '../request.ts';
import type { AdmissionPlace, AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

/** Applies the defaults and enforces the constraints of the LimitRange objects of a namespace. */
export function limitRanger({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  /** The limits of each LimitRange. The object is stored only if they are those of every write answered before. */
  const limitsFor = async (request: AdmissionRequest): Promise<(readonly LimitRangeItem[])[]> => {
    const { namespace, oldObject } = request;
    // An object that is being deleted is not checked.
    if (oldObject?.metadata.deletionTimestamp !== undefined) return [];
    const { objects: ranges, revision } = await objects.cached(LimitRange, namespace);
    request.guardList?.(LimitRange, revision);
    return ranges.map(({ spec }) => spec?.limits ?? []);
  };
  return {
    name: 'LimitRanger',
    handles: handlesLimits,
    mutate: async (request) => {
      if (request.resource.resource !== 'pods') return;
      const { object: pod, operation } = typedRequest(Pod, request);
      if (pod === undefined) return;
      const budget: Budget = { bytes: maxDefaultBytes };
      for (const limit of (await limitsFor(request)).flat()) {
        const notes = await inTurns(applyDefaults(pod.spec ?? {}, limit, budget), request.turns ?? serverTurns());
        if (notes.length === 0 || operation !== 'CREATE') continue;
        pod.metadata.annotations ??= {};
        setKey(pod.metadata.annotations, `${names.labels}/limit-ranger`, `LimitRanger plugin set: ${notes.join('; ')}`);
      }
    },
    validate: async (request) => {
      if (request.object === undefined) return;
      const check = request.resource.resource === 'pods' ? podCheck(request) : claimCheck(request);
      for (const limits of await limitsFor(request)) {
        const found: string[] = [];
        for (const limit of limits) {
          for (const violation of await inTurns(check(limit), request.turns ?? serverTurns())) found.push(violation);
          if (found.length >= maxViolations) break;
        }
        if (found.length > 0) throw forbidden(request, aggregateMessages(found));
      }
    },
  };
}

/** Creation of pods, resize of pods, creation and update of claims. */
function handlesLimits({ resource, subresource, operation }: AdmissionPlace): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
  if (resource === 'pods') return operation === 'CREATE' ? subresource === '' : subresource === 'resize';
  return resource === 'persistentvolumeclaims' && subresource === '';
}

/** The remaining size of the defaults that all limits add to a pod (bytes of JSON, approximate). */
interface Budget {
  bytes: number;
}

/** No pod of this size can be stored. Each container gets every default of each limit. */
const maxDefaultBytes = 3 * 1024 * 1024;
/** The maximum number of violations that an error lists: each container may violate every constraint. */
const maxViolations = 1000;

/** Returns a description of each default that was set, for the annotation. @throws StatusError 413 */
function* applyDefaults(
  { containers, initContainers }: PodSpec,
  limit: LimitRangeItem,
  budget: Budget,
): Steps<string[]> {
  if (limit.type !== 'Container') return [];
  const notes: string[] = [];
  for (const container of containers ?? []) {
    yield;
    for (const note of defaultContainerResources(container, limit, 'container', budget)) notes.push(note);
  }
  for (const container of initContainers ?? []) {
    yield;
    for (const note of defaultContainerResources(container, limit, 'init container', budget)) notes.push(note);
  }
  return notes;
}

/** Returns what was set, such as `cpu, memory request for container c`. */
function defaultContainerResources(
  container: Container,
  limit: LimitRangeItem,
  what: string,
  budget: Budget,
): string[] {
  const set = (field: 'requests' | 'limits', defaults: ResourceList, word: string): string[] => {
    const quantities = container.resources?.[field] ?? {};
    const missing = Object.keys(defaults).filter((name) => !Object.hasOwn(quantities, name));
    if (missing.length === 0) return [];
    container.resources ??= {};
    container.resources[field] = quantities;
    for (const name of missing) {
      const quantity = defaults[name] ?? '0';
      budget.bytes -= name.length + quantity.length;
      if (budget.bytes < 0) throw statusError.tooLarge(maxDefaultBytes);
      setKey(quantities, name, quantity);
    }
    return [`${missing.sort().join(', ')} ${word} for ${what} ${container.name ?? ''}`];
  };
  return [...set('requests', limit.defaultRequest ?? {}, 'request'), ...set('limits', limit.default ?? {}, 'limit')];
}

/** Returns the violations of a limit, some of them when there are many. */
type Check = (limit: LimitRangeItem) => Steps<readonly string[]>;

function podCheck(request: AdmissionRequest): Check {
  const { spec = {} } = typedRequest(Pod, request).object ?? {};
  return (limit) => checkPod(spec, limit);
}

function* checkPod(spec: PodSpec, limit: LimitRangeItem): Steps<string[]> {
  const { type = '' } = limit;
  if (type !== 'Pod' && type !== 'Container') return [];
  const constraints = constraintsIn(limit);
  if (type === 'Pod')
    return violations(type, constraints, podResources(spec, 'requests'), podResources(spec, 'limits'));
  const found: string[] = [];
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    yield;
    const requests = parseResourceList(resources?.requests);
    const limits = parseResourceList(resources?.limits);
    for (const violation of violations(type, constraints, requests, limits)) found.push(violation);
    if (found.length >= maxViolations) break;
  }
  return found;
}

function claimCheck(request: AdmissionRequest): Check {
  const { spec } = typedRequest(PersistentVolumeClaim, request).object ?? {};
  const requests = parseResourceList(spec?.resources?.requests);
  return function* (limit) {
    yield;
    return checkClaim(requests, limit);
  };
}

/** Only the requests of a claim are constrained. */
function checkClaim(requests: Quantities, limit: LimitRangeItem): string[] {
  if (limit.type !== 'PersistentVolumeClaim') return [];
  return [
    ...constraintsOf(limit, 'min').flatMap(([name, least]) => {
      const rule = `minimum ${name} usage per PersistentVolumeClaim is ${formatQuantity(least)}`;
      return minConstraint(rule, least, requests.get(name), undefined);
    }),
    ...constraintsOf(limit, 'max').flatMap(([name, most]) => {
      const rule = `maximum ${name} usage per PersistentVolumeClaim is ${formatQuantity(most)}`;
      const request = requests.get(name);
      if (request === undefined) return `${rule}.  No request is specified`;
      return exceeds(request, most) ? `${rule}, but request is ${formatQuantity(request)}` : [];
    }),
  ];
}

const constraintsOf = (limit: LimitRangeItem, field: 'min' | 'max' | 'maxLimitRequestRatio'): [string, Quantity][] =>
  sortedByName(parseResourceList(limit[field]));

interface Constraints {
  readonly min: readonly [string, Quantity][];
  readonly max: readonly [string, Quantity][];
  readonly maxRatio: readonly [string, Quantity][];
}

const constraintsIn = (limit: LimitRangeItem): Constraints => ({
  min: constraintsOf(limit, 'min'),
  max: constraintsOf(limit, 'max'),
  maxRatio: constraintsOf(limit, 'maxLimitRequestRatio'),
});

function violations(
  type: string,
  { min, max, maxRatio }: Constraints,
  requests: Quantities,
  limits: Quantities,
): string[] {
  return [
    ...min.flatMap(([name, least]) => {
      const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
      return minConstraint(rule, least, requests.get(name), limits.get(name));
    }),
    ...max.flatMap(([name, most]) => {
      const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
      return maxConstraint(rule, most, requests.get(name), limits.get(name));
    }),
    ...maxRatio.flatMap(([name, most]) => {
      const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
      return limitRequestRatioConstraint(rule, most, requests.get(name), limits.get(name));
    }),
  ];
}

const exceeds = (a: Quantity, b: Quantity) => compareQuantities(a, b) > 0;

function minConstraint(
  rule: string,
  least: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): string[] {
  if (request === undefined) return [`${rule}.  No request is specified`];
  if (exceeds(least, request)) return [`${rule}, but request is ${formatQuantity(request)}`];
  return limit !== undefined && exceeds(least, limit) ? [`${rule}, but limit is ${formatQuantity(limit)}`] : [];
}

function maxConstraint(
  rule: string,
  most: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): string[] {
  if (limit === undefined) return [`${rule}.  No limit is specified`];
  if (exceeds(limit, most)) return [`${rule}, but limit is ${formatQuantity(limit)}`];
  return request !== undefined && exceeds(request, most) ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
}

function limitRequestRatioConstraint(rule: string, most: Quantity, request = zero, limit = zero): string[] {
  if (request.nano === 0n) return [`${rule}, but no request is specified or request is 0`];
  if (limit.nano === 0n) return [`${rule}, but no limit is specified or limit is 0`];
  if (limit.nano * 1_000_000_000n <= most.nano * request.nano) return [];
  return [`${rule}, but provided ratio is ${(Number(limit.nano) / Number(request.nano)).toFixed(6)}`];
}
