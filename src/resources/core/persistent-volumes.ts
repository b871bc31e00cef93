import { age, formatAccessModes, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { PersistentVolume } from '../types/core-v1.ts';

export const persistentVolumes = resource({
  group: '',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  schema: PersistentVolume,
  shortNames: ['pv'],
  namespaced: false,
  status: true,
  columns: [
    name,
    ['Capacity', ({ spec }) => spec?.capacity?.['storage'] ?? ''],
    ['Access Modes', ({ spec }) => formatAccessModes(spec?.accessModes)],
    ['Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ''],
    [
      'Status',
      ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'),
    ],
    ['Claim', ({ spec }) => (spec?.claimRef === undefined ? '' : `${spec.claimRef.namespace}/${spec.claimRef.name}`)],
    ['StorageClass', ({ spec }) => spec?.storageClassName ?? ''],
    ['VolumeAttributesClass', ({ spec }) => orUnset(spec?.volumeAttributesClassName)],
    ['Reason', ({ status }) => status?.reason ?? ''],
    age,
    ['VolumeMode', ({ spec }) => orUnset(spec?.volumeMode), 'wide'],
  ],
  strategy: {
    prepareCreate: (volume) => {
      volume.status = { phase: 'Pending' };
    },
  },
});
