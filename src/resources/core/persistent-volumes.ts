import { formatTime } from '../../meta/index.ts';
import { storageClassOf } from '../../rules/index.ts';
import { PersistentVolume } from '../../types/core-v1.ts';
import { roundQuantities } from '../pod-template/resource-list.ts';
import { validateAgain } from '../pod-template/workloads.validation.ts';
import { age, formatAccessModes, name, orUnset } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { setPhaseTransitionTime, validateVolume, validateVolumeUpdate } from './persistent-volumes.validation.ts';
import { persistentVolumeWarnings } from './persistent-volumes.warnings.ts';

export const persistentVolumes = resource({
  group: '',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  schema: PersistentVolume,
  lifecycle: { introduced: '1.0' },
  shortNames: ['pv'],
  namespaced: false,
  status: true,
  columns: [
    name,
    ['Capacity', ({ spec }) => spec?.capacity?.['storage'] ?? '0'],
    ['Access Modes', ({ spec }) => formatAccessModes(spec?.accessModes)],
    ['Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ''],
    [
      'Status',
      ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'),
    ],
    ['Claim', ({ spec }) => (spec?.claimRef === undefined ? '' : `${spec.claimRef.namespace}/${spec.claimRef.name}`)],
    ['StorageClass', (volume, { names }) => storageClassOf(volume, names)],
    ['VolumeAttributesClass', ({ spec }) => orUnset(spec?.volumeAttributesClassName)],
    ['Reason', ({ status }) => status?.reason ?? ''],
    age,
    ['VolumeMode', ({ spec }) => orUnset(spec?.volumeMode), 'wide'],
  ],
  strategy: {
    metadataChecks: [2, 0],
    returnsDeleted: true,
    defaults: (volume) => {
      volume.spec ??= {};
      volume.spec.persistentVolumeReclaimPolicy ??= 'Retain';
      volume.spec.volumeMode ??= 'Filesystem';
      roundQuantities(volume.spec.capacity);
      if (volume.spec.hostPath !== undefined) volume.spec.hostPath.type ??= '';
      volume.status = { ...volume.status, phase: volume.status?.phase ?? 'Pending' };
    },
    prepareCreate: (volume, { now }) => {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(now) };
    },
    prepareStatusUpdate: ({ status }, old, { now }) => setPhaseTransitionTime(status, old.status ?? {}, now),
    validate: ({ metadata, spec = {} }, { names }) => validateVolume(spec, metadata, names),
    validateUpdate: (volume, old, { names }) => [
      ...validateAgain(volume, PersistentVolume, validateVolume(volume.spec ?? {}, volume.metadata, names), names),
      ...validateVolumeUpdate(volume.spec ?? {}, old.spec ?? {}, names),
    ],
    warnings: ({ metadata, spec = {} }, _, { names }) => persistentVolumeWarnings(metadata, spec, names),
  },
});
