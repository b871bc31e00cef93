import { formatTime } from '../../meta/index.ts';
import { age, formatAccessModes, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { PersistentVolume } from '../types/core-v1.ts';
import { stampPhase, validateVolume, validateVolumeUpdate } from './volume-rules.ts';

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
    returnsDeleted: true,
    defaults: (volume) => {
      volume.spec ??= {};
      volume.spec.persistentVolumeReclaimPolicy ??= 'Retain';
      volume.spec.volumeMode ??= 'Filesystem';
      if (volume.spec.hostPath !== undefined) volume.spec.hostPath.type ??= '';
      volume.status = { ...volume.status, phase: volume.status?.phase ?? 'Pending' };
    },
    prepareCreate: (volume, { now }) => {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(now) };
    },
    prepareStatusUpdate: ({ status }, old, { now }) => stampPhase(status, old.status ?? {}, now),
    validate: ({ metadata, spec = {} }, { names }) => validateVolume(spec, metadata.name ?? '', names),
    validateUpdate: ({ spec = {} }, old) => validateVolumeUpdate(spec, old.spec ?? {}),
  },
});
