import { formatTime } from '../meta/index.ts';

interface Condition {
  type?: string;
  status?: string;
  lastTransitionTime?: string;
}

/** The conditions with one more, or a new one in place of that of its type, whose time stands while its status does. */
export function withCondition<C extends Condition>(conditions: readonly C[] = [], condition: C, now: number): C[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before?.lastTransitionTime : undefined;
  const next = { ...condition, lastTransitionTime: since ?? formatTime(now) };
  return before === undefined ? [...conditions, next] : conditions.map((other) => (other === before ? next : other));
}

/** What stands in a condition of a pod that was never probed: a time that nobody set is shown all the same. */
export const neverProbed: object = { lastProbeTime: null };
