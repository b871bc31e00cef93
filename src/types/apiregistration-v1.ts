/** The types of apiregistration/v1. */
import { bool, bytes, field, type Infer, int32, list, string, struct, time } from '../schema/index.ts';
import { conditionStatuses, ObjectMeta, typeMeta } from './meta-v1.ts';

export const ServiceReference = struct('apiregistration/v1.ServiceReference', {
  namespace: field(1, string),
  name: field(2, string),
  port: field(3, int32, { nullable: true }),
});

export const APIServiceSpec = struct('apiregistration/v1.APIServiceSpec', {
  service: field(1, ServiceReference, { nullable: true }),
  group: field(2, string),
  version: field(3, string),
  insecureSkipTLSVerify: field(4, bool),
  caBundle: field(5, bytes, { listType: 'atomic' }),
  groupPriorityMinimum: field(7, int32, { required: true, emptyOk: true, always: true }),
  versionPriority: field(8, int32, { required: true, emptyOk: true, always: true }),
});
export type APIServiceSpec = Infer<typeof APIServiceSpec>;

export const APIServiceCondition = struct('apiregistration/v1.APIServiceCondition', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: ['Available'], open: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});
export type APIServiceCondition = Infer<typeof APIServiceCondition>;

export const APIServiceStatus = struct('apiregistration/v1.APIServiceStatus', {
  conditions: field(1, list(APIServiceCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type APIServiceStatus = Infer<typeof APIServiceStatus>;

export const APIService = struct('apiregistration/v1.APIService', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, APIServiceSpec),
  status: field(3, APIServiceStatus),
});
export type APIService = Infer<typeof APIService>;
