/** The types of authorization/v1. */
import { bool, field, type Infer, list, map, string, struct } from '../schema/index.ts';
import { FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta, typeMeta } from './meta-v1.ts';

// SubjectAccessReview

export const FieldSelectorAttributes = struct('authorization/v1.FieldSelectorAttributes', {
  rawSelector: field(1, string),
  requirements: field(2, list(FieldSelectorRequirement), { listType: 'atomic' }),
});

export const LabelSelectorAttributes = struct('authorization/v1.LabelSelectorAttributes', {
  rawSelector: field(1, string),
  requirements: field(2, list(LabelSelectorRequirement), { listType: 'atomic' }),
});

export const ResourceAttributes = struct('authorization/v1.ResourceAttributes', {
  namespace: field(1, string),
  verb: field(2, string),
  group: field(3, string),
  version: field(4, string),
  resource: field(5, string),
  subresource: field(6, string),
  name: field(7, string),
  fieldSelector: field(8, FieldSelectorAttributes, { nullable: true, gate: 'AuthorizeWithSelectors' }),
  labelSelector: field(9, LabelSelectorAttributes, { nullable: true, gate: 'AuthorizeWithSelectors' }),
});

export const NonResourceAttributes = struct('authorization/v1.NonResourceAttributes', {
  path: field(1, string),
  verb: field(2, string),
});

export const SubjectAccessReviewSpec = struct('authorization/v1.SubjectAccessReviewSpec', {
  resourceAttributes: field(1, ResourceAttributes, { nullable: true }),
  nonResourceAttributes: field(2, NonResourceAttributes, { nullable: true }),
  user: field(3, string),
  groups: field(4, list(string), { listType: 'atomic' }),
  extra: field(5, map(list(string))),
  uid: field(6, string),
});
export type SubjectAccessReviewSpec = Infer<typeof SubjectAccessReviewSpec>;

export const SubjectAccessReviewStatus = struct('authorization/v1.SubjectAccessReviewStatus', {
  allowed: field(1, bool, { required: true, emptyOk: true, always: true }),
  denied: field(4, bool),
  reason: field(2, string),
  evaluationError: field(3, string),
});
export type SubjectAccessReviewStatus = Infer<typeof SubjectAccessReviewStatus>;

export const SubjectAccessReview = struct('authorization/v1.SubjectAccessReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, SubjectAccessReviewSpec, { required: true, always: true }),
  status: field(3, SubjectAccessReviewStatus),
});
export type SubjectAccessReview = Infer<typeof SubjectAccessReview>;

// SelfSubjectAccessReview

export const SelfSubjectAccessReviewSpec = struct('authorization/v1.SelfSubjectAccessReviewSpec', {
  resourceAttributes: field(1, ResourceAttributes, { nullable: true }),
  nonResourceAttributes: field(2, NonResourceAttributes, { nullable: true }),
});
export type SelfSubjectAccessReviewSpec = Infer<typeof SelfSubjectAccessReviewSpec>;

export const SelfSubjectAccessReview = struct('authorization/v1.SelfSubjectAccessReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, SelfSubjectAccessReviewSpec, { required: true, always: true }),
  status: field(3, SubjectAccessReviewStatus),
});
export type SelfSubjectAccessReview = Infer<typeof SelfSubjectAccessReview>;

// LocalSubjectAccessReview

export const LocalSubjectAccessReview = struct('authorization/v1.LocalSubjectAccessReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, SubjectAccessReviewSpec, { required: true, always: true }),
  status: field(3, SubjectAccessReviewStatus),
});
export type LocalSubjectAccessReview = Infer<typeof LocalSubjectAccessReview>;

// SelfSubjectRulesReview

export const SelfSubjectRulesReviewSpec = struct('authorization/v1.SelfSubjectRulesReviewSpec', {
  namespace: field(1, string),
});
export type SelfSubjectRulesReviewSpec = Infer<typeof SelfSubjectRulesReviewSpec>;

export const ResourceRule = struct('authorization/v1.ResourceRule', {
  verbs: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  apiGroups: field(2, list(string), { listType: 'atomic' }),
  resources: field(3, list(string), { listType: 'atomic' }),
  resourceNames: field(4, list(string), { listType: 'atomic' }),
});

export const NonResourceRule = struct('authorization/v1.NonResourceRule', {
  verbs: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  nonResourceURLs: field(2, list(string), { listType: 'atomic' }),
});

export const SubjectRulesReviewStatus = struct('authorization/v1.SubjectRulesReviewStatus', {
  resourceRules: field(1, list(ResourceRule), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  nonResourceRules: field(2, list(NonResourceRule), {
    required: true,
    emptyOk: true,
    always: true,
    listType: 'atomic',
  }),
  incomplete: field(3, bool, { required: true, emptyOk: true, always: true }),
  evaluationError: field(4, string),
});
export type SubjectRulesReviewStatus = Infer<typeof SubjectRulesReviewStatus>;

export const SelfSubjectRulesReview = struct('authorization/v1.SelfSubjectRulesReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, SelfSubjectRulesReviewSpec, { required: true, always: true }),
  status: field(3, SubjectRulesReviewStatus),
});
export type SelfSubjectRulesReview = Infer<typeof SelfSubjectRulesReview>;
