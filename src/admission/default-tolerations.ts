import { fieldsAt, listAt, objectsOf, on, textOf } from './fields.ts';
import type { AdmissionPlugin, AdmissionWorld } from './types.ts';

/** How long a pod stays on a node that has become unready or out of reach, when it does not say so itself. */
const patienceSeconds = 300;

/** Pods stay for a while on nodes that fail, instead of leaving at once. */
export function defaultTolerations({ names }: Pick<AdmissionWorld, 'names'>): AdmissionPlugin {
  const taints = [`node.${names.labels}/not-ready`, `node.${names.labels}/unreachable`];
  return {
    name: 'DefaultTolerationSeconds',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: ({ object: pod }) => {
      if (pod === undefined) return;
      const spec = fieldsAt(pod, 'spec');
      const given = objectsOf(spec['tolerations']);
      const meets = (value: string, wanted: string) => value === '' || value === wanted;
      for (const key of taints) {
        const tolerated = given.some(
          (toleration) => meets(textOf(toleration['key']), key) && meets(textOf(toleration['effect']), 'NoExecute'),
        );
        if (tolerated) continue;
        listAt(spec, 'tolerations').push({
          key,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: patienceSeconds,
        });
      }
    },
  };
}
