/** The types of batch/v1. */
import { bool, field, type Infer, int32, int64, list, shortList, string, struct, time } from '../schema/index.ts';
import { ObjectReference, PodTemplateSpec, podConditionTypes } from './core-v1.ts';
import { conditionStatuses, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// Job

export const PodFailurePolicyOnExitCodesRequirement = struct('batch/v1.PodFailurePolicyOnExitCodesRequirement', {
  containerName: field(1, string, { nullable: true }),
  operator: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['In', 'NotIn'],
    open: true,
    enum: true,
  }),
  values: field(3, shortList(int32), { required: true, emptyOk: true, always: true, listType: 'set' }),
});

export const PodFailurePolicyOnPodConditionsPattern = struct('batch/v1.PodFailurePolicyOnPodConditionsPattern', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: podConditionTypes, open: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
});

export const PodFailurePolicyRule = struct('batch/v1.PodFailurePolicyRule', {
  action: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['FailJob', 'FailIndex', 'Ignore', 'Count'],
    open: true,
    enum: true,
  }),
  onExitCodes: field(2, PodFailurePolicyOnExitCodesRequirement, { nullable: true }),
  onPodConditions: field(3, shortList(PodFailurePolicyOnPodConditionsPattern), { listType: 'atomic' }),
});

export const PodFailurePolicy = struct('batch/v1.PodFailurePolicy', {
  rules: field(1, shortList(PodFailurePolicyRule), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});

export const SuccessPolicyRule = struct('batch/v1.SuccessPolicyRule', {
  succeededIndexes: field(1, string, { nullable: true }),
  succeededCount: field(2, int32, { nullable: true }),
});

export const SuccessPolicy = struct('batch/v1.SuccessPolicy', {
  rules: field(1, shortList(SuccessPolicyRule), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});

export const JobSpec = struct('batch/v1.JobSpec', {
  parallelism: field(1, int32, { nullable: true, min: 0 }),
  completions: field(2, int32, { nullable: true, min: 0 }),
  activeDeadlineSeconds: field(3, int64, { nullable: true, min: 0 }),
  podFailurePolicy: field(11, PodFailurePolicy, { nullable: true }),
  successPolicy: field(16, SuccessPolicy, { nullable: true }),
  backoffLimit: field(7, int32, { nullable: true, min: 0 }),
  backoffLimitPerIndex: field(12, int32, { nullable: true, min: 0 }),
  maxFailedIndexes: field(13, int32, { nullable: true, min: 0 }),
  selector: field(4, LabelSelector, { nullable: true }),
  manualSelector: field(5, bool, { nullable: true }),
  template: field(6, PodTemplateSpec, { required: true, always: true }),
  ttlSecondsAfterFinished: field(8, int32, { nullable: true, min: 0 }),
  completionMode: field(9, string, { nullable: true, known: ['NonIndexed', 'Indexed'] }),
  suspend: field(10, bool, { nullable: true }),
  podReplacementPolicy: field(14, string, {
    nullable: true,
    known: ['TerminatingOrFailed', 'Failed'],
    open: true,
    enum: true,
    gate: 'JobPodReplacementPolicy',
  }),
  managedBy: field(15, string, { nullable: true, gate: 'JobManagedBy' }),
});
export type JobSpec = Infer<typeof JobSpec>;

export const JobCondition = struct('batch/v1.JobCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Suspended', 'Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'],
    open: true,
  }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastProbeTime: field(3, time),
  lastTransitionTime: field(4, time),
  reason: field(5, string),
  message: field(6, string),
});

export const UncountedTerminatedPods = struct('batch/v1.UncountedTerminatedPods', {
  succeeded: field(1, list(string), { listType: 'set', duplicates: true }),
  failed: field(2, list(string), { listType: 'set', duplicates: true }),
});

export const JobStatus = struct('batch/v1.JobStatus', {
  conditions: field(1, list(JobCondition), { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'type' }),
  startTime: field(2, time, { nullable: true }),
  completionTime: field(3, time, { nullable: true }),
  active: field(4, int32, { min: 0 }),
  succeeded: field(5, int32, { min: 0 }),
  failed: field(6, int32, { min: 0 }),
  terminating: field(11, int32, { nullable: true, gate: 'JobPodReplacementPolicy' }),
  completedIndexes: field(7, string),
  failedIndexes: field(10, string, { nullable: true }),
  uncountedTerminatedPods: field(8, UncountedTerminatedPods, { nullable: true }),
  ready: field(9, int32, { nullable: true }),
});
export type JobStatus = Infer<typeof JobStatus>;

export const Job = struct('batch/v1.Job', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, JobSpec),
  status: field(3, JobStatus),
});
export type Job = Infer<typeof Job>;

// CronJob

export const JobTemplateSpec = struct('batch/v1.JobTemplateSpec', {
  metadata: field(1, ObjectMeta),
  spec: field(2, JobSpec),
});
export type JobTemplateSpec = Infer<typeof JobTemplateSpec>;

export const CronJobSpec = struct('batch/v1.CronJobSpec', {
  schedule: field(1, string, { required: true, always: true }),
  timeZone: field(8, string, { nullable: true }),
  startingDeadlineSeconds: field(2, int64, { nullable: true, min: 0 }),
  concurrencyPolicy: field(3, string, { known: ['Allow', 'Forbid', 'Replace'] }),
  suspend: field(4, bool, { nullable: true }),
  jobTemplate: field(5, JobTemplateSpec, { required: true, always: true }),
  successfulJobsHistoryLimit: field(6, int32, { nullable: true, min: 0 }),
  failedJobsHistoryLimit: field(7, int32, { nullable: true, min: 0 }),
});
export type CronJobSpec = Infer<typeof CronJobSpec>;

export const CronJobStatus = struct('batch/v1.CronJobStatus', {
  active: field(1, list(ObjectReference), { listType: 'atomic' }),
  lastScheduleTime: field(4, time, { nullable: true }),
  lastSuccessfulTime: field(5, time, { nullable: true }),
});
export type CronJobStatus = Infer<typeof CronJobStatus>;

export const CronJob = struct('batch/v1.CronJob', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, CronJobSpec),
  status: field(3, CronJobStatus),
});
export type CronJob = Infer<typeof CronJob>;
