import {
  type ApiObject,
  compareQuantities,
  formatQuantity,
  isJsonObject,
  type JsonObject,
  type Quantity,
  setKey,
} from '../meta/index.ts';
import {
  aggregateMessages,
  containersOf,
  fieldsAt,
  fieldsOf,
  forbidden,
  initContainersOf,
  objectsOf,
  specOf,
  textOf,
} from './fields.ts';
import { parseResourceList, podResources, type ResourceList, sorted, zero } from './resource-list.ts';
import type { AdmissionPlace, AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

/** Applies the defaults and enforces the constraints of the LimitRange objects of a namespace. */
export function limitRanger({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  /** The limits of each LimitRange. */
  const limitsFor = async ({ namespace, oldObject }: AdmissionRequest): Promise<JsonObject[][]> => {
    // An object that is being deleted is not checked.
    if (oldObject?.metadata.deletionTimestamp !== undefined) return [];
    const ranges = await objects.list('limitranges', namespace);
    return ranges.map((range) => objectsOf(specOf(range)['limits']));
  };
  return {
    name: 'LimitRanger',
    handles: handlesLimits,
    mutate: async (request) => {
      const { object: pod, operation } = request;
      if (pod === undefined || request.resource.resource !== 'pods') return;
      for (const limit of (await limitsFor(request)).flat()) {
        const notes = applyDefaults(pod, limit);
        if (notes.length === 0 || operation !== 'CREATE') continue;
        const annotations = fieldsAt(pod.metadata, 'annotations');
        setKey(annotations, `${names.labels}/limit-ranger`, `LimitRanger plugin set: ${notes.join('; ')}`);
      }
    },
    validate: async (request) => {
      const { object } = request;
      if (object === undefined) return;
      const check = request.resource.resource === 'pods' ? checkPod : checkClaim;
      for (const limits of await limitsFor(request)) {
        const found = limits.flatMap((limit) => check(specOf(object), limit));
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

/** Returns a description of each default that was set, for the annotation. */
function applyDefaults(pod: ApiObject, limit: JsonObject): string[] {
  if (limit['type'] !== 'Container') return [];
  const spec = specOf(pod);
  return [
    ...containersOf(spec).flatMap((container) => defaultContainerResources(container, limit, 'container')),
    ...initContainersOf(spec).flatMap((container) => defaultContainerResources(container, limit, 'init container')),
  ];
}

/** Returns what was set, such as `cpu, memory request for container c`. */
function defaultContainerResources(container: JsonObject, limit: JsonObject, what: string): string[] {
  const set = (field: 'requests' | 'limits', defaults: JsonObject, word: string): string[] => {
    const resources = fieldsOf(container['resources']);
    const missing = Object.keys(defaults).filter((name) => !Object.hasOwn(fieldsOf(resources[field]), name));
    if (missing.length === 0) return [];
    const amounts = fieldsAt(fieldsAt(container, 'resources'), field);
    for (const name of missing) setKey(amounts, name, defaults[name] ?? '0');
    return [`${missing.sort().join(', ')} ${word} for ${what} ${textOf(container['name'])}`];
  };
  return [
    ...set('requests', fieldsOf(limit['defaultRequest']), 'request'),
    ...set('limits', fieldsOf(limit['default']), 'limit'),
  ];
}

function checkPod(spec: JsonObject, limit: JsonObject): string[] {
  if (limit['type'] === 'Pod')
    return checkConstraints(limit, podResources(spec, 'requests'), podResources(spec, 'limits'));
  if (limit['type'] !== 'Container') return [];
  return [...containersOf(spec), ...initContainersOf(spec)].flatMap((container) => {
    const { requests, limits } = fieldsOf(container['resources']);
    return checkConstraints(limit, parseResourceList(requests), parseResourceList(limits));
  });
}

/** Only the requests of a claim are constrained. */
function checkClaim(spec: JsonObject, limit: JsonObject): string[] {
  if (limit['type'] !== 'PersistentVolumeClaim') return [];
  const requests = parseResourceList(fieldsOf(spec['resources'])['requests']);
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

const constraintsOf = (limit: JsonObject, field: string): [string, Quantity][] =>
  isJsonObject(limit[field]) ? sorted(parseResourceList(limit[field])) : [];

function checkConstraints(limit: JsonObject, requests: ResourceList, limits: ResourceList): string[] {
  const type = textOf(limit['type']);
  return [
    ...constraintsOf(limit, 'min').flatMap(([name, least]) => {
      const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
      return minConstraint(rule, least, requests.get(name), limits.get(name));
    }),
    ...constraintsOf(limit, 'max').flatMap(([name, most]) => {
      const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
      return maxConstraint(rule, most, requests.get(name), limits.get(name));
    }),
    ...constraintsOf(limit, 'maxLimitRequestRatio').flatMap(([name, most]) => {
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
