import type { OwnerReference } from '../../meta/index.ts';
import type { PodDisruptionBudget as BudgetSchema } from '../../types/policy-v1.ts';
import { scaledValue } from '../shared/int-or-percent.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { controllerOf } from '../shared/owners.ts';
import type { Pod } from '../shared/pods.ts';
import { readScale } from '../shared/scales.ts';
import type { ControllerContext } from '../types.ts';

export type Budget = BudgetSchema & Named;

/** The expected number of pods, and how many of them must be healthy. */
export interface ExpectedPods {
  readonly expected: number;
  readonly desiredHealthy: number;
  /** Pods without a controller, which cannot be counted. */
  readonly unmanaged: boolean;
}

/** @throws Error when the scale of a pod's controller is not known */
export async function expectedPods(
  context: ControllerContext,
  { spec }: Budget,
  pods: readonly Pod[],
): Promise<ExpectedPods> {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    const { expected, unmanaged } = await expectedScale(context, pods);
    return { expected, unmanaged, desiredHealthy: Math.max(0, expected - scaledValue(maxUnavailable, expected, 'up')) };
  }
  if (typeof minAvailable === 'string') {
    const { expected, unmanaged } = await expectedScale(context, pods);
    return { expected, unmanaged, desiredHealthy: scaledValue(minAvailable, expected, 'up') };
  }
  if (minAvailable === undefined) return { expected: 0, desiredHealthy: 0, unmanaged: false };
  return { expected: pods.length, desiredHealthy: minAvailable, unmanaged: false };
}

/** The sum of the scales of the pods' controllers, each counted once. */
async function expectedScale(context: ControllerContext, pods: readonly Pod[]) {
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  let unmanaged = false;
  for (const pod of pods) {
    const reference = controllerOf(pod);
    if (reference === undefined) unmanaged = true;
    if (reference === undefined || seen.has(reference.uid)) continue;
    seen.add(reference.uid);
    const { namespace = '', name = '' } = pod.metadata;
    const scale = await scaleOf(context, reference, namespace);
    if (scale === undefined) throw new Error(`found no controllers for pod "${name}"`);
    scales.set(scale.uid, scale.replicas);
  }
  const expected = [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  return { expected, unmanaged };
}

/** The scale of a controller: of a replica set that a deployment controls, that of the deployment. */
async function scaleOf(
  { informers, client, metadata }: ControllerContext,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string,
): Promise<{ readonly uid: string; readonly replicas: number } | undefined> {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  const counted = (object: (Named & { spec?: { replicas?: number } }) | undefined, expectedUid: string) =>
    object?.metadata.uid === expectedUid ? { uid: expectedUid, replicas: object.spec?.replicas ?? 1 } : undefined;
  if (group === '' && kind === 'ReplicationController') {
    return counted(informers.of(kinds.replicationControllers).get(namespace, name), uid);
  }
  if (group === 'apps' && kind === 'StatefulSet') {
    return counted(informers.of(kinds.statefulSets).get(namespace, name), uid);
  }
  if (group === 'apps' && kind === 'ReplicaSet') {
    const set = informers.of(kinds.replicaSets).get(namespace, name);
    if (set?.metadata.uid !== uid) return undefined;
    const owner = controllerOf(set);
    if (owner?.kind !== 'Deployment') return counted(set, uid);
    return counted(informers.of(kinds.deployments).get(namespace, owner.name), owner.uid);
  }
  const scale = await readScale(client, await metadata.discover(), { apiVersion, kind, namespace, name });
  return scale?.uid === uid ? scale : undefined;
}
