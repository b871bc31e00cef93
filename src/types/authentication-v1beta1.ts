/** The types of authentication/v1beta1: TokenReview and SelfSubjectReview of v1. */
import * as v1 from './authentication-v1.ts';
import { inVersion } from './in-version.ts';

const v1beta1 = inVersion('authentication/v1beta1');

// SelfSubjectReview, whose user is that of v1

export const SelfSubjectReviewStatus = v1beta1(v1.SelfSubjectReviewStatus);
export const SelfSubjectReview = v1beta1(v1.SelfSubjectReview);

// TokenReview

export const TokenReviewSpec = v1beta1(v1.TokenReviewSpec);
export const UserInfo = v1beta1(v1.UserInfo);
export const TokenReviewStatus = v1beta1(v1.TokenReviewStatus);
export const TokenReview = v1beta1(v1.TokenReview);
