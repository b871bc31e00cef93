import { type FieldError, fieldError, immutable, qualifiedName } from '../../meta/index.ts';
import { age, name } from '../cells.ts';
import { byRule, oneOf } from '../core/pod-spec/field-rules.ts';
import { warnOfLabel } from '../core/pod-spec/node-labels.ts';
import { type ObjectOf, resource } from '../define.ts';
import { StorageClass } from '../types/storage-v1.ts';
import { same } from '../validate/common.ts';
import { validateTopologies } from './topology-rules.ts';

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
      (allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, i) =>
        (matchLabelExpressions ?? []).flatMap(({ key = '' }, j) =>
          warnOfLabel(key, `allowedTopologies[${i}].matchLabelExpressions[${j}].key`, names),
        ),
      ),
    validateUpdate: (storage, old) => [
      ...(['parameters', 'provisioner', 'reclaimPolicy'] as const)
        .filter((field) => !same(storage[field], old[field]))
        .map((field) => fieldError.forbidden(field, `updates to ${field} are forbidden.`)),
      ...(storage.volumeBindingMode === old.volumeBindingMode
        ? []
        : [immutable('volumeBindingMode', storage.volumeBindingMode)]),
    ],
  },
});

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;

function validateClass(storage: ObjectOf<typeof StorageClass>): FieldError[] {
  const { provisioner = '', parameters, reclaimPolicy = '', allowedTopologies } = storage;
  return [
    ...(provisioner === '' ? [] : byRule('provisioner', provisioner.toLowerCase(), qualifiedName)),
    ...validateParameters(parameters ?? {}),
    ...(reclaimPolicy === '' ? [] : oneOf('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain'])),
    ...validateTopologies(allowedTopologies, 'allowedTopologies'),
  ];
}

/** What is given to a driver with each volume of a class. */
export function validateParameters(parameters: { readonly [key: string]: string }): FieldError[] {
  const path = 'parameters';
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [fieldError.tooLong(path, MAX_PARAMETERS)];
  const found = entries
    .filter(([key]) => key === '')
    .map(() => fieldError.invalid(path, '', 'field can not be empty.'));
  const size = entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0);
  return size > MAX_PARAMETER_BYTES ? [...found, fieldError.tooLong(path, MAX_PARAMETER_BYTES)] : found;
}
