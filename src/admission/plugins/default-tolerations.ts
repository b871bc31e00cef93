import { Pod } from '../../types/core-v1.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';

/** Adds tolerations with `tolerationSeconds` for the not-ready and unreachable NoExecute taints. */
export function defaultTolerations({
  names,
  tolerationSeconds,
}: Pick<PluginInitializer, 'names' | 'tolerationSeconds'>): AdmissionPlugin {
  const taints = [
    { key: `node.${names.labels}/not-ready`, seconds: tolerationSeconds.notReady },
    { key: `node.${names.labels}/unreachable`, seconds: tolerationSeconds.unreachable },
  ];
  return {
    name: 'DefaultTolerationSeconds',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: (request) => {
      const { object: pod } = typedRequest(Pod, request);
      if (pod === undefined) return;
      pod.spec ??= {};
      const { tolerations = [] } = pod.spec;
      const meets = (value: string | undefined, wanted: string) => !value || value === wanted;
      const missing = taints.filter(
        (taint) => !tolerations.some(({ key, effect }) => meets(key, taint.key) && meets(effect, 'NoExecute')),
      );
      if (missing.length === 0) return;
      pod.spec.tolerations = [
        ...tolerations,
        ...missing.map(({ key, seconds }) => ({
          key,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: seconds,
        })),
      ];
    },
  };
}
