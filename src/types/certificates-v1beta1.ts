/** The types of certificates/v1beta1. */
import { field, string, struct } from '../schema/index.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const ClusterTrustBundleSpec = struct('certificates/v1beta1.ClusterTrustBundleSpec', {
  signerName: field(1, string),
  trustBundle: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const ClusterTrustBundle = struct('certificates/v1beta1.ClusterTrustBundle', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ClusterTrustBundleSpec, { required: true, emptyOk: true, always: true }),
});
