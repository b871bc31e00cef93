import { age, formatAccessModes, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { PersistentVolumeClaim } from '../types/core-v1.ts';

export const persistentVolumeClaims = resource({
  group: '',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  schema: PersistentVolumeClaim,
  shortNames: ['pvc'],
  status: true,
  columns: [
    name,
    [
      'Status',
      ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'),
    ],
    ['Volume', ({ spec }) => spec?.volumeName ?? ''],
    ['Capacity', ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.['storage'] ?? '') : '')],
    ['Access Modes', ({ spec, status }) => (spec?.volumeName ? formatAccessModes(status?.accessModes) : '')],
    ['StorageClass', ({ spec }) => spec?.storageClassName ?? ''],
    ['VolumeAttributesClass', ({ spec }) => orUnset(spec?.volumeAttributesClassName)],
    age,
    ['VolumeMode', ({ spec }) => orUnset(spec?.volumeMode), 'wide'],
  ],
  strategy: {
    prepareCreate: (claim) => {
      claim.status = { phase: 'Pending' };
    },
  },
});
