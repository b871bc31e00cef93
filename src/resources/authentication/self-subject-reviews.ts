import { resource } from '../define.ts';
import { SelfSubjectReview } from '../types/authentication-v1.ts';

export const selfSubjectReviews = resource({
  group: 'authentication.{domain}',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  schema: SelfSubjectReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
