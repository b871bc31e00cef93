import { resource } from '../define.ts';
import { SelfSubjectRulesReview } from '../types/authorization-v1.ts';

export const selfSubjectRulesReviews = resource({
  group: 'authorization.{domain}',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
  schema: SelfSubjectRulesReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
