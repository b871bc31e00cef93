/** The beta versions of horizontal pod autoscalers. */
import { type Fields, field, int32, list, quantity, string } from '../../schema/index.ts';
import * as v2 from '../../types/autoscaling-v2.ts';
import { LabelSelector } from '../../types/meta-v1.ts';
import { metricFromV1, metricToV1 } from '../autoscaling/metrics.conversion.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

const status: Fields = {
  ...v2.HorizontalPodAutoscalerStatus.fields,
  currentReplicas: field(3, int32, { required: true, emptyOk: true, always: true }),
  conditions: field(6, list(v2.HorizontalPodAutoscalerCondition), { always: true, listType: 'atomic' }),
};

const { tolerance: _, ...scalingRules } = v2.HPAScalingRules.fields;

const v2beta2 = typesIn('autoscaling/v2beta2', {
  HPAScalingRules: scalingRules,
  HorizontalPodAutoscalerStatus: status,
});

const { behavior: __, ...spec } = v2.HorizontalPodAutoscalerSpec.fields;
const { name: resource } = v2.ResourceMetricSource.fields;
const always = { required: true, emptyOk: true, always: true } as const;
const target = field(1, v2.CrossVersionObjectReference, { required: true, always: true });
const name = (tag: number) => field(tag, string, always);
const selector = (tag: number) => field(tag, LabelSelector, { nullable: true });

// A target or a current value has a field of its own for each of its forms.
const v2beta1 = typesIn('autoscaling/v2beta1', {
  HorizontalPodAutoscalerSpec: spec,
  HorizontalPodAutoscalerStatus: status,
  ObjectMetricSource: {
    target,
    metricName: name(2),
    targetValue: field(3, quantity, always),
    selector: selector(4),
    averageValue: field(5, quantity, { nullable: true }),
  },
  PodsMetricSource: { metricName: name(1), targetAverageValue: field(2, quantity, always), selector: selector(3) },
  ResourceMetricSource: {
    name: resource,
    targetAverageUtilization: field(2, int32, { nullable: true }),
    targetAverageValue: field(3, quantity, { nullable: true }),
  },
  ContainerResourceMetricSource: {
    name: resource,
    targetAverageUtilization: field(2, int32, { nullable: true }),
    targetAverageValue: field(3, quantity, { nullable: true }),
    container: name(4),
  },
  ExternalMetricSource: {
    metricName: name(1),
    metricSelector: selector(2),
    targetValue: field(3, quantity, { nullable: true }),
    targetAverageValue: field(4, quantity, { nullable: true }),
  },
  ObjectMetricStatus: {
    target,
    metricName: name(2),
    currentValue: field(3, quantity, always),
    selector: selector(4),
    averageValue: field(5, quantity, { nullable: true }),
  },
  PodsMetricStatus: { metricName: name(1), currentAverageValue: field(2, quantity, always), selector: selector(3) },
  ResourceMetricStatus: {
    name: resource,
    currentAverageUtilization: field(2, int32, { nullable: true }),
    currentAverageValue: field(3, quantity, always),
  },
  ContainerResourceMetricStatus: {
    name: resource,
    currentAverageUtilization: field(2, int32, { nullable: true }),
    currentAverageValue: field(3, quantity, always),
    container: name(4),
  },
  ExternalMetricStatus: {
    metricName: name(1),
    metricSelector: selector(2),
    currentValue: field(3, quantity, always),
    currentAverageValue: field(4, quantity, { nullable: true }),
  },
});

export const autoscaling: readonly OlderKind[] = [
  {
    group: 'autoscaling',
    plural: 'horizontalpodautoscalers',
    versions: [
      {
        version: 'v2beta2',
        schema: v2beta2(v2.HorizontalPodAutoscaler),
        lifecycle: { introduced: '1.12', deprecated: '1.23', removed: '1.26' },
        changes: [],
      },
      {
        version: 'v2beta1',
        schema: v2beta1(v2.HorizontalPodAutoscaler),
        lifecycle: { introduced: '1.8', deprecated: '1.22', removed: '1.25' },
        changes: [
          {
            older: 'spec.metrics[]',
            toStored: (metric) => metricFromV1(metric, 'target'),
            toOlder: (metric) => metricToV1(metric, 'target'),
          },
          {
            older: 'status.currentMetrics[]',
            toStored: (metric) => metricFromV1(metric, 'current'),
            toOlder: (metric) => metricToV1(metric, 'current'),
          },
        ],
      },
    ],
  },
];
