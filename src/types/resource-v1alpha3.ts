/** The types of resource/v1alpha3: those of v1beta1, with other capacities of devices, and DeviceTaintRule. */
import { field, list, map, quantity, shortList, string, struct } from '../schema/index.ts';
import { inVersion } from './in-version.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';
import * as v1beta1 from './resource-v1beta1.ts';

const v1alpha3 = inVersion('resource/v1alpha3');

// ResourceSlice

export const ResourcePool = v1alpha3(v1beta1.ResourcePool);
export const DeviceAttribute = v1alpha3(v1beta1.DeviceAttribute);
export const Counter = v1alpha3(v1beta1.Counter);
export const DeviceCounterConsumption = v1alpha3(v1beta1.DeviceCounterConsumption);
export const DeviceTaint = v1alpha3(v1beta1.DeviceTaint);

export const BasicDevice = struct('resource/v1alpha3.BasicDevice', {
  ...v1alpha3(v1beta1.BasicDevice).fields,
  capacity: field(2, map(quantity)),
});

export const Device = struct('resource/v1alpha3.Device', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  basic: field(2, BasicDevice, { nullable: true }),
});

export const CounterSet = v1alpha3(v1beta1.CounterSet);

export const ResourceSliceSpec = struct('resource/v1alpha3.ResourceSliceSpec', {
  ...v1alpha3(v1beta1.ResourceSliceSpec).fields,
  devices: field(6, shortList(Device), { always: true, listType: 'atomic' }),
});

export const ResourceSlice = struct('resource/v1alpha3.ResourceSlice', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceSliceSpec, { required: true, emptyOk: true, always: true }),
});

// ResourceClaim

export const CELDeviceSelector = v1alpha3(v1beta1.CELDeviceSelector);
export const DeviceSelector = v1alpha3(v1beta1.DeviceSelector);
export const DeviceToleration = v1alpha3(v1beta1.DeviceToleration);
export const DeviceSubRequest = v1alpha3(v1beta1.DeviceSubRequest);
export const DeviceRequest = v1alpha3(v1beta1.DeviceRequest);
export const DeviceConstraint = v1alpha3(v1beta1.DeviceConstraint);
export const OpaqueDeviceConfiguration = v1alpha3(v1beta1.OpaqueDeviceConfiguration);
export const DeviceConfiguration = v1alpha3(v1beta1.DeviceConfiguration);
export const DeviceClaimConfiguration = v1alpha3(v1beta1.DeviceClaimConfiguration);
export const DeviceClaim = v1alpha3(v1beta1.DeviceClaim);
export const ResourceClaimSpec = v1alpha3(v1beta1.ResourceClaimSpec);
export const DeviceRequestAllocationResult = v1alpha3(v1beta1.DeviceRequestAllocationResult);
export const DeviceAllocationConfiguration = v1alpha3(v1beta1.DeviceAllocationConfiguration);
export const DeviceAllocationResult = v1alpha3(v1beta1.DeviceAllocationResult);
export const AllocationResult = v1alpha3(v1beta1.AllocationResult);
export const ResourceClaimConsumerReference = v1alpha3(v1beta1.ResourceClaimConsumerReference);
export const NetworkDeviceData = v1alpha3(v1beta1.NetworkDeviceData);
export const AllocatedDeviceStatus = v1alpha3(v1beta1.AllocatedDeviceStatus);
export const ResourceClaimStatus = v1alpha3(v1beta1.ResourceClaimStatus);
export const ResourceClaim = v1alpha3(v1beta1.ResourceClaim);

// DeviceClass

export const DeviceClassConfiguration = v1alpha3(v1beta1.DeviceClassConfiguration);
export const DeviceClassSpec = v1alpha3(v1beta1.DeviceClassSpec);
export const DeviceClass = v1alpha3(v1beta1.DeviceClass);

// ResourceClaimTemplate

export const ResourceClaimTemplateSpec = v1alpha3(v1beta1.ResourceClaimTemplateSpec);
export const ResourceClaimTemplate = v1alpha3(v1beta1.ResourceClaimTemplate);

// DeviceTaintRule

export const DeviceTaintSelector = struct('resource/v1alpha3.DeviceTaintSelector', {
  deviceClassName: field(1, string, { nullable: true }),
  driver: field(2, string, { nullable: true }),
  pool: field(3, string, { nullable: true }),
  device: field(4, string, { nullable: true }),
  selectors: field(5, list(DeviceSelector), { listType: 'atomic' }),
});

export const DeviceTaintRuleSpec = struct('resource/v1alpha3.DeviceTaintRuleSpec', {
  deviceSelector: field(1, DeviceTaintSelector, { nullable: true }),
  taint: field(2, DeviceTaint, { required: true, emptyOk: true }),
});

export const DeviceTaintRule = struct('resource/v1alpha3.DeviceTaintRule', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, DeviceTaintRuleSpec, { required: true, emptyOk: true, always: true }),
});
