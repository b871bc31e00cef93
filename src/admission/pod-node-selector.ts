import { annotationOf, setKey } from '../meta/index.ts';
import { Namespace, Pod } from '../types/core-v1.ts';
import { forbidden, misconfigured, on, typedRequest } from './request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type Selector = readonly (readonly [key: string, value: string])[];

/** Merges the node selector of the namespace's annotation into its pods. */
export function podNodeSelector({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const key = `scheduler.alpha.${names.labels}/node-selector`;
  /** The node selector of the namespace. @throws StatusError 403 when it conflicts with that of the pod */
  const selectorFor = async (request: AdmissionRequest): Promise<Selector> => {
    const namespace = await objects.get(Namespace, '', request.namespace);
    const selector = readSelector(namespace && annotationOf(namespace, key));
    const given = typedRequest(Pod, request).object?.spec?.nodeSelector ?? {};
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
      const { object: pod } = typedRequest(Pod, request);
      if (pod === undefined || selector.length === 0) return;
      pod.spec ??= {};
      pod.spec.nodeSelector ??= {};
      for (const [name, value] of selector) setKey(pod.spec.nodeSelector, name, value);
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
