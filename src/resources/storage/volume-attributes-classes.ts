import { type FieldError, fieldError, qualifiedName } from '../../meta/index.ts';
import { VolumeAttributesClass as V1alpha1 } from '../../types/storage-v1alpha1.ts';
import { VolumeAttributesClass } from '../../types/storage-v1beta1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, same } from '../shared/field-rules.ts';
import { validateParameters } from './storage-classes.validation.ts';

export const volumeAttributesClasses = resource({
  group: 'storage.{domain}',
  plural: 'volumeattributesclasses',
  kind: 'VolumeAttributesClass',
  version: 'v1beta1',
  schema: VolumeAttributesClass,
  lifecycle: { introduced: '1.31', deprecated: '1.34', removed: '1.37' },
  versions: [
    { version: 'v1alpha1', schema: V1alpha1, lifecycle: { introduced: '1.29', deprecated: '1.32', removed: '1.35' } },
  ],
  shortNames: ['vac'],
  namespaced: false,
  columns: [name, ['DriverName', ({ driverName = '' }) => driverName], age],
  strategy: {
    returnsDeleted: true,
    validate: ({ driverName = '', parameters = {} }) => [
      ...(driverName === '' ? [] : byRule('driverName', driverName.toLowerCase(), qualifiedName)),
      ...validateParameters(parameters),
      ...(Object.keys(parameters).length > 0
        ? []
        : [fieldError.required('parameters', 'must contain at least one key/value pair')]),
    ],
    validateUpdate: (object, old): FieldError[] =>
      (['driverName', 'parameters'] as const)
        .filter((field) => !same(object[field], old[field]))
        .map((field) => fieldError.forbidden(field, `updates to ${field} are forbidden.`)),
  },
});
