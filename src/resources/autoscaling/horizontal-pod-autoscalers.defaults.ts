import type { HorizontalPodAutoscalerSpec } from '../../types/autoscaling-v2.ts';

const CPU_UTILIZATION = 80;

export function defaultAutoscaler(spec: HorizontalPodAutoscalerSpec): void {
  spec.minReplicas ??= 1;
  spec.metrics ??= [
    {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_UTILIZATION } },
    },
  ];
  if (spec.behavior === undefined) return;
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
  const { scaleUp, scaleDown } = spec.behavior;
  spec.behavior = {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, { ...percent }],
      ...scaleUp,
    },
    scaleDown: { selectPolicy: 'Max', policies: [percent], ...scaleDown },
  };
}
