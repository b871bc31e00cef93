import type { ApiObject, JsonObject, ReleaseText } from '../../meta/index.ts';
import type { ResourceVersion } from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from '../../types/authorization-v1.ts';
import * as v1beta1 from '../../types/authorization-v1beta1.ts';
import { resource } from '../shared/define.ts';

const beta = (schema: StructSchema, kind: string, introduced: ReleaseText = '1.2'): ResourceVersion => ({
  version: 'v1beta1',
  schema,
  lifecycle: { introduced, deprecated: '1.19', removed: '1.22', replacement: `authorization.{domain}/v1 ${kind}` },
});

/** The same for reviews of a subject, whose groups are `group` in v1beta1. */
const betaOfSubject = (schema: StructSchema, kind: string): ResourceVersion => ({
  ...beta(schema, kind),
  toStorage: (review) => renamed(review, 'group', 'groups'),
  fromStorage: (review) => renamed(review, 'groups', 'group'),
});

/** The object with a field of its spec under another name. */
function renamed(object: ApiObject, from: string, to: string): ApiObject {
  const { [from]: value, ...rest } = (object['spec'] ?? {}) as JsonObject;
  return { ...object, spec: value === undefined ? rest : { ...rest, [to]: value } };
}

export const localSubjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'localsubjectaccessreviews',
  kind: 'LocalSubjectAccessReview',
  schema: LocalSubjectAccessReview,
  lifecycle: { introduced: '1.19' },
  versions: [betaOfSubject(v1beta1.LocalSubjectAccessReview, 'LocalSubjectAccessReview')],
  verbs: ['create'],
  virtual: true,
});

export const selfSubjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  schema: SelfSubjectAccessReview,
  lifecycle: { introduced: '1.19' },
  versions: [beta(v1beta1.SelfSubjectAccessReview, 'SelfSubjectAccessReview')],
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});

export const selfSubjectRulesReviews = resource({
  group: 'authorization.{domain}',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
  schema: SelfSubjectRulesReview,
  lifecycle: { introduced: '1.19' },
  versions: [beta(v1beta1.SelfSubjectRulesReview, 'SelfSubjectRulesReview', '1.8')],
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});

export const subjectAccessReviews = resource({
  group: 'authorization.{domain}',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  schema: SubjectAccessReview,
  lifecycle: { introduced: '1.6' },
  versions: [betaOfSubject(v1beta1.SubjectAccessReview, 'SubjectAccessReview')],
  namespaced: false,
  verbs: ['create'],
  virtual: true,
});
