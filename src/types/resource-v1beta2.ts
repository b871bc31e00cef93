/** The types of resource/v1beta2: those of v1beta1, with other devices and requests. */
import { bool, field, type Infer, int64, list, map, shortList, string, struct } from '../schema/index.ts';
import { NodeSelector } from './core-v1.ts';
import { inVersion } from './in-version.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';
import * as v1beta1 from './resource-v1beta1.ts';

const v1beta2 = inVersion('resource/v1beta2');

// ResourceSlice

export const ResourcePool = v1beta2(v1beta1.ResourcePool);
export const DeviceAttribute = v1beta2(v1beta1.DeviceAttribute);
export const DeviceCapacity = v1beta2(v1beta1.DeviceCapacity);
export const Counter = v1beta2(v1beta1.Counter);
export const DeviceCounterConsumption = v1beta2(v1beta1.DeviceCounterConsumption);
export const DeviceTaint = v1beta2(v1beta1.DeviceTaint);

export const Device = struct('resource/v1beta2.Device', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  attributes: field(2, map(DeviceAttribute)),
  capacity: field(3, map(DeviceCapacity)),
  consumesCounters: field(4, list(DeviceCounterConsumption), { listType: 'atomic', gate: 'DRAPartitionableDevices' }),
  nodeName: field(5, string, { nullable: true, gate: 'DRAPartitionableDevices' }),
  nodeSelector: field(6, NodeSelector, { nullable: true, gate: 'DRAPartitionableDevices' }),
  allNodes: field(7, bool, { nullable: true, gate: 'DRAPartitionableDevices' }),
  taints: field(8, list(DeviceTaint), { listType: 'atomic', gate: 'DRADeviceTaints' }),
});

export const CounterSet = v1beta2(v1beta1.CounterSet);

export const ResourceSliceSpec = struct('resource/v1beta2.ResourceSliceSpec', {
  ...v1beta2(v1beta1.ResourceSliceSpec).fields,
  nodeName: field(3, string, { nullable: true }),
  allNodes: field(5, bool, { nullable: true }),
  devices: field(6, shortList(Device), { always: true, listType: 'atomic' }),
});
export type ResourceSliceSpec = Infer<typeof ResourceSliceSpec>;

export const ResourceSlice = struct('resource/v1beta2.ResourceSlice', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceSliceSpec, { required: true, emptyOk: true, always: true }),
});

// ResourceClaim

export const CELDeviceSelector = v1beta2(v1beta1.CELDeviceSelector);
export const DeviceSelector = v1beta2(v1beta1.DeviceSelector);
export const DeviceToleration = v1beta2(v1beta1.DeviceToleration);

export const ExactDeviceRequest = struct('resource/v1beta2.ExactDeviceRequest', {
  deviceClassName: field(1, string, { required: true, emptyOk: true, always: true }),
  selectors: field(2, list(DeviceSelector), { listType: 'atomic' }),
  allocationMode: field(3, string, { known: ['ExactCount', 'All'], open: true, enum: true }),
  count: field(4, int64),
  adminAccess: field(5, bool, { nullable: true, gate: 'DRAAdminAccess' }),
  tolerations: field(6, list(DeviceToleration), { listType: 'atomic', gate: 'DRADeviceTaints' }),
});

export const DeviceSubRequest = struct('resource/v1beta2.DeviceSubRequest', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  deviceClassName: field(2, string, { required: true, emptyOk: true, always: true }),
  selectors: field(3, list(DeviceSelector), { listType: 'atomic' }),
  allocationMode: field(4, string, { known: ['ExactCount', 'All'], open: true, enum: true }),
  count: field(5, int64),
  tolerations: field(6, list(DeviceToleration), { listType: 'atomic', gate: 'DRADeviceTaints' }),
});

export const DeviceRequest = struct('resource/v1beta2.DeviceRequest', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  exactly: field(2, ExactDeviceRequest, { nullable: true }),
  firstAvailable: field(3, shortList(DeviceSubRequest), { listType: 'atomic', gate: 'DRAPrioritizedList' }),
});

export const DeviceConstraint = v1beta2(v1beta1.DeviceConstraint);
export const OpaqueDeviceConfiguration = v1beta2(v1beta1.OpaqueDeviceConfiguration);
export const DeviceConfiguration = v1beta2(v1beta1.DeviceConfiguration);
export const DeviceClaimConfiguration = v1beta2(v1beta1.DeviceClaimConfiguration);

export const DeviceClaim = struct('resource/v1beta2.DeviceClaim', {
  requests: field(1, shortList(DeviceRequest), { always: true, listType: 'atomic' }),
  constraints: field(2, shortList(DeviceConstraint), { listType: 'atomic' }),
  config: field(3, shortList(DeviceClaimConfiguration), { listType: 'atomic' }),
});

export const ResourceClaimSpec = struct('resource/v1beta2.ResourceClaimSpec', {
  devices: field(1, DeviceClaim, { always: true }),
});
export type ResourceClaimSpec = Infer<typeof ResourceClaimSpec>;

export const DeviceRequestAllocationResult = v1beta2(v1beta1.DeviceRequestAllocationResult);
export const DeviceAllocationConfiguration = v1beta2(v1beta1.DeviceAllocationConfiguration);
export const DeviceAllocationResult = v1beta2(v1beta1.DeviceAllocationResult);
export const AllocationResult = v1beta2(v1beta1.AllocationResult);
export const ResourceClaimConsumerReference = v1beta2(v1beta1.ResourceClaimConsumerReference);
export const NetworkDeviceData = v1beta2(v1beta1.NetworkDeviceData);
export const AllocatedDeviceStatus = v1beta2(v1beta1.AllocatedDeviceStatus);
export const ResourceClaimStatus = v1beta2(v1beta1.ResourceClaimStatus);

export const ResourceClaim = struct('resource/v1beta2.ResourceClaim', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceClaimSpec, { required: true, emptyOk: true, always: true }),
  status: field(3, ResourceClaimStatus),
});

// DeviceClass

export const DeviceClassConfiguration = v1beta2(v1beta1.DeviceClassConfiguration);
export const DeviceClassSpec = v1beta2(v1beta1.DeviceClassSpec);
export const DeviceClass = v1beta2(v1beta1.DeviceClass);

// ResourceClaimTemplate

export const ResourceClaimTemplateSpec = struct('resource/v1beta2.ResourceClaimTemplateSpec', {
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceClaimSpec, { required: true, emptyOk: true, always: true }),
});

export const ResourceClaimTemplate = struct('resource/v1beta2.ResourceClaimTemplate', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceClaimTemplateSpec, { required: true, emptyOk: true, always: true }),
});
