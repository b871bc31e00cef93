import type { KindPlace, PluginInitializer } from '../../admission/index.ts';
import { formatGroupVersion } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { Backend } from '../backend.ts';

/** Finds the served resource of a kind. */
export function kindFinder(backend: Pick<Backend, 'registry'>): PluginInitializer['findKind'] {
  let kinds: Map<string, KindPlace> | undefined;
  let of: Registry['resources'] | undefined;
  return (apiVersion, kind) => {
    const { resources } = backend.registry;
    if (kinds === undefined || resources !== of) {
      kinds = kindsOf(resources);
      of = resources;
    }
    return kinds.get(`${apiVersion} ${kind}`);
  };
}

function kindsOf(resources: Registry['resources']): Map<string, KindPlace> {
  const out = new Map<string, KindPlace>();
  for (const { definition, id } of resources) {
    for (const { version } of definition.versions) {
      const place = { group: id.group, version, resource: id.resource, namespaced: definition.namespaced };
      out.set(`${formatGroupVersion(place)} ${definition.kind}`, place);
    }
  }
  return out;
}
