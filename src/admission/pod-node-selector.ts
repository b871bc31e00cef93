import { setKey } from '../meta/index.ts';
import { annotationOf, fieldsAt, fieldsOf, forbidden, misconfigured, on, specOf } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type Selector = readonly (readonly [key: string, value: string])[];

/** Merges the node selector of the namespace's annotation into its pods. */
export function podNodeSelector({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const key = `scheduler.alpha.${names.labels}/node-selector`;
  /** The node selector of the namespace. @throws StatusError 403 when it conflicts with that of the pod */
  const selectorFor = async (request: AdmissionRequest): Promise<Selector> => {
    const namespace = await objects.get('namespaces', '', request.namespace);
    const selector = readSelector(namespace && annotationOf(namespace, key));
    const given = fieldsOf(specOf(request.object)['nodeSelector']);
    if (selector.some(([name, value]) => Object.hasOwn(given, name) && given[name] !== value)) {
      throw forbidden(request, 'pod node label selector conflicts with its namespace node label selector');
    }
    return selector;
  };
  return {
    name: 'PodNodeSelector',
    handles: on(['CREATE'], 'pods'),
    mutate: async (request) => {
      const selector = await selectorFor(request);
      if (request.object === undefined || selector.length === 0) return;
      const held = fieldsAt(fieldsAt(request.object, 'spec'), 'nodeSelector');
      for (const [name, value] of selector) setKey(held, name, value);
    },
    validate: async (request) => {
      await selectorFor(request);
    },
  };
}

/** Parses `a=1,b=2`. @throws StatusError 500 when it is invalid */
function readSelector(text = ''): Selector {
  if (text === '') return [];
  return text.split(',').map((part) => {
    const words = part.split('=');
    const [name = '', value = ''] = words.map((word) => word.trim());
    if (words.length !== 2) throw misconfigured(`invalid selector: [${words.join(' ')}]`);
    return [name, value];
  });
}
