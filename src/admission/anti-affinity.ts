import { fieldsOf, forbidden, objectsOf, on, specOf, textOf } from './fields.ts';
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

/** Required pod anti-affinity terms may use the hostname topology key only. */
export function limitAntiAffinity({ names }: Pick<PluginInitializer, 'names'>): AdmissionPlugin {
  const allowed = `${names.labels}/hostname`;
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    validate: (request) => {
      const { podAntiAffinity } = fieldsOf(specOf(request.object)['affinity']);
      const terms = objectsOf(fieldsOf(podAntiAffinity)['requiredDuringSchedulingIgnoredDuringExecution']);
      const wrong = terms.find(({ topologyKey }) => topologyKey !== allowed);
      if (wrong === undefined) return;
      const what = `has TopologyKey ${textOf(wrong['topologyKey'])} but only key ${allowed} is allowed`;
      throw forbidden(request, `affinity.PodAntiAffinity.RequiredDuringScheduling ${what}`);
    },
  };
}
