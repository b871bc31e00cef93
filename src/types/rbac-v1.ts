/** The types of rbac/v1. */
import { field, type Infer, list, string, struct } from '../schema/index.ts';
import { LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// Role

export const PolicyRule = struct('rbac/v1.PolicyRule', {
  verbs: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  apiGroups: field(2, list(string), { listType: 'atomic' }),
  resources: field(3, list(string), { listType: 'atomic' }),
  resourceNames: field(4, list(string), { listType: 'atomic' }),
  nonResourceURLs: field(5, list(string), { listType: 'atomic' }),
});
export type PolicyRule = Infer<typeof PolicyRule>;

export const Role = struct('rbac/v1.Role', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  rules: field(2, list(PolicyRule), { always: true, listType: 'atomic' }),
});
export type Role = Infer<typeof Role>;

// RoleBinding

export const Subject = struct(
  'rbac/v1.Subject',
  {
    kind: field(1, string, { required: true, emptyOk: true, always: true }),
    apiGroup: field(2, string),
    name: field(3, string, { required: true, always: true }),
    namespace: field(4, string),
  },
  { structType: 'atomic' },
);
export type Subject = Infer<typeof Subject>;

export const RoleRef = struct(
  'rbac/v1.RoleRef',
  {
    apiGroup: field(1, string, { required: true, emptyOk: true, always: true }),
    kind: field(2, string, { required: true, emptyOk: true, always: true }),
    name: field(3, string, { required: true, always: true }),
  },
  { structType: 'atomic' },
);
export type RoleRef = Infer<typeof RoleRef>;

export const RoleBinding = struct('rbac/v1.RoleBinding', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  subjects: field(2, list(Subject), { listType: 'atomic' }),
  roleRef: field(3, RoleRef, { required: true, always: true }),
});
export type RoleBinding = Infer<typeof RoleBinding>;

// ClusterRole

export const AggregationRule = struct('rbac/v1.AggregationRule', {
  clusterRoleSelectors: field(1, list(LabelSelector), { listType: 'atomic' }),
});

export const ClusterRole = struct('rbac/v1.ClusterRole', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  rules: field(2, list(PolicyRule), { always: true, listType: 'atomic' }),
  aggregationRule: field(3, AggregationRule, { nullable: true }),
});
export type ClusterRole = Infer<typeof ClusterRole>;

// ClusterRoleBinding

export const ClusterRoleBinding = struct('rbac/v1.ClusterRoleBinding', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  subjects: field(2, list(Subject), { listType: 'atomic' }),
  roleRef: field(3, RoleRef, { required: true, always: true }),
});
export type ClusterRoleBinding = Infer<typeof ClusterRoleBinding>;
