import { expandNames, type GroupResource, type Names } from '../../meta/index.ts';
import type { ResourceDefinition } from './definition.ts';

/** Built-in resources whose name in keys is not their plural. */
const keyNames: ReadonlyMap<string, string> = new Map([
  ['endpoints', 'services/endpoints'],
  ['ingresses', 'ingress'],
  ['nodes', 'minions'],
  ['podsecuritypolicies', 'podsecuritypolicy'],
  ['replicationcontrollers', 'controllers'],
  ['services', 'services/specs'],
]);

/** Built-in resources whose keys have their group too, as those of custom resources do. */
const keptWithGroup = new Set(['apiservices', 'customresourcedefinitions']);

/**
 * The prefix of the keys of all objects of a resource, up to the namespace or the name: as in the storage of the
 * reference server, below its `/registry`. The group of a custom resource has a dot, so that it is not a name of a built-in
 * resource.
 */
export function keyPrefixOf({ storage, custom }: Pick<ResourceDefinition, 'storage' | 'custom'>): string {
  const { group, resource } = storage;
  if (custom !== undefined || keptWithGroup.has(resource)) return `/${group}/${resource}/`;
  return `/${keyNames.get(resource) ?? resource}/`;
}

/**
 * The inverse of {@link keyPrefixOf}: the resource of a key, or of all keys with a prefix, which ends with a slash.
 * Undefined for keys that do not belong to an object.
 */
export function resourceFinder(
  builtin: readonly Pick<ResourceDefinition, 'storage' | 'custom'>[],
  names: Names,
): (key: string) => GroupResource | undefined {
  const byPrefix = new Map<string, GroupResource>();
  for (const { storage } of builtin) {
    const expanded = { ...storage, group: expandNames(storage.group, names) };
    byPrefix.set(keyPrefixOf({ storage: expanded }), expanded);
  }
  return (key) => {
    const first = key.indexOf('/', 1) + 1;
    if (first === 0) return undefined;
    const second = key.indexOf('/', first) + 1;
    const resource = byPrefix.get(key.slice(0, first)) ?? (second > 0 ? byPrefix.get(key.slice(0, second)) : undefined);
    if (resource !== undefined) return resource;
    const group = key.slice(1, first - 1);
    return second > 0 && group.includes('.') ? { group, resource: key.slice(first, second - 1) } : undefined;
  };
}
