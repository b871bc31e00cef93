import { fieldsAt, listAt, objectsOf, on } from './fields.ts';
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

/** Adds the not-ready taint (NoSchedule) to new nodes. */
export function taintNodes({ names }: Pick<PluginInitializer, 'names'>): AdmissionPlugin {
  const key = `node.${names.labels}/not-ready`;
  return {
    name: 'TaintNodesByCondition',
    handles: on(['CREATE'], 'nodes'),
    mutate: ({ object: node }) => {
      if (node === undefined) return;
      const spec = fieldsAt(node, 'spec');
      const tainted = objectsOf(spec['taints']).some(
        (taint) => taint['key'] === key && taint['effect'] === 'NoSchedule',
      );
      if (!tainted) listAt(spec, 'taints').push({ key, effect: 'NoSchedule' });
    },
  };
}
