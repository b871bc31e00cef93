import { type ApiObject, compareQuantities, type JsonObject, type Names, type Quantity } from '../meta/index.ts';
import {
  annotationOf,
  containersOf,
  fieldsOf,
  initContainersOf,
  numberOf,
  objectsOf,
  specOf,
  textOf,
  textsOf,
} from './fields.ts';
import {
  allocatedPodResources,
  count,
  hasPodLevelResources,
  isBestEffort,
  isExtendedResource,
  isExtendedResourceForQuota,
  parseResourceList,
  type ResourceList,
  toQuantity,
} from './resource-list.ts';
import type { AdmissionPlace } from './types.ts';

/** The usage of an object, by the resource names of quotas. */
type UsageOf = (object: ApiObject) => ResourceList;

/** Computes the usage of the objects of one resource. */
export interface QuotaEvaluator {
  readonly usage: UsageOf;
  /** Whether a limit with this name can apply to the resource. */
  readonly matchesResource: (name: string) => boolean;
  /** The fields that the object must set when these names are limited; undefined when none is missing. */
  readonly missingConstraints?: (object: ApiObject, names: readonly string[]) => string | undefined;
  /** Whether an update may make other quotas match. Absent: any update may change the usage. */
  readonly changesScope?: (object: ApiObject, old: ApiObject) => boolean;
  /** Whether the object is in a scope. Absent: quotas with scopes do not match the resource. */
  readonly matchesScope?: (object: ApiObject, scope: Scope) => boolean;
}

/** A scope of a quota, as a requirement. */
interface Scope {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** Resources that quotas also count without the prefix `count/`. */
const countedByBareName = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

type NameSpelling = Pick<Names, 'domain' | 'labels'>;

/** Whether the operation may increase usage. Virtual resources and events are exempt. */
export function handlesQuota({ operation, resource, subresource }: AdmissionPlace, { domain }: NameSpelling): boolean {
  if (['bindings', 'componentstatuses', 'events', `events.events.${domain}`].includes(resource)) return false;
  if (['authorization', 'authentication'].some((group) => resource.endsWith(`.${group}.${domain}`))) return false;
  if (operation === 'CREATE') return subresource === '';
  if (operation !== 'UPDATE') return false;
  if (resource === 'pods') return subresource === '' || subresource === 'resize';
  return subresource === '' && (resource === 'services' || resource === 'persistentvolumeclaims');
}

/** The evaluator of a resource, spelled `pods` or `deployments.apps`. */
export function evaluatorFor(resource: string, names: NameSpelling): QuotaEvaluator {
  if (resource === 'pods') return podEvaluator(names);
  if (resource === 'services') return serviceEvaluator;
  if (resource === 'persistentvolumeclaims') return claimEvaluator(names);
  const counted = [`count/${resource}`, ...(countedByBareName.has(resource) ? [resource] : [])];
  return {
    usage: () => new Map(counted.map((name) => [name, count(1)])),
    matchesResource: (name) => counted.includes(name),
  };
}

const computeNames = new Set(
  ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
/** Limits that require every container to set the field. */
const requiredByContainers = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

const podEvaluator = (names: NameSpelling): QuotaEvaluator => ({
  usage: (pod) => podUsage(pod, names),
  matchesResource: (name) =>
    name === 'pods' ||
    name === 'count/pods' ||
    computeNames.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-') ||
    isExtendedResourceForQuota(name, names),
  missingConstraints: missingContainerResources,
  changesScope: (pod, old) => isTerminating(specOf(pod)) !== isTerminating(specOf(old)),
  matchesScope: podInScope,
});

function podUsage(pod: ApiObject, names: NameSpelling): ResourceList {
  const usage: ResourceList = new Map([['count/pods', count(1)]]);
  const { phase } = fieldsOf(pod['status']);
  // A terminal pod counts as an object only.
  if (phase === 'Failed' || phase === 'Succeeded') return usage;
  usage.set('pods', count(1));
  for (const [name, amount] of allocatedPodResources(pod, 'requests')) {
    const bare = computeNames.has(name) || name.startsWith('hugepages-');
    if (bare || isExtendedResource(name, names)) usage.set(`requests.${name}`, amount);
    if (bare) usage.set(name, amount);
  }
  for (const [name, amount] of allocatedPodResources(pod, 'limits')) {
    if (computeNames.has(name)) usage.set(`limits.${name}`, amount);
  }
  return usage;
}

function missingContainerResources(pod: ApiObject, names: readonly string[]): string | undefined {
  const required = requiredByContainers.filter((name) => names.includes(name)).sort();
  const spec = specOf(pod);
  if (hasPodLevelResources(spec)) return undefined;
  const containers = [...containersOf(spec), ...initContainersOf(spec)];
  const parts = required.flatMap((name) => {
    const [list, plain] = name.startsWith('limits.')
      ? ['limits', name.slice('limits.'.length)]
      : ['requests', name.replace('requests.', '')];
    const silent = containers.filter(
      (container) => !Object.hasOwn(fieldsOf(fieldsOf(container['resources'])[list]), plain),
    );
    const who = [...new Set(silent.map((container) => textOf(container['name'])))].sort();
    return who.length === 0 ? [] : [`${name} for: ${who.join(',')}`];
  });
  return parts.length === 0 ? undefined : `must specify ${parts.join('; ')}`;
}

/** Whether the pod is in the scope Terminating. */
const isTerminating = (spec: JsonObject): boolean => (numberOf(spec['activeDeadlineSeconds']) ?? -1) >= 0;

function podInScope(pod: ApiObject, { name, operator, values }: Scope): boolean {
  const spec = specOf(pod);
  switch (name) {
    case 'Terminating':
      return isTerminating(spec);
    case 'NotTerminating':
      return !isTerminating(spec);
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'PriorityClass':
      return matchesSelector(textOf(spec['priorityClassName']), operator, values);
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceAffinity(spec);
    default:
      return false;
  }
}

function matchesSelector(value: string, operator: string, values: readonly string[]): boolean {
  switch (operator) {
    case 'In':
      return values.includes(value);
    case 'NotIn':
      return !values.includes(value);
    case 'DoesNotExist':
      return value === '';
    default:
      return value !== '';
  }
}

/** Whether a pod affinity or anti-affinity term selects namespaces. */
function hasCrossNamespaceAffinity(spec: JsonObject): boolean {
  const affinity = fieldsOf(spec['affinity']);
  return ['podAffinity', 'podAntiAffinity'].some((kind) => {
    const rules = fieldsOf(affinity[kind]);
    const preferred = objectsOf(rules['preferredDuringSchedulingIgnoredDuringExecution']);
    const terms = [
      ...objectsOf(rules['requiredDuringSchedulingIgnoredDuringExecution']),
      ...preferred.map((term) => fieldsOf(term['podAffinityTerm'])),
    ];
    return terms.some((term) => textsOf(term['namespaces']).length > 0 || term['namespaceSelector'] !== undefined);
  });
}

const serviceNames = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

const serviceEvaluator: QuotaEvaluator = {
  matchesResource: (name) => serviceNames.includes(name),
  usage: (service) => {
    const spec = specOf(service);
    const ports = objectsOf(spec['ports']);
    const usage: ResourceList = new Map([
      ['count/services', count(1)],
      ['services', count(1)],
    ]);
    if (spec['type'] === 'NodePort') usage.set('services.nodeports', count(ports.length));
    if (spec['type'] !== 'LoadBalancer') return usage;
    const given = ports.filter((port) => (numberOf(port['nodePort']) ?? 0) !== 0).length;
    const all = spec['allocateLoadBalancerNodePorts'] !== false;
    usage.set('services.nodeports', count(all ? ports.length : given));
    return usage.set('services.loadbalancers', count(1));
  },
};

const claimNames = ['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'];

/** Rounded up to whole bytes. */
const wholeBytes = ({ nano, format }: Quantity): Quantity => {
  const rest = nano % 1_000_000_000n;
  return { nano: rest > 0n ? nano - rest + 1_000_000_000n : nano, format };
};

function claimEvaluator({ domain, labels }: NameSpelling): QuotaEvaluator {
  const ofClass = `.storageclass.storage.${domain}/`;
  return {
    matchesResource: (name) =>
      claimNames.includes(name) ||
      name.endsWith(`${ofClass}requests.storage`) ||
      name.endsWith(`${ofClass}persistentvolumeclaims`),
    usage: (claim) => {
      const spec = specOf(claim);
      const wanted = parseResourceList(fieldsOf(spec['resources'])['requests']).get('storage');
      const granted = toQuantity(fieldsOf(fieldsOf(claim['status'])['allocatedResources'])['storage']);
      const storage = wanted !== undefined && compareQuantities(wanted, granted) < 0 ? granted : wanted;
      const usage: ResourceList = new Map(claimNames.slice(0, 2).map((name) => [name, count(1)]));
      if (storage !== undefined) usage.set('requests.storage', wholeBytes(storage));
      const named = annotationOf(claim, `volume.beta.${labels}/storage-class`) ?? textOf(spec['storageClassName']);
      if (named === '') return usage;
      usage.set(`${named}${ofClass}persistentvolumeclaims`, count(1));
      if (storage !== undefined) usage.set(`${named}${ofClass}requests.storage`, wholeBytes(storage));
      return usage;
    },
    matchesScope: claimInScope,
  };
}

/** A claim matches by its requested, its current and its target volume attributes class. */
function claimInScope(claim: ApiObject, { name, operator, values }: Scope): boolean {
  if (name !== 'VolumeAttributesClass') return false;
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = fieldsOf(claim['status']);
  const classes = [
    specOf(claim)['volumeAttributesClassName'],
    currentVolumeAttributesClassName,
    fieldsOf(modifyVolumeStatus)['targetVolumeAttributesClassName'],
  ];
  const named = classes.map(textOf).filter((text) => text !== '');
  return (named.length === 0 ? [''] : named).some((text) => matchesSelector(text, operator, values));
}

/** `spec.scopes` and `spec.scopeSelector` as requirements. */
function scopesOf(quota: ApiObject): Scope[] {
  const { scopes, scopeSelector } = specOf(quota);
  return [
    ...textsOf(scopes).map((name) => ({ name, operator: 'Exists', values: [] })),
    ...objectsOf(fieldsOf(scopeSelector)['matchExpressions']).map(({ scopeName, operator, values }) => ({
      name: textOf(scopeName),
      operator: textOf(operator),
      values: textsOf(values),
    })),
  ];
}

/** Whether a quota applies to an object of the evaluator's resource. */
export function matchesQuota(quota: ApiObject, evaluator: QuotaEvaluator, object: ApiObject): boolean {
  const hard = Object.keys(fieldsOf(fieldsOf(quota['status'])['hard']));
  return (
    hard.some(evaluator.matchesResource) &&
    scopesOf(quota).every((scope) => evaluator.matchesScope?.(object, scope) ?? false)
  );
}
