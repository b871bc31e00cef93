/** Computations of the controller of daemon sets from daemon sets, nodes and pods. */
import type { Names } from '../../../meta/index.ts';
import type { DaemonSet as DaemonSetSchema } from '../../../types/apps-v1.ts';
import type { PodSpec, PodTemplateSpec, Toleration } from '../../../types/core-v1.ts';
import { scaledValue } from '../../shared/int-or-percent.ts';
import type { Named } from '../../shared/kind.ts';
import { type NodeObject, namedNodes, selectionCost, selectsNode, tolerates } from '../../shared/node-selection.ts';
import { createdAt, type Pod } from '../../shared/pods.ts';
import { revisionLabel } from '../history.ts';

export type DaemonSet = DaemonSetSchema & Named;

/** Pods of these taints stay on a node, or may be placed on it, whatever their template says. */
const tolerated = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
] as const;

/** The tolerations of a template with those that all pods of daemon sets have. */
function tolerationsOf({ labels }: Names, { tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const own = hostNetwork === true ? [...tolerated, ['network-unavailable', 'NoSchedule'] as const] : tolerated;
  const added = own.map(([name, effect]) => ({ key: `node.${labels}/${name}`, operator: 'Exists' as const, effect }));
  const isGiven = ({ key, effect }: Toleration) =>
    tolerations.some((one) => one.key === key && one.effect === effect && one.operator === 'Exists');
  return [...tolerations, ...added.filter((toleration) => !isGiven(toleration))];
}

/** Whether the set runs a pod on the node, and whether an existing pod may remain. */
export interface Fit {
  readonly shouldRun: boolean;
  readonly mayStay: boolean;
}

/** How much a comparison of the set with a node takes at most, in requirements and tolerations. */
export function fitCost({ spec }: DaemonSet, node: NodeObject): number {
  const pod = spec?.template?.spec ?? {};
  return (
    selectionCost(pod) + (tolerated.length + (pod.tolerations ?? []).length) * (1 + (node.spec?.taints ?? []).length)
  );
}

export function fitOf(names: Names, { spec }: DaemonSet, node: NodeObject): Fit {
  const pod = spec?.template?.spec ?? {};
  const isNamed = (pod.nodeName ?? '') === '' || pod.nodeName === node.metadata.name;
  if (!isNamed || !selectsNode(pod, node)) return { shouldRun: false, mayStay: false };
  const tolerations = tolerationsOf(names, pod);
  const repelling = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(tolerations, taint),
  );
  return {
    shouldRun: repelling.length === 0,
    mayStay: repelling.every(({ effect }) => effect !== 'NoExecute'),
  };
}

/** The annotation of a set, and the label of its pods, with the generation of the template. */
const generationAnnotation = 'deprecated.daemonset.template.generation';
const generationLabel = 'pod-template-generation';

const generationOf = ({ metadata }: DaemonSet): string | undefined => {
  const text = metadata.annotations?.[generationAnnotation];
  return text !== undefined && /^[+-]?[0-9]+$/.test(text) ? String(BigInt(text)) : undefined;
};

/** The template of a pod for the node, of the revision with this hash. */
export function templateFor(names: Names, set: DaemonSet, hash: string, node: string): PodTemplateSpec {
  const { metadata, spec = {} } = set.spec?.template ?? {};
  const generation = generationOf(set);
  const labels = {
    ...metadata?.labels,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
    [revisionLabel]: hash,
  };
  const { nodeAffinity } = spec.affinity ?? {};
  const required = {
    ...nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [node] }] }],
  };
  const affinity = {
    ...spec.affinity,
    nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
  };
  return { metadata: { ...metadata, labels }, spec: { ...spec, affinity, tolerations: tolerationsOf(names, spec) } };
}

/** Whether the pod was made of the present template. */
export function isUpdated(set: DaemonSet, hash: string, { metadata }: Pod): boolean {
  const generation = generationOf(set);
  const { labels = {} } = metadata;
  return labels[revisionLabel] === hash || (generation !== undefined && labels[generationLabel] === generation);
}

/** The node of the pod, or that which its affinity names. */
export function nodeOf({ spec = {} }: Pod): string | undefined {
  if ((spec.nodeName ?? '') !== '') return spec.nodeName;
  const nodeNames = namedNodes(spec);
  return nodeNames?.size === 1 ? [...nodeNames][0] : undefined;
}

/** Those with a node first, then older ones, then by name. */
export function byPlacementAndAge(a: Pod, b: Pod): number {
  const placed = ({ spec }: Pod) => Number((spec?.nodeName ?? '') === '');
  return (
    placed(a) - placed(b) ||
    (createdAt(a) ?? 0) - (createdAt(b) ?? 0) ||
    ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
  );
}

export const isRolling = ({ spec }: DaemonSet): boolean => spec?.updateStrategy?.type !== 'OnDelete';

export const maxSurge = (set: DaemonSet, desired: number): number =>
  isRolling(set) ? scaledValue(set.spec?.updateStrategy?.rollingUpdate?.maxSurge, desired, 'up') : 0;

/** How many pods may be unavailable in an update; it must be able to go on. */
export function maxUnavailable(set: DaemonSet, desired: number): number {
  const { rollingUpdate } = set.spec?.updateStrategy ?? {};
  const limit = isRolling(set) ? scaledValue(rollingUpdate?.maxUnavailable, desired, 'up') : 0;
  return desired > 0 && limit === 0 && maxSurge(set, desired) === 0 ? 1 : limit;
}
