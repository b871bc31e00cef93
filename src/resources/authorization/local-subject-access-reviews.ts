import { resource } from '../define.ts';
import { LocalSubjectAccessReview } from '../types/authorization-v1.ts';

export const localSubjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'localsubjectaccessreviews',
  kind: 'LocalSubjectAccessReview',
  schema: LocalSubjectAccessReview,

  verbs: ['create'],
  virtual: true,
});
