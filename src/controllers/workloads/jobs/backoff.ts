import { parseTime } from '../../../meta/index.ts';
import { createdAt, type Pod, podCondition } from '../../shared/pods.ts';

/** Failures of pods of a job since one last succeeded. */
export interface Backoff {
  readonly failures: number;
  /** When the last one failed (ms). */
  readonly since: number;
}

const firstMs = 10_000;
const lastMs = 600_000;

export const noBackoff: Backoff = { failures: 0, since: 0 };

/** The backoff after pods that have ended. */
export function nextBackoff(before: Backoff, succeeded: readonly Pod[], failed: readonly Pod[]): Backoff {
  const success = lastOf(succeeded.map(finishedAt));
  const later = failed.map(finishedAt).filter((time) => time > success);
  if (later.length === 0) return succeeded.length === 0 ? before : noBackoff;
  const failures = (succeeded.length === 0 ? before.failures : 0) + later.length;
  return { failures, since: lastOf(later) };
}

const lastOf = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);

/** How long no pod may be created (ms). */
export function backoffLeft({ failures, since }: Backoff, now: number): number {
  if (failures === 0) return 0;
  return Math.max(0, since + Math.min(firstMs * 2 ** (failures - 1), lastMs) - now);
}

/** When a pod ended (ms), as far as it says that: its containers, its readiness, its deletion, its creation. */
export function finishedAt(pod: Pod): number {
  const { metadata } = pod;
  const ended = containersFinishedAt(pod);
  if (ended !== undefined) return ended;
  const ready = podCondition(pod, 'Ready');
  if (ready?.status === 'False' && typeof ready.lastTransitionTime === 'string') {
    return parseTime(ready.lastTransitionTime);
  }
  if (metadata.deletionTimestamp !== undefined) {
    return parseTime(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  }
  return createdAt(pod) ?? 0;
}

/** When the last container ended (ms), of the regular ones and the sidecars; undefined while one has not. */
function containersFinishedAt({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const containers = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  let last: number | undefined;
  for (const { state } of containers) {
    const time = state?.terminated?.finishedAt;
    if (typeof time !== 'string') return undefined;
    last = Math.max(last ?? 0, parseTime(time));
  }
  return last;
}
