/** The types of authentication/v1. */
import { bool, field, type Infer, int64, list, map, shortList, string, struct, time } from '../schema/index.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

// TokenReview

export const TokenReviewSpec = struct('authentication/v1.TokenReviewSpec', {
  token: field(1, string),
  audiences: field(2, shortList(string), { listType: 'atomic' }),
});
export type TokenReviewSpec = Infer<typeof TokenReviewSpec>;

export const UserInfo = struct('authentication/v1.UserInfo', {
  username: field(1, string),
  uid: field(2, string),
  groups: field(3, list(string), { listType: 'atomic' }),
  extra: field(4, map(list(string))),
});
export type UserInfo = Infer<typeof UserInfo>;

export const TokenReviewStatus = struct('authentication/v1.TokenReviewStatus', {
  authenticated: field(1, bool),
  user: field(2, UserInfo),
  audiences: field(4, list(string), { listType: 'atomic' }),
  error: field(3, string),
});
export type TokenReviewStatus = Infer<typeof TokenReviewStatus>;

export const TokenReview = struct('authentication/v1.TokenReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, TokenReviewSpec, { required: true, always: true }),
  status: field(3, TokenReviewStatus),
});
export type TokenReview = Infer<typeof TokenReview>;

// TokenRequest

export const BoundObjectReference = struct('authentication/v1.BoundObjectReference', {
  kind: field(1, string),
  apiVersion: field(2, string),
  name: field(3, string),
  uid: field(4, string, { protoName: 'uID' }),
});

export const TokenRequestSpec = struct('authentication/v1.TokenRequestSpec', {
  audiences: field(1, shortList(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  expirationSeconds: field(4, int64, { always: true, nullable: true }),
  boundObjectRef: field(3, BoundObjectReference, { always: true, nullable: true }),
});
export type TokenRequestSpec = Infer<typeof TokenRequestSpec>;

export const TokenRequestStatus = struct('authentication/v1.TokenRequestStatus', {
  token: field(1, string, { required: true, emptyOk: true, always: true }),
  expirationTimestamp: field(2, time, { required: true, emptyOk: true, always: true }),
});
export type TokenRequestStatus = Infer<typeof TokenRequestStatus>;

export const TokenRequest = struct('authentication/v1.TokenRequest', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, TokenRequestSpec, { required: true, always: true }),
  status: field(3, TokenRequestStatus),
});
export type TokenRequest = Infer<typeof TokenRequest>;

// SelfSubjectReview

export const SelfSubjectReviewStatus = struct('authentication/v1.SelfSubjectReviewStatus', {
  userInfo: field(1, UserInfo),
});
export type SelfSubjectReviewStatus = Infer<typeof SelfSubjectReviewStatus>;

export const SelfSubjectReview = struct('authentication/v1.SelfSubjectReview', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  status: field(2, SelfSubjectReviewStatus),
});
export type SelfSubjectReview = Infer<typeof SelfSubjectReview>;
