import { storageClassOf } from '../../rules/index.ts';
import { PersistentVolumeClaim } from '../../types/core-v1.ts';
import { roundQuantities } from '../pod-template/resource-list.ts';
import { validateClaimSpec } from '../pod-template/volume-claim-template.ts';
import { age, formatAccessModes, name, orUnset } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew } from '../shared/field-rules.ts';
import { syncDataSources, validateClaimStatus, validateClaimUpdate } from './persistent-volume-claims.validation.ts';
import { persistentVolumeClaimWarnings } from './persistent-volumes.warnings.ts';

export const persistentVolumeClaims = resource({
  group: '',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  schema: PersistentVolumeClaim,
  lifecycle: { introduced: '1.0' },
  shortNames: ['pvc'],
  status: true,
  columns: [
    name,
    [
      'Status',
      ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'),
    ],
    ['Volume', ({ spec }) => spec?.volumeName ?? ''],
    ['Capacity', ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.['storage'] ?? '0') : '')],
    ['Access Modes', ({ spec, status }) => (spec?.volumeName ? formatAccessModes(status?.accessModes) : '')],
    ['StorageClass', (claim, { names }) => storageClassOf(claim, names)],
    ['VolumeAttributesClass', ({ spec }) => orUnset(spec?.volumeAttributesClassName)],
    age,
    ['VolumeMode', ({ spec }) => orUnset(spec?.volumeMode), 'wide'],
  ],
  strategy: {
    returnsDeleted: true,
    defaults: (claim) => {
      claim.spec = { ...claim.spec, volumeMode: claim.spec?.volumeMode ?? 'Filesystem' };
      claim.status = { ...claim.status, phase: claim.status?.phase ?? 'Pending' };
      const { resources } = claim.spec;
      const { capacity, allocatedResources } = claim.status;
      for (const amounts of [resources?.requests, resources?.limits, capacity, allocatedResources])
        roundQuantities(amounts);
    },
    prepareCreate: (claim, { names }) => {
      claim.status = { phase: 'Pending' };
      syncDataSources(claim.spec, names);
    },
    prepareUpdate: (claim, old, { names }) => syncDataSources(claim.spec, names, old.spec),
    validate: (claim, { names }) => [
      ...(isNew(claim) ? validateClaimSpec(claim.spec ?? {}, 'spec', names) : []),
      ...validateClaimStatus(claim.status ?? {}, names),
    ],
    validateUpdate: (claim, old, { names }) => validateClaimUpdate(claim, old, names),
    warnings: ({ metadata, spec = {} }, _, { names }) => persistentVolumeClaimWarnings(metadata, spec, names),
  },
});
