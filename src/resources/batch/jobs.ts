import {
  dns1123Label,
  errorsNow,
  errorsWith,
  type FieldError,
  fieldError,
  formatAge,
  getKey,
  type Names,
  type ObjectMeta,
  selectorFromObject,
  validateSelectorObject,
} from '../../meta/index.ts';
import { AgeCell } from '../../registry/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Job, type JobSpec } from '../../types/batch-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import { same, validateAgain, validateSelected } from '../pod-template/workloads.validation.ts';
import { age, containerNames, formatSelector, imageNames, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { type PodValidationContext, podContext } from '../shared/field-rules.ts';
import { validateJobStatus } from './jobs.status-validation.ts';
import { validateJobUpdate } from './jobs.update-validation.ts';
import { defaultPatterns, jobWarnings, validateJobSpec } from './jobs.validation.ts';

type JobObject = ObjectOf<typeof Job>;

export const jobs = resource({
  group: 'batch',
  plural: 'jobs',
  kind: 'Job',
  schema: Job,
  lifecycle: { introduced: '1.2' },
  categories: ['all'],
  status: true,
  columns: [
    name,
    ['Status', jobStatus],
    ['Completions', completions],
    [
      'Duration',
      ({ status }) => {
        if (status?.startTime === undefined) return '';
        if (status.completionTime === undefined) return new AgeCell(status.startTime);
        return formatAge(status.startTime, Date.parse(status.completionTime));
      },
    ],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.selector), 'wide'],
  ],
  selectableFields: [{ path: 'status.successful', value: ({ status }) => String(status?.succeeded ?? 0) }],
  strategy: {
    generation: true,
    garbageCollectionPolicy: 'OrphanDependents',
    noPolicyWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    defaults: ({ metadata, spec = {} }) => {
      if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
      spec.parallelism ??= 1;
      spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
      spec.completionMode ??= 'NonIndexed';
      spec.suspend ??= false;
      spec.manualSelector ??= false;
      spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
      defaultPatterns(spec);
      defaultTemplate(spec.template);
      inheritLabels(metadata, spec);
    },
    prepareCreate: ({ metadata, spec = {} }, { names }) => {
      dropVolumes(spec.template?.spec);
      if (spec.manualSelector !== true) generateSelector(metadata, spec, names);
    },
    prepareUpdate: ({ spec }) => dropVolumes(spec?.template?.spec),
    validate: (job, context) => [
      ...validateNames(job, context.names),
      ...validateSpec(job.spec ?? {}, podContext(job, context)),
    ],
    validateUpdate: (job, { spec: old = {}, status: oldStatus = {} }, context) => {
      const { spec = {}, status = {} } = job;
      return same(status, oldStatus)
        ? [
            ...validateAgain(job, Job, validateSpec(spec, context), context.names),
            ...validateJobUpdate(spec, old, oldStatus),
          ]
        : validateJobStatus(spec, status, oldStatus);
    },
    warnings: (job, old, { names }) => jobWarnings(job, old, job.spec ?? {}, 'spec', names),
  },
});

const MAX_INT32 = 2 ** 31 - 1;

/** Copies the labels of the pod template to a job without labels. */
function inheritLabels(metadata: ObjectMeta, { template }: JobSpec): void {
  const { labels } = template?.metadata ?? {};
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}

/** Labels of the pods of a job; those without a domain are the legacy ones. */
const labelsOf = ({ uid = '', name = '' }: ObjectMeta, { labels }: Names): { [key: string]: string } => ({
  [`batch.${labels}/controller-uid`]: uid,
  [`batch.${labels}/job-name`]: name,
  'controller-uid': uid,
  'job-name': name,
});

/** Adds the generated labels to the pod template and selects them; existing values stay and are validated. */
function generateSelector(metadata: ObjectMeta, spec: JobSpec, names: Names): void {
  const generated = labelsOf(metadata, names);
  spec.template ??= {};
  spec.template.metadata ??= {};
  // Labels copied from the template change with it.
  const isShared = same(metadata.labels, spec.template.metadata.labels);
  spec.template.metadata.labels = sorted({ ...generated, ...spec.template.metadata.labels });
  if (isShared || Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = { ...spec.template.metadata.labels };
  const key = `batch.${names.labels}/controller-uid`;
  const { matchLabels, ...rest } = spec.selector ?? {};
  spec.selector = { matchLabels: sorted({ [key]: generated[key] as string, ...matchLabels }), ...rest };
}

const sorted = (labels: { [key: string]: string }): { [key: string]: string } =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

function validateSpec(spec: JobSpec, rules: PodValidationContext): FieldError[] {
  const { selector, template = {} } = spec;
  return [
    ...validateJobSpec(spec, 'spec', rules),
    ...(selector === undefined || selector === null ? [fieldError.required('spec.selector')] : []),
    ...errorsWith(validateSelectorObject(selector, 'spec.selector'), (found) =>
      found.length > 0 ? found : validateSelected(selector, template, 'spec.template'),
    ),
  ];
}

/** Validates what is generated from the name and the UID: the selector, and host names of pods. */
function validateNames({ metadata, spec = {} }: JobObject, names: Names): FieldError[] {
  const { completions: count = 0 } = spec;
  const errors = validateGenerated(metadata, spec, names);
  const { name = '' } = metadata;
  const hostname = `${name}-${count - 1}`;
  if (spec.completionMode !== 'Indexed' || count <= 0 || dns1123Label(hostname).length === 0) return errors;
  const why = `will not able to create pod with invalid DNS label: ${hostname}`;
  return [...errors, fieldError.invalid('metadata.name', name, why)];
}

/** Validates a generated selector. */
function validateGenerated(metadata: ObjectMeta, spec: JobSpec, names: Names): FieldError[] {
  const { manualSelector, selector, template } = spec;
  if (manualSelector === true || selector === undefined || selector === null) return [];
  const generated = labelsOf(metadata, names);
  const labels = template?.metadata?.labels;
  const errors = Object.entries(generated).flatMap(([key, expected]) => {
    const field = `spec.template.metadata.labels[${key}]`;
    const value = getKey(labels ?? {}, key);
    if (value === undefined) return [fieldError.required(field, `must be '${expected}'`)];
    return value === expected ? [] : [fieldError.invalid(field, labels, `must be '${expected}'`)];
  });
  const readable = errorsNow(validateSelectorObject(selector, '')).length === 0;
  if (!readable || selectorFromObject(selector).matches(generated)) return errors;
  return [...errors, fieldError.invalid('spec.selector', selector, '`selector` not auto-generated')];
}

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
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallel = spec?.parallelism ?? 0;
  return parallel > 1 ? `${succeeded}/1 of ${parallel}` : `${succeeded}/1`;
}
