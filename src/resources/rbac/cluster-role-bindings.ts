import { pathSegmentName } from '../../meta/index.ts';
import { ClusterRoleBinding } from '../../types/rbac-v1.ts';
import { resource } from '../shared/define.ts';
import { bindingColumns } from './role-bindings.ts';
import { defaultBinding, validateBinding, validateRoleRefImmutable } from './role-bindings.validation.ts';

export const clusterRoleBindings = resource({
  group: 'rbac.authorization.{domain}',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  schema: ClusterRoleBinding,
  lifecycle: { introduced: '1.8' },
  followed: true,
  namespaced: false,
  columns: bindingColumns,
  strategy: {
    nameRule: pathSegmentName,
    createOnUpdate: true,
    defaults: (binding, { names }) => defaultBinding(binding, names),
    validate: (binding, { names }) => validateBinding(binding, ['ClusterRole'], false, names),
    validateUpdate: (binding, old) => validateRoleRefImmutable(binding, old),
  },
});
