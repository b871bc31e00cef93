/** The types of networking/v1beta1. */
import { field, list, string, struct } from '../schema/index.ts';
import { Condition, ObjectMeta, typeMeta } from './meta-v1.ts';

// IPAddress

export const ParentReference = struct('networking/v1beta1.ParentReference', {
  group: field(1, string),
  resource: field(2, string, { required: true }),
  namespace: field(3, string),
  name: field(4, string, { required: true }),
});

export const IPAddressSpec = struct('networking/v1beta1.IPAddressSpec', {
  parentRef: field(1, ParentReference, { required: true, nullable: true }),
});

export const IPAddress = struct('networking/v1beta1.IPAddress', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, IPAddressSpec),
});

// ServiceCIDR

export const ServiceCIDRSpec = struct('networking/v1beta1.ServiceCIDRSpec', {
  cidrs: field(1, list(string), { listType: 'atomic' }),
});

export const ServiceCIDRStatus = struct('networking/v1beta1.ServiceCIDRStatus', {
  conditions: field(1, list(Condition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});

export const ServiceCIDR = struct('networking/v1beta1.ServiceCIDR', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ServiceCIDRSpec),
  status: field(3, ServiceCIDRStatus),
});
