/** The order of the objects of a kustomization. */
import type { SortOptions } from './format.ts';
import type { Identity, Resource } from './resource.ts';

/** Kinds that other objects depend on, and kinds that would refuse other objects. */
const first = [
  'Namespace',
  'ResourceQuota',
  'StorageClass',
  'CustomResourceDefinition',
  'ServiceAccount',
  'PodSecurityPolicy',
  'Role',
  'ClusterRole',
  'RoleBinding',
  'ClusterRoleBinding',
  'ConfigMap',
  'Secret',
  'Endpoints',
  'Service',
  'LimitRange',
  'PriorityClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Deployment',
  'StatefulSet',
  'CronJob',
  'PodDisruptionBudget',
];
const last = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/** The resources in the order of `sortOptions`: by kind, or as they were listed. */
export function ordered(resources: readonly Resource[], options: SortOptions | undefined): Resource[] {
  if (options?.order === 'fifo') return [...resources];
  const { orderFirst = first, orderLast = last } = options?.legacySortOptions ?? {};
  const ranks = new Map([
    ...orderFirst.map((kind, i) => [kind, i - orderFirst.length] as const),
    ...orderLast.map((kind, i) => [kind, i + 1] as const),
  ]);
  const keyed = resources.map((resource) => ({
    resource,
    rank: ranks.get(resource.kind) ?? 0,
    key: keyOf(resource.identity, resource.namespace),
  }));
  return keyed
    .toSorted((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ resource }) => resource);
}

/** A tilde stands for what is absent, so that it comes last. */
const keyOf = ({ group, version, kind, name }: Identity, namespace: string): string =>
  `${group || '~G'}_${version || '~V'}_${kind}\u0000${namespace || '~X'}|${name || '~N'}`;
