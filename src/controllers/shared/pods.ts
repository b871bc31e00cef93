import type { Index, Informer } from '../../client/index.ts';
import { parseTime } from '../../meta/index.ts';
import type { Pod as PodSchema } from '../../types/core-v1.ts';
import type { Named } from './kind.ts';

export type Pod = PodSchema & Named;

/** The pods by the name of their node; those without a node are not in it. */
export const byNode = (informer: Informer<Pod>): Index<Pod> =>
  informer.indexBy('node', ({ spec }) => ((spec?.nodeName ?? '') === '' ? [] : [spec?.nodeName ?? '']));

/** The pod has not ended and is not being deleted. */
export const isActive = ({ metadata, status }: Pod): boolean =>
  status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && metadata.deletionTimestamp === undefined;

/** The pod is being deleted, and its containers have not ended. */
export const isTerminating = ({ metadata, status }: Pod): boolean =>
  status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && metadata.deletionTimestamp !== undefined;

type PodCondition = NonNullable<NonNullable<PodSchema['status']>['conditions']>[number];

export const podCondition = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

export const isReady = (pod: Pod): boolean => podCondition(pod, 'Ready')?.status === 'True';

/** Since when the pod is ready (ms); undefined when it is not, or does not say. */
function readySince(pod: Pod): number | undefined {
  const condition = podCondition(pod, 'Ready');
  if (condition?.status !== 'True' || typeof condition.lastTransitionTime !== 'string') return undefined;
  return parseTime(condition.lastTransitionTime);
}

/** The pod has been ready for `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isReady(pod)) return false;
  const since = readySince(pod);
  return minReadySeconds === 0 || (since !== undefined && since + minReadySeconds * 1000 <= now);
}

/** How long until the next ready pod becomes available (ms); undefined when none will. */
export function untilAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  let soonest: number | undefined;
  for (const pod of pods) {
    const since = readySince(pod);
    const remainingMs = since === undefined ? 0 : since + minReadySeconds * 1000 - now;
    if (remainingMs > 0 && (soonest === undefined || remainingMs < soonest)) soonest = remainingMs;
  }
  return soonest;
}

const phases: { readonly [phase: string]: number } = { Pending: 0, Unknown: 1, Running: 2 };
const phaseRank = ({ status }: Pod): number => phases[status?.phase ?? ''] ?? 0;

interface DeletionOrder {
  /** The deletion cost of a pod, by an annotation. */
  readonly costOf?: (pod: Pod) => number;
  /** How many related active pods are on the node of the pod. */
  readonly neighboursOf?: (pod: Pod) => number;
  /** With it times are compared by the order of magnitude of how long ago they are. */
  readonly now?: number;
}

const nothing = () => 0;

/**
 * Compares two pods: the one to delete first is less. Unassigned, then in an early phase, not ready, cheap, crowded,
 * ready for a shorter time, often restarted, and younger ones go first.
 */
export function compareForDeletion(
  a: Pod,
  b: Pod,
  { costOf = nothing, neighboursOf = nothing, now }: DeletionOrder,
): number {
  return (
    Number(hasNode(a)) - Number(hasNode(b)) ||
    phaseRank(a) - phaseRank(b) ||
    Number(isReady(a)) - Number(isReady(b)) ||
    costOf(a) - costOf(b) ||
    neighboursOf(b) - neighboursOf(a) ||
    (isReady(a) ? compareTimes(readySince(a), readySince(b), a, b, now) : 0) ||
    compareRestarts(a, b) ||
    compareTimes(createdAt(a), createdAt(b), a, b, now)
  );
}

const hasNode = ({ spec }: Pod): boolean => (spec?.nodeName ?? '') !== '';

export const createdAt = ({ metadata }: Named): number | undefined =>
  metadata.creationTimestamp === undefined ? undefined : parseTime(metadata.creationTimestamp);

/** The younger one is less; on a logarithmic scale, of the same magnitude, the one with the lower uid. */
function compareTimes(
  a: number | undefined,
  b: number | undefined,
  first: Pod,
  second: Pod,
  now: number | undefined,
): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  if (now === undefined) return b - a;
  const byMagnitude = magnitude(now - a) - magnitude(now - b);
  if (byMagnitude !== 0) return byMagnitude;
  return (first.metadata.uid ?? '') < (second.metadata.uid ?? '') ? -1 : 1;
}

/** The binary logarithm of a duration in nanoseconds. */
const magnitude = (ms: number): number => (ms > 0 ? Math.trunc(Math.log2(ms * 1e6)) : -1);

function compareRestarts(a: Pod, b: Pod): number {
  const [[regularA, sidecarA], [regularB, sidecarB]] = [restartsOf(a), restartsOf(b)];
  return regularB - regularA || sidecarB - sidecarA;
}

/** The most restarts of a container, and of a sidecar container. */
function restartsOf({ spec, status }: Pod): [number, number] {
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  let regular = 0;
  let sidecar = 0;
  for (const { restartCount = 0 } of status?.containerStatuses ?? []) regular = Math.max(regular, restartCount);
  for (const { name, restartCount = 0 } of status?.initContainerStatuses ?? []) {
    if (sidecars.has(name)) sidecar = Math.max(sidecar, restartCount);
  }
  return [regular, sidecar];
}
