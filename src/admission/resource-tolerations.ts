import { containersOf, fieldsAt, fieldsOf, initContainersOf, listAt, objectsOf, on, textOf } from './fields.ts';
import { isExtendedResource } from './resource-list.ts';
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

/** Adds a toleration for the taint of each extended resource that a pod requests. */
export function resourceTolerations({ names }: Pick<PluginInitializer, 'names'>): AdmissionPlugin {
  return {
    name: 'ExtendedResourceToleration',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: ({ object: pod }) => {
      if (pod === undefined) return;
      const spec = fieldsAt(pod, 'spec');
      const asked = [...containersOf(spec), ...initContainersOf(spec)].flatMap((container) =>
        Object.keys(fieldsOf(fieldsOf(container['resources'])['requests'])),
      );
      for (const key of [...new Set(asked)].filter((name) => isExtendedResource(name, names)).sort()) {
        const held = objectsOf(spec['tolerations']).some(
          (one) =>
            one['key'] === key &&
            one['effect'] === 'NoSchedule' &&
            one['operator'] === 'Exists' &&
            textOf(one['value']) === '',
        );
        if (!held) listAt(spec, 'tolerations').push({ key, operator: 'Exists', effect: 'NoSchedule' });
      }
    },
  };
}
