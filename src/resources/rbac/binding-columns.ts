import { age, name } from '../cells.ts';
import type { ColumnDeclaration, ObjectOf } from '../define.ts';
import type { RoleBinding } from '../types/rbac-v1.ts';

type Binding = ObjectOf<typeof RoleBinding>;

const subjects = ({ subjects = [] }: Binding, kind: string): string =>
  subjects
    .filter((subject) => subject.kind === kind)
    .map(({ namespace, name = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ');

/** Of both kinds of binding. */
export const bindingColumns: readonly ColumnDeclaration<Binding>[] = [
  name,
  ['Role', ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`],
  age,
  ['Users', (binding) => subjects(binding, 'User'), 'wide'],
  ['Groups', (binding) => subjects(binding, 'Group'), 'wide'],
  ['ServiceAccounts', (binding) => subjects(binding, 'ServiceAccount'), 'wide'],
];
