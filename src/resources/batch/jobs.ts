import { formatAge } from '../../meta/index.ts';
import { age, containerNames, formatSelector, imageNames, name } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { Job } from '../types/batch-v1.ts';

type JobObject = ObjectOf<typeof Job>;

export const jobs = resource({
  group: 'batch',
  plural: 'jobs',
  kind: 'Job',
  schema: Job,
  categories: ['all'],
  status: true,
  columns: [
    name,
    ['Status', jobStatus],
    ['Completions', completions],
    [
      'Duration',
      ({ status }, { now }) => {
        if (status?.startTime === undefined) return '';
        return formatAge(
          status.startTime,
          status.completionTime === undefined ? now : Date.parse(status.completionTime),
        );
      },
    ],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.selector), 'wide'],
  ],
  selectableFields: [{ path: 'status.successful', value: ({ status }) => String(status?.succeeded ?? 0) }],
  strategy: { generation: true },
});

function jobStatus({ metadata, status }: JobObject): string {
  const is = (type: string) => status?.conditions?.some((c) => c.type === type && c.status === 'True') === true;
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (is('Suspended')) return 'Suspended';
  if (is('FailureTarget')) return 'FailureTarget';
  return is('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function completions({ spec, status }: JobObject): string {
  const done = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${done}/${spec.completions}`;
  const parallel = spec?.parallelism ?? 0;
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}
