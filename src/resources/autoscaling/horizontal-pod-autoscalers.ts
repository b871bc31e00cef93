import type { Infer, ObjectOf } from '../../schema/index.ts';
import { HorizontalPodAutoscaler as V1 } from '../../types/autoscaling-v1.ts';
import { HorizontalPodAutoscaler, type MetricSpec, type MetricStatus } from '../../types/autoscaling-v2.ts';
import { age, name, orUnset } from '../shared/columns.ts';
import { conversionsInSteps } from '../shared/conversions.ts';
import { resource } from '../shared/define.ts';
import { isNew } from '../shared/field-rules.ts';
import { dropV1Annotations, fromV2, toV2 } from './horizontal-pod-autoscalers.conversion.ts';
import { defaultAutoscaler } from './horizontal-pod-autoscalers.defaults.ts';
import { validateAutoscaler } from './horizontal-pod-autoscalers.validation.ts';

type HorizontalPodAutoscalerObject = ObjectOf<typeof HorizontalPodAutoscaler>;

export const horizontalPodAutoscalers = resource({
  group: 'autoscaling',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  version: 'v2',
  schema: HorizontalPodAutoscaler,
  lifecycle: { introduced: '1.23' },
  versions: [{ version: 'v1', schema: V1, lifecycle: { introduced: '1.2' }, ...conversionsInSteps(toV2, fromV2) }],
  shortNames: ['hpa'],
  categories: ['all'],
  status: true,
  columns: [
    name,
    ['Reference', ({ spec }) => `${spec?.scaleTargetRef?.kind}/${spec?.scaleTargetRef?.name}`],
    ['Targets', targets],
    ['MinPods', ({ spec }) => orUnset(spec?.minReplicas?.toString())],
    ['MaxPods', ({ spec }) => spec?.maxReplicas ?? 0],
    ['Replicas', ({ status }) => status?.currentReplicas ?? 0],
    age,
  ],
  strategy: {
    metadataChecks: [0, 1],
    defaults: (autoscaler, { names }) => {
      dropV1Annotations(autoscaler, names);
      autoscaler.spec ??= {};
      defaultAutoscaler(autoscaler.spec);
    },
    validate: (autoscaler, { names }) => (isNew(autoscaler) ? validateAutoscaler(autoscaler.spec ?? {}, names) : []),
    validateUpdate: ({ spec = {} }, old, { names }) => validateAutoscaler(spec, names, old.spec ?? {}),
  },
});

/** `current/target` of the first two metrics, and the number of further ones. */
function targets({ spec, status }: HorizontalPodAutoscalerObject): string {
  const metrics = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, i) => progress(metric, status?.currentMetrics?.[i]));
  const text = texts.slice(0, 2).join(', ');
  return texts.length > 2 ? `${text} + ${texts.length - 2} more...` : text;
}

function progress(metric: Infer<typeof MetricSpec>, seen: Infer<typeof MetricStatus> | undefined): string {
  const { object, external, pods } = metric;
  const resource = metric.resource ?? metric.containerResource;
  const { value, averageValue, averageUtilization } = (object ?? external ?? pods ?? resource)?.target ?? {};
  const current = (seen?.object ?? seen?.external ?? seen?.pods ?? seen?.resource ?? seen?.containerResource)?.current;
  if (resource !== undefined && averageValue === undefined) {
    return `${resource.name}: ${percent(current?.averageUtilization) ?? '<unknown>'}/${percent(averageUtilization) ?? '<auto>'}`;
  }
  if (averageValue === undefined) return `${current?.value ?? '<unknown>'}/${value}`;
  const text = `${current?.averageValue ?? '<unknown>'}/${averageValue}`;
  if (resource !== undefined) return `${resource.name}: ${text}`;
  return pods === undefined ? `${text} (avg)` : text;
}

const percent = (share: number | undefined): string | undefined => (share === undefined ? undefined : `${share}%`);
