/** The types of autoscaling/v1. */
import { field, type Infer, int32, int64, quantity, string, struct, time } from '../schema/index.ts';
import { resourceNames } from './core-v1.ts';
import { conditionStatuses, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// HorizontalPodAutoscaler

export const CrossVersionObjectReference = struct(
  'autoscaling/v1.CrossVersionObjectReference',
  {
    kind: field(1, string, { required: true, always: true }),
    name: field(2, string, { required: true, always: true }),
    apiVersion: field(3, string),
  },
  { structType: 'atomic' },
);

export const HorizontalPodAutoscalerSpec = struct('autoscaling/v1.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: field(1, CrossVersionObjectReference, { required: true, always: true }),
  minReplicas: field(2, int32, { nullable: true }),
  maxReplicas: field(3, int32, { required: true, emptyOk: true, always: true }),
  targetCPUUtilizationPercentage: field(4, int32, { nullable: true }),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof HorizontalPodAutoscalerSpec>;

export const HorizontalPodAutoscalerStatus = struct('autoscaling/v1.HorizontalPodAutoscalerStatus', {
  observedGeneration: field(1, int64, { nullable: true }),
  lastScaleTime: field(2, time, { nullable: true }),
  currentReplicas: field(3, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  desiredReplicas: field(4, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  currentCPUUtilizationPercentage: field(5, int32, { nullable: true }),
});
export type HorizontalPodAutoscalerStatus = Infer<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = struct('autoscaling/v1.HorizontalPodAutoscaler', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, HorizontalPodAutoscalerSpec),
  status: field(3, HorizontalPodAutoscalerStatus),
});
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;

// Scale

export const ScaleSpec = struct('autoscaling/v1.ScaleSpec', {
  replicas: field(1, int32, { min: 0 }),
});
export type ScaleSpec = Infer<typeof ScaleSpec>;

export const ScaleStatus = struct('autoscaling/v1.ScaleStatus', {
  replicas: field(1, int32, { required: true, emptyOk: true, always: true }),
  selector: field(2, string),
});
export type ScaleStatus = Infer<typeof ScaleStatus>;

export const Scale = struct('autoscaling/v1.Scale', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ScaleSpec),
  status: field(3, ScaleStatus),
});
export type Scale = Infer<typeof Scale>;

// Parts of no kind here

export const ObjectMetricSource = struct('autoscaling/v1.ObjectMetricSource', {
  target: field(1, CrossVersionObjectReference, { required: true, always: true }),
  metricName: field(2, string, { required: true, emptyOk: true, always: true }),
  targetValue: field(3, quantity, { required: true, emptyOk: true, always: true }),
  selector: field(4, LabelSelector, { nullable: true }),
  averageValue: field(5, quantity, { nullable: true }),
});

export const PodsMetricSource = struct('autoscaling/v1.PodsMetricSource', {
  metricName: field(1, string, { required: true, emptyOk: true, always: true }),
  targetAverageValue: field(2, quantity, { required: true, emptyOk: true, always: true }),
  selector: field(3, LabelSelector, { nullable: true }),
});

export const ResourceMetricSource = struct('autoscaling/v1.ResourceMetricSource', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  targetAverageUtilization: field(2, int32, { nullable: true }),
  targetAverageValue: field(3, quantity, { nullable: true }),
});

export const ContainerResourceMetricSource = struct('autoscaling/v1.ContainerResourceMetricSource', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  targetAverageUtilization: field(2, int32, { nullable: true }),
  targetAverageValue: field(3, quantity, { nullable: true }),
  container: field(5, string, { required: true, emptyOk: true, always: true }),
});

export const ExternalMetricSource = struct('autoscaling/v1.ExternalMetricSource', {
  metricName: field(1, string, { required: true, emptyOk: true, always: true }),
  metricSelector: field(2, LabelSelector, { nullable: true }),
  targetValue: field(3, quantity, { nullable: true }),
  targetAverageValue: field(4, quantity, { nullable: true }),
});

export const MetricSpec = struct('autoscaling/v1.MetricSpec', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Object', 'Pods', 'Resource', 'ContainerResource', 'External'],
    open: true,
  }),
  object: field(2, ObjectMetricSource, { nullable: true }),
  pods: field(3, PodsMetricSource, { nullable: true }),
  resource: field(4, ResourceMetricSource, { nullable: true }),
  containerResource: field(7, ContainerResourceMetricSource, { nullable: true }),
  external: field(5, ExternalMetricSource, { nullable: true }),
});

export const ObjectMetricStatus = struct('autoscaling/v1.ObjectMetricStatus', {
  target: field(1, CrossVersionObjectReference, { required: true, always: true }),
  metricName: field(2, string, { required: true, emptyOk: true, always: true }),
  currentValue: field(3, quantity, { required: true, emptyOk: true, always: true }),
  selector: field(4, LabelSelector, { nullable: true }),
  averageValue: field(5, quantity, { nullable: true }),
});

export const PodsMetricStatus = struct('autoscaling/v1.PodsMetricStatus', {
  metricName: field(1, string, { required: true, emptyOk: true, always: true }),
  currentAverageValue: field(2, quantity, { required: true, emptyOk: true, always: true }),
  selector: field(3, LabelSelector, { nullable: true }),
});

export const ResourceMetricStatus = struct('autoscaling/v1.ResourceMetricStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  currentAverageUtilization: field(2, int32, { nullable: true }),
  currentAverageValue: field(3, quantity, { required: true, emptyOk: true, always: true }),
});

export const ContainerResourceMetricStatus = struct('autoscaling/v1.ContainerResourceMetricStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  currentAverageUtilization: field(2, int32, { nullable: true }),
  currentAverageValue: field(3, quantity, { required: true, emptyOk: true, always: true }),
  container: field(4, string, { required: true, emptyOk: true, always: true }),
});

export const ExternalMetricStatus = struct('autoscaling/v1.ExternalMetricStatus', {
  metricName: field(1, string, { required: true, emptyOk: true, always: true }),
  metricSelector: field(2, LabelSelector, { nullable: true }),
  currentValue: field(3, quantity, { required: true, emptyOk: true, always: true }),
  currentAverageValue: field(4, quantity, { nullable: true }),
});

export const MetricStatus = struct('autoscaling/v1.MetricStatus', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Object', 'Pods', 'Resource', 'ContainerResource', 'External'],
    open: true,
  }),
  object: field(2, ObjectMetricStatus, { nullable: true }),
  pods: field(3, PodsMetricStatus, { nullable: true }),
  resource: field(4, ResourceMetricStatus, { nullable: true }),
  containerResource: field(7, ContainerResourceMetricStatus, { nullable: true }),
  external: field(5, ExternalMetricStatus, { nullable: true }),
});

export const HorizontalPodAutoscalerCondition = struct('autoscaling/v1.HorizontalPodAutoscalerCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['ScalingActive', 'AbleToScale', 'ScalingLimited'],
    open: true,
  }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});
