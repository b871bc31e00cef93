import type { ResourceDefinition } from './definition.ts';

/** Built-in resources whose name in keys is not their plural. */
const keyNames: ReadonlyMap<string, string> = new Map([
  ['endpoints', 'services/endpoints'],
  ['ingresses', 'ingress'],
  ['nodes', 'minions'],
  ['replicationcontrollers', 'controllers'],
  ['services', 'services/specs'],
]);

/** Built-in resources whose keys have their group too, as those of custom resources do. */
const keptWithGroup = new Set(['apiservices', 'customresourcedefinitions']);

/**
 * What the keys of all objects of a resource begin with, up to the namespace or the name: as in the storage of the
 * reference server, below its `/registry`. The group of a custom resource has a dot, so that it is no name of a built-in
 * resource.
 */
export function keyPrefixOf({ storage, custom }: Pick<ResourceDefinition, 'storage' | 'custom'>): string {
  const { group, resource } = storage;
  if (custom !== undefined || keptWithGroup.has(resource)) return `/${group}/${resource}/`;
  return `/${keyNames.get(resource) ?? resource}/`;
}
