import { keyOf } from '../../../client/index.ts';
import { isStatus } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { byController, claim, controllerOf, findController, orphansIn } from '../../shared/owners.ts';
import { type Pod, untilAvailable } from '../../shared/pods.ts';
import { findSelecting, selectorIn } from '../../shared/selection.ts';
import type { Controller, ControllerContext } from '../../types.ts';
import {
  createRevision,
  hasData,
  type Revision,
  renumbered,
  revisionsOf,
  templateData,
  templateOf,
  truncateHistory,
} from '../history.ts';
import { isMember, replicasOf, revisionOf, type StatefulSet } from './identity.ts';
import { countsOf, type Pass, sortPods, stepForward } from './pass.ts';

type Status = NonNullable<StatefulSet['status']>;

/** Keeps pods with an identity and storage of their own for each stateful set. */
export const statefulSetController: Controller = {
  name: 'statefulset-controller',
  needs: [kinds.statefulSets, kinds.controllerRevisions, kinds.pods, kinds.persistentVolumeClaims],
  account: 'statefulset-controller',
  start(context) {
    const { client, names, turns, informers } = context;
    const sets = informers.of(kinds.statefulSets);
    const pods = informers.of(kinds.pods);
    const podsByOwner = byController(pods);
    const revisionsByOwner = byController(informers.of(kinds.controllerRevisions));
    informers.of(kinds.persistentVolumeClaims);
    const queue = context.queue('statefulset', async (key) => {
      const set = sets.getByKey(key);
      if (set === undefined) return undefined;
      const { uid = '', namespace = '' } = set.metadata;
      const selector = selectorOf(set);
      const revisions = await revisionsOf(context, kinds.statefulSets, set, selector, revisionsByOwner);
      const owner = { client, names, turns, kind: kinds.statefulSets, owner: set, selector };
      const candidates = [...podsByOwner.get(uid), ...podsByOwner.get(orphansIn(namespace))];
      const own = await claim({ ...owner, isMember: (pod) => isMember(set, pod) }, kinds.pods, candidates);
      return reconcile(context, set, revisions, own);
    });
    sets.onChange((set, old) => queue.add(keyOf(set ?? (old as StatefulSet))));
    const enqueue = (set: StatefulSet) => queue.add(keyOf(set));
    const select = findSelecting(context, { owners: sets, selectorOf, onMatch: enqueue });
    pods.onChange((pod, old) => {
      for (const state of [old, pod]) {
        const set = state && findController(sets, state);
        if (set !== undefined) queue.add(keyOf(set));
      }
      if (pod !== undefined && controllerOf(pod) === undefined) select(pod);
    });
  },
};

const selectorOf = ({ spec }: StatefulSet) => selectorIn(spec?.selector);

async function reconcile(
  context: ControllerContext,
  set: StatefulSet,
  revisions: readonly Revision[],
  own: readonly Pod[],
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const { current, update, collisionCount } = await syncRevisions(context, set, revisions);
  const now = context.clock.now();
  const pass: Pass = { context, set, current: atRevision(set, current), update: atRevision(set, update), now };
  const pods = sortPods(pass, own);
  let failure: unknown;
  if (set.metadata.deletionTimestamp === undefined) {
    await stepForward(pass, pods).catch((error: unknown) => {
      failure = error;
    });
  }
  const all = [...pods.replicas, ...pods.condemned];
  const status = await writeStatus(pass, { ...countsOf(pass, all), collisionCount });
  const live = new Set([current.metadata.name, update.metadata.name, ...own.map(revisionOf)]);
  const limit = set.spec?.revisionHistoryLimit ?? 10;
  if (limit >= 0) await truncateHistory(context, revisions, ({ metadata }) => live.has(metadata.name), limit);
  if (failure !== undefined) throw failure;
  const { minReadySeconds = 0 } = set.spec ?? {};
  if (minReadySeconds === 0 || (status.readyReplicas ?? 0) === (status.availableReplicas ?? 0)) return undefined;
  return { requeueAfterMs: untilAvailable(all, minReadySeconds, now) ?? minReadySeconds * 1000 };
}

const atRevision = (set: StatefulSet, revision: Revision) => ({
  set: { ...set, spec: { ...set.spec, template: templateOf(revision) } },
  revision: revision.metadata.name ?? '',
});

interface Revisions {
  readonly current: Revision;
  readonly update: Revision;
  readonly collisionCount: number;
}

/** The revision of the set's template, created or brought to the front if need be, and the one that its pods come from. */
async function syncRevisions(
  context: ControllerContext,
  set: StatefulSet,
  revisions: readonly Revision[],
): Promise<Revisions> {
  const { template = {} } = set.spec ?? {};
  const data = templateData(template as never);
  const last = revisions.at(-1);
  const next = (last?.revision ?? 0) + 1;
  const equal = revisions.findLast((revision) => hasData(revision, data));
  let update: Revision;
  let { collisionCount = 0 } = set.status ?? {};
  if (equal !== undefined) update = equal === last ? equal : await renumbered(context, equal, next);
  else {
    const labels = template.metadata?.labels ?? {};
    const annotations = set.metadata.annotations ?? {};
    const hashLabel = `controller.${context.names.labels}/hash`;
    const desiredRevision = { data, revision: next, labels, annotations, hashLabel, collisionCount };
    const created = await createRevision(context, kinds.statefulSets, set, desiredRevision);
    ({ revision: update, collisionCount } = created);
  }
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return { current, update, collisionCount };
}

/** Writes the status if it has changed. A rolling update is complete when all pods are ready and of the update revision. */
async function writeStatus({ context, set, current, update }: Pass, counts: Status): Promise<Status> {
  const replicas = replicasOf(set);
  const rolling = (set.spec?.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
  const { updatedReplicas = 0, readyReplicas = 0 } = counts;
  const complete = rolling && [updatedReplicas, readyReplicas, counts.replicas].every((count) => count === replicas);
  const status: Status = {
    ...counts,
    ...(complete ? { currentReplicas: updatedReplicas } : {}),
    observedGeneration: set.metadata.generation ?? 0,
    currentRevision: complete ? update.revision : current.revision,
    updateRevision: update.revision,
  };
  const before = set.status ?? {};
  const numbers = ['replicas', 'readyReplicas', 'availableReplicas', 'currentReplicas', 'updatedReplicas'] as const;
  const unchanged =
    (status.observedGeneration ?? 0) <= (before.observedGeneration ?? 0) &&
    numbers.every((name) => (status[name] ?? 0) === (before[name] ?? 0)) &&
    status.currentRevision === before.currentRevision &&
    status.updateRevision === before.updateRevision;
  if (unchanged) return status;
  try {
    await context.client
      .kind(kinds.statefulSets)
      .subresource('status')
      .update({ ...set, status: { ...before, ...status } });
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    const { namespace = '', name = '' } = set.metadata;
    const live = await context.client.kind(kinds.statefulSets).get({ namespace, name });
    await context.client
      .kind(kinds.statefulSets)
      .subresource('status')
      .update({ ...live, status: { ...live.status, ...status } });
  }
  return status;
}
