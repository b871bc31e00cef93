import { annotationOf, defaultOf, fieldsAt, on } from './fields.ts';
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

/** Sets `ingressClassName` of an ingress without a class to the default ingress class; of several, the newest. */
export function defaultIngressClass({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const { domain, labels } = names;
  return {
    name: 'DefaultIngressClass',
    handles: on(['CREATE'], `ingresses.networking.${domain}`),
    mutate: async ({ object: ingress }) => {
      if (ingress === undefined || annotationOf(ingress, `${labels}/ingress.class`) !== undefined) return;
      const spec = fieldsAt(ingress, 'spec');
      if (spec['ingressClassName'] !== undefined) return;
      const classes = await objects.list(`ingressclasses.networking.${domain}`, '');
      const found = defaultOf(classes, [`ingressclass.${labels}/is-default-class`]);
      if (found !== undefined) spec['ingressClassName'] = found.metadata.name ?? '';
    },
  };
}
