import { describe, expect, it } from 'vitest';
import { formatTime } from '../../../meta/index.ts';
import { parseSchedule, type Schedule } from '../../../rules/index.ts';
import { dueTimes, untilNext } from './due.ts';

const start = Date.parse('2016-05-19T10:00:00Z');
const minute = 60_000;
const hour = 60 * minute;

interface Case {
  readonly title: string;
  readonly schedule: string;
  readonly created?: number;
  readonly ran?: number;
  readonly deadline?: number;
  readonly now: number;
  readonly due: { since?: number; last?: number; missed: number } | string;
}

const caseOf = ({ schedule, created = 0, ran, deadline, now }: Case) => {
  const cronJob = {
    metadata: { creationTimestamp: formatTime(start + created) },
    spec: {
      schedule,
      ...(deadline === undefined ? {} : { startingDeadlineSeconds: deadline / 1000 }),
    },
    status: ran === undefined ? {} : { lastScheduleTime: formatTime(start + ran) },
  };
  const text = schedule.startsWith('@') ? schedule : `TZ=UTC ${schedule}`;
  return [cronJob as never, parseSchedule(text) as Schedule, start + now] as const;
};

describe('the times of a schedule', () => {
  it.each<Case>([
    { title: 'none yet', schedule: '0 * * * *', now: 30_000, due: { missed: 0 } },
    { title: 'one', schedule: '0 * * * *', now: 61 * minute, due: { last: hour, missed: 0 } },
    {
      title: 'five',
      schedule: '0 * * * *',
      created: 10_000,
      now: 301 * minute,
      due: { since: 10_000, last: 5 * hour, missed: 5 },
    },
    {
      title: 'at different intervals',
      schedule: '30 6-16/4 * * 1-5',
      ran: 30 * minute,
      now: 24 * hour + 31 * minute,
      due: { since: 30 * minute, last: 24 * hour + 30 * minute, missed: 2 },
    },
    {
      title: 'long ago, at different intervals',
      schedule: '30 10,11,12 * * 1-5',
      ran: 30 * minute,
      now: 30 * hour + 30 * minute,
      due: { since: 30 * minute, missed: 30 },
    },
    {
      title: 'over a weekend',
      schedule: '30 6-16/4 * * 1-5',
      ran: 30 * minute,
      now: 96 * hour + 31 * minute,
      due: { since: 30 * minute, last: 96 * hour + 30 * minute, missed: 6 },
    },
    {
      title: 'from when an interval began',
      schedule: '@every 1h',
      created: -59 * minute,
      ran: minute,
      now: 7 * 24 * hour,
      due: { since: minute, last: 7 * 24 * hour - 59 * minute, missed: 167 },
    },
    {
      title: 'never',
      schedule: '59 23 31 2 *',
      now: hour,
      due: 'time difference between two schedules is less than 1 second',
    },
    {
      title: 'that are too late to start',
      schedule: '*/5 * * * *',
      ran: 30 * minute,
      deadline: minute,
      now: 42 * minute,
      due: { since: 41 * minute, missed: 0 },
    },
  ])('$title', (of) => {
    const due = dueTimes(...caseOf(of), true);
    if (typeof of.due === 'string') expect(due).toBe(of.due);
    else {
      const { since = 0, last, missed } = of.due;
      expect(due).toEqual({ since: start + since, last: last === undefined ? undefined : start + last, missed });
    }
  });

  it.each<Omit<Case, 'due' | 'title'> & { readonly remaining: number }>([
    { schedule: '0 * * * *', now: 30_000, remaining: 59.5 * minute },
    { schedule: '0 * * * *', now: 301 * minute, remaining: 59 * minute },
    { schedule: '@every 1h', ran: minute, now: 30 * minute, remaining: 31 * minute },
    { schedule: '30 10,11,12 * * 1-5', ran: 30 * minute, now: 30 * hour + 30 * minute, remaining: 66 * hour },
  ])('the next one of $schedule is in $remaining ms', ({ remaining, ...of }) => {
    expect(untilNext(...caseOf({ ...of, title: '', due: '' }))).toBe(remaining + 100);
  });
});
