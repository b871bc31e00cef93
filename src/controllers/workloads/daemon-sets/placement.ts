import type { NodeObject } from '../../shared/node-selection.ts';
import { isAvailable, isReady, type Pod } from '../../shared/pods.ts';
import { Evaluation } from '../../shared/selection.ts';
import type { ControllerContext } from '../../types.ts';
import type { Backoff } from './backoff.ts';
import {
  byPlacementAndAge,
  type DaemonSet,
  type Fit,
  fitCost,
  fitOf,
  isUpdated,
  maxSurge,
  maxUnavailable,
  nodeOf,
} from './model.ts';

/** One reconcile of a daemon set. */
export interface Pass {
  readonly context: ControllerContext;
  readonly set: DaemonSet;
  /** Of the revision of the present template. */
  readonly hash: string;
  readonly nodes: readonly NodeObject[];
  readonly fits: ReadonlyMap<string, Fit>;
  readonly now: number;
}

/** Nodes that need a pod, and pods to delete. */
export interface Changes {
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
}

export async function newPass(
  context: ControllerContext,
  set: DaemonSet,
  hash: string,
  nodes: readonly NodeObject[],
): Promise<Pass> {
  const { names, turns, clock } = context;
  const fits = new Map<string, Fit>();
  const evaluation = new Evaluation(turns);
  for (const node of nodes) {
    fits.set(node.metadata.name ?? '', fitOf(names, set, node));
    const turn = evaluation.took(fitCost(set, node));
    if (turn !== undefined) await turn;
  }
  return { context, set, hash, nodes, fits, now: clock.now() };
}

/** The pods by their node; ended ones that are being deleted are not counted. */
export function podsByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const nodesWithPods = new Map<string, Pod[]>();
  for (const pod of pods) {
    const ended = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
    const node = ended && pod.metadata.deletionTimestamp !== undefined ? undefined : nodeOf(pod);
    if (node === undefined) continue;
    const list = nodesWithPods.get(node);
    if (list === undefined) nodesWithPods.set(node, [pod]);
    else list.push(pod);
  }
  return nodesWithPods;
}

const available = ({ set, now }: Pass, pod: Pod): boolean => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
const isDeleted = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** Returns the changes after which every selected node has one pod, and when to look at failed pods again (ms). */
export function placement(pass: Pass, pods: ReadonlyMap<string, readonly Pod[]>, backoff: Backoff) {
  const create: string[] = [];
  const remove: Pod[] = [];
  let retryAfter: number | undefined;
  for (const [node, { shouldRun, mayStay }] of pass.fits) {
    const podsOnNode = pods.get(node);
    if (shouldRun && podsOnNode === undefined) create.push(node);
    else if (mayStay) {
      const running: Pod[] = [];
      for (const pod of podsOnNode ?? []) {
        const wait = removeEnded(pass, node, pod, backoff, running, remove);
        if (wait !== undefined) retryAfter = Math.min(wait, retryAfter ?? wait);
      }
      running.sort(byPlacementAndAge);
      if (maxSurge(pass.set, 1) === 0) for (const pod of running.slice(1)) remove.push(pod);
      else if (running.length === 0 && shouldRun) create.push(node);
      else if (running.length > 1) for (const pod of surplus(pass, running)) remove.push(pod);
    } else for (const pod of podsOnNode ?? []) if (!isDeleted(pod)) remove.push(pod);
  }
  // Pods that wait for nodes that are gone.
  for (const [node, waiting] of pods) {
    if (pass.fits.has(node)) continue;
    for (const pod of waiting) if ((pod.spec?.nodeName ?? '') === '') remove.push(pod);
  }
  return { create, remove, retryAfter };
}

/** Removes a pod that has ended, a failed one no faster than its backoff allows: the rest of that (ms), if any. */
function removeEnded(
  { context, set, now }: Pass,
  node: string,
  pod: Pod,
  backoff: Backoff,
  running: Pod[],
  remove: Pod[],
): number | undefined {
  if (isDeleted(pod)) return undefined;
  const { namespace, name } = pod.metadata;
  const where = `daemon pod ${namespace}/${name} on node ${node}, will try to`;
  if (pod.status?.phase === 'Failed') {
    const key = `${set.metadata.uid}/${set.status?.observedGeneration}/${node}`;
    const remainingMs = backoff.next(key, now);
    if (remainingMs > 0) return remainingMs;
    context.events.record(set, 'Warning', 'FailedDaemonPod', `Found failed ${where} kill it`);
    remove.push(pod);
  } else if (pod.status?.phase === 'Succeeded') {
    context.events.record(set, 'Normal', 'SucceededDaemonPod', `Found succeeded ${where} delete it`);
    remove.push(pod);
  } else running.push(pod);
  return undefined;
}

/** Of several pods on a node all but the oldest old and new one; the old one when it is not ready or no longer needed. */
function* surplus(pass: Pass, running: readonly Pod[]): Generator<Pod> {
  let old: Pod | undefined;
  let updated: Pod | undefined;
  for (const pod of running) {
    const isNew = pod.metadata.labels?.['controller-revision-hash'] === pass.hash;
    if (isNew && updated === undefined) updated = pod;
    else if (!isNew && old === undefined) old = pod;
    else yield pod;
  }
  if (old !== undefined && updated !== undefined && (!isReady(old) || available(pass, updated))) yield old;
}

/** The pods of a node: of the present template and of an earlier one. Undefined: there are several of one. */
function updatedPods({ set, hash }: Pass, pods: readonly Pod[]): { old?: Pod; updated?: Pod } | undefined {
  const result: { old?: Pod; updated?: Pod } = {};
  for (const pod of pods.filter((one) => !isDeleted(one))) {
    const which = isUpdated(set, hash, pod) ? 'updated' : 'old';
    if (result[which] !== undefined) return undefined;
    result[which] = pod;
  }
  return result;
}

/** The next step of an update of the pods to the present template. */
export function rollingUpdate(pass: Pass, pods: ReadonlyMap<string, readonly Pod[]>): Changes {
  const desiredNodes = [...pass.fits].filter(([, { shouldRun }]) => shouldRun).map(([node]) => node);
  const all = new Map<string, readonly Pod[]>(desiredNodes.map((node) => [node, []]));
  for (const [node, podsOnNode] of pods) all.set(node, podsOnNode);
  const surge = maxSurge(pass.set, desiredNodes.length);
  return surge === 0
    ? replaceInPlace(pass, all, desiredNodes.length)
    : replaceBySurge(pass, all, desiredNodes.length, surge);
}

/** Old pods are deleted as far as enough stay available; those that are not available go at once. */
function replaceInPlace(pass: Pass, pods: ReadonlyMap<string, readonly Pod[]>, desired: number): Changes {
  const remove: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const podsOnNode of pods.values()) {
    const { old, updated } = updatedPods(pass, podsOnNode) ?? {};
    if ((old === undefined) === (updated === undefined)) unavailable++;
    else if (updated !== undefined) unavailable += available(pass, updated) ? 0 : 1;
    else if (old !== undefined) {
      if (available(pass, old)) candidates.push(old);
      else {
        remove.push(old);
        unavailable++;
      }
    }
  }
  const room = Math.max(0, maxUnavailable(pass.set, desired) - unavailable);
  return { create: [], remove: [...remove, ...candidates.slice(0, room)] };
}

/** Creates up to `maxSurge` new pods next to old ones, and deletes old pods whose successor is available. */
function replaceBySurge(
  pass: Pass,
  pods: ReadonlyMap<string, readonly Pod[]>,
  desired: number,
  maxSurging: number,
): Changes {
  const remove: Pod[] = [];
  const create: string[] = [];
  const candidates: string[] = [];
  const unwanted: Pod[] = [];
  let surging = 0;
  let availableNow = 0;
  for (const [node, podsOnNode] of pods) {
    const oldAndUpdated = updatedPods(pass, podsOnNode);
    if (oldAndUpdated === undefined) {
      surging++;
      continue;
    }
    const { old, updated } = oldAndUpdated;
    const present = old ?? updated;
    if (present !== undefined && available(pass, present)) availableNow++;
    if (old === undefined) continue;
    if (updated !== undefined) {
      if (available(pass, updated)) remove.push(old);
      else surging++;
    } else if (pass.fits.get(node)?.shouldRun !== true) {
      if (available(pass, old)) unwanted.push(old);
      else remove.push(old);
    } else if (available(pass, old)) candidates.push(node);
    else create.push(node);
  }
  const spare = Math.max(0, availableNow - desired);
  const room = Math.max(0, maxSurging - surging);
  return {
    create: [...create, ...candidates.slice(0, room)],
    remove: [...remove, ...unwanted.slice(0, spare)],
  };
}

/** The counts of the status. */
export function countsOf(pass: Pass, pods: ReadonlyMap<string, readonly Pod[]>) {
  const counts = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
  };
  for (const [node, { shouldRun }] of pass.fits) {
    const [pod] = [...(pods.get(node) ?? [])].sort(byPlacementAndAge);
    if (!shouldRun) {
      if (pod !== undefined) counts.numberMisscheduled++;
      continue;
    }
    counts.desiredNumberScheduled++;
    if (pod === undefined) continue;
    counts.currentNumberScheduled++;
    if (isReady(pod)) counts.numberReady++;
    if (available(pass, pod)) counts.numberAvailable++;
    if (isUpdated(pass.set, pass.hash, pod)) counts.updatedNumberScheduled++;
  }
  return { ...counts, numberUnavailable: counts.desiredNumberScheduled - counts.numberAvailable };
}
