import { type Index, type Informer, keyOf, type WorkQueue } from '../../../client/index.ts';
import { formatTime } from '../../../meta/index.ts';
import type { JobStatus } from '../../../types/batch-v1.ts';
import * as kinds from '../../shared/kinds.ts';
import { byController, claim, controllerOf, findController, orphansIn } from '../../shared/owners.ts';
import type { Pod } from '../../shared/pods.ts';
import { findSelecting, selectorIn } from '../../shared/selection.ts';
import type { Controller, ControllerContext } from '../../types.ts';
import type { Backoff } from './backoff.ts';
import { deletePods, type Managed, managePods, removeFinalizer } from './manage.ts';
import {
  type Condition,
  hasFinalizer,
  isFinished,
  isManagedElsewhere,
  isSuspended,
  type Job,
  trackingFinalizer,
} from './model.ts';
import { deadlineLeft, endOf, ensureCondition, newCondition, newPass, type Pass } from './pass.ts';
import { track } from './tracking.ts';

/** Changes of pods and of the status are collected for so long (ms). */
const batchMs = 1000;
const retries = { firstBackoffMs: 1000, lastBackoffMs: 60_000 };

/** Runs pods until each job has as many completions as it asks for, or has failed. */
export const jobController: Controller = {
  name: 'job-controller',
  needs: [kinds.jobs, kinds.pods],
  account: 'job-controller',
  start(context) {
    const { informers, names, settings } = context;
    const jobs = informers.of(kinds.jobs);
    const pods = informers.of(kinds.pods);
    const podsByOwner = byController(pods);
    /** By the uids of jobs. */
    const backoffs = new Map<string, Backoff>();
    const queue = context.queue(
      'job',
      async (key) => {
        const job = jobs.getByKey(key);
        if (job === undefined || isFinished(job) || isManagedElsewhere(job, names, settings)) return undefined;
        return reconcile(context, job, await podsOf(context, job, podsByOwner), backoffs);
      },
      retries,
    );
    const orphans = context.queue(
      'job_orphan_pod',
      async (key) => {
        const pod = pods.getByKey(key);
        if (pod !== undefined && isAbandoned(context, pod, jobs)) await removeFinalizer({ context }, pod);
      },
      retries,
    );
    jobs.onChange((job, old) => {
      const state = job ?? (old as Job);
      const { uid = '', namespace = '', generation } = state.metadata;
      if (job === undefined || isFinished(job)) {
        backoffs.delete(uid);
        const remainingPods = [...podsByOwner.get(uid), ...podsByOwner.get(orphansIn(namespace))];
        for (const pod of remainingPods) if (hasFinalizer(pod, names)) orphans.add(keyOf(pod));
      } else queue.addAfter(keyOf(job), old?.metadata.generation === generation ? batchMs : 0);
    });
    const enqueue = (job: Job) => {
      if (!isFinished(job)) queue.addAfter(keyOf(job), batchMs);
    };
    const select = findSelecting(context, { owners: jobs, selectorOf, onMatch: enqueue });
    pods.onChange((pod, old) => {
      podChanged(context, pod, old, jobs, queue, orphans);
      if (pod !== undefined && controllerOf(pod) === undefined && pod.metadata.deletionTimestamp === undefined) {
        select(pod);
      }
    });
  },
};

const selectorOf = ({ spec }: Job) => selectorIn(spec?.selector);

/** Adds the job of a pod that has changed, and the pod itself when no job counts it any more. */
function podChanged(
  { names }: ControllerContext,
  pod: Pod | undefined,
  old: Pod | undefined,
  jobs: Informer<Job>,
  queue: WorkQueue,
  orphans: WorkQueue,
): void {
  for (const state of [old, pod]) {
    const job = state && findController(jobs, state);
    if (job !== undefined && !isFinished(job)) queue.addAfter(keyOf(job), batchMs);
  }
  if (pod === undefined) return;
  const reference = controllerOf(pod);
  const job = findController(jobs, pod);
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  if (hasFinalizer(pod, names) && (reference === undefined || (isDeleted && (job === undefined || isFinished(job))))) {
    orphans.add(keyOf(pod));
  }
}

/** No job of this controller counts the pod. */
function isAbandoned({ names, settings }: ControllerContext, pod: Pod, jobs: Informer<Job>): boolean {
  const reference = controllerOf(pod);
  if (reference === undefined) return true;
  if (reference.kind !== kinds.jobs.kind || reference.apiVersion !== kinds.jobs.apiVersion) return false;
  const job = findController(jobs, pod);
  return job === undefined || (isFinished(job) && !isManagedElsewhere(job, names, settings));
}

/** The pods of the job, with those that it adopts. */
function podsOf({ client, names, turns }: ControllerContext, job: Job, podsByOwner: Index<Pod>): Promise<Pod[]> {
  const { uid = '', namespace = '' } = job.metadata;
  const selector = selectorOf(job);
  const candidates = [...podsByOwner.get(uid), ...podsByOwner.get(orphansIn(namespace))];
  const finalizer = trackingFinalizer(names);
  return claim({ client, names, turns, kind: kinds.jobs, owner: job, selector, finalizer }, kinds.pods, candidates);
}

async function reconcile(
  context: ControllerContext,
  job: Job,
  pods: readonly Pod[],
  backoffs: Map<string, Backoff>,
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const { uid = '', deletionTimestamp } = job.metadata;
  const pass = newPass(context, job, pods, backoffs.get(uid));
  let end = endOf(pass);
  let managed: Managed = {};
  let changed: Pick<JobStatus, 'conditions' | 'startTime'> | undefined;
  if (end !== undefined) {
    managed = await deletePods(pass, pass.active, false);
    // A job ends when its pods have: those that are left are deleted by the next attempt.
    if (managed.failure !== undefined) end = undefined;
  } else {
    if (deletionTimestamp === undefined) managed = await managePods(pass);
    if (isComplete(pass)) end = completion(pass);
    else if (deletionTimestamp === undefined) changed = suspension(pass);
  }
  await track(pass, draftOf(pass, changed), end, (backoff) => backoffs.set(uid, backoff));
  if (managed.failure !== undefined) throw managed.failure.error;
  const deadline = end === undefined ? deadlineLeft(pass) : undefined;
  const wait = managed.wait && Math.max(managed.wait, batchMs);
  if (deadline === undefined) return wait === undefined ? undefined : { requeueAfterMs: wait };
  return { requeueAfterMs: Math.min(deadline, wait ?? deadline) };
}

/** No pod is active, and as many have succeeded as the job asks for. */
function isComplete({ job, succeeded, counts }: Pass): boolean {
  const { completions } = job.spec ?? {};
  return counts.active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
}

const completion = ({ now }: Pass): Condition =>
  newCondition('SuccessCriteriaMet', 'True', 'CompletionsReached', 'Reached expected number of succeeded pods', now);

/** The change of the status after a suspension or a resumption of the job, which is recorded; otherwise undefined. */
function suspension({ context: { events }, job, now }: Pass): Pick<JobStatus, 'conditions' | 'startTime'> | undefined {
  const suspended = isSuspended(job);
  const [reason, message] = suspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed'];
  const before = job.status?.conditions;
  const desired = newCondition('Suspended', suspended ? 'True' : 'False', reason, message, now);
  const conditions = ensureCondition(before, desired);
  if (conditions === undefined || conditions === before) return undefined;
  events.record(job, 'Normal', suspended ? 'Suspended' : 'Resumed', message);
  // The active deadline counts from when the job was resumed.
  return suspended ? { conditions } : { conditions, startTime: formatTime(now) };
}

/** The status before ended pods are counted. */
function draftOf(
  { context: { settings }, job, startTime, counts: { active, ready, terminating } }: Pass,
  changed: Pick<JobStatus, 'conditions' | 'startTime'> | undefined,
): JobStatus {
  const { active: _, startTime: __, ...status } = job.status ?? {};
  const start = changed === undefined ? startTime : changed.startTime;
  return {
    uncountedTerminatedPods: {},
    ...status,
    ...changed,
    ...(start === undefined ? {} : { startTime: start }),
    ...(active === 0 ? {} : { active }),
    ready,
    ...(settings.features.JobPodReplacementPolicy ? { terminating } : {}),
  };
}
