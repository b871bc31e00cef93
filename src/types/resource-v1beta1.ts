/** The types of resource/v1beta1. */
import {
  anyObject,
  bool,
  field,
  type Infer,
  inline,
  int64,
  list,
  map,
  quantity,
  shortList,
  string,
  struct,
  time,
} from '../schema/index.ts';
import { NodeSelector } from './core-v1.ts';
import { Condition, ObjectMeta, typeMeta } from './meta-v1.ts';

// ResourceSlice

export const ResourcePool = struct('resource/v1beta1.ResourcePool', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  generation: field(2, int64, { required: true, emptyOk: true, always: true }),
  resourceSliceCount: field(3, int64, { required: true, emptyOk: true, always: true }),
});

export const DeviceAttribute = struct('resource/v1beta1.DeviceAttribute', {
  int: field(2, int64, { nullable: true }),
  bool: field(3, bool, { nullable: true }),
  string: field(4, string, { nullable: true }),
  version: field(5, string, { nullable: true }),
});

export const DeviceCapacity = struct('resource/v1beta1.DeviceCapacity', {
  value: field(1, quantity, { required: true, emptyOk: true, always: true }),
});

export const Counter = struct('resource/v1beta1.Counter', {
  value: field(1, quantity, { required: true, emptyOk: true, always: true }),
});

export const DeviceCounterConsumption = struct('resource/v1beta1.DeviceCounterConsumption', {
  counterSet: field(1, string, { required: true, emptyOk: true, always: true }),
  counters: field(2, map(Counter), { required: true, emptyOk: true }),
});

export const DeviceTaint = struct('resource/v1beta1.DeviceTaint', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  value: field(2, string),
  effect: field(3, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['NoExecute', 'NoSchedule'],
    open: true,
    enum: true,
  }),
  timeAdded: field(4, time, { nullable: true }),
});

export const BasicDevice = struct('resource/v1beta1.BasicDevice', {
  attributes: field(1, map(DeviceAttribute)),
  capacity: field(2, map(DeviceCapacity)),
  consumesCounters: field(3, list(DeviceCounterConsumption), { listType: 'atomic', gate: 'DRAPartitionableDevices' }),
  nodeName: field(4, string, { nullable: true, gate: 'DRAPartitionableDevices' }),
  nodeSelector: field(5, NodeSelector, { nullable: true, gate: 'DRAPartitionableDevices' }),
  allNodes: field(6, bool, { nullable: true, gate: 'DRAPartitionableDevices' }),
  taints: field(7, list(DeviceTaint), { listType: 'atomic', gate: 'DRADeviceTaints' }),
});

export const Device = struct('resource/v1beta1.Device', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  basic: field(2, BasicDevice, { nullable: true }),
});

export const CounterSet = struct('resource/v1beta1.CounterSet', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  counters: field(2, map(Counter), { required: true, emptyOk: true }),
});

export const ResourceSliceSpec = struct('resource/v1beta1.ResourceSliceSpec', {
  driver: field(1, string, { required: true, emptyOk: true, always: true }),
  pool: field(2, ResourcePool, { required: true, emptyOk: true, always: true }),
  nodeName: field(3, string),
  nodeSelector: field(4, NodeSelector, { nullable: true }),
  allNodes: field(5, bool),
  devices: field(6, shortList(Device), { always: true, listType: 'atomic' }),
  perDeviceNodeSelection: field(7, bool, { nullable: true, gate: 'DRAPartitionableDevices' }),
  sharedCounters: field(8, list(CounterSet), { listType: 'atomic', gate: 'DRAPartitionableDevices' }),
});

export const ResourceSlice = struct('resource/v1beta1.ResourceSlice', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceSliceSpec, { required: true, emptyOk: true, always: true }),
});

// ResourceClaim

export const CELDeviceSelector = struct('resource/v1beta1.CELDeviceSelector', {
  expression: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const DeviceSelector = struct('resource/v1beta1.DeviceSelector', {
  cel: field(1, CELDeviceSelector, { nullable: true }),
});

export const DeviceToleration = struct('resource/v1beta1.DeviceToleration', {
  key: field(1, string),
  operator: field(2, string, { default: 'Equal', known: ['Equal', 'Exists'], open: true, enum: true }),
  value: field(3, string),
  effect: field(4, string, { known: ['NoExecute', 'NoSchedule'], open: true, enum: true }),
  tolerationSeconds: field(5, int64, { nullable: true }),
});

export const DeviceSubRequest = struct('resource/v1beta1.DeviceSubRequest', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  deviceClassName: field(2, string, { required: true, emptyOk: true, always: true }),
  selectors: field(3, list(DeviceSelector), { listType: 'atomic' }),
  allocationMode: field(4, string, { known: ['ExactCount', 'All'], open: true, enum: true }),
  count: field(5, int64),
  tolerations: field(7, list(DeviceToleration), { listType: 'atomic', gate: 'DRADeviceTaints' }),
});

export const DeviceRequest = struct('resource/v1beta1.DeviceRequest', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  deviceClassName: field(2, string, { always: true }),
  selectors: field(3, list(DeviceSelector), { listType: 'atomic' }),
  allocationMode: field(4, string, { known: ['ExactCount', 'All'], open: true, enum: true }),
  count: field(5, int64),
  adminAccess: field(6, bool, { nullable: true, gate: 'DRAAdminAccess' }),
  firstAvailable: field(7, shortList(DeviceSubRequest), { listType: 'atomic', gate: 'DRAPrioritizedList' }),
  tolerations: field(8, list(DeviceToleration), { listType: 'atomic', gate: 'DRADeviceTaints' }),
});

export const DeviceConstraint = struct('resource/v1beta1.DeviceConstraint', {
  requests: field(1, list(string), { listType: 'atomic' }),
  matchAttribute: field(2, string, { nullable: true }),
});

export const OpaqueDeviceConfiguration = struct('resource/v1beta1.OpaqueDeviceConfiguration', {
  driver: field(1, string, { required: true, emptyOk: true, always: true }),
  parameters: field(2, anyObject, { required: true, emptyOk: true, always: true }),
});

export const DeviceConfiguration = struct('resource/v1beta1.DeviceConfiguration', {
  opaque: field(1, OpaqueDeviceConfiguration, { nullable: true }),
});

export const DeviceClaimConfiguration = struct('resource/v1beta1.DeviceClaimConfiguration', {
  requests: field(1, list(string), { listType: 'atomic' }),
  ...inline(2, 'deviceConfiguration', DeviceConfiguration),
});

export const DeviceClaim = struct('resource/v1beta1.DeviceClaim', {
  requests: field(1, shortList(DeviceRequest), { always: true, listType: 'atomic' }),
  constraints: field(2, shortList(DeviceConstraint), { listType: 'atomic' }),
  config: field(3, shortList(DeviceClaimConfiguration), { listType: 'atomic' }),
});

export const ResourceClaimSpec = struct('resource/v1beta1.ResourceClaimSpec', {
  devices: field(1, DeviceClaim, { always: true }),
});
export type ResourceClaimSpec = Infer<typeof ResourceClaimSpec>;

export const DeviceRequestAllocationResult = struct('resource/v1beta1.DeviceRequestAllocationResult', {
  request: field(1, string, { required: true, emptyOk: true, always: true }),
  driver: field(2, string, { required: true, emptyOk: true, always: true }),
  pool: field(3, string, { required: true, emptyOk: true, always: true }),
  device: field(4, string, { required: true, emptyOk: true, always: true }),
  adminAccess: field(5, bool, { always: true, nullable: true, gate: 'DRAAdminAccess' }),
  tolerations: field(6, list(DeviceToleration), { listType: 'atomic', gate: 'DRADeviceTaints' }),
});

export const DeviceAllocationConfiguration = struct('resource/v1beta1.DeviceAllocationConfiguration', {
  source: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['FromClass', 'FromClaim'],
    open: true,
    enum: true,
  }),
  requests: field(2, list(string), { listType: 'atomic' }),
  ...inline(3, 'deviceConfiguration', DeviceConfiguration),
});

export const DeviceAllocationResult = struct('resource/v1beta1.DeviceAllocationResult', {
  results: field(1, list(DeviceRequestAllocationResult), { listType: 'atomic' }),
  config: field(2, list(DeviceAllocationConfiguration), { listType: 'atomic' }),
});

export const AllocationResult = struct('resource/v1beta1.AllocationResult', {
  devices: field(1, DeviceAllocationResult),
  nodeSelector: field(3, NodeSelector, { nullable: true }),
});

export const ResourceClaimConsumerReference = struct('resource/v1beta1.ResourceClaimConsumerReference', {
  apiGroup: field(1, string),
  resource: field(3, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['FromClass', 'FromClaim'],
    open: true,
    enum: true,
  }),
  name: field(4, string, { required: true, emptyOk: true, always: true }),
  uid: field(5, string, { required: true, emptyOk: true, always: true }),
});

export const NetworkDeviceData = struct('resource/v1beta1.NetworkDeviceData', {
  interfaceName: field(1, string),
  ips: field(2, list(string), { listType: 'atomic' }),
  hardwareAddress: field(3, string),
});

export const AllocatedDeviceStatus = struct('resource/v1beta1.AllocatedDeviceStatus', {
  driver: field(1, string, { required: true, emptyOk: true, always: true }),
  pool: field(2, string, { required: true, emptyOk: true, always: true }),
  device: field(3, string, { required: true, emptyOk: true, always: true }),
  conditions: field(4, list(Condition), { always: true, listType: 'map', listMapKeys: ['type'], duplicates: true }),
  data: field(5, anyObject, { nullable: true }),
  networkData: field(6, NetworkDeviceData, { nullable: true }),
});

export const ResourceClaimStatus = struct('resource/v1beta1.ResourceClaimStatus', {
  allocation: field(1, AllocationResult, { nullable: true }),
  reservedFor: field(2, list(ResourceClaimConsumerReference), {
    listType: 'map',
    listMapKeys: ['uid'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'uid',
  }),
  devices: field(4, list(AllocatedDeviceStatus), {
    listType: 'map',
    listMapKeys: ['driver', 'device', 'pool'],
    duplicates: true,
    gate: 'DRAResourceClaimDeviceStatus',
  }),
});
export type ResourceClaimStatus = Infer<typeof ResourceClaimStatus>;

export const ResourceClaim = struct('resource/v1beta1.ResourceClaim', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceClaimSpec, { required: true, emptyOk: true, always: true }),
  status: field(3, ResourceClaimStatus),
});

// DeviceClass

export const DeviceClassConfiguration = struct('resource/v1beta1.DeviceClassConfiguration', {
  ...inline(1, 'deviceConfiguration', DeviceConfiguration),
});

export const DeviceClassSpec = struct('resource/v1beta1.DeviceClassSpec', {
  selectors: field(1, list(DeviceSelector), { listType: 'atomic' }),
  config: field(2, list(DeviceClassConfiguration), { listType: 'atomic' }),
});

export const DeviceClass = struct('resource/v1beta1.DeviceClass', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, DeviceClassSpec, { required: true, emptyOk: true, always: true }),
});

// ResourceClaimTemplate

export const ResourceClaimTemplateSpec = struct('resource/v1beta1.ResourceClaimTemplateSpec', {
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceClaimSpec, { required: true, emptyOk: true, always: true }),
});

export const ResourceClaimTemplate = struct('resource/v1beta1.ResourceClaimTemplate', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceClaimTemplateSpec, { required: true, emptyOk: true, always: true }),
});
