import { keyOf } from '../../../client/index.ts';
import { formatTime, jsonEqual, quote } from '../../../meta/index.ts';
import { isTimeZone, parseSchedule, type Schedule } from '../../../rules/index.ts';
import type { CronJobStatus } from '../../../types/batch-v1.ts';
import * as kinds from '../../shared/kinds.ts';
import { byController, findController } from '../../shared/owners.ts';
import type { Controller, ControllerContext } from '../../types.ts';
import { isFinished, isTrue, type Job } from '../jobs/model.ts';
import { type CronJob, dueTimes, manyMissed, untilNext } from './due.ts';
import { createJob, deleteExcess, deleteJob, jobNameAt, type Pass } from './jobs.ts';

/** Creates a job of each cron job at the times of its schedule. */
export const cronJobController: Controller = {
  name: 'cronjob-controller',
  needs: [kinds.cronJobs, kinds.jobs],
  account: 'cronjob-controller',
  start(context) {
    const { informers, clock } = context;
    const cronJobs = informers.of(kinds.cronJobs);
    const jobs = informers.of(kinds.jobs);
    const jobsByOwner = byController(jobs);
    const queue = context.queue('cronjob', async (key) => {
      const cronJob = cronJobs.getByKey(key);
      if (cronJob === undefined) return undefined;
      return reconcile(context, cronJob, jobsByOwner.get(cronJob.metadata.uid ?? ''));
    });
    cronJobs.onChange((cronJob, old) => {
      if (cronJob === undefined) return;
      const isSame = old?.spec?.schedule === cronJob.spec?.schedule && old?.spec?.timeZone === cronJob.spec?.timeZone;
      const schedule = old === undefined || isSame ? undefined : scheduleOf(cronJob);
      // The times of another schedule before now do not count.
      if (schedule === undefined) queue.add(keyOf(cronJob));
      else if (typeof schedule === 'string') {
        const text = `unparseable schedule for cronjob: ${cronJob.spec?.schedule}`;
        context.events.record(cronJob, 'Warning', 'UnParseableCronJobSchedule', text);
      } else {
        const ms = untilNext(cronJob, schedule, clock.now());
        if (ms !== undefined) queue.addAfter(keyOf(cronJob), ms);
      }
    });
    jobs.onChange((job, old) => {
      for (const state of [old, job]) {
        const cronJob = state && findController(cronJobs, state);
        if (cronJob !== undefined) queue.add(keyOf(cronJob));
      }
    });
  },
};

/** The schedule in the time zone of the cron job; the text of the error when it is invalid. */
function scheduleOf({ spec }: CronJob): Schedule | string {
  const { schedule = '', timeZone } = spec ?? {};
  return parseSchedule(
    schedule.includes('TZ') || timeZone === undefined || !isTimeZone(timeZone)
      ? schedule
      : `TZ=${timeZone} ${schedule}`,
  );
}

async function reconcile(
  context: ControllerContext,
  cronJob: CronJob,
  jobs: readonly Job[],
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const { client, clock } = context;
  const status: CronJobStatus = { ...cronJob.status };
  const pass: Pass = { context, cronJob, status, now: clock.now() };
  await deleteExcess(pass, jobs);
  let requeueAfterMs: number | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    await followJobs(pass, jobs);
    requeueAfterMs = await startJob(pass);
  } catch (error) {
    failure = { error };
  }
  if (status.active?.length === 0) delete status.active;
  if (!jsonEqual((cronJob.status ?? {}) as never, status as never)) {
    await client
      .kind(kinds.cronJobs)
      .subresource('status')
      .update({ ...cronJob, status });
  }
  if (failure !== undefined) throw failure.error;
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}

/** Removes the jobs that have ended or are gone from the active ones, and says when one last succeeded. */
async function followJobs({ context, cronJob, status }: Pass, jobs: readonly Job[]): Promise<void> {
  const { client, events } = context;
  const { namespace = '', name = '' } = cronJob.metadata;
  const activeUids = new Set<string | undefined>();
  for (const job of jobs) {
    const { uid } = job.metadata;
    activeUids.add(uid);
    const isActive = status.active?.some((one) => one.uid === uid) === true;
    if (!isFinished(job)) {
      if (isActive) continue;
      const live = await client.kind(kinds.cronJobs).get({ namespace, name });
      if (live.status?.active?.some((one) => one.uid === uid) === true) continue;
      const text = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
      events.record(cronJob, 'Warning', 'UnexpectedJob', text);
      continue;
    }
    const type = isTrue(job.status, 'Complete') ? 'Complete' : 'Failed';
    if (isActive) {
      status.active = (status.active ?? []).filter((one) => one.uid !== uid);
      const text = `Saw completed job: ${job.metadata.name}, condition: ${type}`;
      events.record(cronJob, 'Normal', 'SawCompletedJob', text);
    }
    const { completionTime: time } = job.status ?? {};
    // Times of this form are in the order of their texts.
    if (type === 'Complete' && time !== undefined && time > (status.lastSuccessfulTime ?? '')) {
      status.lastSuccessfulTime = time;
    }
  }
  for (const { uid, name: job = '' } of status.active ?? []) {
    if (activeUids.has(uid) || (await client.kind(kinds.jobs).find({ namespace, name: job })) !== undefined) continue;
    events.record(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${job}`);
    status.active = (status.active ?? []).filter((one) => one.uid !== uid);
  }
}

/** Creates the job that is due, if one is. How long until the next one is due (ms); undefined when none will be. */
async function startJob(pass: Pass): Promise<number | undefined> {
  const { context, cronJob, status, now } = pass;
  const { events } = context;
  const schedule = usableSchedule(pass);
  if (schedule === undefined) return undefined;
  const warn = (reason: string, text: string) => events.record(cronJob, 'Warning', reason, text);
  const due = dueTimes(cronJob, schedule, now, true);
  if (typeof due === 'string') {
    warn('InvalidSchedule', `invalid schedule: ${cronJob.spec?.schedule} : ${due}`);
    return undefined;
  }
  const { last: time, missed } = due;
  const untilNextRun = () => untilNext({ ...cronJob, status }, schedule, now);
  if (time === undefined) return untilNextRun();
  if (missed > manyMissed) {
    const text = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    warn('TooManyMissedTimes', text);
  }
  const { startingDeadlineSeconds: deadline, concurrencyPolicy } = cronJob.spec ?? {};
  if (deadline !== undefined && time + deadline * 1000 < now) {
    const formattedTime = new Date(time).toUTCString().replace('GMT', '+0000');
    warn('MissSchedule', `Missed scheduled time to start a job: ${formattedTime}`);
    return untilNextRun();
  }
  const name = jobNameAt(cronJob, time);
  const active = status.active ?? [];
  if (active.some((job) => job.name === name) || status.lastScheduleTime === formatTime(time)) return untilNextRun();
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const text = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    events.record(cronJob, 'Normal', 'JobAlreadyActive', text);
    return untilNextRun();
  }
  if (concurrencyPolicy === 'Replace') await replaceActive(pass);
  await createJob(pass, time);
  return untilNextRun();
}

/** The schedule, unless the cron job starts no jobs, or cannot: that is recorded. */
function usableSchedule({ context: { events, names }, cronJob }: Pass): Schedule | undefined {
  const { schedule = '', timeZone, suspend } = cronJob.spec ?? {};
  if (cronJob.metadata.deletionTimestamp !== undefined) return undefined;
  const warn = (reason: string, text: string) => events.record(cronJob, 'Warning', reason, text);
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    warn('UnknownTimeZone', `invalid timeZone: ${quote(timeZone)}: unknown time zone ${timeZone}`);
    return undefined;
  }
  if (suspend === true) return undefined;
  if (schedule.includes('TZ')) {
    const page = `https://${names.labels}/docs/concepts/workloads/controllers/cron-jobs/`;
    const text = `CRON_TZ or TZ used in schedule ${quote(schedule)} is not officially supported, see ${page} for more details`;
    warn('UnsupportedSchedule', text);
  }
  const parsed = scheduleOf(cronJob);
  if (typeof parsed !== 'string') return parsed;
  warn('UnparseableSchedule', `unparseable schedule: ${quote(schedule)} : ${parsed}`);
  return undefined;
}

async function replaceActive(pass: Pass): Promise<void> {
  const { context, cronJob, status } = pass;
  const { namespace = '' } = cronJob.metadata;
  for (const { name = '' } of status.active ?? []) {
    let job: Job;
    try {
      job = await context.client.kind(kinds.jobs).get({ namespace, name });
    } catch (error) {
      context.events.record(cronJob, 'Warning', 'FailedGet', `Get job: ${error instanceof Error ? error.message : ''}`);
      throw error;
    }
    if (!(await deleteJob(pass, job))) throw new Error(`could not replace job ${namespace}/${name}`);
  }
}
