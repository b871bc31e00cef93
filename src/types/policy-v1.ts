/** The types of policy/v1. */
import { field, type Infer, int32, int64, intOrString, list, map, string, struct, time } from '../schema/index.ts';
import { Condition, DeleteOptions, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// PodDisruptionBudget

export const PodDisruptionBudgetSpec = struct('policy/v1.PodDisruptionBudgetSpec', {
  minAvailable: field(1, intOrString, { nullable: true }),
  selector: field(2, LabelSelector, { nullable: true, patchStrategy: 'replace' }),
  maxUnavailable: field(3, intOrString, { nullable: true }),
  unhealthyPodEvictionPolicy: field(4, string, { nullable: true, known: ['AlwaysAllow', 'IfHealthyBudget'] }),
});
export type PodDisruptionBudgetSpec = Infer<typeof PodDisruptionBudgetSpec>;

export const PodDisruptionBudgetStatus = struct('policy/v1.PodDisruptionBudgetStatus', {
  observedGeneration: field(1, int64),
  disruptedPods: field(2, map(time)),
  disruptionsAllowed: field(3, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  currentHealthy: field(4, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  desiredHealthy: field(5, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  expectedPods: field(6, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  conditions: field(7, list(Condition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type PodDisruptionBudgetStatus = Infer<typeof PodDisruptionBudgetStatus>;

export const PodDisruptionBudget = struct('policy/v1.PodDisruptionBudget', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, PodDisruptionBudgetSpec),
  status: field(3, PodDisruptionBudgetStatus),
});
export type PodDisruptionBudget = Infer<typeof PodDisruptionBudget>;

// Eviction

export const Eviction = struct('policy/v1.Eviction', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  deleteOptions: field(2, DeleteOptions, { nullable: true }),
});
export type Eviction = Infer<typeof Eviction>;
