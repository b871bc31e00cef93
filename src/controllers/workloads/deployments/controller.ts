import { keyOf } from '../../../client/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { byController, claim, controllerOf, findController, orphansIn } from '../../shared/owners.ts';
import type { Pod } from '../../shared/pods.ts';
import { findSelecting, selectorIn } from '../../shared/selection.ts';
import type { Controller } from '../../types.ts';
import { allOf, type Deployment, type ReplicaSet, type Sync } from './model.ts';
import { syncRevision } from './replica-sets.ts';
import { rollBack, rollbackTarget } from './rollback.ts';
import { cleanUp, recreate, rollForward } from './rollout.ts';
import { isScalingEvent, scale } from './scaling.ts';
import { syncPaused, syncStatus, writeStatus } from './status.ts';

/** Keeps a replica set for the template of each deployment, and moves pods from one to the next. */
export const deploymentController: Controller = {
  name: 'deployment-controller',
  needs: [kinds.deployments, kinds.replicaSets, kinds.pods],
  account: 'deployment-controller',
  start(context) {
    const { client, names, turns, informers } = context;
    const deployments = informers.of(kinds.deployments);
    const sets = informers.of(kinds.replicaSets);
    const pods = informers.of(kinds.pods);
    const setsByOwner = byController(sets);
    const podsByOwner = byController(pods);
    const podsOf = (set: ReplicaSet) => podsByOwner.get(set.metadata.uid ?? '');
    const queue = context.queue('deployment', async (key) => {
      const cachedDeployment = deployments.getByKey(key);
      if (cachedDeployment === undefined) return undefined;
      const sync = { context, deployment: structuredClone(cachedDeployment) };
      const { spec, metadata } = sync.deployment;
      if (selectsAll(spec?.selector)) return refuseSelector(sync);
      const selector = selectorOf(cachedDeployment);
      const claimant = { client, names, turns, kind: kinds.deployments, owner: cachedDeployment, selector };
      const candidates = [
        ...setsByOwner.get(metadata.uid ?? ''),
        ...setsByOwner.get(orphansIn(metadata.namespace ?? '')),
      ];
      const owned = await claim(claimant, kinds.replicaSets, candidates);
      const requeueAfterMs = await reconcile(sync, owned, podsOf);
      return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
    });
    deployments.onChange((deployment, old) => queue.add(keyOf(deployment ?? (old as Deployment))));
    const enqueue = (deployment: Deployment) => queue.add(keyOf(deployment));
    const select = findSelecting(context, { owners: deployments, selectorOf, onMatch: enqueue });
    sets.onChange((set, old) => {
      for (const state of [old, set]) {
        const owner = state && findController(deployments, state);
        if (owner !== undefined) queue.add(keyOf(owner));
      }
      if (set !== undefined && controllerOf(set) === undefined) select(set);
    });
    // A recreation goes on when the last old pod is gone.
    pods.onChange((pod, old) => {
      if (pod !== undefined || old === undefined) return;
      const set = findController(sets, old);
      const deployment = set && findController(deployments, set);
      if (deployment?.spec?.strategy?.type === 'Recreate') queue.add(keyOf(deployment));
    });
  },
};

const selectorOf = ({ spec }: Deployment) => selectorIn(spec?.selector);

const selectsAll = (selector: NonNullable<Deployment['spec']>['selector']): boolean =>
  selector !== undefined && Object.keys(selector).length === 0;

async function refuseSelector(sync: Sync): Promise<undefined> {
  const { context, deployment } = sync;
  const message = 'This deployment is selecting all pods. A non-empty selector is required.';
  context.events.record(deployment, 'Warning', 'SelectingAll', message);
  const { generation = 0 } = deployment.metadata;
  if ((deployment.status?.observedGeneration ?? 0) >= generation) return;
  deployment.status = { ...deployment.status, observedGeneration: generation };
  await writeStatus(sync);
}

/** One step towards the declared state; the result says when to look again without a change (ms). */
async function reconcile(
  sync: Sync,
  owned: readonly ReplicaSet[],
  podsOf: (set: ReplicaSet) => readonly Pod[],
): Promise<number | undefined> {
  const { deployment } = sync;
  if (deployment.metadata.deletionTimestamp !== undefined) {
    await syncStatus(sync, await syncRevision(sync, owned, false));
    return undefined;
  }
  await syncPaused(sync);
  const target = rollbackTarget(sync);
  const paused = deployment.spec?.paused === true;
  if (!paused && target !== undefined) {
    await rollBack(sync, owned, target);
    return undefined;
  }
  const replicaSets = await syncRevision(sync, owned, false);
  if (paused || isScalingEvent(sync, replicaSets)) {
    await scale(sync, replicaSets);
    if (paused && target === undefined) await cleanUp(sync, replicaSets.old);
    await syncStatus(sync, replicaSets);
    return undefined;
  }
  return deployment.spec?.strategy?.type === 'Recreate'
    ? recreate(sync, allOf(replicaSets), podsOf)
    : rollForward(sync, allOf(replicaSets));
}
