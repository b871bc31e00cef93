/** The objects of the default policy. */
import type { PolicyRule, RoleRef, Subject } from '../../types/rbac-v1.ts';

export type Text = { [key: string]: string };

export type PolicyMetadata = {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  labels?: Text;
  annotations?: Text;
};

type RoleSelector = { matchLabels: Text };

/** A `ClusterRole` or `Role`. */
export type RoleObject = {
  apiVersion: string;
  kind: string;
  metadata: PolicyMetadata;
  rules?: PolicyRule[] | null;
  aggregationRule?: { clusterRoleSelectors?: RoleSelector[] };
};

/** A `ClusterRoleBinding` or `RoleBinding`. */
export type BindingObject = {
  apiVersion: string;
  kind: string;
  metadata: PolicyMetadata;
  subjects?: Subject[];
  roleRef: RoleRef;
};

export type PolicyObject = RoleObject | BindingObject;

export const isBinding = (object: PolicyObject): object is BindingObject => 'roleRef' in object;
