import { formatTime, type ObjectMeta } from '../meta/index.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '../types/apiextensions-v1.ts';

/** A stored definition. */
export type Definition = Omit<CustomResourceDefinition, 'metadata'> & { metadata: ObjectMeta };

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Sets a condition of the status; the time of its transition changes with its status only. `now` in ms since 1970. */
export function setCondition(definition: Definition, condition: Condition, now: number): void {
  const status: CustomResourceDefinitionStatus = definition.status ?? {};
  const conditions = status.conditions ?? [];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const last = conditions[index];
  const since = last?.status === condition.status ? last.lastTransitionTime : undefined;
  const next = { ...condition, lastTransitionTime: since ?? formatTime(now) };
  definition.status = {
    ...status,
    conditions: index < 0 ? [...conditions, next] : conditions.with(index, next),
  };
}

export const isTrue = ({ status }: Definition, type: string): boolean =>
  status?.conditions?.some((one) => one.type === type && one.status === 'True') === true;
