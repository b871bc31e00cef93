import { annotationOf } from '../../meta/index.ts';
import { Ingress, IngressClass } from '../../types/networking-v1.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';
import { defaultOf } from './default-class.ts';

/** Sets `ingressClassName` of an ingress without a class to the default ingress class; of several, the newest. */
export function defaultIngressClass({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const { domain, labels } = names;
  return {
    name: 'DefaultIngressClass',
    handles: on(['CREATE'], `ingresses.networking.${domain}`),
    mutate: async (request) => {
      const { object: ingress } = typedRequest(Ingress, request);
      if (ingress === undefined || annotationOf(ingress, `${labels}/ingress.class`) !== undefined) return;
      if (ingress.spec?.ingressClassName !== undefined) return;
      const found = defaultOf(await objects.list(IngressClass, ''), [`ingressclass.${labels}/is-default-class`]);
      if (found === undefined) return;
      ingress.spec ??= {};
      ingress.spec.ingressClassName = found.metadata.name ?? '';
    },
  };
}
