import { describe, expect, test } from 'vitest';
import { created, type KindRow, onCreate, onUpdate, sorted } from '../testing/kind.ts';
import { invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { clusterRoleBindings } from './cluster-role-bindings.ts';
import { clusterRoles } from './cluster-roles.ts';
import { roleBindings } from './role-bindings.ts';
import { roles } from './roles.ts';

const group = 'rbac.authorization.k8s.io';
const role = { kind: 'Role', name: 'r' };
const wide = { kind: 'ClusterRole', name: 'r' };

const rows: readonly KindRow[] = [
  ['a rule', roles, { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] }],
  ['no rules', roles, {}],
  [
    'no verbs, and non-resource URLs in a role',
    roles,
    {
      rules: [
        { verbs: [], apiGroups: [''], resources: ['x'] },
        { verbs: ['get'], nonResourceURLs: ['/x'] },
      ],
    },
    ['rules[0].verbs', 'Required', required('verbs must contain at least one value')],
    ['rules[1].nonResourceURLs', 'Invalid', invalid(['/x'], 'namespaced rules cannot apply to non-resource URLs')],
  ],
  [
    'neither API group nor resource',
    roles,
    { rules: [{ verbs: ['get'] }] },
    ['rules[0].apiGroups', 'Required', required('resource rules must supply at least one api group')],
    ['rules[0].resources', 'Required', required('resource rules must supply at least one resource')],
  ],
  ['non-resource URLs in a cluster role', clusterRoles, { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }],
  [
    'non-resource URLs with resources',
    clusterRoles,
    { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'] }] },
    [
      'rules[0].nonResourceURLs',
      'Invalid',
      invalid(['/x'], 'rules cannot apply to both regular resources and non-resource URLs'),
    ],
  ],
  [
    'an aggregation rule without selectors',
    clusterRoles,
    { aggregationRule: {} },
    [
      'aggregationRule.clusterRoleSelectors',
      'Required',
      required('at least one clusterRoleSelector required if aggregationRule is non-nil'),
    ],
  ],
  ['a user', roleBindings, { subjects: [{ kind: 'User', name: 'u' }], roleRef: role }],
  [
    'unknown kinds of role and subject',
    roleBindings,
    {
      subjects: [
        { kind: 'Robot', name: 'x' },
        { kind: 'ServiceAccount', name: 'x' },
      ],
      roleRef: { kind: 'Thing', name: 'r' },
    },
    ['roleRef.kind', 'NotSupported', unsupported('Thing', 'Role', 'ClusterRole')],
    ['subjects[0].kind', 'NotSupported', unsupported('Robot', 'ServiceAccount', 'User', 'Group')],
  ],
  [
    'another API group',
    roleBindings,
    { subjects: [{ kind: 'User', name: 'u', apiGroup: 'a' }], roleRef: { ...role, apiGroup: 'b' } },
    ['roleRef.apiGroup', 'NotSupported', unsupported('b', group)],
    ['subjects[0].apiGroup', 'NotSupported', unsupported('a', group)],
  ],
  ['no name', roleBindings, { roleRef: { kind: 'Role' } }, ['roleRef.name', 'Required', missing]],
  [
    'a service account without a namespace, with an API group',
    clusterRoleBindings,
    { subjects: [{ kind: 'ServiceAccount', name: 'A', apiGroup: 'a' }], roleRef: wide },
    ['subjects[0].apiGroup', 'NotSupported', unsupported('a', '')],
    ['subjects[0].name', 'Invalid', invalid('A', says.subdomain)],
    ['subjects[0].namespace', 'Required', missing],
  ],
  [
    'a namespaced role',
    clusterRoleBindings,
    { roleRef: role },
    ['roleRef.kind', 'NotSupported', unsupported('Role', 'ClusterRole')],
  ],
];

describe('roles and bindings', () => {
  test.each(rows)('%s', (_, kind, fragment, ...expected) => {
    expect(onCreate(kind, fragment)).toEqual(sorted(expected));
  });
  test('API groups have defaults', () => {
    const binding = created(roleBindings, {
      subjects: [
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's' },
      ],
      roleRef: role,
    });
    expect(binding).toMatchObject({
      roleRef: { apiGroup: group },
      subjects: [
        { kind: 'Group', apiGroup: group },
        { kind: 'ServiceAccount', name: 's' },
      ],
    });
  });
  test('roleRef is immutable', () => {
    const shown = { APIGroup: group, Kind: 'Role', Name: 'other' };
    expect(onUpdate(roleBindings, { roleRef: role }, { roleRef: { kind: 'Role', name: 'other' } })).toEqual([
      ['roleRef', 'Invalid', invalid(shown, 'cannot change roleRef')],
    ]);
  });
});
