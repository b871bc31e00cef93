/** The types of authentication/v1alpha1: SelfSubjectReview of v1. */
import * as v1 from './authentication-v1.ts';
import { inVersion } from './in-version.ts';

const v1alpha1 = inVersion('authentication/v1alpha1');

export const SelfSubjectReviewStatus = v1alpha1(v1.SelfSubjectReviewStatus);
export const SelfSubjectReview = v1alpha1(v1.SelfSubjectReview);
