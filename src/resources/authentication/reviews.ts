import { SelfSubjectReview, TokenReview } from '../../types/authentication-v1.ts';
import { SelfSubjectReview as SelfSubjectReviewV1alpha1 } from '../../types/authentication-v1alpha1.ts';
import * as v1beta1 from '../../types/authentication-v1beta1.ts';
import { resource } from '../shared/define.ts';

export const selfSubjectReviews = resource({
  group: 'authentication.{domain}',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  schema: SelfSubjectReview,
  lifecycle: { introduced: '1.28' },
  versions: [
    {
      version: 'v1beta1',
      schema: v1beta1.SelfSubjectReview,
      lifecycle: { introduced: '1.27', deprecated: '1.30', removed: '1.33' },
    },
    {
      version: 'v1alpha1',
      schema: SelfSubjectReviewV1alpha1,
      lifecycle: { introduced: '1.26', deprecated: '1.29', removed: '1.32' },
    },
  ],
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});

export const tokenReviews = resource({
  group: 'authentication.{domain}',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  schema: TokenReview,
  lifecycle: { introduced: '1.6' },
  versions: [
    {
      version: 'v1beta1',
      schema: v1beta1.TokenReview,
      lifecycle: {
        introduced: '1.4',
        deprecated: '1.19',
        removed: '1.22',
        replacement: 'authentication.{domain}/v1 TokenReview',
      },
    },
  ],
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
