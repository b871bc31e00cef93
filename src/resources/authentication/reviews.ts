import { SelfSubjectReview, TokenReview } from '../../types/authentication-v1.ts';
import { resource } from '../shared/define.ts';

export const selfSubjectReviews = resource({
  group: 'authentication.{domain}',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  schema: SelfSubjectReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});

export const tokenReviews = resource({
  group: 'authentication.{domain}',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  schema: TokenReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
