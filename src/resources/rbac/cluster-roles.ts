import { pathSegmentName } from '../../meta/index.ts';
import { resource } from '../define.ts';
import { ClusterRole } from '../types/rbac-v1.ts';

export const clusterRoles = resource({
  group: 'rbac.authorization.{domain}',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  schema: ClusterRole,
  namespaced: false,
  strategy: { nameRule: pathSegmentName, createOnUpdate: true },
});
