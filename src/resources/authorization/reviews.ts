import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '../../types/authorization-v1.ts';
import { resource } from '../shared/define.ts';

export const localSubjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'localsubjectaccessreviews',
  kind: 'LocalSubjectAccessReview',
  schema: LocalSubjectAccessReview,
  verbs: ['create'],
  virtual: true,
});

export const selfSubjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  schema: SelfSubjectAccessReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});

export const selfSubjectRulesReviews = resource({
  group: 'authorization.{domain}',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
  schema: SelfSubjectRulesReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});

export const subjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  schema: SubjectAccessReview,
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
