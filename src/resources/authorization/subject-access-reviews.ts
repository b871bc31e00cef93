import { resource } from '../define.ts';
import { SubjectAccessReview } from '../types/authorization-v1.ts';

export const subjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  schema: SubjectAccessReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
