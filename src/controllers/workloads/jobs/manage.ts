import { isStatus } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { createPod, deletePod, isTerminatingNamespace, podFromTemplate, slowStart } from '../../shared/pod-control.ts';
import { compareForDeletion, isReady, type Pod } from '../../shared/pods.ts';
import { backoffLeft } from './backoff.ts';
import { indexesToCreate, withIndex, withIndexVariable } from './indexes.ts';
import {
  finalizerRemoval,
  hasFinalizer,
  hasLimitPerIndex,
  isIndexed,
  isSuspended,
  replacesOnlyEnded,
  trackingFinalizer,
  validIndexOf,
} from './model.ts';
import type { Pass } from './pass.ts';

/** Pods that one reconcile creates or deletes at most. */
const burst = 500;

/** The outcome of creations or deletions. */
export interface Managed {
  readonly failure?: { readonly error: unknown };
  /** How long until pods may be created (ms). */
  readonly wait?: number;
}

/** Creates or deletes pods until there are as many as the job asks for. */
export async function managePods(pass: Pass): Promise<Managed> {
  const { job, active, counts } = pass;
  if (isSuspended(job)) return deletePods(pass, surplusOf(pass, active.length), true);
  const desired = wantedPods(pass);
  const surplus = surplusOf(pass, Math.max(0, active.length - desired)).slice(0, burst);
  if (surplus.length > 0) return deletePods(pass, surplus, true);
  const missing = desired - active.length - (replacesOnlyEnded(job) ? counts.terminating : 0);
  return missing > 0 ? createPods(pass, missing) : {};
}

function wantedPods({ job, active, succeeded }: Pass): number {
  const { completions, parallelism = 1 } = job.spec ?? {};
  // Without completions one success is enough, and the other pods are left to end.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** The pods to delete: of an indexed job all without an index of their own, and then those that have come least far. */
function surplusOf({ context: { names }, job, active }: Pass, atLeast: number): readonly Pod[] {
  const inOrder = (pods: readonly Pod[]) => [...pods].sort((a, b) => compareForDeletion(a, b, {}));
  if (!isIndexed(job)) return inOrder(active).slice(0, atLeast);
  const byIndex = new Map<number | undefined, Pod[]>();
  for (const pod of active) {
    const index = validIndexOf(pod, job, names);
    byIndex.set(index, [...(byIndex.get(index) ?? []), pod]);
  }
  const surplus: Pod[] = [];
  const remaining: Pod[] = [];
  for (const [index, pods] of byIndex) {
    const sorted = inOrder(pods);
    const retained = index === undefined ? undefined : sorted.pop();
    for (const pod of sorted) surplus.push(pod);
    if (retained !== undefined) remaining.push(retained);
  }
  return [...surplus, ...inOrder(remaining).slice(0, Math.max(0, atLeast - surplus.length))];
}

/**
 * Deletes pods, and takes them from the counts of active ones. With `untracked` their finalizers are removed before: how
 * they end does not matter.
 */
export async function deletePods(pass: Pass, pods: readonly Pod[], untracked: boolean): Promise<Managed> {
  const { context, job, counts } = pass;
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      if (untracked) await removeFinalizer(pass, pod);
      await deletePod(context, { kind: kinds.jobs, object: job }, pod);
      if (isReady(pod)) counts.ready--;
      counts.active--;
      counts.terminating++;
    }),
  );
  return failureOf(results);
}

function failureOf(results: readonly PromiseSettledResult<unknown>[]): Managed {
  const failed = results.find((result) => result.status === 'rejected');
  return failed === undefined ? {} : { failure: { error: failed.reason } };
}

/** Removes the finalizer of the pod. Ignores a pod that no longer exists. */
export async function removeFinalizer({ context: { client, names } }: Pick<Pass, 'context'>, pod: Pod): Promise<void> {
  if (!hasFinalizer(pod, names)) return;
  const { uid = '' } = pod.metadata;
  try {
    const { metadata } = finalizerRemoval(names);
    // The uid makes sure that it is still the same pod.
    await client.kind(kinds.pods).patch(pod.metadata, 'strategic', { metadata: { ...metadata, uid } });
  } catch (error) {
    if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
  }
}

async function createPods(pass: Pass, missing: number): Promise<Managed> {
  const { context, job, pods, active, indexes, counts, now } = pass;
  const { names } = context;
  const remainingMs = hasLimitPerIndex(job) ? 0 : backoffLeft(pass.backoff, now);
  if (remainingMs > 0) return { wait: remainingMs };
  const limit = Math.min(missing, burst);
  const pending = indexes && indexesToCreate(names, job, { all: pods, active }, indexes, limit, now);
  if (pending !== undefined && pending.wait > 0) return { wait: pending.wait };
  const owner = { kind: kinds.jobs, object: job };
  const { template = {} } = job.spec ?? {};
  const finalizer = trackingFinalizer(names);
  const podOf = (index: number | undefined): Pod => {
    const indexed = index === undefined ? template : withIndexVariable(names, template);
    const pod = podFromTemplate(context, owner, indexed);
    const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), finalizer])];
    const tracked = { ...pod, metadata: { ...pod.metadata, finalizers } };
    return index === undefined ? tracked : withIndex(names, job, tracked, index, indexes?.toReplace.get(index));
  };
  try {
    await slowStart(pending?.indexes.length ?? limit, async (i) => {
      try {
        await createPod(context, owner, podOf(pending?.indexes[i]));
      } catch (error) {
        if (!isTerminatingNamespace(error)) throw error;
      }
      counts.active++;
    });
    return {};
  } catch (error) {
    return { failure: { error } };
  }
}
