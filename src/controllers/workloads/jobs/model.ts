import type { Names } from '../../../meta/index.ts';
import type { Job as JobSchema, JobStatus } from '../../../types/batch-v1.ts';
import type { ControllerSettings } from '../../manager/settings.ts';
import type { Named } from '../../shared/kind.ts';
import type { Pod } from '../../shared/pods.ts';

export type Job = JobSchema & Named;
export type Condition = NonNullable<JobStatus['conditions']>[number];

/** Keeps a pod until its end is counted in the status of its job. */
export const trackingFinalizer = ({ labels }: Names): string => `batch.${labels}/job-tracking`;
export const hasFinalizer = ({ metadata }: Pod, names: Names): boolean =>
  metadata.finalizers?.includes(trackingFinalizer(names)) === true;
/** A strategic merge patch. */
export const finalizerRemoval = (names: Names) => ({
  metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer(names)] },
});

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === 'Indexed';
export const isSuspended = ({ spec }: Job): boolean => spec?.suspend === true;
export const hasLimitPerIndex = ({ spec }: Job): boolean => spec?.backoffLimitPerIndex !== undefined;

/** Another controller than the built-in one keeps the job. */
export const isManagedElsewhere = ({ spec }: Job, names: Names, { features }: ControllerSettings): boolean =>
  features.JobManagedBy && spec?.managedBy !== undefined && spec.managedBy !== `${names.labels}/job-controller`;

/** Pods are replaced when they have ended, not when they are being deleted. */
export const replacesOnlyEnded = ({ spec }: Job): boolean =>
  spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;

/** Pods that are being deleted have failed too, unless only pods that have ended are replaced. */
export const isFailed = ({ metadata, status }: Pod, job: Job): boolean =>
  status?.phase === 'Failed' ||
  (!replacesOnlyEnded(job) && metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded');

export const isSucceeded = ({ status }: Pod): boolean => status?.phase === 'Succeeded';

export const conditionOf = (status: JobStatus | undefined, type: string | undefined): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

export const isTrue = (status: JobStatus | undefined, type: string): boolean =>
  conditionOf(status, type)?.status === 'True';

export const isFinished = ({ status }: Job): boolean => isTrue(status, 'Complete') || isTrue(status, 'Failed');

/** The index of the pod of an indexed job that counts towards its completions; undefined for others. */
export function validIndexOf(pod: Pod, { spec }: Job, names: Names): number | undefined {
  const index = indexOf(pod, names);
  return index !== undefined && index < (spec?.completions ?? 0) ? index : undefined;
}

/** The completion index that the pod is annotated with. */
export function indexOf({ metadata }: Pod, names: Names): number | undefined {
  const text = metadata.annotations?.[indexKey(names)];
  return text !== undefined && /^\+?[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The annotation and the label with the completion index of a pod. */
export const indexKey = ({ labels }: Names): string => `batch.${labels}/job-completion-index`;
