import { isExtendedResource } from '../../rules/index.ts';
import { Pod } from '../../types/core-v1.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';

/** Adds a toleration for the taint of each extended resource that a pod requests. */
export function resourceTolerations({ names }: Pick<PluginInitializer, 'names'>): AdmissionPlugin {
  return {
    name: 'ExtendedResourceToleration',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: (request) => {
      const { object: pod } = typedRequest(Pod, request);
      if (pod === undefined) return;
      pod.spec ??= {};
      const { containers, initContainers, tolerations = [] } = pod.spec;
      const asked = [...(containers ?? []), ...(initContainers ?? [])].flatMap(({ resources }) =>
        Object.keys(resources?.requests ?? {}),
      );
      const tolerated = (name: string) =>
        tolerations.some(
          ({ key, effect, operator, value }) =>
            key === name && effect === 'NoSchedule' && operator === 'Exists' && !value,
        );
      const missing = [...new Set(asked)]
        .filter((name) => isExtendedResource(name, names) && !tolerated(name))
        .sort()
        .map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }));
      if (missing.length > 0) pod.spec.tolerations = [...tolerations, ...missing];
    },
  };
}
