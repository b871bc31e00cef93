import { type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { type JobSpec, type JobStatus, UncountedTerminatedPods } from '../../types/batch-v1.ts';
import { same } from '../pod-template/workloads.validation.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { overlapOf, readIndexes } from './completion-indexes.ts';
import { invalidWithoutValue } from './jobs.policy-validation.ts';

type Condition = 'Suspended' | 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet';

const has = ({ conditions }: JobStatus, type: Condition): boolean =>
  (conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');

const isFinished = (status: JobStatus): boolean => has(status, 'Complete') || has(status, 'Failed');

/** Validates an update of the status of a job. What was invalid before and has not changed is accepted. */
export function validateJobStatus(spec: JobSpec, status: JobStatus, old: JobStatus): FieldError[] {
  return [
    ...validateUncounted(status.uncountedTerminatedPods),
    ...validateNumbers(status),
    ...validateConditions(spec, status, old),
    ...validateTimes(spec, status, old),
    ...validateCounters(spec, status, old),
    ...validateIndexes(spec, status, old),
  ];
}

function validateNumbers({ ready, terminating }: JobStatus): FieldError[] {
  return Object.entries({ ready, terminating }).flatMap(([field, value]) =>
    value !== undefined && value < 0
      ? [fieldError.invalid(`status.${field}`, value, 'must be greater than or equal to 0')]
      : [],
  );
}

function validateUncounted(pods: Infer<typeof UncountedTerminatedPods> | undefined): FieldError[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (pods?.[list] ?? []).flatMap((uid, i) => {
      const field = `status.uncountedTerminatedPods.${list}[${i}]`;
      if (uid === '') return [fieldError.invalid(field, uid, 'must not be empty')];
      if (seen.has(uid)) return [fieldError.duplicate(field, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

/** Validates conditions that exclude or require each other. */
function validateConditions(spec: JobSpec, status: JobStatus, old: JobStatus): FieldError[] {
  const [complete, failed, target, met] = (['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'] as const).map(
    (type) => ({ on: has(status, type), changed: has(status, type) !== has(old, type) }),
  ) as [State, State, State, State];
  const errors: FieldError[] = [];
  const refuse = (when: boolean, why: string) => {
    if (when) errors.push(invalidWithoutValue('status.conditions', why));
  };
  refuse(
    complete.on && failed.on && (complete.changed || failed.changed),
    'cannot set Complete=True and Failed=true conditions',
  );
  refuse(
    complete.on && target.on && (complete.changed || target.changed),
    'cannot set Complete=True and FailureTarget=true conditions',
  );
  refuse(
    failed.on && !target.on && failed.changed,
    'cannot set Failed=True condition without the FailureTarget=true condition',
  );
  refuse(
    complete.on && !met.on && complete.changed,
    'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
  );
  refuse(met.on && failed.on, 'cannot set SuccessCriteriaMet=True and Failed=true conditions');
  refuse(met.on && target.on, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  refuse(
    spec.successPolicy !== undefined && !met.on && complete.on,
    'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
  );
  for (const type of ['Failed', 'Complete', 'FailureTarget'] as const) {
    refuse(has(old, type) && !has(status, type), `cannot disable the terminal ${type}=True condition`);
  }
  refuse(has(old, 'SuccessCriteriaMet') && !met.on, 'cannot disable the SuccessCriteriaMet=True condition');
  refuse(
    has(old, 'Complete') && !has(old, 'SuccessCriteriaMet') && met.on,
    'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
  );
  return errors;
}

interface State {
  readonly on: boolean;
  readonly changed: boolean;
}

function validateTimes(spec: JobSpec, status: JobStatus, old: JobStatus): FieldError[] {
  const { startTime: start, completionTime: end } = status;
  const complete = has(status, 'Complete');
  const finished = isFinished(status);
  const startChanged = start !== old.startTime;
  const endChanged = end !== old.completionTime;
  const completeChanged = complete !== has(old, 'Complete');
  // A resumed job starts again.
  const resumed =
    has(old, 'Suspended') &&
    (status.conditions ?? []).some((condition) => condition.type === 'Suspended' && condition.status === 'False');
  const errors: FieldError[] = [];
  const at = 'status.completionTime';
  if (completeChanged || endChanged) {
    const why = 'cannot set completionTime when there is no Complete=True condition';
    if (end !== undefined && !complete) errors.push(fieldError.invalid(at, end, why));
    if (end === undefined && complete) {
      errors.push(fieldError.required(at, 'completionTime is required for Complete jobs'));
    }
  }
  if (start !== undefined && end !== undefined && (startChanged || endChanged) && Date.parse(end) < Date.parse(start)) {
    errors.push(fieldError.invalid(at, end, 'completionTime cannot be set before startTime'));
  }
  const emptied = spec.suspend === true && spec.completions === 0;
  if (start === undefined && finished && !emptied && (startChanged || finished !== isFinished(old))) {
    errors.push(fieldError.required('status.startTime', 'startTime is required for finished job'));
  }
  if (end !== undefined && old.completionTime !== undefined && endChanged) {
    errors.push(fieldError.invalid(at, end, 'completionTime cannot be mutated'));
  }
  if (old.startTime !== undefined && startChanged && spec.suspend !== true && !resumed) {
    const why = 'field is immutable for unsuspended job once set';
    errors.push(fieldError.invalid('status.startTime', start ?? null, why));
  }
  return errors;
}

function validateCounters(spec: JobSpec, status: JobStatus, old: JobStatus): FieldError[] {
  const { active = 0, ready, terminating, failed = 0, succeeded = 0, uncountedTerminatedPods: uncounted } = status;
  const finished = isFinished(status);
  const changed = finished !== isFinished(old);
  const errors: FieldError[] = [];
  if (finished && active > 0 && (changed || active !== (old.active ?? 0))) {
    errors.push(fieldError.invalid('status.active', active, 'active>0 is invalid for finished job'));
  }
  const waiting = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length;
  if (finished && waiting > 0 && (changed || !same(uncounted, old.uncountedTerminatedPods))) {
    const printedValue = internalForm(uncounted, UncountedTerminatedPods);
    const why = 'uncountedTerminatedPods needs to be empty for finished job';
    errors.push(fieldError.invalid('status.uncountedTerminatedPods', printedValue, why));
  }
  if (finished && (terminating ?? 0) > 0 && (changed || terminating !== old.terminating)) {
    errors.push(fieldError.invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'));
  }
  if (ready !== undefined && ready > active && (ready !== old.ready || active !== (old.active ?? 0))) {
    errors.push(fieldError.invalid('status.ready', ready, 'cannot set more ready pods than active'));
  }
  if (failed < (old.failed ?? 0)) {
    errors.push(fieldError.invalid('status.failed', failed, 'cannot decrease the failed counter'));
  }
  const elastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (succeeded < (old.succeeded ?? 0) && !elastic) {
    errors.push(fieldError.invalid('status.succeeded', succeeded, 'cannot decrease the succeeded counter'));
  }
  return errors;
}

function validateIndexes(spec: JobSpec, status: JobStatus, old: JobStatus): FieldError[] {
  const { completedIndexes: completed = '', failedIndexes: failed } = status;
  const { completions } = spec;
  const doneChanged = completed !== (old.completedIndexes ?? '');
  const failedChanged = failed !== old.failedIndexes;
  const errors: FieldError[] = [];
  const check = (field: 'completedIndexes' | 'failedIndexes', text: string) => {
    const read = readIndexes(text, completions ?? 0);
    if (typeof read !== 'string') return;
    errors.push(fieldError.invalid(`status.${field}`, text, `error parsing ${field}: ${read}`));
  };
  if (doneChanged && completions !== undefined) check('completedIndexes', completed);
  if (failedChanged && completions !== undefined && spec.backoffLimitPerIndex !== undefined && failed !== undefined) {
    check('failedIndexes', failed);
  }
  if (doneChanged && completed !== '' && spec.completionMode !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(fieldError.invalid('status.completedIndexes', completed, why));
  }
  if (failedChanged && spec.backoffLimitPerIndex === undefined && failed !== undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(fieldError.invalid('status.failedIndexes', failed, why));
  }
  if ((doneChanged || failedChanged) && completions !== undefined && completed !== '' && failed) {
    const index = overlapOf(completed, failed, completions);
    const why = `failedIndexes and completedIndexes overlap at index: ${index}`;
    if (index !== undefined) errors.push(fieldError.invalid('status.failedIndexes', failed, why));
  }
  return errors;
}
