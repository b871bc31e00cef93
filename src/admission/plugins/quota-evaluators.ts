import { type ApiObject, compareQuantities, type Names, parseQuantity, type Quantity } from '../../meta/index.ts';
import {
  allocatedPodResources,
  hasPodLevelResources,
  isExtendedResource,
  isNative,
  type Quantities,
  qosClass,
  storageClassOf,
} from '../../rules/index.ts';
import type { Infer, ObjectOf, StructSchema } from '../../schema/index.ts';
import {
  PersistentVolumeClaim,
  Pod,
  type PodSpec,
  type ResourceQuota,
  type ScopedResourceSelectorRequirement,
  Service,
} from '../../types/core-v1.ts';
import type { AdmissionPlace } from '../types.ts';

type PodObject = ObjectOf<typeof Pod>;
type Claim = ObjectOf<typeof PersistentVolumeClaim>;

/** Computes the usage of the objects of one resource. */
export interface QuotaEvaluator<T = ApiObject> {
  /** The usage of an object, by the resource names of quotas. */
  readonly usage: (object: T) => Quantities;
  /** Whether a limit with this name can apply to the resource. */
  readonly matchesResource: (name: string) => boolean;
  /** The fields that the object must set when these names are limited; undefined when none is missing. */
  readonly missingConstraints?: (object: T, names: readonly string[]) => string | undefined;
  /** Whether an update may make other quotas match. Absent: any update may change the usage. */
  readonly changesScope?: (object: T, old: T) => boolean;
  /** Whether the object is in a scope. Absent: quotas with scopes do not match the resource. */
  readonly matchesScope?: (object: T, scope: Scope) => boolean;
}

/** A scope of a quota, as a requirement. */
export interface Scope {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const count = (number: number): Quantity => ({ nano: BigInt(number) * 1_000_000_000n, format: 'DecimalSI' });

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
  if (resource === 'pods') return forKind(Pod, podEvaluator(names));
  if (resource === 'services') return forKind(Service, serviceEvaluator);
  if (resource === 'persistentvolumeclaims') return forKind(PersistentVolumeClaim, claimEvaluator(names));
  const counted = [`count/${resource}`, ...(countedByBareName.has(resource) ? [resource] : [])];
  return {
    usage: () => new Map(counted.map((name) => [name, count(1)])),
    matchesResource: (name) => counted.includes(name),
  };
}

/** An evaluator that gets only objects of the resource whose storage version has this schema. */
const forKind = <S extends StructSchema>(_schema: S, evaluator: QuotaEvaluator<ObjectOf<S>>): QuotaEvaluator =>
  evaluator as unknown as QuotaEvaluator;

const computeNames = new Set(
  ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
/** Limits that require every container to set the field. */
const requiredByContainers = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

const podEvaluator = (names: NameSpelling): QuotaEvaluator<PodObject> => ({
  usage: (pod) => podUsage(pod, names),
  matchesResource: (name) =>
    name === 'pods' ||
    name === 'count/pods' ||
    computeNames.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-') ||
    (!isNative(name, names) && name.startsWith('requests.')),
  missingConstraints: missingContainerResources,
  changesScope: (pod, old) => isTerminating(pod.spec) !== isTerminating(old.spec),
  matchesScope: podInScope,
});

function podUsage(pod: PodObject, names: NameSpelling): Quantities {
  const usage: Quantities = new Map([['count/pods', count(1)]]);
  const { phase } = pod.status ?? {};
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

function missingContainerResources({ spec = {} }: PodObject, names: readonly string[]): string | undefined {
  const required = requiredByContainers.filter((name) => names.includes(name)).sort();
  if (hasPodLevelResources(spec)) return undefined;
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const parts = required.flatMap((name) => {
    const [list, plain] = name.startsWith('limits.')
      ? (['limits', name.slice('limits.'.length)] as const)
      : (['requests', name.replace('requests.', '')] as const);
    const silent = containers.filter(({ resources }) => !Object.hasOwn(resources?.[list] ?? {}, plain));
    const who = [...new Set(silent.map((container) => container.name ?? ''))].sort();
    return who.length === 0 ? [] : [`${name} for: ${who.join(',')}`];
  });
  return parts.length === 0 ? undefined : `must specify ${parts.join('; ')}`;
}

/** Whether the pod is in the scope Terminating. */
const isTerminating = (spec: PodSpec | undefined): boolean => (spec?.activeDeadlineSeconds ?? -1) >= 0;

function podInScope({ spec = {} }: PodObject, { name, operator, values }: Scope): boolean {
  switch (name) {
    case 'Terminating':
      return isTerminating(spec);
    case 'NotTerminating':
      return !isTerminating(spec);
    case 'BestEffort':
      return qosClass(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qosClass(spec) !== 'BestEffort';
    case 'PriorityClass':
      return matchesSelector(spec.priorityClassName ?? '', operator, values);
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
function hasCrossNamespaceAffinity({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((rules) => {
    const terms = [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
    ];
    return terms.some((term) => (term?.namespaces ?? []).length > 0 || term?.namespaceSelector !== undefined);
  });
}

const serviceNames = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

const serviceEvaluator: QuotaEvaluator<Service> = {
  matchesResource: (name) => serviceNames.includes(name),
  usage: ({ spec = {} }) => {
    const ports = spec.ports ?? [];
    const usage: Quantities = new Map([
      ['count/services', count(1)],
      ['services', count(1)],
    ]);
    if (spec.type === 'NodePort') usage.set('services.nodeports', count(ports.length));
    if (spec.type !== 'LoadBalancer') return usage;
    const given = ports.filter(({ nodePort = 0 }) => nodePort !== 0).length;
    const all = spec.allocateLoadBalancerNodePorts !== false;
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

function claimEvaluator({ domain, labels }: NameSpelling): QuotaEvaluator<Claim> {
  const ofClass = `.storageclass.storage.${domain}/`;
  return {
    matchesResource: (name) =>
      claimNames.includes(name) ||
      name.endsWith(`${ofClass}requests.storage`) ||
      name.endsWith(`${ofClass}persistentvolumeclaims`),
    usage: (claim) => {
      const { spec, status } = claim;
      const requested = spec?.resources?.requests?.['storage'];
      const wanted = requested === undefined ? undefined : parseQuantity(requested);
      const granted = parseQuantity(status?.allocatedResources?.['storage'] ?? '0');
      const storage = wanted !== undefined && compareQuantities(wanted, granted) < 0 ? granted : wanted;
      const usage: Quantities = new Map(claimNames.slice(0, 2).map((name) => [name, count(1)]));
      if (storage !== undefined) usage.set('requests.storage', wholeBytes(storage));
      const named = storageClassOf(claim, { labels });
      if (named === '') return usage;
      usage.set(`${named}${ofClass}persistentvolumeclaims`, count(1));
      if (storage !== undefined) usage.set(`${named}${ofClass}requests.storage`, wholeBytes(storage));
      return usage;
    },
    matchesScope: claimInScope,
  };
}

/** A claim matches by its requested, its current and its target volume attributes class. */
function claimInScope({ spec, status }: Claim, { name, operator, values }: Scope): boolean {
  if (name !== 'VolumeAttributesClass') return false;
  const classes = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  const named = classes.flatMap((text) => text || []);
  return (named.length === 0 ? [''] : named).some((text) => matchesSelector(text, operator, values));
}

type Requirement = Infer<typeof ScopedResourceSelectorRequirement>;

export const scopeOf = ({ scopeName: name = '', operator = '', values }: Requirement): Scope => ({
  name,
  operator,
  values: values ?? [],
});

/** `spec.scopes` and `spec.scopeSelector` as requirements. */
export function scopesOf({ spec }: ResourceQuota): Scope[] {
  return [
    ...(spec?.scopes ?? []).map((name) => ({ name, operator: 'Exists', values: [] })),
    ...(spec?.scopeSelector?.matchExpressions ?? []).map(scopeOf),
  ];
}

/** Whether a quota applies to an object of the evaluator's resource. */
export function matchesQuota(quota: ResourceQuota, evaluator: QuotaEvaluator, object: ApiObject): boolean {
  const hard = Object.keys(quota.status?.hard ?? {});
  return (
    hard.some(evaluator.matchesResource) &&
    scopesOf(quota).every((scope) => evaluator.matchesScope?.(object, scope) ?? false)
  );
}
