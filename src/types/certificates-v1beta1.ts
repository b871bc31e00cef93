/** The types of certificates/v1beta1: those of v1alpha1. */
import * as v1alpha1 from './certificates-v1alpha1.ts';
import { inVersion } from './in-version.ts';

const v1beta1 = inVersion('certificates/v1beta1');

export const ClusterTrustBundleSpec = v1beta1(v1alpha1.ClusterTrustBundleSpec);
export const ClusterTrustBundle = v1beta1(v1alpha1.ClusterTrustBundle);
