import { pathSegmentName } from '../../meta/index.ts';
import { resource } from '../define.ts';
import { ClusterRoleBinding } from '../types/rbac-v1.ts';
import { bindingColumns } from './binding-columns.ts';

export const clusterRoleBindings = resource({
  group: 'rbac.authorization.{domain}',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  schema: ClusterRoleBinding,
  namespaced: false,
  columns: bindingColumns,
  strategy: { nameRule: pathSegmentName, createOnUpdate: true },
});
