import type { Client } from '../../client/index.ts';
import { isStatus, type Names } from '../../meta/index.ts';
import type { Controller } from '../types.ts';

/**
 * Every controller that is a user of its own is bound to the cluster role that it needs, unless a binding of that name
 * is there. The client must be an administrator's. @throws StatusError
 */
export async function bindUsers(client: Client, controllers: readonly Controller[], { domain }: Names): Promise<void> {
  const group = `rbac.authorization.${domain}`;
  const place = { apiVersion: `${group}/v1`, resource: 'clusterrolebindings' };
  for (const { name, user } of controllers) {
    if (user?.clusterRole === undefined) continue;
    const binding = {
      apiVersion: place.apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: `system:${name}` },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: user.clusterRole },
      subjects: [{ apiGroup: group, kind: 'User', name: user.name }],
    };
    try {
      await client.create(place, binding);
    } catch (error) {
      // It exists, or roles are not served.
      if (!isStatus(error, 409) && !isStatus(error, 404)) throw error;
    }
  }
}
