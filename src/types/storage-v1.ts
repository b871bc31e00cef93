/** The types of storage/v1. */
import {
  bool,
  field,
  type Infer,
  int32,
  int64,
  list,
  map,
  quantity,
  shortList,
  string,
  struct,
  time,
} from '../schema/index.ts';
import { PersistentVolumeSpec, TopologySelectorTerm } from './core-v1.ts';
import { LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// StorageClass

export const StorageClass = struct('storage/v1.StorageClass', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  provisioner: field(2, string, { required: true, always: true }),
  parameters: field(3, map(string)),
  reclaimPolicy: field(4, string, { nullable: true, known: ['Recycle', 'Delete', 'Retain'], open: true, enum: true }),
  mountOptions: field(5, list(string), { listType: 'atomic' }),
  allowVolumeExpansion: field(6, bool, { nullable: true }),
  volumeBindingMode: field(7, string, { nullable: true, known: ['Immediate', 'WaitForFirstConsumer'] }),
  allowedTopologies: field(8, shortList(TopologySelectorTerm), { listType: 'atomic' }),
});
export type StorageClass = Infer<typeof StorageClass>;

// VolumeAttachment

export const VolumeAttachmentSource = struct('storage/v1.VolumeAttachmentSource', {
  persistentVolumeName: field(1, string, { nullable: true }),
  inlineVolumeSpec: field(2, PersistentVolumeSpec, { nullable: true }),
});

export const VolumeAttachmentSpec = struct('storage/v1.VolumeAttachmentSpec', {
  attacher: field(1, string, { required: true, always: true }),
  source: field(2, VolumeAttachmentSource, { required: true, always: true }),
  nodeName: field(3, string, { required: true, emptyOk: true, always: true }),
});
export type VolumeAttachmentSpec = Infer<typeof VolumeAttachmentSpec>;

export const VolumeError = struct('storage/v1.VolumeError', {
  time: field(1, time),
  message: field(2, string),
  errorCode: field(3, int32, { nullable: true, gate: 'MutableCSINodeAllocatableCount' }),
});

export const VolumeAttachmentStatus = struct('storage/v1.VolumeAttachmentStatus', {
  attached: field(1, bool, { required: true, emptyOk: true, always: true }),
  attachmentMetadata: field(2, map(string)),
  attachError: field(3, VolumeError, { nullable: true }),
  detachError: field(4, VolumeError, { nullable: true }),
});
export type VolumeAttachmentStatus = Infer<typeof VolumeAttachmentStatus>;

export const VolumeAttachment = struct('storage/v1.VolumeAttachment', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, VolumeAttachmentSpec, { required: true, always: true }),
  status: field(3, VolumeAttachmentStatus),
});
export type VolumeAttachment = Infer<typeof VolumeAttachment>;

// CSIDriver

export const TokenRequest = struct('storage/v1.TokenRequest', {
  audience: field(1, string, { required: true, emptyOk: true, always: true }),
  expirationSeconds: field(2, int64, { nullable: true }),
});

export const CSIDriverSpec = struct('storage/v1.CSIDriverSpec', {
  attachRequired: field(1, bool, { nullable: true }),
  podInfoOnMount: field(2, bool, { nullable: true }),
  volumeLifecycleModes: field(3, list(string), {
    known: ['Persistent', 'Ephemeral'],
    open: true,
    listType: 'set',
    duplicates: true,
  }),
  storageCapacity: field(4, bool, { nullable: true }),
  fsGroupPolicy: field(5, string, { nullable: true, known: ['File', 'None', 'ReadWriteOnceWithFSType'], enum: false }),
  tokenRequests: field(6, list(TokenRequest), { listType: 'atomic' }),
  requiresRepublish: field(7, bool, { nullable: true }),
  seLinuxMount: field(8, bool, { nullable: true, gate: 'SELinuxMountReadWriteOncePod' }),
  nodeAllocatableUpdatePeriodSeconds: field(9, int64, { nullable: true, gate: 'MutableCSINodeAllocatableCount' }),
});
export type CSIDriverSpec = Infer<typeof CSIDriverSpec>;

export const CSIDriver = struct('storage/v1.CSIDriver', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, CSIDriverSpec, { required: true, always: true }),
});
export type CSIDriver = Infer<typeof CSIDriver>;

// CSINode

export const VolumeNodeResources = struct('storage/v1.VolumeNodeResources', {
  count: field(1, int32, { nullable: true, min: 0 }),
});

export const CSINodeDriver = struct('storage/v1.CSINodeDriver', {
  name: field(1, string, { required: true, always: true }),
  nodeID: field(2, string, { required: true, always: true }),
  topologyKeys: field(3, list(string), { always: true, listType: 'atomic' }),
  allocatable: field(4, VolumeNodeResources, { nullable: true }),
});

export const CSINodeSpec = struct('storage/v1.CSINodeSpec', {
  drivers: field(1, list(CSINodeDriver), {
    required: true,
    emptyOk: true,
    always: true,
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
});
export type CSINodeSpec = Infer<typeof CSINodeSpec>;

export const CSINode = struct('storage/v1.CSINode', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, CSINodeSpec, { required: true, always: true }),
});
export type CSINode = Infer<typeof CSINode>;

// CSIStorageCapacity

export const CSIStorageCapacity = struct('storage/v1.CSIStorageCapacity', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  nodeTopology: field(2, LabelSelector, { nullable: true }),
  storageClassName: field(3, string, { required: true, emptyOk: true, always: true }),
  capacity: field(4, quantity, { nullable: true }),
  maximumVolumeSize: field(5, quantity, { nullable: true }),
});
export type CSIStorageCapacity = Infer<typeof CSIStorageCapacity>;
