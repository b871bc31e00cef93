import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { created, type ReportedError, validateOnCreate, validateOnUpdate } from '../pod-template/testing/validate.ts';
import { cronJobs } from './cron-jobs.ts';

// Fields and texts are those of the reference server.
const pod = { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' };
const jobTemplate = { spec: { template: { spec: pod } } };
const cron = (spec: JsonObject): JsonObject => ({ spec: { schedule: '@hourly', jobTemplate, ...spec } });

describe('cron jobs', () => {
  const J = 'spec.jobTemplate.spec';
  test.each<{ title: string; spec: JsonObject; found: ReportedError[] }>([
    { title: 'valid', spec: { timeZone: 'Europe/Berlin' }, found: [] },
    { title: 'no schedule', spec: { schedule: '' }, found: [['Required', 'spec.schedule', 'Required value']] },
    {
      title: 'a time zone in the schedule',
      spec: { schedule: 'TZ=UTC 0 * * * *' },
      found: [
        [
          'Invalid',
          'spec.schedule',
          'Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
        ],
      ],
    },
    {
      title: 'an unknown policy',
      spec: { concurrencyPolicy: 'X' },
      found: [
        [
          'NotSupported',
          'spec.concurrencyPolicy',
          'Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"',
        ],
      ],
    },
    {
      title: 'a negative deadline',
      spec: { startingDeadlineSeconds: -1 },
      found: [['Invalid', 'spec.startingDeadlineSeconds', 'Invalid value: -1: must be greater than or equal to 0']],
    },
    {
      title: 'a selector in the job template',
      spec: {
        jobTemplate: { spec: { ...jobTemplate.spec, selector: { matchLabels: { a: 'b' } }, manualSelector: true } },
      },
      found: [
        ['Invalid', `${J}.selector`, 'Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated'],
        ['NotSupported', `${J}.manualSelector`, 'Unsupported value: true: supported values: "nil", "false"'],
      ],
    },
    {
      title: 'pods that always restart',
      spec: { jobTemplate: { spec: { template: { spec: { containers: pod.containers } } } } },
      found: [['Required', `${J}.template.spec.restartPolicy`, 'Required value: valid values: "OnFailure", "Never"']],
    },
  ])('$title', ({ spec, found }) => {
    expect(validateOnCreate(cronJobs, cron(spec))).toEqual(found);
  });

  test('the name leaves room for the suffix of its jobs', () => {
    expect(cronJobs.strategy.nameRule?.('a'.repeat(52))).toEqual([]);
    expect(cronJobs.strategy.nameRule?.('a'.repeat(53))).toEqual(['must be no more than 52 characters']);
  });

  test('a job template gets only the defaults of its pod template', () => {
    expect(created(cronJobs, cron({}))).toMatchObject({
      spec: {
        concurrencyPolicy: 'Allow',
        failedJobsHistoryLimit: 1,
        successfulJobsHistoryLimit: 3,
        suspend: false,
        jobTemplate: { spec: { template: { spec: { dnsPolicy: 'ClusterFirst' } } } },
      },
    });
  });

  test('a time zone in the schedule is accepted only if the old object has one', () => {
    const schedule = 'CRON_TZ=UTC 0 * * * *';
    const change = (spec: JsonObject) =>
      validateOnUpdate(cronJobs, cron({ schedule }), (one) => Object.assign(one['spec'] as object, spec));
    expect(change({ schedule: 'CRON_TZ=UTC 1 * * * *' })).toEqual([]);
    expect(change({ timeZone: 'UTC' })).toEqual([
      [
        'Invalid',
        'spec.schedule',
        `Invalid value: "${schedule}": cannot use both timeZone field and TZ or CRON_TZ in schedule`,
      ],
    ]);
  });
});
