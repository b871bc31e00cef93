import { dns1123Subdomain, type FieldError, fieldError } from '../../meta/index.ts';
import { AgeCell } from '../../registry/index.ts';
import { parseSchedule, timeZoneErrors } from '../../rules/index.ts';
import { CronJob, type CronJobSpec, type JobSpec } from '../../types/batch-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import { age, containerNames, formatSelector, imageNames, name, orNone } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, isNew, type PodValidationContext, podContext } from '../shared/field-rules.ts';
import { defaultPatterns, jobWarnings, validateJobSpec } from './jobs.validation.ts';

export const cronJobs = resource({
  group: 'batch',
  plural: 'cronjobs',
  kind: 'CronJob',
  schema: CronJob,
  lifecycle: { introduced: '1.21' },
  shortNames: ['cj'],
  categories: ['all'],
  status: { metadataChecks: [0, 0] },
  columns: [
    name,
    ['Schedule', ({ spec }) => spec?.schedule ?? ''],
    ['Timezone', ({ spec }) => orNone(spec?.timeZone)],
    ['Suspend', ({ spec }) => (spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False'), 'boolean'],
    ['Active', ({ status }) => status?.active?.length ?? 0, 'integer'],
    [
      'Last Schedule',
      ({ status }) => (status?.lastScheduleTime === undefined ? '<none>' : new AgeCell(status.lastScheduleTime)),
    ],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.jobTemplate?.spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.jobTemplate?.spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.jobTemplate?.spec?.selector), 'wide'],
  ],
  strategy: {
    metadataChecks: [0, 1],
    generation: true,
    // The suffix of the names of its jobs must fit too.
    nameRule: (name) => [
      ...dns1123Subdomain(name),
      ...(name.length > MAX_NAME ? [`must be no more than ${MAX_NAME} characters`] : []),
    ],
    defaults: ({ spec = {} }) => {
      spec.concurrencyPolicy ||= 'Allow';
      spec.suspend ??= false;
      spec.successfulJobsHistoryLimit ??= 3;
      spec.failedJobsHistoryLimit ??= 1;
      defaultPatterns(spec.jobTemplate?.spec ?? {});
      defaultTemplate(spec.jobTemplate?.spec?.template);
    },
    prepareCreate: ({ spec }) => dropVolumes(spec?.jobTemplate?.spec?.template?.spec),
    prepareUpdate: ({ spec }) => dropVolumes(spec?.jobTemplate?.spec?.template?.spec),
    validate: ({ metadata, spec = {} }, context) => [
      ...validateSchedule(spec),
      ...(isNew({ metadata }) ? [...validateZone(spec), ...validateZoneInSchedule(spec, false)] : []),
      ...validateJobTemplate(spec.jobTemplate?.spec ?? {}, 'spec.jobTemplate.spec', podContext({ metadata }, context)),
    ],
    validateUpdate: ({ spec = {} }, { spec: old = {} }) => [
      ...validateZoneInSchedule(spec, (old.schedule ?? '').includes('TZ')),
      ...(spec.timeZone === old.timeZone ? [] : validateZone(spec)),
    ],
    warnings: (cronJob, old, { names }) => [
      ...jobWarnings(cronJob, old, cronJob.spec?.jobTemplate?.spec ?? {}, 'spec.jobTemplate.spec', names),
      ...(old !== undefined && cronJob.spec?.schedule?.includes('TZ') ? [ZONE_IN_SCHEDULE] : []),
    ],
  },
});

const MAX_NAME = 52;
const ZONE_IN_SCHEDULE = 'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead';

function validateSchedule({ schedule = '' }: CronJobSpec): FieldError[] {
  const parsed = schedule === '' ? undefined : parseSchedule(schedule);
  return typeof parsed === 'string' ? [fieldError.invalid('spec.schedule', schedule, parsed)] : [];
}

/** Rejects a time zone in the schedule, except where the old object has one. */
function validateZoneInSchedule({ schedule = '', timeZone }: CronJobSpec, allowed: boolean): FieldError[] {
  if (!schedule.includes('TZ') || (allowed && timeZone === undefined)) return [];
  const why = allowed
    ? 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
    : 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  return [fieldError.invalid('spec.schedule', schedule, why)];
}

const validateZone = ({ timeZone }: CronJobSpec): FieldError[] =>
  timeZone === undefined ? [] : byRule('spec.timeZone', timeZone, timeZoneErrors);

/** Rejects a selector in a job template: it is generated for each job. */
function validateJobTemplate(spec: JobSpec, path: string, rules: PodValidationContext): FieldError[] {
  const { selector, manualSelector } = spec;
  const errors = validateJobSpec(spec, path, rules);
  if (selector !== undefined && selector !== null) {
    errors.push(fieldError.invalid(`${path}.selector`, selector, '`selector` will be auto-generated'));
  }
  if (manualSelector === true) errors.push(fieldError.notSupported(`${path}.manualSelector`, true, ['nil', 'false']));
  return errors;
}
