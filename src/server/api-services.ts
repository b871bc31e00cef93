/** The APIService objects of the group versions that this server serves itself. */
import type { Client } from '../client/index.ts';
import { type ApiObject, expandNames, type JsonObject, jsonEqual, type Names, statusError } from '../meta/index.ts';
import type { Registry } from '../registry/index.ts';
import { builtinGroups } from '../resources/index.ts';
import type { Store } from '../store/index.ts';
import { commitNew, ownManager } from './bootstrap-objects.ts';

const usual = (version: string) => (version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15);

export interface RegistrationOptions {
  readonly client: Client;
  readonly registry: Registry;
  readonly store: Store;
  readonly names: Names;
}

/**
 * Creates missing APIServices in one commit, corrects the spec of those with the automanaged label, and deletes those of
 * versions that are no longer served. Writes nothing when nothing differs.
 * @throws StatusError, StoreError
 */
export async function registerApiServices({ client, registry, store, names }: RegistrationOptions): Promise<void> {
  const group = `apiregistration.${names.domain}`;
  const resource = registry.find(group, 'v1', 'apiservices');
  if (resource === undefined) return;
  const place = { apiVersion: `${group}/v1`, resource: 'apiservices' };
  const { items } = await client.list<ApiObject>(place);
  const found = new Map(items.map((item) => [item.metadata.name ?? '', item]));
  const wanted = servedVersions(registry, names);
  const [label, value] = [`kube-aggregator.${names.labels}/automanaged`, 'onstart'];

  const missing = [...wanted].filter(([name]) => !found.has(name));
  const entries = missing.map(([name, spec]) => {
    const metadata = { name, labels: { [label]: value } };
    const object = { kind: 'APIService', apiVersion: place.apiVersion, metadata, spec };
    return registry.newEntry(resource, object, ownManager);
  });
  if (!(await commitNew(store, entries))) {
    throw statusError.conflict({ group, resource: 'apiservices' }, '', 'another server made some of them');
  }
  for (const [name, object] of found) {
    if (object.metadata.labels?.[label] !== value) continue;
    const spec = wanted.get(name);
    const { uid = '', resourceVersion = '' } = object.metadata;
    if (spec === undefined) await client.delete({ ...place, name }, { preconditions: { uid, resourceVersion } });
    else if (!jsonEqual(object['spec'] ?? {}, spec)) {
      await client.update({ ...place, name }, { ...object, spec }, { fieldManager: ownManager });
    }
  }
}

/** The spec of each served group version, by the name of its APIService. */
function servedVersions(registry: Registry, names: Names): Map<string, JsonObject> {
  const builtin = new Map(builtinGroups.map((entry) => [expandNames(entry.group, names), entry]));
  const specs = new Map<string, JsonObject>();
  for (const { definition } of registry.resources) {
    const { group, versions } = definition;
    const { priority, versionPriorities = {} } = builtin.get(group) ?? {};
    if (priority === undefined) continue;
    for (const { version } of versions) {
      const versionPriority = versionPriorities[version] ?? usual(version);
      const spec = { ...(group === '' ? {} : { group }), version, groupPriorityMinimum: priority, versionPriority };
      specs.set(`${version}.${group}`, spec);
    }
  }
  return specs;
}
