/** The types of authorization/v1beta1: those of v1 except the field `group` of a subject, which is `groups` in v1. */
import { field, type Infer, list, map, string, struct } from '../schema/index.ts';
import * as v1 from './authorization-v1.ts';
import { inVersion } from './in-version.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

const v1beta1 = inVersion('authorization/v1beta1');

// SubjectAccessReview

export const ResourceAttributes = v1beta1(v1.ResourceAttributes);
export const NonResourceAttributes = v1beta1(v1.NonResourceAttributes);

export const SubjectAccessReviewSpec = struct('authorization/v1beta1.SubjectAccessReviewSpec', {
  resourceAttributes: field(1, ResourceAttributes, { nullable: true }),
  nonResourceAttributes: field(2, NonResourceAttributes, { nullable: true }),
  user: field(3, string),
  group: field(4, list(string), { listType: 'atomic' }),
  extra: field(5, map(list(string))),
  uid: field(6, string),
});
export type SubjectAccessReviewSpec = Infer<typeof SubjectAccessReviewSpec>;

export const SubjectAccessReviewStatus = v1beta1(v1.SubjectAccessReviewStatus);

export const SubjectAccessReview = struct('authorization/v1beta1.SubjectAccessReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, SubjectAccessReviewSpec, { required: true, always: true }),
  status: field(3, SubjectAccessReviewStatus),
});

// SelfSubjectAccessReview

export const SelfSubjectAccessReviewSpec = v1beta1(v1.SelfSubjectAccessReviewSpec);
export const SelfSubjectAccessReview = v1beta1(v1.SelfSubjectAccessReview);

// LocalSubjectAccessReview

export const LocalSubjectAccessReview = struct('authorization/v1beta1.LocalSubjectAccessReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, SubjectAccessReviewSpec, { required: true, always: true }),
  status: field(3, SubjectAccessReviewStatus),
});

// SelfSubjectRulesReview

export const SelfSubjectRulesReviewSpec = v1beta1(v1.SelfSubjectRulesReviewSpec);
export const ResourceRule = v1beta1(v1.ResourceRule);
export const NonResourceRule = v1beta1(v1.NonResourceRule);
export const SubjectRulesReviewStatus = v1beta1(v1.SubjectRulesReviewStatus);
export const SelfSubjectRulesReview = v1beta1(v1.SelfSubjectRulesReview);
