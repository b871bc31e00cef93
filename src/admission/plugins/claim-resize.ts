import { compareQuantities, parseQuantity } from '../../meta/index.ts';
import { storageClassOf } from '../../rules/index.ts';
import { PersistentVolumeClaim } from '../../types/core-v1.ts';
import { StorageClass } from '../../types/storage-v1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';

/** A persistent volume claim may grow only if it is bound and its storage class allows volume expansion. */
export function claimResize({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    handles: on(['UPDATE'], 'persistentvolumeclaims'),
    validate: async (request) => {
      const { object, oldObject } = typedRequest(PersistentVolumeClaim, request);
      if (object === undefined || oldObject === undefined) return;
      if (compareQuantities(sizeOf(object), sizeOf(oldObject)) <= 0) return;
      if (oldObject.status?.phase !== 'Bound') {
        throw forbidden(request, 'Only bound persistent volume claims can be expanded');
      }
      const name = storageClassOf(object, names);
      const found =
        name === '' || name !== storageClassOf(oldObject, names)
          ? undefined
          : await objects.get(StorageClass, '', name);
      if (found?.allowVolumeExpansion === true) return;
      const rule = 'only dynamically provisioned pvc can be resized';
      throw forbidden(request, `${rule} and the storageclass that provisions the pvc must support resize`);
    },
  };
}

const sizeOf = ({ spec }: Pick<PersistentVolumeClaim, 'spec'>) =>
  parseQuantity(spec?.resources?.requests?.['storage'] ?? '0');
