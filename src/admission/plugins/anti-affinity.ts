import { Pod } from '../../types/core-v1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';

/** Required pod anti-affinity terms may use the hostname topology key only. */
export function limitAntiAffinity({ names }: Pick<PluginInitializer, 'names'>): AdmissionPlugin {
  const allowed = `${names.labels}/hostname`;
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    validate: (request) => {
      const { podAntiAffinity } = typedRequest(Pod, request).object?.spec?.affinity ?? {};
      const terms = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      const wrong = terms.find(({ topologyKey }) => topologyKey !== allowed);
      if (wrong === undefined) return;
      const what = `has TopologyKey ${wrong.topologyKey ?? ''} but only key ${allowed} is allowed`;
      throw forbidden(request, `affinity.PodAntiAffinity.RequiredDuringScheduling ${what}`);
    },
  };
}
