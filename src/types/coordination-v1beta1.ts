/** The types of coordination/v1beta1: those of v1alpha2. */
import * as v1alpha2 from './coordination-v1alpha2.ts';
import { inVersion } from './in-version.ts';

const v1beta1 = inVersion('coordination/v1beta1');

export const LeaseCandidateSpec = v1beta1(v1alpha2.LeaseCandidateSpec);
export const LeaseCandidate = v1beta1(v1alpha2.LeaseCandidate);
