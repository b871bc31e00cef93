import fc from 'fast-check';
import type { PolicyRule, Subject } from '../../../types/rbac-v1.ts';
import type { Attributes } from '../../types.ts';
import type { RbacKind, StoredObject } from './model.ts';

// A small universe, in which most requests meet some rule. `other` is in requests only: it stands for all else.
const some = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const several = <T>(...values: readonly T[]) =>
  fc.uniqueArray(some(...values), { minLength: 1, maxLength: 3, size: 'max' });

const verbs = several('get', 'list', '*');
const resourceRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs,
  apiGroups: several('', 'apps', '*'),
  resources: several('pods', 'pods/log', '*/log', '*', '*/*', 'deployments', '__proto__'),
  resourceNames: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, several('a', 'constructor', '*', '')),
});
const pathRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs,
  nonResourceURLs: several('/x', '/x*', '/x/*', '/x**', '*', '/', '/x/y'),
});
const anyRule = fc.oneof({ weight: 3, arbitrary: resourceRule }, pathRule);
export const anyRules = fc.array(anyRule, { maxLength: 4, size: 'max' });

const namespaces = ['a', 'b'] as const;
const subject: fc.Arbitrary<Subject> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: some('User'), name: some('jane', '__proto__', 'system:serviceaccount:a:bot') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: some('Group'), name: some('dev', 'constructor', 'system:authenticated') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: some('ServiceAccount'), name: some('bot'), namespace: some('', ...namespaces) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: some('Robot'), name: some('jane') }) },
);

const kinds: readonly RbacKind[] = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'];

export const anyObject: fc.Arbitrary<StoredObject> = fc
  .record({
    kind: some(...kinds),
    namespace: some(...namespaces),
    name: some('r', '__proto__'),
    rules: anyRules,
    subjects: fc.array(subject, { maxLength: 3, size: 'max' }),
    roleRef: fc.record({
      kind: some('Role', 'Role', 'ClusterRole', 'ClusterRole', 'Thing'),
      name: some('r', 'r', '__proto__', 'absent'),
    }),
  })
  .map((object) => ({ ...object, namespace: object.kind.startsWith('Cluster') ? '' : object.namespace }));

const user = fc.record({
  name: some('jane', 'jane', '__proto__', 'system:serviceaccount:a:bot', 'system:serviceaccount:b:bot', 'other'),
  groups: several('dev', 'constructor', 'system:authenticated', 'other'),
});
const resource = fc.record({
  group: some('', 'apps', 'other', '*'),
  version: some('v1'),
  resource: some('pods', 'deployments', '__proto__', 'other', '*', 'pods/log'),
  subresource: some('', 'log', '*', 'other'),
  namespace: some('', ...namespaces),
  name: some('', 'a', 'constructor', 'other'),
});
const path = some('/', '/x', '/x/', '/x/y', '/xy', '/x*', '/other', 'x', '');

export const anyRequest: fc.Arbitrary<Attributes> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ user, verb: some('get', 'list', 'other', '*'), resource, path: some('') }) },
  fc.record({ user, verb: some('get', 'list', 'other'), resource: fc.constant(undefined), path }),
);

/** Every request of one user in the namespace `a` and at cluster scope, for coverage. */
export function everyRequest(user: Attributes['user']): Attributes[] {
  const found: Attributes[] = [];
  for (const verb of ['get', 'list', 'other']) {
    for (const path of ['/', '/x', '/x/', '/x/y', '/xy', '/other', 'x', ''])
      found.push({ user, verb, resource: undefined, path });
    for (const group of ['', 'apps', 'other']) {
      for (const plural of ['pods', 'deployments', '__proto__', 'other', '*']) {
        for (const subresource of ['', 'log', 'other', '*']) {
          for (const name of ['', 'a', 'constructor', '*', 'other']) {
            const resource = { group, version: 'v1', resource: plural, subresource, namespace: 'a', name };
            found.push({ user, verb, resource, path: '' });
          }
        }
      }
    }
  }
  return found;
}
