/** The types of autoscaling/v2. */
import { field, type Infer, int32, int64, list, quantity, string, struct, time } from '../schema/index.ts';
import { resourceNames } from './core-v1.ts';
import { conditionStatuses, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

export const CrossVersionObjectReference = struct('autoscaling/v2.CrossVersionObjectReference', {
  // The status may have empty ones.
  kind: field(1, string, { required: true, emptyOk: true, always: true }),
  name: field(2, string, { required: true, emptyOk: true, always: true }),
  apiVersion: field(3, string),
});

export const MetricTarget = struct('autoscaling/v2.MetricTarget', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Utilization', 'Value', 'AverageValue'],
    open: true,
  }),
  value: field(2, quantity, { nullable: true }),
  averageValue: field(3, quantity, { nullable: true }),
  averageUtilization: field(4, int32, { nullable: true }),
});

export const MetricIdentifier = struct('autoscaling/v2.MetricIdentifier', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  selector: field(2, LabelSelector, { nullable: true }),
});

export const ObjectMetricSource = struct('autoscaling/v2.ObjectMetricSource', {
  describedObject: field(1, CrossVersionObjectReference, { required: true, always: true }),
  target: field(2, MetricTarget, { required: true, always: true }),
  metric: field(3, MetricIdentifier, { required: true, always: true }),
});

export const PodsMetricSource = struct('autoscaling/v2.PodsMetricSource', {
  metric: field(1, MetricIdentifier, { required: true, always: true }),
  target: field(2, MetricTarget, { required: true, always: true }),
});

export const ResourceMetricSource = struct('autoscaling/v2.ResourceMetricSource', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  target: field(2, MetricTarget, { required: true, always: true }),
});

export const ContainerResourceMetricSource = struct('autoscaling/v2.ContainerResourceMetricSource', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  target: field(2, MetricTarget, { required: true, always: true }),
  container: field(3, string, { required: true, emptyOk: true, always: true }),
});

export const ExternalMetricSource = struct('autoscaling/v2.ExternalMetricSource', {
  metric: field(1, MetricIdentifier, { required: true, always: true }),
  target: field(2, MetricTarget, { required: true, always: true }),
});

export const MetricSpec = struct('autoscaling/v2.MetricSpec', {
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

export const HPAScalingPolicy = struct('autoscaling/v2.HPAScalingPolicy', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: ['Pods', 'Percent'], open: true }),
  value: field(2, int32, { required: true, emptyOk: true, always: true }),
  periodSeconds: field(3, int32, { required: true, emptyOk: true, always: true }),
});

export const HPAScalingRules = struct('autoscaling/v2.HPAScalingRules', {
  stabilizationWindowSeconds: field(3, int32, { nullable: true }),
  selectPolicy: field(1, string, { nullable: true, known: ['Disabled', 'Max', 'Min'], enum: false }),
  // An empty list is not the default, and invalid.
  policies: field(2, list(HPAScalingPolicy), { nullable: true, listType: 'atomic' }),
  tolerance: field(4, quantity, { nullable: true, gate: 'HPAConfigurableTolerance' }),
});

export const HorizontalPodAutoscalerBehavior = struct('autoscaling/v2.HorizontalPodAutoscalerBehavior', {
  scaleUp: field(1, HPAScalingRules, { nullable: true }),
  scaleDown: field(2, HPAScalingRules, { nullable: true }),
});

export const HorizontalPodAutoscalerSpec = struct('autoscaling/v2.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: field(1, CrossVersionObjectReference, { required: true, always: true }),
  minReplicas: field(2, int32, { nullable: true }),
  maxReplicas: field(3, int32, { required: true, emptyOk: true, always: true }),
  metrics: field(4, list(MetricSpec), { listType: 'atomic' }),
  behavior: field(5, HorizontalPodAutoscalerBehavior, { nullable: true }),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof HorizontalPodAutoscalerSpec>;

export const MetricValueStatus = struct('autoscaling/v2.MetricValueStatus', {
  value: field(1, quantity, { nullable: true }),
  averageValue: field(2, quantity, { nullable: true }),
  averageUtilization: field(3, int32, { nullable: true }),
});

export const ObjectMetricStatus = struct('autoscaling/v2.ObjectMetricStatus', {
  metric: field(1, MetricIdentifier, { required: true, always: true }),
  current: field(2, MetricValueStatus, { required: true, always: true }),
  describedObject: field(3, CrossVersionObjectReference, { required: true, always: true }),
});

export const PodsMetricStatus = struct('autoscaling/v2.PodsMetricStatus', {
  metric: field(1, MetricIdentifier, { required: true, always: true }),
  current: field(2, MetricValueStatus, { required: true, always: true }),
});

export const ResourceMetricStatus = struct('autoscaling/v2.ResourceMetricStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  current: field(2, MetricValueStatus, { required: true, always: true }),
});

export const ContainerResourceMetricStatus = struct('autoscaling/v2.ContainerResourceMetricStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  current: field(2, MetricValueStatus, { required: true, always: true }),
  container: field(3, string, { required: true, emptyOk: true, always: true }),
});

export const ExternalMetricStatus = struct('autoscaling/v2.ExternalMetricStatus', {
  metric: field(1, MetricIdentifier, { required: true, always: true }),
  current: field(2, MetricValueStatus, { required: true, always: true }),
});

export const MetricStatus = struct('autoscaling/v2.MetricStatus', {
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

export const HorizontalPodAutoscalerCondition = struct('autoscaling/v2.HorizontalPodAutoscalerCondition', {
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

export const HorizontalPodAutoscalerStatus = struct('autoscaling/v2.HorizontalPodAutoscalerStatus', {
  observedGeneration: field(1, int64, { nullable: true }),
  lastScaleTime: field(2, time, { nullable: true }),
  currentReplicas: field(3, int32, { min: 0 }),
  desiredReplicas: field(4, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  currentMetrics: field(5, list(MetricStatus), { always: true, listType: 'atomic' }),
  conditions: field(6, list(HorizontalPodAutoscalerCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type HorizontalPodAutoscalerStatus = Infer<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = struct('autoscaling/v2.HorizontalPodAutoscaler', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, HorizontalPodAutoscalerSpec),
  status: field(3, HorizontalPodAutoscalerStatus),
});
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
