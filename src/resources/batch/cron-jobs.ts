import { formatAge } from '../../meta/index.ts';
import { age, containerNames, formatSelector, imageNames, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { CronJob } from '../types/batch-v1.ts';

export const cronJobs = resource({
  group: 'batch',
  plural: 'cronjobs',
  kind: 'CronJob',
  schema: CronJob,
  shortNames: ['cj'],
  categories: ['all'],
  status: true,
  columns: [
    name,
    ['Schedule', ({ spec }) => spec?.schedule ?? ''],
    ['Timezone', ({ spec }) => orNone(spec?.timeZone)],
    ['Suspend', ({ spec }) => (spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False'), 'boolean'],
    ['Active', ({ status }) => status?.active?.length ?? 0, 'integer'],
    [
      'Last Schedule',
      ({ status }, { now }) =>
        status?.lastScheduleTime === undefined ? '<none>' : formatAge(status.lastScheduleTime, now),
    ],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.jobTemplate?.spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.jobTemplate?.spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.jobTemplate?.spec?.selector), 'wide'],
  ],
  strategy: { generation: true },
});
