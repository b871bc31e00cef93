import { domainPath, type FieldError, fieldError, type Names, type ObjectMeta } from '../../meta/index.ts';
import { type JobSpec, SuccessPolicy } from '../../types/batch-v1.ts';
import { validateTemplate } from '../pod-template/pod-spec.validation.ts';
import { podNameWarnings, templateWarnings } from '../pod-template/pod-spec.warnings.ts';
import { oneOf, type PodValidationContext } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './jobs.policy-validation.ts';

const MAX_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
/** Above this number of completions other limits are lower. */
const MANY_COMPLETIONS = 100_000;
const MAX_PARALLELISM_OF_MANY = 10_000;
const MAX_FAILED_OF_MANY = 10_000;
const MAX_MANAGER = 63;

/** Defaults the status of pod condition patterns to `True`. */
export function defaultPatterns({ podFailurePolicy }: JobSpec): void {
  for (const { onPodConditions } of podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
  }
}

interface Subject {
  metadata: ObjectMeta;
}

/** Warnings for a job or job template, on create and on updates that change the generation. */
export function jobWarnings(
  { metadata }: Subject,
  old: Subject | undefined,
  spec: JobSpec,
  path: string,
  names: Names,
): string[] {
  if (old !== undefined && old.metadata.generation === metadata.generation) return [];
  return [
    ...(old === undefined ? podNameWarnings(metadata) : []),
    ...completionsWarnings(spec, path, names),
    ...templateWarnings(spec.template ?? {}, `${path}.template`, names),
  ];
}

function completionsWarnings(spec: JobSpec, path: string, { product }: Names): string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec;
  if (completionMode !== 'Indexed' || completions <= MANY_COMPLETIONS || parallelism <= MAX_PARALLELISM_OF_MANY) {
    return [];
  }
  const server = product.charAt(0).toUpperCase() + product.slice(1);
  return [
    `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, ${server} might not be able to track completedIndexes when a big number of indexes fail`,
  ];
}

/** Validates a job spec, of a job or of a job template, beyond its schema. */
export function validateJobSpec(spec: JobSpec, path: string, rules: PodValidationContext): FieldError[] {
  const { maxFailedIndexes, backoffLimitPerIndex, managedBy, template = {}, podReplacementPolicy: replacement } = spec;
  const indexed = spec.completionMode === 'Indexed';
  const errors: FieldError[] = [];
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.push(fieldError.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (managedBy !== undefined) errors.push(...validateManager(managedBy, `${path}.managedBy`));
  if (indexed) errors.push(...validateIndexed(spec, path));
  else if (spec.completionMode === undefined || spec.completionMode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[field] === undefined) continue;
      errors.push(fieldError.invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
    }
  }
  if (spec.podFailurePolicy !== undefined) errors.push(...validateFailurePolicy(spec, `${path}.podFailurePolicy`));
  if (spec.successPolicy !== undefined) {
    const at = `${path}.successPolicy`;
    const printedValue = internalForm(spec.successPolicy, SuccessPolicy);
    if (indexed) errors.push(...validateSuccessPolicy(spec, at));
    else errors.push(fieldError.invalid(at, printedValue, 'requires indexed completion mode'));
  }
  if (replacement !== undefined) {
    const supportedPolicies = spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
    errors.push(...oneOf(`${path}.podReplacementPolicy`, replacement, supportedPolicies));
  }
  return [
    ...errors,
    ...validateTemplate(template, `${path}.template`, rules),
    ...validateRestart(spec, `${path}.template.spec.restartPolicy`),
  ];
}

/** Requires a restart policy with which the pods of a job terminate. */
function validateRestart({ template, podFailurePolicy }: JobSpec, path: string): FieldError[] {
  const policy = template?.spec?.restartPolicy ?? '';
  if (policy === 'Always' || policy === '') {
    return [fieldError.required(path, 'valid values: "OnFailure", "Never"')];
  }
  if (policy !== 'OnFailure' && policy !== 'Never') {
    return [fieldError.notSupported(path, policy, ['OnFailure', 'Never'])];
  }
  const why = 'only "Never" is supported when podFailurePolicy is specified';
  return podFailurePolicy !== undefined && policy !== 'Never' ? [fieldError.invalid(path, policy, why)] : [];
}

/** Validates `managedBy`: `example.com/name`. */
const validateManager = (manager: string, path: string): FieldError[] => [
  ...domainPath(path, manager),
  ...(Buffer.byteLength(manager) > MAX_MANAGER ? [fieldError.tooLong(path, MAX_MANAGER)] : []),
];

/** Validates a job with `completionMode: Indexed`. */
function validateIndexed(spec: JobSpec, path: string): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes: failed } = spec;
  const errors: FieldError[] = [];
  const wrong = (field: 'parallelism' | 'maxFailedIndexes', why: string) =>
    errors.push(fieldError.invalid(`${path}.${field}`, spec[field], `must be less than or equal to ${why}`));
  if (completions === undefined) {
    errors.push(fieldError.required(`${path}.completions`, 'when completion mode is Indexed'));
  }
  if (parallelism > MAX_PARALLELISM) wrong('parallelism', `${MAX_PARALLELISM} when completion mode is Indexed`);
  if (completions !== undefined && failed !== undefined && failed > completions)
    wrong('maxFailedIndexes', 'completions');
  if ((failed ?? 0) > MAX_FAILED_INDEXES) wrong('maxFailedIndexes', String(MAX_FAILED_INDEXES));
  if ((completions ?? 0) <= MANY_COMPLETIONS || spec.backoffLimitPerIndex === undefined) return errors;
  const many = `when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (failed === undefined) {
    const why = `must be specified when completions is above ${MANY_COMPLETIONS}`;
    errors.push(fieldError.required(`${path}.maxFailedIndexes`, why));
  } else if (failed > MAX_FAILED_OF_MANY) wrong('maxFailedIndexes', `${MAX_FAILED_OF_MANY} ${many}`);
  if (parallelism > MAX_PARALLELISM_OF_MANY) wrong('parallelism', `${MAX_PARALLELISM_OF_MANY} ${many}`);
  return errors;
}
