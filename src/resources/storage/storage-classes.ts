import { warned } from '../../meta/index.ts';
import { StorageClass } from '../../types/storage-v1.ts';
import { labelWarnings } from '../pod-template/node-labels.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { unchanged } from '../shared/field-rules.ts';
import { validateClass } from './storage-classes.validation.ts';

export const storageClasses = resource({
  group: 'storage.{domain}',
  plural: 'storageclasses',
  kind: 'StorageClass',
  schema: StorageClass,
  lifecycle: { introduced: '1.6' },
  shortNames: ['sc'],
  namespaced: false,
  columns: [
    {
      ...name,
      cell: ({ metadata }, { names }) => {
        const isDefault = ['storageclass', 'storageclass.beta'].some(
          (prefix) => metadata.annotations?.[`${prefix}.${names.labels}/is-default-class`] === 'true',
        );
        return `${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`;
      },
    },
    ['Provisioner', ({ provisioner = '' }) => provisioner],
    ['ReclaimPolicy', ({ reclaimPolicy = 'Delete' }) => reclaimPolicy],
    ['VolumeBindingMode', ({ volumeBindingMode = 'Immediate' }) => volumeBindingMode],
    ['AllowVolumeExpansion', ({ allowVolumeExpansion = false }) => allowVolumeExpansion],
    age,
  ],
  strategy: {
    returnsDeleted: true,
    defaults: (storage) => {
      storage.reclaimPolicy ??= 'Delete';
      storage.volumeBindingMode ??= 'Immediate';
    },
    validate: validateClass,
    warnings: ({ allowedTopologies }, _, { names }) =>
      warned(allowedTopologies).flatMap(({ matchLabelExpressions }, i) =>
        warned(matchLabelExpressions).flatMap(({ key = '' }, j) =>
          labelWarnings(key, `allowedTopologies[${i}].matchLabelExpressions[${j}].key`, names),
        ),
      ),
    validateUpdate: (storage, old) => [
      ...unchanged('provisioner', storage.provisioner ?? '', old.provisioner ?? ''),
      ...(['parameters', 'reclaimPolicy', 'volumeBindingMode'] as const).flatMap((field) =>
        unchanged(field, storage[field] ?? null, old[field] ?? null),
      ),
    ],
  },
});
