import { type ApiObject, compareQuantities } from '../meta/index.ts';
import { annotationOf, fieldsOf, forbidden, on, specOf, textOf } from './fields.ts';
import { toQuantity } from './resource-list.ts';
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

/** A persistent volume claim may grow only if it is bound and its storage class allows volume expansion. */
export function claimResize({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const classOf = (claim: ApiObject): string =>
    annotationOf(claim, `volume.beta.${names.labels}/storage-class`) ?? textOf(specOf(claim)['storageClassName']);
  return {
    name: 'PersistentVolumeClaimResize',
    handles: on(['UPDATE'], 'persistentvolumeclaims'),
    validate: async (request) => {
      const { object, oldObject } = request;
      if (object === undefined || oldObject === undefined) return;
      if (compareQuantities(sizeOf(object), sizeOf(oldObject)) <= 0) return;
      if (fieldsOf(oldObject['status'])['phase'] !== 'Bound') {
        throw forbidden(request, 'Only bound persistent volume claims can be expanded');
      }
      const name = classOf(object);
      const found =
        name === '' || name !== classOf(oldObject)
          ? undefined
          : await objects.get(`storageclasses.storage.${names.domain}`, '', name);
      if (found?.['allowVolumeExpansion'] === true) return;
      const rule = 'only dynamically provisioned pvc can be resized';
      throw forbidden(request, `${rule} and the storageclass that provisions the pvc must support resize`);
    },
  };
}

const sizeOf = (claim: ApiObject) => toQuantity(fieldsOf(fieldsOf(specOf(claim)['resources'])['requests'])['storage']);
