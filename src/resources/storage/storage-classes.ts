import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { StorageClass } from '../types/storage-v1.ts';

export const storageClasses = resource({
  group: 'storage.{domain}',
  plural: 'storageclasses',
  kind: 'StorageClass',
  schema: StorageClass,
  shortNames: ['sc'],
  namespaced: false,
  columns: [
    {
      ...name,
      cell: ({ metadata }, { names }) => {
        const isDefault = metadata.annotations?.[`storageclass.${names.labels}/is-default-class`] === 'true';
        return `${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`;
      },
    },
    ['Provisioner', ({ provisioner = '' }) => provisioner],
    ['ReclaimPolicy', ({ reclaimPolicy = 'Delete' }) => reclaimPolicy],
    ['VolumeBindingMode', ({ volumeBindingMode = 'Immediate' }) => volumeBindingMode],
    ['AllowVolumeExpansion', ({ allowVolumeExpansion = false }) => allowVolumeExpansion],
    age,
  ],
});
