import { on } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';

/** Adds the in-use protection finalizer to new persistent volumes and claims. */
export function storageProtection({ names }: Pick<PluginInitializer, 'names'>): AdmissionPlugin {
  const finalizers: { readonly [resource: string]: string } = {
    persistentvolumes: `${names.labels}/pv-protection`,
    persistentvolumeclaims: `${names.labels}/pvc-protection`,
  };
  return {
    name: 'StorageObjectInUseProtection',
    handles: on(['CREATE'], ...Object.keys(finalizers)),
    mutate: ({ object, resource }) => {
      const finalizer = finalizers[resource.resource];
      if (object === undefined || finalizer === undefined) return;
      const { metadata } = object;
      if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
    },
  };
}
