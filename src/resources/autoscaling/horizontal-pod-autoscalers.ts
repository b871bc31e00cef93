import { age, name, orUnset } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { HorizontalPodAutoscaler as V1 } from '../types/autoscaling-v1.ts';
import { HorizontalPodAutoscaler } from '../types/autoscaling-v2.ts';
import { isNew } from '../validate/common.ts';
import { fromV2, toV2 } from './conversion.ts';
import { defaultAutoscaler, validateAutoscaler } from './rules.ts';

type HorizontalPodAutoscalerObject = ObjectOf<typeof HorizontalPodAutoscaler>;

export const horizontalPodAutoscalers = resource({
  group: 'autoscaling',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  version: 'v2',
  schema: HorizontalPodAutoscaler,
  versions: [{ version: 'v1', schema: V1, toStorage: toV2, fromStorage: fromV2 }],
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
    defaults: (autoscaler) => {
      autoscaler.spec ??= {};
      defaultAutoscaler(autoscaler.spec);
    },
    validate: (autoscaler) => (isNew(autoscaler) ? validateAutoscaler(autoscaler.spec ?? {}) : []),
    validateUpdate: ({ spec = {} }, old) => validateAutoscaler(spec, old.spec ?? {}),
  },
});

/** `current/target` of the first two metrics, then how many more there are. */
function targets({ spec, status }: HorizontalPodAutoscalerObject): string {
  const metrics = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, i) => {
    const current = status?.currentMetrics?.[i];
    const source = metric.resource ?? metric.containerResource ?? metric.pods ?? metric.object ?? metric.external;
    const seen =
      current?.resource ?? current?.containerResource ?? current?.pods ?? current?.object ?? current?.external;
    const label = metric.resource?.name ?? metric.containerResource?.name;
    const { target } = source ?? {};
    const text =
      target?.averageUtilization === undefined
        ? `${seen?.current?.averageValue ?? seen?.current?.value ?? '<unknown>'}/${target?.averageValue ?? target?.value ?? '<auto>'}${target?.averageValue !== undefined && label === undefined ? ' (avg)' : ''}`
        : `${seen?.current?.averageUtilization === undefined ? '<unknown>' : `${seen.current.averageUtilization}%`}/${target.averageUtilization}%`;
    return label === undefined ? text : `${label}: ${text}`;
  });
  const shown = texts.slice(0, 2).join(', ');
  return texts.length > 2 ? `${shown} + ${texts.length - 2} more...` : shown;
}
