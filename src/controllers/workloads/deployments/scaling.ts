import * as kinds from '../../shared/kinds.ts';
import {
  activeOf,
  allOf,
  annotationsFor,
  byAge,
  isRolling,
  maxSurge,
  type ReplicaSet,
  type ReplicaSets,
  replicasOf,
  type Sync,
  sumOf,
} from './model.ts';
import { replicaAnnotations } from './replica-sets.ts';

/** The replica set with this many replicas. `always`: its annotations are brought up to date where only they differ. */
export async function scaleReplicaSet(
  sync: Sync,
  set: ReplicaSet,
  replicas: number,
  always = false,
): Promise<{ readonly set: ReplicaSet; readonly scaled: boolean }> {
  const { context, deployment } = sync;
  const before = replicasOf(set);
  const annotations = replicaAnnotations(sync);
  const stale = Object.entries(annotations).some(([key, value]) => set.metadata.annotations?.[key] !== value);
  if (before === replicas && !(always && stale)) return { set, scaled: false };
  const updated = await context.client.kind(kinds.replicaSets).update({
    ...set,
    metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...annotations } },
    spec: { ...set.spec, replicas },
  });
  if (before !== replicas) {
    const message = `Scaled ${before < replicas ? 'up' : 'down'} replica set ${set.metadata.name} from ${before} to ${replicas}`;
    context.events.record(deployment, 'Normal', 'ScalingReplicaSet', message);
  }
  return { set: updated, scaled: before !== replicas };
}

/** Whether the number of replicas of the deployment has changed since its replica sets were last scaled. */
export function isScalingEvent({ context, deployment }: Sync, sets: ReplicaSets): boolean {
  const { desired } = annotationsFor(context.names);
  return activeOf(allOf(sets)).some((set) => {
    const count = countOf(set.metadata.annotations?.[desired]);
    return count !== undefined && count !== replicasOf(deployment);
  });
}

const countOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^[0-9]{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined;

/** Scales the replica sets to the replicas of the deployment, in proportion to their sizes during a rollout. */
export async function scale(sync: Sync, sets: ReplicaSets): Promise<void> {
  const { deployment } = sync;
  const desired = replicasOf(deployment);
  const only = activeOrLatest(sets);
  if (only !== undefined) {
    await scaleReplicaSet(sync, only, desired);
  } else if (isSaturated(sync, sets.current)) {
    for (const set of activeOf(sets.old)) await scaleReplicaSet(sync, set, 0);
  } else if (isRolling(deployment)) {
    const active = activeOf(allOf(sets));
    const allowed = desired > 0 ? desired + maxSurge(deployment) : 0;
    const toAdd = allowed - sumOf(active, replicasOf);
    active.sort((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)));
    for (const [set, replicas] of proportions(sync, active, toAdd)) await scaleReplicaSet(sync, set, replicas, true);
  }
}

/** The only replica set with replicas, or where there is none the current or newest one. */
function activeOrLatest({ current, old }: ReplicaSets): ReplicaSet | undefined {
  const newestFirst = [...old].sort((a, b) => byAge(b, a));
  const active = activeOf(current === undefined ? newestFirst : [...newestFirst, current]);
  if (active.length > 1) return undefined;
  return active[0] ?? current ?? newestFirst[0];
}

/** Whether all replicas of the deployment are in this replica set, and available. */
function isSaturated({ context, deployment }: Sync, set: ReplicaSet | undefined): boolean {
  if (set === undefined) return false;
  const desired = replicasOf(deployment);
  const annotated = countOf(set.metadata.annotations?.[annotationsFor(context.names).desired]);
  return replicasOf(set) === desired && annotated === desired && (set.status?.availableReplicas ?? 0) === desired;
}

/** The sizes of the replica sets after `toAdd` replicas have been shared out; the first gets what is left over. */
function proportions(sync: Sync, sets: readonly ReplicaSet[], toAdd: number): Map<ReplicaSet, number> {
  const sizes = new Map<ReplicaSet, number>();
  let added = 0;
  for (const set of sets) {
    const remaining = toAdd - added;
    const share = remaining === 0 ? 0 : Math[toAdd > 0 ? 'min' : 'max'](fractionOf(sync, set), remaining);
    sizes.set(set, replicasOf(set) + share);
    added += share;
  }
  const [first] = sets;
  if (first !== undefined) sizes.set(first, Math.max(0, (sizes.get(first) ?? 0) + toAdd - added));
  return sizes;
}

/** By how much a replica set grows or shrinks in proportion to the deployment. */
function fractionOf({ context, deployment }: Sync, set: ReplicaSet): number {
  const size = replicasOf(set);
  const desired = replicasOf(deployment);
  if (desired === 0) return -size;
  const before =
    countOf(set.metadata.annotations?.[annotationsFor(context.names).max]) || deployment.status?.replicas || 0;
  return before === 0 ? 0 : Math.round((size * (desired + maxSurge(deployment))) / before) - size;
}
