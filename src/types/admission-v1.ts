/** The types of admission/v1. */
import { anyObject, bool, bytes, field, type Infer, list, map, string, struct } from '../schema/index.ts';
import { UserInfo } from './authentication-v1.ts';
import { GroupVersionKind, GroupVersionResource, Status, typeMeta } from './meta-v1.ts';

export const AdmissionRequest = struct('admission/v1.AdmissionRequest', {
  uid: field(1, string, { required: true, emptyOk: true, always: true }),
  kind: field(2, GroupVersionKind, { required: true, always: true }),
  resource: field(3, GroupVersionResource, { required: true, always: true }),
  subResource: field(4, string),
  requestKind: field(13, GroupVersionKind, { nullable: true }),
  requestResource: field(14, GroupVersionResource, { nullable: true }),
  requestSubResource: field(15, string),
  name: field(5, string),
  namespace: field(6, string),
  operation: field(7, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    open: true,
  }),
  userInfo: field(8, UserInfo, { required: true, always: true }),
  object: field(9, anyObject),
  oldObject: field(10, anyObject),
  dryRun: field(11, bool, { nullable: true }),
  options: field(12, anyObject),
});

export const AdmissionResponse = struct('admission/v1.AdmissionResponse', {
  uid: field(1, string, { required: true, emptyOk: true, always: true }),
  allowed: field(2, bool, { required: true, emptyOk: true, always: true }),
  status: field(3, Status, { nullable: true }),
  patch: field(4, bytes),
  patchType: field(5, string, { nullable: true, known: ['JSONPatch'], open: true }),
  auditAnnotations: field(6, map(string)),
  warnings: field(7, list(string)),
});

export const AdmissionReview = struct('admission/v1.AdmissionReview', {
  ...typeMeta,
  request: field(1, AdmissionRequest, { nullable: true }),
  response: field(2, AdmissionResponse, { nullable: true }),
});
export type AdmissionReview = Infer<typeof AdmissionReview>;
