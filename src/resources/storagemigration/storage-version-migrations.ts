import { type FieldError, fieldError } from '../../meta/index.ts';
import {
  StorageVersionMigration,
  type StorageVersionMigrationSpec,
  type StorageVersionMigrationStatus,
} from '../../types/storagemigration-v1alpha1.ts';
import { resource } from '../shared/define.ts';
import { unchanged } from '../shared/field-rules.ts';

export const storageVersionMigrations = resource({
  group: 'storagemigration.{domain}',
  plural: 'storageversionmigrations',
  kind: 'StorageVersionMigration',
  version: 'v1alpha1',
  schema: StorageVersionMigration,
  lifecycle: { introduced: '1.30', deprecated: '1.33', removed: '1.36' },
  gate: 'StorageVersionMigrator',
  namespaced: false,
  status: true,
  strategy: {
    unconditionalUpdate: false,
    validate: ({ spec = {} }) => validateSpec(spec),
    validateUpdate: ({ spec, status = {} }, old) => [
      // The reference server uses these paths.
      ...(['group', 'version', 'resource'] as const).flatMap((field) =>
        unchanged(field, spec?.resource?.[field] ?? '', old.spec?.resource?.[field] ?? ''),
      ),
      ...validateStatus(status, old.status ?? {}),
    ],
  },
});

const validateSpec = ({ resource: of = {} }: StorageVersionMigrationSpec): FieldError[] =>
  (['resource', 'version'] as const)
    .filter((field) => (of[field] ?? '') === '')
    .map((field) => fieldError.required(`spec.resource.${field}`, `${field} is required`));

function validateStatus(status: StorageVersionMigrationStatus, old: StorageVersionMigrationStatus): FieldError[] {
  const { resourceVersion = '', conditions = [] } = status;
  const errors: FieldError[] = [];
  if (resourceVersion !== '' && !/^[0-9]{1,19}$/.test(resourceVersion)) {
    const why = 'must be a non-negative integer';
    errors.push(fieldError.invalid('status.resourceVersion', resourceVersion, why));
  }
  if ((old.resourceVersion ?? '') !== '') {
    errors.push(...unchanged('status.resourceVersion', resourceVersion, old.resourceVersion));
  }
  const has = (type: string, of = status) =>
    (of.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
  const complaints: readonly (readonly [isWrong: boolean, why: string])[] = [
    [has('Succeeded') && has('Failed'), 'Both success and failed conditions cannot be true at the same time'],
    [has('Succeeded') && has('Running'), 'Running condition cannot be true when success condition is true'],
    [has('Failed') && has('Running'), 'Running condition cannot be true when failed condition is true'],
    [has('Succeeded', old) && !has('Succeeded'), 'Success condition cannot be set to false once it is true'],
    [has('Failed', old) && !has('Failed'), 'Failed condition cannot be set to false once it is true'],
  ];
  for (const [isWrong, why] of complaints) {
    if (isWrong) errors.push(fieldError.invalid('status.conditions', conditions ?? null, why));
  }
  return errors;
}
