import { age, formatAccessModes, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { PersistentVolumeClaim } from '../types/core-v1.ts';
import { alignSources, validateClaimStatus, validateClaimUpdate } from './claim-rules.ts';
import { validateClaimSpec } from './pod-spec/claim-template.ts';

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
    returnsDeleted: true,
    defaults: (claim) => {
      claim.spec = { ...claim.spec, volumeMode: claim.spec?.volumeMode ?? 'Filesystem' };
      claim.status = { ...claim.status, phase: claim.status?.phase ?? 'Pending' };
    },
    prepareCreate: (claim, { names }) => {
      claim.status = { phase: 'Pending' };
      alignSources(claim.spec, names);
    },
    prepareUpdate: (claim, old, { names }) => alignSources(claim.spec, names, old.spec),
    validate: ({ spec = {}, status = {} }, { names }) => [
      ...validateClaimSpec(spec, 'spec', names),
      ...validateClaimStatus(status, names),
    ],
    validateUpdate: (claim, old, { names }) => validateClaimUpdate(claim, old, names),
  },
});
