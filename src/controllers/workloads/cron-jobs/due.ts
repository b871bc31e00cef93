import { parseTime } from '../../../meta/index.ts';
import type { Schedule } from '../../../rules/index.ts';
import type { CronJob as CronJobSchema } from '../../../types/batch-v1.ts';
import type { Named } from '../../shared/kind.ts';

export type CronJob = CronJobSchema & Named;

/** The times of a schedule since a cron job last ran, or was created. */
export interface Due {
  /** Since when. */
  readonly since: number;
  /** The last time; undefined when there is none, or none that can be found in the last two intervals. */
  readonly last: number | undefined;
  /** About how many there are. */
  readonly missed: number;
}

/** More missed times than this are reported. */
export const manyMissed = 100;

/** Added to the time of the next reconcile to allow for clock skew (ms). */
const paddingMs = 100;

/**
 * The times of the schedule up to now; with `withinDeadline` only those at which a job may still start. The text of the
 * error when the schedule is never due.
 */
export function dueTimes(
  { metadata, spec, status }: CronJob,
  schedule: Schedule,
  now: number,
  withinDeadline: boolean,
): Due | string {
  const { creationTimestamp } = metadata;
  const { startingDeadlineSeconds: deadline } = spec ?? {};
  const began = status?.lastScheduleTime ?? creationTimestamp;
  const earliest = began === undefined ? now : parseTime(began);
  const since = withinDeadline && deadline !== undefined ? Math.max(earliest, now - deadline * 1000) : earliest;
  const first = schedule.next(since);
  if (first !== undefined && now < first) return { since, last: undefined, missed: 0 };
  const second = first === undefined ? undefined : schedule.next(first);
  if (first === undefined || second === undefined) return 'time difference between two schedules is less than 1 second';
  if (now < second) return { since, last: first, missed: 0 };
  const interval = second - first;
  const missed = Math.floor((now - first) / interval) + 1;
  const last = lastTime(schedule, first, now);
  // Where intervals differ, times long ago are let go.
  return { since, last: last > first + (missed - 2) * interval ? last : undefined, missed };
}

/** The last time of the schedule up to now; `first` is one. */
function lastTime({ next, every }: Schedule, first: number, now: number): number {
  if (every !== undefined) return first + Math.floor((now - first) / every) * every;
  let last = first;
  // The time after each of these is not later than now, and later than now.
  let [low, high] = [first, now];
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2);
    const time = next(middle) ?? Number.POSITIVE_INFINITY;
    if (time <= now) [low, last] = [time, time];
    else high = middle;
  }
  return last;
}

/** How long until the next time of the schedule (ms); undefined when there is none. */
export function untilNext(cronJob: CronJob, schedule: Schedule, now: number): number | undefined {
  const due = dueTimes(cronJob, schedule, now, false);
  const from = typeof due === 'string' ? now : (due.last ?? (due.missed === 0 ? due.since : now));
  const next = schedule.next(from);
  return next === undefined ? undefined : next + paddingMs - now;
}
