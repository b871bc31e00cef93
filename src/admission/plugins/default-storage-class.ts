import { annotationOf } from '../../meta/index.ts';
import { classAnnotation } from '../../rules/index.ts';
import { PersistentVolumeClaim } from '../../types/core-v1.ts';
import { StorageClass } from '../../types/storage-v1.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';
import { defaultOf } from './default-class.ts';

/** Sets `storageClassName` of a claim without one to the default storage class; of several, the newest. */
export function defaultStorageClass({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const { labels } = names;
  const marks = [`storageclass.${labels}/is-default-class`, `storageclass.beta.${labels}/is-default-class`];
  return {
    name: 'DefaultStorageClass',
    handles: on(['CREATE'], 'persistentvolumeclaims'),
    mutate: async (request) => {
      const { object: claim } = typedRequest(PersistentVolumeClaim, request);
      if (claim === undefined || annotationOf(claim, classAnnotation(names)) !== undefined) return;
      // An empty name requests a volume without a class.
      if (claim.spec?.storageClassName !== undefined) return;
      const found = defaultOf(await objects.list(StorageClass, ''), marks);
      if (found === undefined) return;
      claim.spec ??= {};
      claim.spec.storageClassName = found.metadata.name ?? '';
    },
  };
}
