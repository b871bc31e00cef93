import { formatTime } from '../../meta/index.ts';

/** A condition as most kinds have it. */
export interface Condition {
  type?: string;
  status?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

/**
 * The conditions with this one: unchanged where it has the same status and reason already; its transition time stays
 * while its status does.
 */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: number,
): (C | Condition)[] {
  const before = conditions?.find((condition) => condition.type === type);
  if (before !== undefined && before.status === status && before.reason === reason) return [...(conditions ?? [])];
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(now);
  return [
    ...withoutCondition(conditions, type),
    { type, status, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }), reason, message },
  ];
}

export const withoutCondition = <C extends Condition>(conditions: readonly C[] | undefined, type: string): C[] =>
  (conditions ?? []).filter((condition) => condition.type !== type);
