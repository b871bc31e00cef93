import { pathSegmentName } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { RoleBinding } from '../../types/rbac-v1.ts';
import { age, name } from '../shared/columns.ts';
import { type ColumnDeclaration, resource } from '../shared/define.ts';
import { defaultBinding, validateBinding, validateRoleRefImmutable } from './role-bindings.validation.ts';

type Binding = ObjectOf<typeof RoleBinding>;

const subjects = ({ subjects = [] }: Binding, kind: string): string =>
  subjects
    .filter((subject) => subject.kind === kind)
    .map(({ namespace, name = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ');

/** The columns of RoleBindings and ClusterRoleBindings. */
export const bindingColumns: readonly ColumnDeclaration<Binding>[] = [
  name,
  ['Role', ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`],
  age,
  ['Users', (binding) => subjects(binding, 'User'), 'wide'],
  ['Groups', (binding) => subjects(binding, 'Group'), 'wide'],
  ['ServiceAccounts', (binding) => subjects(binding, 'ServiceAccount'), 'wide'],
];

export const roleBindings = resource({
  group: 'rbac.authorization.{domain}',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  schema: RoleBinding,
  lifecycle: { introduced: '1.8' },
  followed: true,

  columns: bindingColumns,
  strategy: {
    nameRule: pathSegmentName,
    createOnUpdate: true,
    defaults: (binding, { names }) => defaultBinding(binding, names),
    validate: (binding, { names }) => validateBinding(binding, ['Role', 'ClusterRole'], true, names),
    validateUpdate: (binding, old) => validateRoleRefImmutable(binding, old),
  },
});
