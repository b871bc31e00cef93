/** The types of apiserverinternal/v1alpha1. */
import { field, type Infer, int64, list, string, struct, time } from '../schema/index.ts';
import { conditionStatuses, ObjectMeta, typeMeta } from './meta-v1.ts';

export const StorageVersionSpec = struct('apiserverinternal/v1alpha1.StorageVersionSpec', {});

export const ServerStorageVersion = struct('apiserverinternal/v1alpha1.ServerStorageVersion', {
  apiServerID: field(1, string),
  encodingVersion: field(2, string),
  decodableVersions: field(3, list(string), { listType: 'set', duplicates: true }),
  servedVersions: field(4, list(string), { listType: 'set', duplicates: true }),
});

export const StorageVersionCondition = struct('apiserverinternal/v1alpha1.StorageVersionCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['AllEncodingVersionsEqual'],
    open: true,
  }),
  status: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: conditionStatuses,
    open: true,
  }),
  observedGeneration: field(3, int64),
  lastTransitionTime: field(4, time),
  reason: field(5, string, { required: true, emptyOk: true, always: true }),
  message: field(6, string, { required: true, emptyOk: true }),
});

export const StorageVersionStatus = struct('apiserverinternal/v1alpha1.StorageVersionStatus', {
  storageVersions: field(1, list(ServerStorageVersion), {
    listType: 'map',
    listMapKeys: ['apiServerID'],
    duplicates: true,
  }),
  commonEncodingVersion: field(2, string, { nullable: true }),
  conditions: field(3, list(StorageVersionCondition), { listType: 'map', listMapKeys: ['type'], duplicates: true }),
});
export type StorageVersionStatus = Infer<typeof StorageVersionStatus>;

export const StorageVersion = struct('apiserverinternal/v1alpha1.StorageVersion', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, StorageVersionSpec, { required: true, emptyOk: true, always: true }),
  status: field(3, StorageVersionStatus, { required: true, emptyOk: true, always: true }),
});
