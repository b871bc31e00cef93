/** The types of storagemigration/v1alpha1. */
import { field, type Infer, list, string, struct, time } from '../schema/index.ts';
import { conditionStatuses, ObjectMeta, typeMeta } from './meta-v1.ts';

export const GroupVersionResource = struct('storagemigration/v1alpha1.GroupVersionResource', {
  group: field(1, string),
  version: field(2, string),
  resource: field(3, string),
});

export const StorageVersionMigrationSpec = struct('storagemigration/v1alpha1.StorageVersionMigrationSpec', {
  resource: field(1, GroupVersionResource, { required: true, emptyOk: true, always: true }),
  continueToken: field(2, string),
});
export type StorageVersionMigrationSpec = Infer<typeof StorageVersionMigrationSpec>;

export const MigrationCondition = struct('storagemigration/v1alpha1.MigrationCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Failed', 'Running', 'Succeeded'],
    open: true,
  }),
  status: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: conditionStatuses,
    open: true,
  }),
  lastUpdateTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const StorageVersionMigrationStatus = struct('storagemigration/v1alpha1.StorageVersionMigrationStatus', {
  conditions: field(1, list(MigrationCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  resourceVersion: field(2, string),
});
export type StorageVersionMigrationStatus = Infer<typeof StorageVersionMigrationStatus>;

export const StorageVersionMigration = struct('storagemigration/v1alpha1.StorageVersionMigration', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, StorageVersionMigrationSpec),
  status: field(3, StorageVersionMigrationStatus),
});
