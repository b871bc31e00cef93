/**
 * The vocabulary of the default roles. Words are separated by spaces; `{domain}` and `{labels}` stand for the configured
 * names.
 */
import type { FeatureName } from '../../meta/index.ts';
import type { PolicyRule } from '../../types/rbac-v1.ts';

/** A default role with the binding that goes with it. */
export interface DefaultRole {
  readonly name: string;
  readonly rules?: readonly (PolicyRule | GatedRule)[];
  /** Its rules are those of the cluster roles that name this one in `aggregateTo`. */
  readonly aggregates?: UserFacing;
  readonly aggregateTo?: UserFacing;
  /** The subjects of its default binding. Absent: there is none. */
  readonly boundTo?: readonly DefaultSubject[];
  /** Absent while this feature is off. */
  readonly gate?: FeatureName;
  /** Absent on a server without this resource. */
  readonly needs?: string;
}

export interface DefaultNamespacedRole extends DefaultRole {
  readonly namespace: 'system' | 'public';
  /** The name of the binding, where it is not that of the role. */
  readonly binding?: string;
}

/** Roles that are meant for users, by increasing rights: each one includes those before it. */
type UserFacing = 'view' | 'edit' | 'admin';

/** A service account is one of the system namespace. */
export interface DefaultSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount';
  readonly name: string;
}

/** A rule that is absent while a feature is off. */
export interface GatedRule {
  readonly gate: FeatureName;
  readonly rule: PolicyRule;
}

const sorted = (words: string) => words.split(' ').sort();

/** Allows verbs on resources of an API group (`core` is the empty one), of these names only when any are given. */
export const allow = (verbs: string, group: string | readonly string[], resources: string, names?: string) => ({
  verbs: sorted(verbs),
  apiGroups: typeof group === 'string' ? [group] : [...group].sort(),
  resources: sorted(resources),
  ...(names === undefined ? {} : { resourceNames: sorted(names) }),
});

/** Allows verbs on non-resource URLs. */
export const allowUrls = (verbs: string, urls: string) => ({ verbs: sorted(verbs), nonResourceURLs: sorted(urls) });

export const gated = (gate: FeatureName, rule: PolicyRule): GatedRule => ({ gate, rule });

export const users = (...names: string[]): DefaultSubject[] => names.map((name) => ({ kind: 'User', name }));
export const groups = (...names: string[]): DefaultSubject[] => names.map((name) => ({ kind: 'Group', name }));
export const serviceAccounts = (...names: string[]): DefaultSubject[] =>
  names.map((name) => ({ kind: 'ServiceAccount', name }));

export const read = 'get list watch';
export const write = 'create update patch delete deletecollection';
export const readWrite = `${read} ${write}`;
export const readUpdate = `${read} update patch`;

export const core = '';
export const events = 'events.{domain}';
export const authentication = 'authentication.{domain}';
export const authorization = 'authorization.{domain}';
export const certificates = 'certificates.{domain}';
export const coordination = 'coordination.{domain}';
export const discovery = 'discovery.{domain}';
export const networking = 'networking.{domain}';
export const rbac = 'rbac.authorization.{domain}';
/** Devices and claims to them. */
export const dynamicResources = 'resource.{domain}';
export const storage = 'storage.{domain}';

/** Reporting events, which most components do. */
export const reportEvents = allow('create update patch', [core, events], 'events');
