import { type FieldError, fieldError, qualifiedName } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from '../../types/batch-v1.ts';
import { byRule, eachOf } from '../shared/field-rules.ts';
import { readIndexes } from './completion-indexes.ts';

const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_EXIT_CODES = 255;
const MAX_INDEXES = 64 * 1024;

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];

const validValues = (values: readonly string[]): string =>
  `valid values: [${values.map((v) => JSON.stringify(v)).join(' ')}]`;

/** An Invalid error without the value. */
export const invalidWithoutValue = (field: string, why: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${why}`,
});

const tooMany = (field: string, list: readonly unknown[], max: number): FieldError[] =>
  list.length > max ? [fieldError.tooMany(field, list.length, max)] : [];

/** Requires one of the known values. */
function word(field: string, value: string, supported: readonly string[]): FieldError[] {
  if (value === '') return [fieldError.required(field, validValues(supported))];
  return supported.includes(value) ? [] : [fieldError.notSupported(field, value, supported)];
}

/** Validates `podFailurePolicy`. */
export function validateFailurePolicy(spec: JobSpec, path: string): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const { containers, initContainers } = spec.template?.spec ?? {};
  const containerNames = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name = '' }) => name));
  const at = `${path}.rules`;
  return [
    ...tooMany(at, rules, MAX_RULES),
    ...eachOf(rules, at, (rule, place) => validateFailureRule(rule, spec, containerNames, place)),
  ];
}

function validateFailureRule(
  { action = '', onExitCodes: codes, onPodConditions }: Infer<typeof PodFailurePolicyRule>,
  spec: JobSpec,
  containerNames: ReadonlySet<string>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const conditions = onPodConditions ?? [];
  if (action === 'FailIndex') {
    const why = 'requires the backoffLimitPerIndex to be set';
    if (spec.backoffLimitPerIndex === undefined) errors.push(fieldError.invalid(`${path}.action`, action, why));
  } else errors.push(...word(`${path}.action`, action, actions));
  if (codes !== undefined) errors.push(...validateExitCodes(codes, containerNames, `${path}.onExitCodes`));
  errors.push(...tooMany(`${path}.onPodConditions`, conditions, MAX_PATTERNS));
  errors.push(...eachOf(conditions, `${path}.onPodConditions`, validatePattern));
  if (codes !== undefined && conditions.length > 0) {
    errors.push(invalidWithoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (codes === undefined && conditions.length === 0) {
    errors.push(invalidWithoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return errors;
}

const validatePattern = (
  { type = '', status = '' }: Infer<typeof PodFailurePolicyOnPodConditionsPattern>,
  path: string,
): FieldError[] => [...byRule(`${path}.type`, type, qualifiedName), ...word(`${path}.status`, status, statuses)];

function validateExitCodes(
  { operator = '', containerName, values }: Infer<typeof PodFailurePolicyOnExitCodesRequirement>,
  containerNames: ReadonlySet<string>,
  path: string,
): FieldError[] {
  const codes = values ?? [];
  const at = `${path}.values`;
  const errors = word(`${path}.operator`, operator, operators);
  if (containerName !== undefined && !containerNames.has(containerName)) {
    const why = 'must be one of the container or initContainer names in the pod template';
    errors.push(fieldError.invalid(`${path}.containerName`, containerName, why));
  }
  if (codes.length === 0) errors.push(fieldError.invalid(at, null, 'at least one value is required'));
  errors.push(...tooMany(at, codes, MAX_EXIT_CODES));
  codes.forEach((code, i) => {
    if (operator !== 'In' || code !== 0) return;
    errors.push(fieldError.invalid(`${at}[${i}]`, code, 'must not be 0 for the In operator'));
  });
  if (codes.some((code, i) => i > 0 && (codes[i - 1] as number) > code)) {
    errors.push(fieldError.invalid(at, codes, 'must be ordered'));
  }
  return errors;
}

/** Validates `successPolicy`. */
export function validateSuccessPolicy(spec: JobSpec, path: string): FieldError[] {
  const rules = spec.successPolicy?.rules ?? [];
  const at = `${path}.rules`;
  const why = 'at least one rules must be specified when the successPolicy is specified';
  return [
    ...(rules.length === 0 ? [fieldError.required(at, why)] : []),
    ...tooMany(at, rules, MAX_RULES),
    ...eachOf(rules, at, (rule, place) => validateSuccessRule(rule, spec.completions ?? 0, place)),
  ];
}

function validateSuccessRule(rule: Infer<typeof SuccessPolicyRule>, completions: number, path: string): FieldError[] {
  const { succeededIndexes: indexes, succeededCount: count } = rule;
  const errors: FieldError[] = [];
  let total = 0;
  if (count === undefined && indexes === undefined) {
    errors.push(fieldError.required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  }
  if (indexes !== undefined) {
    const field = `${path}.succeededIndexes`;
    if (Buffer.byteLength(indexes) > MAX_INDEXES) errors.push(fieldError.tooLong(field, MAX_INDEXES));
    const read = readIndexes(indexes, completions);
    if (typeof read === 'string') {
      errors.push(fieldError.invalid(field, indexes, `error parsing succeededIndexes: ${read}`));
    } else total = read.total;
  }
  if (count === undefined) return errors;
  const field = `${path}.succeededCount`;
  if (count < 0) errors.push(fieldError.invalid(field, count, 'must be greater than or equal to 0'));
  if (count > completions) {
    const why = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.push(fieldError.invalid(field, count, why));
  }
  if (indexes !== undefined && count > total) {
    const why = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
    errors.push(fieldError.invalid(field, count, why));
  }
  return errors;
}
