import { formatTime } from '../../meta/index.ts';
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec } from '../../types/autoscaling-v2.ts';
import type { Named } from '../shared/kind.ts';

export type Autoscaler = HorizontalPodAutoscaler & Named;
export type Spec = HorizontalPodAutoscalerSpec;
export type Status = NonNullable<Autoscaler['status']>;
export type MetricSpec = NonNullable<Spec['metrics']>[number];
export type MetricStatus = NonNullable<Status['currentMetrics']>[number];
export type Condition = NonNullable<Status['conditions']>[number];

/** How often each autoscaler is reconciled (ms). */
export const syncMs = 15_000;
export const maxReplicas = 2 ** 31 - 1;

/** Sets a condition; its transition time stays while its status does. */
export function setCondition(
  conditions: Condition[],
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
  now: number,
): void {
  const i = conditions.findIndex((condition) => condition.type === type);
  const before = conditions[i];
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(now);
  const next = { type, status, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }), reason, message };
  if (before === undefined) conditions.push(next);
  else conditions[i] = next;
}
