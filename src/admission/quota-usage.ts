import { type ApiObject, compareQuantities, type JsonObject, type Names, type Quantity } from '../meta/index.ts';
import {
  type Amounts,
  amountOf,
  count,
  isBestEffort,
  isExtended,
  isExtendedInQuota,
  readAmounts,
  statesWhole,
  takenAmounts,
} from './amounts.ts';
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
import type { AdmissionPlace } from './types.ts';

/** How much an object takes up of what quotas limit, by the names that quotas use. */
type UsageOf = (object: ApiObject) => Amounts;

/** How one resource counts. */
export interface Meter {
  readonly usage: UsageOf;
  /** Whether what a quota limits under this name may have to do with the resource. */
  readonly measures: (name: string) => boolean;
  /** What must be said in the object when these names are limited; undefined when nothing is missing. */
  readonly missing?: (object: ApiObject, names: readonly string[]) => string | undefined;
  /** Whether an update of the object itself may bring it under another quota; without it, any may change what it uses. */
  readonly moves?: (object: ApiObject, old: ApiObject) => boolean;
  /** Whether the object is in a scope; without it, quotas with scopes do not concern the resource. */
  readonly inScope?: (object: ApiObject, scope: Scope) => boolean;
}

/** One condition of a quota on what it is about. */
interface Scope {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** What quotas also count by its bare name. */
const bare = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

type Spelling = Pick<Names, 'domain' | 'labels'>;

/** Whether a write there may take up more than before. What is no object, or must never be refused, does not count. */
export function isMetered({ operation, resource, subresource }: AdmissionPlace, { domain }: Spelling): boolean {
  if (['bindings', 'componentstatuses', 'events', `events.events.${domain}`].includes(resource)) return false;
  if (['authorization', 'authentication'].some((group) => resource.endsWith(`.${group}.${domain}`))) return false;
  if (operation === 'CREATE') return subresource === '';
  if (operation !== 'UPDATE') return false;
  if (resource === 'pods') return subresource === '' || subresource === 'resize';
  return subresource === '' && (resource === 'services' || resource === 'persistentvolumeclaims');
}

/** The meter of a resource, spelled `pods` or `deployments.apps`. */
export function meterOf(resource: string, names: Spelling): Meter {
  if (resource === 'pods') return podMeter(names);
  if (resource === 'services') return serviceMeter;
  if (resource === 'persistentvolumeclaims') return claimMeter(names);
  const counted = [`count/${resource}`, ...(bare.has(resource) ? [resource] : [])];
  return {
    usage: () => new Map(counted.map((name) => [name, count(1)])),
    measures: (name) => counted.includes(name),
  };
}

const computeNames = new Set(
  ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
/** What each container must state once it is limited. */
const stated = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

const podMeter = (names: Spelling): Meter => ({
  usage: (pod) => podUsage(pod, names),
  measures: (name) =>
    name === 'pods' ||
    name === 'count/pods' ||
    computeNames.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-') ||
    isExtendedInQuota(name, names),
  missing: unstated,
  moves: (pod, old) => ends(specOf(pod)) !== ends(specOf(old)),
  inScope: podInScope,
});

function podUsage(pod: ApiObject, names: Spelling): Amounts {
  const usage: Amounts = new Map([['count/pods', count(1)]]);
  const { phase } = fieldsOf(pod['status']);
  // What has run to its end is still there, but runs no more.
  if (phase === 'Failed' || phase === 'Succeeded') return usage;
  usage.set('pods', count(1));
  for (const [name, amount] of takenAmounts(pod, 'requests')) {
    const bare = computeNames.has(name) || name.startsWith('hugepages-');
    if (bare || isExtended(name, names)) usage.set(`requests.${name}`, amount);
    if (bare) usage.set(name, amount);
  }
  for (const [name, amount] of takenAmounts(pod, 'limits')) {
    if (computeNames.has(name)) usage.set(`limits.${name}`, amount);
  }
  return usage;
}

function unstated(pod: ApiObject, names: readonly string[]): string | undefined {
  const required = stated.filter((name) => names.includes(name)).sort();
  const spec = specOf(pod);
  if (statesWhole(spec)) return undefined;
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

/** Whether a pod is to be ended after a time. */
const ends = (spec: JsonObject): boolean => (numberOf(spec['activeDeadlineSeconds']) ?? -1) >= 0;

function podInScope(pod: ApiObject, { name, operator, values }: Scope): boolean {
  const spec = specOf(pod);
  switch (name) {
    case 'Terminating':
      return ends(spec);
    case 'NotTerminating':
      return !ends(spec);
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'PriorityClass':
      return holds(textOf(spec['priorityClassName']), operator, values);
    case 'CrossNamespacePodAffinity':
      return reachesOut(spec);
    default:
      return false;
  }
}

function holds(value: string, operator: string, values: readonly string[]): boolean {
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

/** Whether the pod's affinity to others looks at other namespaces. */
function reachesOut(spec: JsonObject): boolean {
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

const serviceMeter: Meter = {
  measures: (name) => serviceNames.includes(name),
  usage: (service) => {
    const spec = specOf(service);
    const ports = objectsOf(spec['ports']);
    const usage: Amounts = new Map([
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

/** Storage is counted in whole bytes. */
const wholeBytes = ({ nano, format }: Quantity): Quantity => {
  const rest = nano % 1_000_000_000n;
  return { nano: rest > 0n ? nano - rest + 1_000_000_000n : nano, format };
};

function claimMeter({ domain, labels }: Spelling): Meter {
  const ofClass = `.storageclass.storage.${domain}/`;
  return {
    measures: (name) =>
      claimNames.includes(name) ||
      name.endsWith(`${ofClass}requests.storage`) ||
      name.endsWith(`${ofClass}persistentvolumeclaims`),
    usage: (claim) => {
      const spec = specOf(claim);
      const wanted = readAmounts(fieldsOf(spec['resources'])['requests']).get('storage');
      const granted = amountOf(fieldsOf(fieldsOf(claim['status'])['allocatedResources'])['storage']);
      const storage = wanted !== undefined && compareQuantities(wanted, granted) < 0 ? granted : wanted;
      const usage: Amounts = new Map(claimNames.slice(0, 2).map((name) => [name, count(1)]));
      if (storage !== undefined) usage.set('requests.storage', wholeBytes(storage));
      const named = annotationOf(claim, `volume.beta.${labels}/storage-class`) ?? textOf(spec['storageClassName']);
      if (named === '') return usage;
      usage.set(`${named}${ofClass}persistentvolumeclaims`, count(1));
      if (storage !== undefined) usage.set(`${named}${ofClass}requests.storage`, wholeBytes(storage));
      return usage;
    },
    inScope: claimInScope,
  };
}

/** A claim is in the class of attributes that it has, and in that which it is to get. */
function claimInScope(claim: ApiObject, { name, operator, values }: Scope): boolean {
  if (name !== 'VolumeAttributesClass') return false;
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = fieldsOf(claim['status']);
  const classes = [
    specOf(claim)['volumeAttributesClassName'],
    currentVolumeAttributesClassName,
    fieldsOf(modifyVolumeStatus)['targetVolumeAttributesClassName'],
  ];
  const named = classes.map(textOf).filter((text) => text !== '');
  return (named.length === 0 ? [''] : named).some((text) => holds(text, operator, values));
}

/** What a quota asks of an object before it counts it. */
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

/** Whether a quota counts an object of the meter's resource. */
export function counts(quota: ApiObject, meter: Meter, object: ApiObject): boolean {
  const hard = Object.keys(fieldsOf(fieldsOf(quota['status'])['hard']));
  return hard.some(meter.measures) && scopesOf(quota).every((scope) => meter.inScope?.(object, scope) ?? false);
}
