import type { ApiObject, User } from '../../../meta/index.ts';
import type { PolicyRule, RoleRef, Subject } from '../../../types/rbac-v1.ts';
import type { Attributes } from '../../types.ts';

/** A stored object of one of the four kinds, by `<kind>/<namespace>/<name>`. */
export type Stored = Map<string, StoredObject>;

export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';

export interface StoredObject {
  readonly kind: RbacKind;
  /** Empty for cluster kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  readonly subjects: readonly Subject[];
  readonly roleRef: RoleRef;
}

export const keyOf = ({ kind, namespace, name }: Pick<StoredObject, 'kind' | 'namespace' | 'name'>): string =>
  `${kind}/${namespace}/${name}`;

export const objectOf = ({ kind, namespace, name, rules, subjects, roleRef }: StoredObject): ApiObject => {
  const isRole = kind === 'Role' || kind === 'ClusterRole';
  const content = isRole ? { rules } : { subjects, roleRef };
  return JSON.parse(JSON.stringify({ kind, metadata: { namespace, name }, ...content })) as ApiObject;
};

/** Authorization by roles as the specification defines it: every binding, every subject, every rule. */
export function modelAllows(stored: Stored, { user, verb, resource, path }: Attributes): boolean {
  const namespace = resource?.namespace ?? '';
  return [...stored.values()].some((binding) => {
    if (binding.kind === 'Role' || binding.kind === 'ClusterRole') return false;
    if (binding.kind === 'RoleBinding' && (namespace === '' || binding.namespace !== namespace)) return false;
    if (!binding.subjects.some((subject) => isSubject(user, subject, binding.namespace))) return false;
    const rules = referencedRules(stored, binding);
    return rules.some((rule) => ruleAllows(rule, { user, verb, resource, path }));
  });
}

function referencedRules(stored: Stored, { kind, namespace, roleRef }: StoredObject): readonly PolicyRule[] {
  const { kind: roleKind = '', name = '' } = roleRef;
  if (roleKind === 'ClusterRole') return stored.get(`ClusterRole//${name}`)?.rules ?? [];
  return (kind === 'RoleBinding' && roleKind === 'Role' && stored.get(`Role/${namespace}/${name}`)?.rules) || [];
}

function isSubject(user: User, subject: Subject, bindingNamespace: string): boolean {
  if (subject.kind === 'User') return user.name === subject.name;
  if (subject.kind === 'Group') return user.groups.includes(subject.name ?? '');
  if (subject.kind !== 'ServiceAccount') return false;
  const namespace = subject.namespace || bindingNamespace;
  return namespace !== '' && user.name === `system:serviceaccount:${namespace}:${subject.name}`;
}

export function ruleAllows(rule: PolicyRule, { verb, resource, path }: Attributes): boolean {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs = [] } = rule;
  const has = (list: readonly string[], text: string) => list.some((entry) => entry === '*' || entry === text);
  if (!has(verbs, verb)) return false;
  if (resource === undefined) {
    return nonResourceURLs.some((url) => (url.endsWith('*') ? path.startsWith(url.replace(/\*+$/, '')) : path === url));
  }
  const { group, resource: plural, subresource, name } = resource;
  const wanted = subresource === '' ? [plural] : [`${plural}/${subresource}`, `*/${subresource}`];
  return (
    has(apiGroups, group) &&
    resources.some((entry) => entry === '*' || wanted.includes(entry)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}
