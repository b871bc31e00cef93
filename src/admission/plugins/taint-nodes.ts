import { Node } from '../../types/core-v1.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';

/** Adds the not-ready taint (NoSchedule) to new nodes. */
export function taintNodes({ names }: Pick<PluginInitializer, 'names'>): AdmissionPlugin {
  const key = `node.${names.labels}/not-ready`;
  return {
    name: 'TaintNodesByCondition',
    handles: on(['CREATE'], 'nodes'),
    mutate: (request) => {
      const { object: node } = typedRequest(Node, request);
      if (node === undefined) return;
      node.spec ??= {};
      const { taints = [] } = node.spec;
      const tainted = taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule');
      if (!tainted) node.spec.taints = [...taints, { key, effect: 'NoSchedule' }];
    },
  };
}
