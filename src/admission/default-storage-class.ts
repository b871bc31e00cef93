import { annotationOf, defaultOf, fieldsAt, on } from './fields.ts';
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

/** Sets `storageClassName` of a claim without one to the default storage class; of several, the newest. */
export function defaultStorageClass({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const { domain, labels } = names;
  const marks = [`storageclass.${labels}/is-default-class`, `storageclass.beta.${labels}/is-default-class`];
  return {
    name: 'DefaultStorageClass',
    handles: on(['CREATE'], 'persistentvolumeclaims'),
    mutate: async ({ object: claim }) => {
      if (claim === undefined || annotationOf(claim, `volume.beta.${labels}/storage-class`) !== undefined) return;
      const spec = fieldsAt(claim, 'spec');
      // An empty name requests a volume without a class.
      if (spec['storageClassName'] !== undefined) return;
      const found = defaultOf(await objects.list(`storageclasses.storage.${domain}`, ''), marks);
      if (found !== undefined) spec['storageClassName'] = found.metadata.name ?? '';
    },
  };
}
