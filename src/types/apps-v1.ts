/** The types of apps/v1. */
import {
  anyObject,
  bool,
  field,
  type Infer,
  int32,
  int64,
  intOrString,
  list,
  string,
  struct,
  time,
} from '../schema/index.ts';
import { PersistentVolumeClaim, PodTemplateSpec } from './core-v1.ts';
import { conditionStatuses, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// StatefulSet

export const RollingUpdateStatefulSetStrategy = struct('apps/v1.RollingUpdateStatefulSetStrategy', {
  partition: field(1, int32, { nullable: true, min: 0 }),
  maxUnavailable: field(2, intOrString, { nullable: true, gate: 'MaxUnavailableStatefulSet' }),
});

export const StatefulSetUpdateStrategy = struct('apps/v1.StatefulSetUpdateStrategy', {
  type: field(1, string, { known: ['RollingUpdate', 'OnDelete'], open: true, enum: true }),
  rollingUpdate: field(2, RollingUpdateStatefulSetStrategy, { nullable: true }),
});

export const StatefulSetPersistentVolumeClaimRetentionPolicy = struct(
  'apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: field(1, string, { known: ['Retain', 'Delete'], enum: false }),
    whenScaled: field(2, string, { known: ['Retain', 'Delete'], enum: false }),
  },
);

export const StatefulSetOrdinals = struct('apps/v1.StatefulSetOrdinals', {
  start: field(1, int32, { always: true, min: 0 }),
});

export const StatefulSetSpec = struct('apps/v1.StatefulSetSpec', {
  replicas: field(1, int32, { nullable: true, min: 0 }),
  selector: field(2, LabelSelector, { required: true, always: true, nullable: true }),
  template: field(3, PodTemplateSpec, { required: true, always: true }),
  volumeClaimTemplates: field(4, list(PersistentVolumeClaim), { listType: 'atomic' }),
  serviceName: field(5, string, { always: true }),
  podManagementPolicy: field(6, string, { known: ['OrderedReady', 'Parallel'], open: true, enum: true }),
  updateStrategy: field(7, StatefulSetUpdateStrategy),
  revisionHistoryLimit: field(8, int32, { nullable: true }),
  minReadySeconds: field(9, int32, { min: 0 }),
  persistentVolumeClaimRetentionPolicy: field(10, StatefulSetPersistentVolumeClaimRetentionPolicy, { nullable: true }),
  ordinals: field(11, StatefulSetOrdinals, { nullable: true }),
});
export type StatefulSetSpec = Infer<typeof StatefulSetSpec>;

export const StatefulSetCondition = struct('apps/v1.StatefulSetCondition', {
  type: field(1, string, { required: true, emptyOk: true, always: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const StatefulSetStatus = struct('apps/v1.StatefulSetStatus', {
  observedGeneration: field(1, int64, { min: 0 }),
  replicas: field(2, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  readyReplicas: field(3, int32, { min: 0 }),
  currentReplicas: field(4, int32, { min: 0 }),
  updatedReplicas: field(5, int32, { min: 0 }),
  currentRevision: field(6, string),
  updateRevision: field(7, string),
  collisionCount: field(9, int32, { nullable: true, min: 0 }),
  conditions: field(10, list(StatefulSetCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  availableReplicas: field(11, int32, { always: true, min: 0 }),
});
export type StatefulSetStatus = Infer<typeof StatefulSetStatus>;

export const StatefulSet = struct('apps/v1.StatefulSet', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, StatefulSetSpec),
  status: field(3, StatefulSetStatus),
});
export type StatefulSet = Infer<typeof StatefulSet>;

// Deployment

export const RollingUpdateDeployment = struct('apps/v1.RollingUpdateDeployment', {
  maxUnavailable: field(1, intOrString, { nullable: true }),
  maxSurge: field(2, intOrString, { nullable: true }),
});

export const DeploymentStrategy = struct('apps/v1.DeploymentStrategy', {
  type: field(1, string, { known: ['Recreate', 'RollingUpdate'], open: true, enum: true }),
  rollingUpdate: field(2, RollingUpdateDeployment, { nullable: true }),
});

export const DeploymentSpec = struct('apps/v1.DeploymentSpec', {
  replicas: field(1, int32, { nullable: true, min: 0 }),
  selector: field(2, LabelSelector, { required: true, always: true, nullable: true }),
  template: field(3, PodTemplateSpec, { required: true, always: true }),
  strategy: field(4, DeploymentStrategy, { patchStrategy: 'retainKeys' }),
  minReadySeconds: field(5, int32, { min: 0 }),
  revisionHistoryLimit: field(6, int32, { nullable: true, min: 0 }),
  paused: field(7, bool),
  progressDeadlineSeconds: field(9, int32, { nullable: true, min: 0 }),
});
export type DeploymentSpec = Infer<typeof DeploymentSpec>;

export const DeploymentCondition = struct('apps/v1.DeploymentCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Available', 'Progressing', 'ReplicaFailure'],
    open: true,
  }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastUpdateTime: field(6, time),
  lastTransitionTime: field(7, time),
  reason: field(4, string),
  message: field(5, string),
});

export const DeploymentStatus = struct('apps/v1.DeploymentStatus', {
  observedGeneration: field(1, int64, { min: 0 }),
  replicas: field(2, int32, { min: 0 }),
  updatedReplicas: field(3, int32, { min: 0 }),
  readyReplicas: field(7, int32, { min: 0 }),
  availableReplicas: field(4, int32, { min: 0 }),
  unavailableReplicas: field(5, int32, { min: 0 }),
  terminatingReplicas: field(9, int32, { nullable: true, gate: 'DeploymentReplicaSetTerminatingReplicas' }),
  conditions: field(6, list(DeploymentCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  collisionCount: field(8, int32, { nullable: true, min: 0 }),
});
export type DeploymentStatus = Infer<typeof DeploymentStatus>;

export const Deployment = struct('apps/v1.Deployment', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, DeploymentSpec),
  status: field(3, DeploymentStatus),
});
export type Deployment = Infer<typeof Deployment>;

// DaemonSet

export const RollingUpdateDaemonSet = struct('apps/v1.RollingUpdateDaemonSet', {
  maxUnavailable: field(1, intOrString, { nullable: true }),
  maxSurge: field(2, intOrString, { nullable: true }),
});

export const DaemonSetUpdateStrategy = struct('apps/v1.DaemonSetUpdateStrategy', {
  type: field(1, string, { known: ['RollingUpdate', 'OnDelete'], open: true, enum: true }),
  rollingUpdate: field(2, RollingUpdateDaemonSet, { nullable: true }),
});

export const DaemonSetSpec = struct('apps/v1.DaemonSetSpec', {
  selector: field(1, LabelSelector, { required: true, emptyOk: true, always: true, nullable: true }),
  template: field(2, PodTemplateSpec, { required: true, always: true }),
  updateStrategy: field(3, DaemonSetUpdateStrategy),
  minReadySeconds: field(4, int32, { min: 0 }),
  revisionHistoryLimit: field(6, int32, { nullable: true, min: 0 }),
});
export type DaemonSetSpec = Infer<typeof DaemonSetSpec>;

export const DaemonSetCondition = struct('apps/v1.DaemonSetCondition', {
  type: field(1, string, { required: true, emptyOk: true, always: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const DaemonSetStatus = struct('apps/v1.DaemonSetStatus', {
  currentNumberScheduled: field(1, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  numberMisscheduled: field(2, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  desiredNumberScheduled: field(3, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  numberReady: field(4, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  observedGeneration: field(5, int64, { min: 0 }),
  updatedNumberScheduled: field(6, int32, { min: 0 }),
  numberAvailable: field(7, int32, { min: 0 }),
  numberUnavailable: field(8, int32, { min: 0 }),
  collisionCount: field(9, int32, { nullable: true, min: 0 }),
  conditions: field(10, list(DaemonSetCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type DaemonSetStatus = Infer<typeof DaemonSetStatus>;

export const DaemonSet = struct('apps/v1.DaemonSet', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, DaemonSetSpec),
  status: field(3, DaemonSetStatus),
});
export type DaemonSet = Infer<typeof DaemonSet>;

// ReplicaSet

export const ReplicaSetSpec = struct('apps/v1.ReplicaSetSpec', {
  replicas: field(1, int32, { nullable: true, min: 0 }),
  minReadySeconds: field(4, int32, { min: 0 }),
  selector: field(2, LabelSelector, { required: true, always: true, nullable: true }),
  template: field(3, PodTemplateSpec),
});
export type ReplicaSetSpec = Infer<typeof ReplicaSetSpec>;

export const ReplicaSetCondition = struct('apps/v1.ReplicaSetCondition', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: ['ReplicaFailure'], open: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const ReplicaSetStatus = struct('apps/v1.ReplicaSetStatus', {
  replicas: field(1, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  fullyLabeledReplicas: field(2, int32, { min: 0 }),
  readyReplicas: field(4, int32, { min: 0 }),
  availableReplicas: field(5, int32, { min: 0 }),
  terminatingReplicas: field(7, int32, { nullable: true, gate: 'DeploymentReplicaSetTerminatingReplicas' }),
  observedGeneration: field(3, int64, { min: 0 }),
  conditions: field(6, list(ReplicaSetCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type ReplicaSetStatus = Infer<typeof ReplicaSetStatus>;

export const ReplicaSet = struct('apps/v1.ReplicaSet', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ReplicaSetSpec),
  status: field(3, ReplicaSetStatus),
});
export type ReplicaSet = Infer<typeof ReplicaSet>;

// ControllerRevision

export const ControllerRevision = struct('apps/v1.ControllerRevision', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  data: field(2, anyObject),
  revision: field(3, int64, { required: true, emptyOk: true, always: true, min: 0 }),
});
export type ControllerRevision = Infer<typeof ControllerRevision>;
