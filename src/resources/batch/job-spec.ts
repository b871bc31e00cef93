import { dns1123Subdomain, type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { byRule, oneOf } from '../core/pod-spec/findings.ts';
import { internalForm } from '../core/pod-spec/shown.ts';
import { validateTemplate } from '../core/pod-spec/validate.ts';
import { type JobSpec, SuccessPolicy } from '../types/batch-v1.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.ts';

const MAX_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
/** From so many completions on, less is allowed of the rest. */
const MANY_COMPLETIONS = 100_000;
const MAX_PARALLELISM_OF_MANY = 10_000;
const MAX_FAILED_OF_MANY = 10_000;
const MAX_MANAGER = 63;

/** What the schema does not say of a job, whether a job's own spec or that of a template. */
export function validateJobSpec(spec: JobSpec, path: string, names: Names): FieldError[] {
  const { maxFailedIndexes, backoffLimitPerIndex, managedBy, template = {}, podReplacementPolicy: replacement } = spec;
  const indexed = spec.completionMode === 'Indexed';
  const found: FieldError[] = [];
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    found.push(fieldError.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (managedBy !== undefined) found.push(...validateManager(managedBy, `${path}.managedBy`));
  if (indexed) found.push(...validateIndexed(spec, path));
  else if (spec.completionMode === undefined || spec.completionMode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[field] === undefined) continue;
      found.push(fieldError.invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
    }
  }
  if (spec.podFailurePolicy !== undefined) found.push(...validateFailurePolicy(spec, `${path}.podFailurePolicy`));
  if (spec.successPolicy !== undefined) {
    const at = `${path}.successPolicy`;
    const shown = internalForm(spec.successPolicy, SuccessPolicy);
    if (indexed) found.push(...validateSuccessPolicy(spec, at));
    else found.push(fieldError.invalid(at, shown, 'requires indexed completion mode'));
  }
  if (replacement !== undefined) {
    const known = spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
    found.push(...oneOf(`${path}.podReplacementPolicy`, replacement, known));
  }
  return [
    ...found,
    ...validateTemplate(template, `${path}.template`, names),
    ...validateRestart(spec, `${path}.template.spec.restartPolicy`),
  ];
}

/** The pods of a job end. */
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

/** Who looks after the job: `example.com/name`. */
function validateManager(manager: string, path: string): FieldError[] {
  const found: FieldError[] = [];
  const slash = manager.indexOf('/');
  const [host, rest] = [manager.slice(0, Math.max(slash, 0)), manager.slice(slash + 1)];
  if (manager === '') found.push(fieldError.required(path));
  else if (slash < 0 || host === '' || rest === '') {
    found.push(fieldError.invalid(path, manager, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  } else {
    found.push(...byRule(path, host, dns1123Subdomain));
    if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest)) {
      const why = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
      found.push(fieldError.invalid(path, rest, why));
    }
  }
  if (Buffer.byteLength(manager) > MAX_MANAGER) found.push(fieldError.tooLong(path, MAX_MANAGER));
  return found;
}

/** A job whose completions are told apart by an index each. */
function validateIndexed(spec: JobSpec, path: string): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes: failed } = spec;
  const found: FieldError[] = [];
  const wrong = (field: 'parallelism' | 'maxFailedIndexes', why: string) =>
    found.push(fieldError.invalid(`${path}.${field}`, spec[field], `must be less than or equal to ${why}`));
  if (completions === undefined) {
    found.push(fieldError.required(`${path}.completions`, 'when completion mode is Indexed'));
  }
  if (parallelism > MAX_PARALLELISM) wrong('parallelism', `${MAX_PARALLELISM} when completion mode is Indexed`);
  if (completions !== undefined && failed !== undefined && failed > completions)
    wrong('maxFailedIndexes', 'completions');
  if ((failed ?? 0) > MAX_FAILED_INDEXES) wrong('maxFailedIndexes', String(MAX_FAILED_INDEXES));
  if ((completions ?? 0) <= MANY_COMPLETIONS || spec.backoffLimitPerIndex === undefined) return found;
  const many = `when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (failed === undefined) {
    const why = `must be specified when completions is above ${MANY_COMPLETIONS}`;
    found.push(fieldError.required(`${path}.maxFailedIndexes`, why));
  } else if (failed > MAX_FAILED_OF_MANY) wrong('maxFailedIndexes', `${MAX_FAILED_OF_MANY} ${many}`);
  if (parallelism > MAX_PARALLELISM_OF_MANY) wrong('parallelism', `${MAX_PARALLELISM_OF_MANY} ${many}`);
  return found;
}
