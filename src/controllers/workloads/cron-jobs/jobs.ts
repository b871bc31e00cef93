import { formatTime, parseTime, StatusError } from '../../../meta/index.ts';
import { zoneOffset } from '../../../rules/index.ts';
import type { CronJobStatus } from '../../../types/batch-v1.ts';
import { apiVersionOf } from '../../shared/kind.ts';
import * as kinds from '../../shared/kinds.ts';
import { controllerOf, controllerReference } from '../../shared/owners.ts';
import { isTerminatingNamespace, messageOf } from '../../shared/pod-control.ts';
import type { ControllerContext } from '../../types.ts';
import { isTrue, type Job } from '../jobs/model.ts';
import type { CronJob } from './due.ts';

/** The state of one reconcile of a cron job. */
export interface Pass {
  readonly context: ControllerContext;
  /** As it was when the reconcile began. */
  readonly cronJob: CronJob;
  /** Its status to be. */
  readonly status: CronJobStatus;
  readonly now: number;
}

/** The name of the job of a time (ms), so that it is created once. */
export const jobNameAt = ({ metadata }: CronJob, time: number): string =>
  `${metadata.name}-${Math.floor(time / 60_000)}`;

/** Creates the job of a scheduled time (ms) and adds it to the active ones. Adds an existing job if the cron job controls it. */
export async function createJob({ context, cronJob, status }: Pass, time: number): Promise<void> {
  const { client, events, names } = context;
  const desired = jobAt(context, cronJob, time);
  let job: Job;
  try {
    job = await client.kind(kinds.jobs).create(desired);
    events.record(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'AlreadyExists') {
      const { namespace = '', name = '' } = desired.metadata;
      job = await client.kind(kinds.jobs).get({ namespace, name });
      const isOwn = controllerOf(job)?.uid === cronJob.metadata.uid;
      if (!isOwn || status.active?.some(({ uid }) => uid === job.metadata.uid) === true) return;
    } else {
      if (!isTerminatingNamespace(error)) {
        events.record(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`);
      }
      throw error;
    }
  }
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = job.metadata;
  const apiVersion = apiVersionOf(kinds.jobs, names);
  const reference = { kind: kinds.jobs.kind, namespace, name, uid, apiVersion, resourceVersion };
  status.active = [...(status.active ?? []), reference];
  status.lastScheduleTime = formatTime(time);
}

function jobAt({ names }: ControllerContext, cronJob: CronJob, time: number): Job {
  const { jobTemplate, timeZone = 'UTC' } = cronJob.spec ?? {};
  const { labels, annotations } = jobTemplate?.metadata ?? {};
  const { namespace } = cronJob.metadata;
  return {
    metadata: {
      name: jobNameAt(cronJob, time),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      annotations: { ...annotations, [`batch.${names.labels}/cronjob-scheduled-timestamp`]: timeIn(timeZone, time) },
      ownerReferences: [controllerReference(kinds.cronJobs, cronJob, names)],
    },
    spec: structuredClone(jobTemplate?.spec ?? {}),
  };
}

/** `2024-01-31T09:00:00+01:00`. */
function timeIn(zone: string, time: number): string {
  const offset = zoneOffset(zone, time);
  const text = formatTime(time + offset);
  if (offset === 0) return text;
  const minutes = Math.abs(offset) / 60_000;
  const [hour, minute] = [minutes / 60, minutes % 60].map((part) => String(Math.floor(part)).padStart(2, '0'));
  return `${text.slice(0, -1)}${offset < 0 ? '-' : '+'}${hour}:${minute}`;
}

/** Deletes a job with its pods, and takes it from the active ones. False: it cannot be deleted, which is recorded. */
export async function deleteJob({ context, cronJob, status }: Pass, job: Job): Promise<boolean> {
  const { client, events } = context;
  try {
    await client.kind(kinds.jobs).delete(job.metadata, { propagationPolicy: 'Background' });
  } catch (error) {
    events.record(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`);
    return false;
  }
  if (status.active !== undefined) status.active = status.active.filter(({ uid }) => uid !== job.metadata.uid);
  events.record(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
  return true;
}

/** Deletes the jobs that began first, beyond as many as are kept of those that succeeded and of those that failed. */
export async function deleteExcess(pass: Pass, jobs: readonly Job[]): Promise<void> {
  const { successfulJobsHistoryLimit: succeeded, failedJobsHistoryLimit: failed } = pass.cronJob.spec ?? {};
  for (const [type, limit] of [
    ['Complete', succeeded],
    ['Failed', failed],
  ] as const) {
    if (limit === undefined) continue;
    const finished = jobs.filter(({ status }) => isTrue(status, type)).sort(compareStarts);
    for (const job of finished.slice(0, Math.max(0, finished.length - limit))) {
      if (job.metadata.deletionTimestamp === undefined) await deleteJob(pass, job);
    }
  }
}

function compareStarts(a: Job, b: Job): number {
  const [first, second] = [a, b].map(({ status }) =>
    status?.startTime === undefined ? Number.MAX_SAFE_INTEGER : parseTime(status.startTime),
  ) as [number, number];
  return first - second || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}
