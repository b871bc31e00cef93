import { resource } from '../define.ts';
import { SelfSubjectAccessReview } from '../types/authorization-v1.ts';

export const selfSubjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  schema: SelfSubjectAccessReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
