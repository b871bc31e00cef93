import { fieldsAt, fieldsOf, on, specOf, textOf } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

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
      const { labels = {} } = (await objects.get('nodes', '', name))?.metadata ?? {};
      for (const key of keys) {
        const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
        if (value !== undefined) fieldsAt(object.metadata, 'labels')[key] = value;
      }
    },
  };
}

/** The node of a pod or of a binding; empty when there is none. */
function nodeOf({ object, subresource }: AdmissionRequest): string {
  if (subresource === '') return textOf(specOf(object)['nodeName']);
  const { kind, name } = fieldsOf(object?.['target']);
  return kind === 'Node' ? textOf(name) : '';
}
