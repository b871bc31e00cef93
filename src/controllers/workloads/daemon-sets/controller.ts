import { type Index, keyOf } from '../../../client/index.ts';
import { isStatus, type Steps } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { type NodeObject, nodeChanged } from '../../shared/node-selection.ts';
import { byController, claim, controllerOf, findController, orphansIn } from '../../shared/owners.ts';
import { createPod, deletePod, isTerminatingNamespace, podFromTemplate, slowStart } from '../../shared/pod-control.ts';
import { byNode, type Pod } from '../../shared/pods.ts';
import { findSelecting, requirementsInStep, selectorIn } from '../../shared/selection.ts';
import type { Controller, ControllerContext } from '../../types.ts';
import {
  createRevision,
  hasData,
  type Revision,
  renumbered,
  revisionLabel,
  revisionsOf,
  templateData,
  truncateHistory,
} from '../history.ts';
import { Backoff } from './backoff.ts';
import { type DaemonSet, fitCost, fitOf, isRolling, templateFor } from './model.ts';
import { type Changes, countsOf, newPass, type Pass, placement, podsByNode, rollingUpdate } from './placement.ts';

/** Pods that one reconcile creates or deletes at most. */
const burst = 250;

/** Keeps a pod of each daemon set on each node that it selects. */
export const daemonSetController: Controller = {
  name: 'daemonset-controller',
  needs: [kinds.daemonSets, kinds.controllerRevisions, kinds.pods, kinds.nodes],
  account: 'daemon-set-controller',
  eventSource: 'daemonset-controller',
  start(context) {
    const { informers } = context;
    const sets = informers.of(kinds.daemonSets);
    const pods = informers.of(kinds.pods);
    const nodes = informers.of(kinds.nodes);
    const podsByOwner = byController(pods);
    const podsOfNode = byNode(pods);
    const revisions = byController(informers.of(kinds.controllerRevisions));
    const backoff = new Backoff();
    const queue = context.queue('daemonset', async (key) => {
      const set = sets.getByKey(key);
      if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
      if (selectsAll(set)) {
        const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
        context.events.record(set, 'Warning', 'SelectingAll', message);
        return undefined;
      }
      return reconcile(context, set, nodes.list(), podsByOwner, revisions, backoff);
    });
    sets.onChange((set, old) => queue.add(keyOf(set ?? (old as DaemonSet))));
    const enqueue = (set: DaemonSet) => queue.add(keyOf(set));
    const select = findSelecting(context, { owners: sets, selectorOf, onMatch: enqueue });
    pods.onChange((pod, old) => {
      for (const state of [old, pod]) {
        const set = state && findController(sets, state);
        if (set !== undefined) queue.add(keyOf(set));
      }
      if (pod !== undefined && controllerOf(pod) === undefined) select(pod);
    });
    nodes.onChange((node, old) => {
      if (!nodeChanged(node, old)) return;
      const state = node ?? (old as NodeObject);
      const podsOnNode = podsOfNode.get(state.metadata.name ?? '');
      const owners = new Set(podsOnNode.map((pod) => controllerOf(pod)?.uid));
      context.background(
        eachSet(sets.list(), state, (set) => {
          const { shouldRun, mayStay } = fitOf(context.names, set, state);
          const scheduled = owners.has(set.metadata.uid);
          const misscheduled = scheduled && (set.status?.numberMisscheduled ?? 0) > 0;
          if (node === undefined || shouldRun !== scheduled || !mayStay || misscheduled) queue.add(keyOf(set));
        }),
      );
    });
  },
};

/** Compares sets with a node, in steps. */
function* eachSet(sets: readonly DaemonSet[], node: NodeObject, compare: (set: DaemonSet) => void): Steps<void> {
  let cost = 0;
  for (const set of sets) {
    compare(set);
    cost += fitCost(set, node);
    if (cost < requirementsInStep) continue;
    cost = 0;
    yield;
  }
}

const selectsAll = ({ spec }: DaemonSet): boolean =>
  spec?.selector !== undefined && Object.keys(spec.selector).length === 0;

const selectorOf = ({ spec }: DaemonSet) => selectorIn(spec?.selector);

async function reconcile(
  context: ControllerContext,
  set: DaemonSet,
  nodes: readonly NodeObject[],
  podsByOwner: Index<Pod>,
  revisionsByOwner: Index<Revision>,
  backoff: Backoff,
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const { client, names, turns } = context;
  const { uid = '', namespace = '' } = set.metadata;
  const selector = selectorOf(set);
  const revisions = await revisionsOf(context, kinds.daemonSets, set, selector, revisionsByOwner);
  const current = await currentRevision(context, set, revisions);
  const pass = await newPass(context, set, current.metadata.labels?.[revisionLabel] ?? '', nodes);
  const own = async () => {
    const candidates = [...podsByOwner.get(uid), ...podsByOwner.get(orphansIn(namespace))];
    return claim({ client, names, turns, kind: kinds.daemonSets, owner: set, selector }, kinds.pods, candidates);
  };
  let retryAfter: number | undefined;
  let failure: unknown;
  try {
    const placed = placement(pass, podsByNode(await own()), backoff);
    retryAfter = placed.retryAfter;
    await makeChanges(pass, placed);
    if (isRolling(set)) await makeChanges(pass, rollingUpdate(pass, podsByNode(await own())));
    const live = new Set((await own()).map(({ metadata }) => metadata.labels?.[revisionLabel]));
    const isLive = ({ metadata }: Revision) => live.has(metadata.labels?.[revisionLabel]);
    const old = revisions.filter(({ metadata }) => metadata.name !== current.metadata.name);
    const limit = (set.spec?.revisionHistoryLimit ?? 10) - old.filter(isLive).length;
    await truncateHistory(context, old, isLive, Math.max(0, limit));
  } catch (error) {
    failure = error;
  }
  const counts = countsOf(pass, podsByNode(await own()));
  await writeStatus(pass, counts);
  if (failure !== undefined) throw failure;
  const { minReadySeconds = 0 } = set.spec ?? {};
  const waiting = minReadySeconds > 0 && counts.numberReady !== counts.numberAvailable;
  const available = waiting ? minReadySeconds * 1000 : Number.POSITIVE_INFINITY;
  const requeueAfterMs = Math.min(retryAfter ?? Number.POSITIVE_INFINITY, available);
  return Number.isFinite(requeueAfterMs) ? { requeueAfterMs } : undefined;
}

async function makeChanges({ context, set: object, hash }: Pass, { create, remove }: Changes): Promise<void> {
  const owner = { kind: kinds.daemonSets, object };
  let failure: unknown;
  const nodes = create.slice(0, burst);
  await slowStart(nodes.length, (i) => {
    const template = templateFor(context.names, object, hash, nodes[i] ?? '');
    return createPod(context, owner, podFromTemplate(context, owner, template));
  }).catch((error: unknown) => {
    if (!isTerminatingNamespace(error)) failure = error;
  });
  const deletions = remove.slice(0, burst).map((pod) => deletePod(context, owner, pod));
  const failed = (await Promise.allSettled(deletions)).find((result) => result.status === 'rejected');
  failure ??= failed?.reason;
  if (failure !== undefined) throw failure;
}

/** The revision of the present template, created, or brought to the front, if need be. */
async function currentRevision(
  context: ControllerContext,
  set: DaemonSet,
  revisions: readonly Revision[],
): Promise<Revision> {
  const { template = {} } = set.spec ?? {};
  const data = templateData(template as never);
  const equal = revisions.findLast((revision) => hasData(revision, data));
  const highest = revisions.filter((revision) => revision !== equal).at(-1)?.revision ?? 0;
  if (equal !== undefined) {
    return (equal.revision ?? 0) > highest ? equal : renumbered(context, equal, highest + 1);
  }
  const { collisionCount = 0 } = set.status ?? {};
  const created = await createRevision(context, kinds.daemonSets, set, {
    data,
    revision: highest + 1,
    labels: template.metadata?.labels ?? {},
    annotations: set.metadata.annotations ?? {},
    hashLabel: revisionLabel,
    collisionCount,
  });
  return created.revision;
}

/** Writes the status if it has changed, again once after a conflict. */
async function writeStatus({ context, set }: Pass, counts: ReturnType<typeof countsOf>): Promise<void> {
  const { generation = 0, namespace = '', name = '' } = set.metadata;
  const before: { readonly [count: string]: unknown } = set.status ?? {};
  const same = Object.entries(counts).every(([count, value]) => (before[count] ?? 0) === value);
  if (same && (set.status?.observedGeneration ?? 0) >= generation) return;
  const status = { ...counts, observedGeneration: generation };
  try {
    await context.client
      .kind(kinds.daemonSets)
      .subresource('status')
      .update({ ...set, status: { ...set.status, ...status } });
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    const live = await context.client.kind(kinds.daemonSets).get({ namespace, name });
    await context.client
      .kind(kinds.daemonSets)
      .subresource('status')
      .update({ ...live, status: { ...live.status, ...status } });
  }
}
