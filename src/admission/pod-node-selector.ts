import { setKey } from '../meta/index.ts';
import { annotationOf, fieldsAt, fieldsOf, forbidden, misconfigured, on, specOf } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type Selector = readonly (readonly [key: string, value: string])[];

/** The pods of a namespace run on the nodes that the namespace names. */
export function podNodeSelector({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const key = `scheduler.alpha.${names.labels}/node-selector`;
  /** What the namespace asks for. @throws StatusError 403 when the pod asks for something else */
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

/** `a=1,b=2`. @throws StatusError 500 when it is something else */
function readSelector(text = ''): Selector {
  if (text === '') return [];
  return text.split(',').map((part) => {
    const words = part.split('=');
    const [name = '', value = ''] = words.map((word) => word.trim());
    if (words.length !== 2) throw misconfigured(`invalid selector: [${words.join(' ')}]`);
    return [name, value];
  });
}
