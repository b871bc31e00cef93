import { fieldsAt, listAt, objectsOf, on, textOf } from './fields.ts';
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

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
    mutate: ({ object: pod }) => {
      if (pod === undefined) return;
      const spec = fieldsAt(pod, 'spec');
      const given = objectsOf(spec['tolerations']);
      const meets = (value: string, wanted: string) => value === '' || value === wanted;
      for (const { key, seconds } of taints) {
        const tolerated = given.some(
          (toleration) => meets(textOf(toleration['key']), key) && meets(textOf(toleration['effect']), 'NoExecute'),
        );
        if (tolerated) continue;
        listAt(spec, 'tolerations').push({
          key,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: seconds,
        });
      }
    },
  };
}
