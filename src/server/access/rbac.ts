import { type Authorizer, escalationChecks, type RbacIndex, type WriteCheck } from '../../auth/index.ts';
import { formatGroupResource, type Names } from '../../meta/index.ts';
import { consistentCache, type ObjectFollower, type Registry } from '../../registry/index.ts';
import type { Backend } from '../backend.ts';

const rbacResources = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const;

/**
 * Fills the index from the watch caches of roles and bindings, and keeps it up to date: writes of this server are in it before
 * their response. Resolves once the index is loaded. Rejects when the registry is closed first.
 */
export function followRoles(registry: Registry, index: RbacIndex, names: Names): Promise<void> {
  const setRole: ObjectFollower = (namespace, name, object) => index.setRole(namespace, name, object);
  const setBinding: ObjectFollower = (namespace, name, object) => index.setBinding(namespace, name, object);
  const loading = Promise.all(
    rbacResources.map((resource) =>
      registry.follow(idOf(resource, names), resource.endsWith('roles') ? setRole : setBinding),
    ),
  ).then(() => {
    index.loaded = true;
  });
  // A failure is reported to those who wait for it.
  loading.catch(() => {});
  return loading;
}

const idOf = (resource: string, { domain }: Names) =>
  formatGroupResource({ group: `rbac.authorization.${domain}`, resource });

interface CheckOptions {
  readonly index: RbacIndex;
  readonly authorize: Authorizer;
  readonly names: Names;
  readonly backend: Pick<Backend, 'store' | 'registry'>;
}

/** The checks of writes of roles and bindings, by resource. */
export function roleChecks({ backend, ...options }: CheckOptions): ReadonlyMap<string, WriteCheck> {
  const ids = new Set(rbacResources.map((resource) => idOf(resource, options.names)));
  const synced = async () => {
    const resources = backend.registry.resources.filter(({ id }) => ids.has(formatGroupResource(id)));
    await Promise.all(resources.map((resource) => consistentCache(backend, resource)));
  };
  return escalationChecks({ ...options, synced });
}
