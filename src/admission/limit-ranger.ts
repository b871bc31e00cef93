import {
  type ApiObject,
  compareQuantities,
  formatQuantity,
  isJsonObject,
  type JsonObject,
  type Quantity,
  setKey,
} from '../meta/index.ts';
import { type Amounts, podAmounts, readAmounts, sorted, zero } from './amounts.ts';
import {
  containersOf,
  fieldsAt,
  fieldsOf,
  forbidden,
  initContainersOf,
  listed,
  objectsOf,
  specOf,
  textOf,
} from './fields.ts';
import type { AdmissionPlace, AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

/** Limit ranges of a namespace give containers what they do not ask for, and bound what may be asked for. */
export function limitRanger({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  /** The limits of each range. */
  const limitsFor = async ({ namespace, oldObject }: AdmissionRequest): Promise<JsonObject[][]> => {
    // What is on its way out need not fit any more.
    if (oldObject?.metadata.deletionTimestamp !== undefined) return [];
    const ranges = await objects.list('limitranges', namespace);
    return ranges.map((range) => objectsOf(specOf(range)['limits']));
  };
  return {
    name: 'LimitRanger',
    handles: bounded,
    mutate: async (request) => {
      const { object: pod, operation } = request;
      if (pod === undefined || request.resource.resource !== 'pods') return;
      for (const limit of (await limitsFor(request)).flat()) {
        const notes = setDefaults(pod, limit);
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
        if (found.length > 0) throw forbidden(request, listed(found));
      }
    },
  };
}

/** A pod that is there keeps its resources, unless it is resized. */
function bounded({ resource, subresource, operation }: AdmissionPlace): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
  if (resource === 'pods') return operation === 'CREATE' ? subresource === '' : subresource === 'resize';
  return resource === 'persistentvolumeclaims' && subresource === '';
}

/** Says for each container what was set. */
function setDefaults(pod: ApiObject, limit: JsonObject): string[] {
  if (limit['type'] !== 'Container') return [];
  const spec = specOf(pod);
  return [
    ...containersOf(spec).flatMap((container) => setResources(container, limit, 'container')),
    ...initContainersOf(spec).flatMap((container) => setResources(container, limit, 'init container')),
  ];
}

/** Says what was set, such as `cpu, memory request for container c`. */
function setResources(container: JsonObject, limit: JsonObject, what: string): string[] {
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
  if (limit['type'] === 'Pod') return checkBounds(limit, podAmounts(spec, 'requests'), podAmounts(spec, 'limits'));
  if (limit['type'] !== 'Container') return [];
  return [...containersOf(spec), ...initContainersOf(spec)].flatMap((container) => {
    const { requests, limits } = fieldsOf(container['resources']);
    return checkBounds(limit, readAmounts(requests), readAmounts(limits));
  });
}

/** Of a claim, only what it requests counts. */
function checkClaim(spec: JsonObject, limit: JsonObject): string[] {
  if (limit['type'] !== 'PersistentVolumeClaim') return [];
  const requests = readAmounts(fieldsOf(spec['resources'])['requests']);
  return [
    ...eachOf(limit, 'min').flatMap(([name, least]) => {
      const rule = `minimum ${name} usage per PersistentVolumeClaim is ${formatQuantity(least)}`;
      return atLeast(rule, least, requests.get(name), undefined);
    }),
    ...eachOf(limit, 'max').flatMap(([name, most]) => {
      const rule = `maximum ${name} usage per PersistentVolumeClaim is ${formatQuantity(most)}`;
      const request = requests.get(name);
      if (request === undefined) return `${rule}.  No request is specified`;
      return isMore(request, most) ? `${rule}, but request is ${formatQuantity(request)}` : [];
    }),
  ];
}

const eachOf = (limit: JsonObject, field: string): [string, Quantity][] =>
  isJsonObject(limit[field]) ? sorted(readAmounts(limit[field])) : [];

function checkBounds(limit: JsonObject, requests: Amounts, limits: Amounts): string[] {
  const type = textOf(limit['type']);
  return [
    ...eachOf(limit, 'min').flatMap(([name, least]) => {
      const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
      return atLeast(rule, least, requests.get(name), limits.get(name));
    }),
    ...eachOf(limit, 'max').flatMap(([name, most]) => {
      const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
      return atMost(rule, most, requests.get(name), limits.get(name));
    }),
    ...eachOf(limit, 'maxLimitRequestRatio').flatMap(([name, most]) => {
      const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
      return atMostTimes(rule, most, requests.get(name), limits.get(name));
    }),
  ];
}

const isMore = (a: Quantity, b: Quantity) => compareQuantities(a, b) > 0;

function atLeast(rule: string, least: Quantity, request: Quantity | undefined, limit: Quantity | undefined): string[] {
  if (request === undefined) return [`${rule}.  No request is specified`];
  if (isMore(least, request)) return [`${rule}, but request is ${formatQuantity(request)}`];
  return limit !== undefined && isMore(least, limit) ? [`${rule}, but limit is ${formatQuantity(limit)}`] : [];
}

function atMost(rule: string, most: Quantity, request: Quantity | undefined, limit: Quantity | undefined): string[] {
  if (limit === undefined) return [`${rule}.  No limit is specified`];
  if (isMore(limit, most)) return [`${rule}, but limit is ${formatQuantity(limit)}`];
  return request !== undefined && isMore(request, most) ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
}

function atMostTimes(rule: string, most: Quantity, request = zero, limit = zero): string[] {
  if (request.nano === 0n) return [`${rule}, but no request is specified or request is 0`];
  if (limit.nano === 0n) return [`${rule}, but no limit is specified or limit is 0`];
  if (limit.nano * 1_000_000_000n <= most.nano * request.nano) return [];
  return [`${rule}, but provided ratio is ${(Number(limit.nano) / Number(request.nano)).toFixed(6)}`];
}
