import { formatTime } from '../../../meta/index.ts';
import type { JobStatus } from '../../../types/batch-v1.ts';
import { isActive, isReady, isTerminating, type Pod } from '../../shared/pods.ts';
import type { ControllerContext } from '../../types.ts';
import { type Backoff, nextBackoff, noBackoff } from './backoff.ts';
import { isCounted, verdictOf } from './failure-policy.ts';
import { type Indexes, indexesOf, successOf } from './indexes.ts';
import { totalOf } from './intervals.ts';
import {
  type Condition,
  conditionOf,
  hasFinalizer,
  isFailed,
  isIndexed,
  isSucceeded,
  isSuspended,
  isTrue,
  type Job,
  validIndexOf,
} from './model.ts';

/** The state of one reconcile of a job. */
export interface Pass {
  readonly context: ControllerContext;
  /** As it was when the reconcile began. */
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  /** The uids of pods that the status lists as ended and does not count yet. */
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  /** How many pods, or indexes, have succeeded, and how many pods have failed, counted or not. */
  readonly succeeded: number;
  readonly failed: number;
  /** Undefined for a job that is not indexed. */
  readonly indexes: Indexes | undefined;
  readonly backoff: Backoff;
  /** As creations and deletions of this reconcile change them. */
  readonly counts: { active: number; ready: number; terminating: number };
  readonly startTime: string | undefined;
  readonly now: number;
}

export function newPass(context: ControllerContext, job: Job, pods: readonly Pod[], before: Backoff | undefined): Pass {
  const { names, clock } = context;
  const { spec, status } = job;
  const now = clock.now();
  const active = pods.filter(isActive);
  const { succeeded = [], failed = [] } = status?.uncountedTerminatedPods ?? {};
  const uncounted = { succeeded: new Set(succeeded), failed: new Set(failed) };
  const ended = (countedUids: ReadonlySet<string>, holds: (pod: Pod) => boolean) =>
    pods.filter(
      (pod) =>
        hasFinalizer(pod, names) &&
        !countedUids.has(pod.metadata.uid ?? '') &&
        (!isIndexed(job) || validIndexOf(pod, job, names) !== undefined) &&
        holds(pod),
    );
  const newSucceeded = ended(uncounted.succeeded, isSucceeded);
  const newFailed = ended(uncounted.failed, (pod) => isFailed(pod, job));
  const countedFailed = newFailed.filter((pod) => isCounted(spec?.podFailurePolicy, pod));
  const indexes = isIndexed(job) ? indexesOf(names, job, pods, active) : undefined;
  return {
    context,
    job,
    pods,
    active,
    uncounted,
    indexes,
    now,
    succeeded:
      indexes === undefined
        ? (status?.succeeded ?? 0) + newSucceeded.length + uncounted.succeeded.size
        : totalOf(indexes.succeeded),
    failed: (status?.failed ?? 0) + countedFailed.length + uncounted.failed.size,
    backoff: nextBackoff(before ?? noBackoff, newSucceeded, newFailed),
    counts: {
      active: active.length,
      ready: active.filter(isReady).length,
      terminating: pods.filter(isTerminating).length,
    },
    startTime: status?.startTime ?? (isSuspended(job) ? undefined : formatTime(now)),
  };
}

export function newCondition(
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
  now: number,
): Condition {
  const time = formatTime(now);
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/** The conditions with this one. One that is false is not added, only changed. */
export function ensureCondition(conditions: JobStatus['conditions'], desired: Condition): Condition[] | undefined {
  const { type, status, reason, message } = desired;
  const before = conditions?.find((condition) => condition.type === type);
  if (before === undefined) return status === 'False' ? conditions : [...(conditions ?? []), desired];
  if (before.status === status && before.reason === reason && before.message === message) return conditions;
  return conditions?.map((condition) => (condition.type === type ? desired : condition));
}

/**
 * Returns the condition for which the job ends: `SuccessCriteriaMet` or `FailureTarget`, or `Failed` where the status has the latter; undefined
 * while it is not.
 */
export function endOf(pass: Pass): Condition | undefined {
  const { job, pods, now, indexes } = pass;
  const met = conditionOf(job.status, 'SuccessCriteriaMet');
  if (met?.status === 'True') return met;
  if (isTrue(job.status, 'FailureTarget')) {
    const { reason = '', message = '' } = conditionOf(job.status, 'FailureTarget') ?? {};
    return newCondition('Failed', 'True', reason, message, now);
  }
  const failure = failureOf(pass, pods);
  if (failure !== undefined) return newCondition('FailureTarget', 'True', ...failure, now);
  const success = indexes && successOf(job, indexes);
  return success === undefined ? undefined : newCondition('SuccessCriteriaMet', 'True', 'SuccessPolicy', success, now);
}

function failureOf(pass: Pass, pods: readonly Pod[]): [reason: string, message: string] | undefined {
  const { job, failed, indexes } = pass;
  const { podFailurePolicy: policy, backoffLimit = 6, maxFailedIndexes, completions = 0 } = job.spec ?? {};
  for (const pod of policy === undefined ? [] : pods) {
    const { failsJob } = isFailed(pod, job) ? verdictOf(policy, pod) : {};
    if (failsJob !== undefined) return ['PodFailurePolicy', failsJob];
  }
  if (failed > backoffLimit || restartsExceed(job, pods, backoffLimit)) {
    return ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'];
  }
  if ((deadlineLeft(pass) ?? 1) <= 0) return ['DeadlineExceeded', 'Job was active longer than specified deadline'];
  if (indexes?.failed === undefined) return undefined;
  const lost = totalOf(indexes.failed);
  if (maxFailedIndexes !== undefined && lost > maxFailedIndexes) {
    return ['MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes'];
  }
  return lost > 0 && lost + totalOf(indexes.succeeded) >= completions
    ? ['FailedIndexes', 'Job has failed indexes']
    : undefined;
}

/** The containers of pods that restart in place have restarted too often. */
function restartsExceed({ spec }: Job, pods: readonly Pod[], limit: number): boolean {
  if (spec?.template?.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
    for (const { restartCount = 0 } of containers) restarts += restartCount;
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** How long until the active deadline (ms); undefined when the job has none, or is suspended. */
export function deadlineLeft({ job, startTime, now }: Pass): number | undefined {
  const { activeDeadlineSeconds: seconds } = job.spec ?? {};
  if (seconds === undefined || startTime === undefined || isSuspended(job)) return undefined;
  return Date.parse(startTime) + seconds * 1000 - now;
}
