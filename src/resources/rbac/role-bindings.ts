import { pathSegmentName } from '../../meta/index.ts';
import { resource } from '../define.ts';
import { RoleBinding } from '../types/rbac-v1.ts';
import { bindingColumns } from './binding-columns.ts';
import { defaultBinding, validateBinding, validateSameRole } from './rules.ts';

export const roleBindings = resource({
  group: 'rbac.authorization.{domain}',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  schema: RoleBinding,
  notYet: 'this server does not authorize requests by roles yet',

  columns: bindingColumns,
  strategy: {
    metadataChecks: [2, 1],
    nameRule: pathSegmentName,
    createOnUpdate: true,
    defaults: (binding, { names }) => defaultBinding(binding, names),
    validate: (binding, { names }) => validateBinding(binding, ['Role', 'ClusterRole'], true, names),
    validateUpdate: (binding, old) => validateSameRole(binding, old),
  },
});
