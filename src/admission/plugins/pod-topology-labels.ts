import { Binding, Node, Pod } from '../../types/core-v1.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

/** Copies the topology labels (zone, region) of the node to a pod that is bound to it. */
export function podTopologyLabels({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const keys = ['zone', 'region'].map((word) => `topology.${names.labels}/${word}`);
  return {
    name: 'PodTopologyLabels',
    handles: on(['CREATE'], 'pods', 'pods/binding'),
    mutate: async (request) => {
      const { object } = request;
      const name = nodeOf(request);
      if (object === undefined || name === '') return;
      const { labels = {} } = (await objects.get(Node, '', name))?.metadata ?? {};
      for (const key of keys) {
        const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
        if (value === undefined) continue;
        object.metadata.labels ??= {};
        object.metadata.labels[key] = value;
      }
    },
  };
}

/** The node of a pod or of a binding; empty when there is none. */
function nodeOf(request: AdmissionRequest): string {
  if (request.subresource === '') return typedRequest(Pod, request).object?.spec?.nodeName ?? '';
  const { kind, name = '' } = typedRequest(Binding, request).object?.target ?? {};
  return kind === 'Node' ? name : '';
}
