import type { EventRecorder } from '../../../client/index.ts';
import { jsonEqual } from '../../../meta/index.ts';
import type { JobStatus } from '../../../types/batch-v1.ts';
import * as kinds from '../../shared/kinds.ts';
import type { Pod } from '../../shared/pods.ts';
import type { Backoff } from './backoff.ts';
import { isCounted } from './failure-policy.ts';
import { formatIntervals, includes, intervalsOf, totalOf, union } from './intervals.ts';
import { removeFinalizer } from './manage.ts';
import {
  type Condition,
  conditionOf,
  hasFinalizer,
  indexOf,
  isFailed,
  isSucceeded,
  type Job,
  validIndexOf,
} from './model.ts';
import { ensureCondition, newCondition, type Pass } from './pass.ts';

/** How many ended pods one reconcile counts at most, so that the status stays small. */
const maxUncounted = 500;

/**
 * Counts the pods that have ended, and ends the job. In this order, so that no pod is counted twice or lost when the
 * process dies in between: the status lists the pods as uncounted, with the reason for which the job ends; their finalizers are
 * removed; the status counts them, and says that the job has ended. `written` is called after the first of these.
 */
export async function track(
  pass: Pass,
  draft: JobStatus,
  end: Condition | undefined,
  written: (backoff: Backoff) => void,
): Promise<void> {
  const { client, events, names } = pass.context;
  const waiting = new Set(pass.pods.filter((pod) => hasFinalizer(pod, names)).map(uidOf));
  const { status, ended, limited } = listEnded(pass, countRemoved(draft, waiting), end);
  let job = pass.job;
  let next = end === undefined ? status : announced(status, end);
  const write = async () => {
    job = await client
      .kind(kinds.jobs)
      .subresource('status')
      .update({ ...job, status: next });
    next = job.status ?? {};
  };
  if (!jsonEqual((job.status ?? {}) as never, next as never)) {
    await write();
    written(pass.backoff);
  }
  const removals = await Promise.allSettled(
    ended.map(async (pod) => {
      await removeFinalizer(pass, pod);
      waiting.delete(uidOf(pod));
    }),
  );
  const before = next;
  next = countRemoved(next, waiting);
  const failed = removals.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    if (next !== before) await write();
    throw failed.reason;
  }
  const { succeeded = [], failed: lost = [] } = next.uncountedTerminatedPods ?? {};
  const final = end && finalOf(end, pass.now);
  const isOver = !limited && succeeded.length + lost.length === 0 && pass.counts.terminating === 0;
  if (final !== undefined && isOver) next = withEnd(next, final);
  if (next === before) return;
  await write();
  if (final !== undefined && isOver) recordEnd(events, job, final);
}

const uidOf = ({ metadata: { uid = '' } }: Pod): string => uid;

/** The status with the uncounted pods that have no finalizer any more counted; the same one when there are none. */
function countRemoved(status: JobStatus, waiting: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const stillUncounted = {
    succeeded: succeeded.filter((uid) => waiting.has(uid)),
    failed: failed.filter((uid) => waiting.has(uid)),
  };
  const counted = {
    succeeded: succeeded.length - stillUncounted.succeeded.length,
    failed: failed.length - stillUncounted.failed.length,
  };
  if (counted.succeeded + counted.failed === 0) return status;
  return {
    ...status,
    ...(counted.succeeded === 0 ? {} : { succeeded: (status.succeeded ?? 0) + counted.succeeded }),
    ...(counted.failed === 0 ? {} : { failed: (status.failed ?? 0) + counted.failed }),
    uncountedTerminatedPods: uncounted(stillUncounted.succeeded, stillUncounted.failed),
  };
}

const uncounted = (succeeded: readonly string[], failed: readonly string[]) => ({
  ...(succeeded.length === 0 ? {} : { succeeded: [...succeeded] }),
  ...(failed.length === 0 ? {} : { failed: [...failed] }),
});

interface Listed {
  readonly status: JobStatus;
  /** The pods that lose their finalizer. */
  readonly ended: readonly Pod[];
  /** More pods have ended than one reconcile counts. */
  readonly limited: boolean;
}

/** The status that lists the pods that have ended as uncounted, and of an indexed job has their indexes. */
function listEnded(pass: Pass, status: JobStatus, end: Condition | undefined): Listed {
  const { context, job, pods, indexes } = pass;
  const { names } = context;
  const { succeeded: listed = [], failed: lost = [] } = status.uncountedTerminatedPods ?? {};
  const [succeeded, failed, completed, ended] = [[...listed], [...lost], new Set<number>(), [] as Pod[]];
  const size = () => completed.size + succeeded.length + failed.length;
  const order = (pod: Pod) => indexOf(pod, names) ?? -1;
  const inOrder = indexes === undefined ? pods : [...pods].sort((a, b) => order(a) - order(b));
  for (const pod of inOrder) {
    if (!hasFinalizer(pod, names) || !hasEnded(pass, pod, end)) continue;
    ended.push(pod);
    const uid = uidOf(pod);
    const index = validIndexOf(pod, job, names);
    if (isSucceeded(pod) && !pass.uncounted.failed.has(uid)) {
      if (indexes === undefined) {
        if (!pass.uncounted.succeeded.has(uid)) succeeded.push(uid);
      } else if (index !== undefined && !includes(indexes.counted, index)) completed.add(index);
    } else if (countsAsFailed(pass, pod, end) && (indexes === undefined || index !== undefined)) failed.push(uid);
    if (size() >= maxUncounted) break;
  }
  const limited = size() >= maxUncounted;
  const next = jsonEqual([succeeded, failed], [listed, lost])
    ? status
    : { ...status, uncountedTerminatedPods: uncounted(succeeded, failed) };
  return { status: indexes === undefined ? next : withIndexes(next, pass, completed), ended, limited };
}

/** The pod need not be waited for any more. */
function hasEnded({ context: { names }, job, indexes }: Pass, pod: Pod, end: Condition | undefined): boolean {
  if (job.metadata.deletionTimestamp !== undefined || end !== undefined || isSucceeded(pod)) return true;
  const index = indexOf(pod, names);
  const retained = index === undefined ? undefined : indexes?.toReplace.get(index);
  return isFailed(pod, job) && (retained === undefined || uidOf(retained) !== uidOf(pod));
}

/** When the job fails, all of its pods do. */
const countsAsFailed = ({ job, uncounted }: Pass, pod: Pod, end: Condition | undefined): boolean =>
  (isFailed(pod, job) || (end !== undefined && end.type !== 'SuccessCriteriaMet')) &&
  !uncounted.failed.has(uidOf(pod)) &&
  isCounted(job.spec?.podFailurePolicy, pod);

function withIndexes(status: JobStatus, { indexes }: Pass, completed: Iterable<number>): JobStatus {
  const { completedIndexes: _, succeeded: __, ...rest } = status;
  const all = union(indexes?.succeeded ?? [], intervalsOf(completed));
  return {
    ...rest,
    ...(all.length === 0 ? {} : { succeeded: totalOf(all), completedIndexes: formatIntervals(all) }),
    ...(indexes?.failed === undefined ? {} : { failedIndexes: formatIntervals(indexes.failed) }),
  };
}

/** Returns the status with the condition for which the job ends. */
function announced(status: JobStatus, end: Condition): JobStatus {
  if (end.type === 'Failed' || conditionOf(status, end.type)?.status === 'True') return status;
  return { ...status, conditions: [...(status.conditions ?? []), end] };
}

/** The condition of a job that has ended. */
function finalOf({ type, reason = '', message = '' }: Condition, now: number): Condition {
  return newCondition(type === 'SuccessCriteriaMet' ? 'Complete' : 'Failed', 'True', reason, message, now);
}

function withEnd(status: JobStatus, final: Condition): JobStatus {
  const conditions = ensureCondition(status.conditions, final) ?? [];
  const { type, lastTransitionTime = '' } = final;
  return type === 'Complete'
    ? { ...status, conditions, completionTime: lastTransitionTime }
    : { ...status, conditions };
}

function recordEnd(events: EventRecorder, job: Job, { type, reason = '', message = '' }: Condition): void {
  if (type === 'Failed') {
    events.record(job, 'Warning', reason, message);
    return;
  }
  const { completions } = job.spec ?? {};
  if (completions !== undefined && (job.status?.succeeded ?? 0) > completions) {
    const text = 'Too many succeeded pods running after completion count reached';
    events.record(job, 'Warning', 'TooManySucceededPods', text);
  }
  events.record(job, 'Normal', 'Completed', 'Job completed');
}
