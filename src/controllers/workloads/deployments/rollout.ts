import { isStatus } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import type { Pod } from '../../shared/pods.ts';
import {
  activeOf,
  allOf,
  annotationsFor,
  byAge,
  historyLimit,
  isComplete,
  maxUnavailable,
  nextReplicas,
  type ReplicaSet,
  type ReplicaSets,
  replicasOf,
  revisionOf,
  type Sync,
  sumOf,
} from './model.ts';
import { syncRevision } from './replica-sets.ts';
import { scaleReplicaSet } from './scaling.ts';
import { syncRolloutStatus } from './status.ts';

/** One step of a rolling update: the current replica set grows, or the old ones shrink. */
export async function rollForward(sync: Sync, all: readonly ReplicaSet[]): Promise<number | undefined> {
  const sets = await syncRevision(sync, all, true);
  const current = sets.current as ReplicaSet;
  const { deployment } = sync;
  const next = Math.min(replicasOf(deployment), nextReplicas(deployment, allOf(sets), current));
  const grown = await scaleReplicaSet(
    sync,
    current,
    replicasOf(current) > replicasOf(deployment) ? replicasOf(deployment) : next,
  );
  if (grown.scaled) return syncRolloutStatus(sync, { ...sets, current: grown.set });
  const shrunk = await shrinkOld(sync, { ...sets, current: grown.set });
  if (shrunk === undefined && isComplete(deployment, deployment.status ?? {})) await cleanUp(sync, sets.old);
  return syncRolloutStatus(sync, shrunk ?? sets);
}

/** Scales the old replica sets down as far as enough pods stay available; undefined: not at all. */
async function shrinkOld(sync: Sync, sets: ReplicaSets): Promise<ReplicaSets | undefined> {
  const { deployment } = sync;
  const current = sets.current as ReplicaSet;
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment);
  const unavailable = replicasOf(current) - (current.status?.availableReplicas ?? 0);
  const room = sumOf(allOf(sets), replicasOf) - minAvailable - unavailable;
  if (room <= 0 || sumOf(sets.old, replicasOf) === 0) return undefined;
  const scaled = new Map(sets.old.map((set) => [set, set]));
  // Pods that are not available go first: without them a rollout of a bad template could not be taken back.
  const healed = await shrink(sync, scaled, room, (set) => replicasOf(set) - (set.status?.availableReplicas ?? 0));
  // The status of a set that has just been scaled down still counts pods that end.
  const available = sumOf(allOf(sets), (set) => Math.min(set.status?.availableReplicas ?? 0, replicasOf(set)));
  const shrunk = await shrink(sync, scaled, available - minAvailable, replicasOf);
  return healed + shrunk > 0 ? { ...sets, old: [...scaled.values()] } : undefined;
}

/** Takes up to `room` replicas from the sets, the oldest first, from each at most `spareOf`; how many it took. */
async function shrink(
  sync: Sync,
  sets: Map<ReplicaSet, ReplicaSet>,
  room: number,
  spareOf: (set: ReplicaSet) => number,
): Promise<number> {
  let scaledDown = 0;
  for (const [key, set] of [...sets].sort(([a], [b]) => byAge(a, b))) {
    const count = Math.min(room - scaledDown, spareOf(set), replicasOf(set));
    if (count <= 0) continue;
    sets.set(key, (await scaleReplicaSet(sync, set, replicasOf(set) - count)).set);
    scaledDown += count;
  }
  return scaledDown;
}

/** One step of a recreation: the old pods end before new ones begin. */
export async function recreate(
  sync: Sync,
  all: readonly ReplicaSet[],
  podsOf: (set: ReplicaSet) => readonly Pod[],
): Promise<number | undefined> {
  let sets = await syncRevision(sync, all, false);
  const ending = activeOf(sets.old);
  for (const set of ending) await scaleReplicaSet(sync, set, 0);
  if (ending.length > 0 || isOldRunning(sets, podsOf)) return syncRolloutStatus(sync, sets);
  if (sets.current === undefined) sets = await syncRevision(sync, all, true);
  await scaleReplicaSet(sync, sets.current as ReplicaSet, replicasOf(sync.deployment));
  if (isComplete(sync.deployment, sync.deployment.status ?? {})) await cleanUp(sync, sets.old);
  return syncRolloutStatus(sync, sets);
}

/** Whether a pod of an old replica set has not ended. */
function isOldRunning({ old }: ReplicaSets, podsOf: (set: ReplicaSet) => readonly Pod[]): boolean {
  if (sumOf(old, ({ status }) => status?.replicas) > 0) return true;
  return old.flatMap(podsOf).some(({ status }) => status?.phase !== 'Failed' && status?.phase !== 'Succeeded');
}

/** Deletes the oldest replica sets without pods beyond the history limit. */
export async function cleanUp({ context, deployment }: Sync, old: readonly ReplicaSet[]): Promise<void> {
  const limit = historyLimit(deployment);
  if (limit === undefined) return;
  const { revision } = annotationsFor(context.names);
  const removable = old
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((a, b) => (revisionOf(a, revision) ?? 0) - (revisionOf(b, revision) ?? 0) || byAge(a, b));
  for (const set of removable.slice(0, Math.max(0, removable.length - limit))) {
    const { replicas = 0, observedGeneration = 0 } = set.status ?? {};
    if (replicas !== 0 || replicasOf(set) !== 0 || (set.metadata.generation ?? 0) > observedGeneration) continue;
    try {
      await context.client.kind(kinds.replicaSets).delete(set.metadata);
    } catch (error) {
      if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
    }
  }
}
