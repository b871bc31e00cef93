import type { ApiObject, Features, Names } from '../../meta/index.ts';
import { isBinding, type PolicyObject } from '../bootstrap-policy/objects.ts';
import { bootstrapPolicy } from '../bootstrap-policy/policy.ts';
import type { RbacIndex } from '../rbac/rbac-index.ts';

/** Loads the default roles and bindings, and nothing else, into an index. */
export function loadDefaultRoles(index: RbacIndex, names: Names, features: Features): void {
  for (const object of bootstrapPolicy(names, features) as (PolicyObject & ApiObject)[]) {
    const { name, namespace = '' } = object.metadata;
    if (isBinding(object)) index.setBinding(namespace, name, object);
    else index.setRole(namespace, name, object);
  }
  index.loaded = true;
}
