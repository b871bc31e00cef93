/** The types of scheduling/v1. */
import { bool, field, type Infer, int32, string, struct } from '../schema/index.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const PriorityClass = struct('scheduling/v1.PriorityClass', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  value: field(2, int32, { required: true, emptyOk: true, always: true }),
  globalDefault: field(3, bool),
  description: field(4, string),
  preemptionPolicy: field(5, string, { nullable: true, known: ['PreemptLowerPriority', 'Never'], checkedByKind: true }),
});
export type PriorityClass = Infer<typeof PriorityClass>;
