/** The APIService objects of the group versions that this server serves itself. */
import type { Client } from '../client/index.ts';
import { type ApiObject, expandNames, type JsonObject, jsonEqual, type Names, statusError } from '../meta/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import { ownManager } from './bootstrap-objects.ts';

/** `groupPriorityMinimum` of each group, and `versionPriority` of versions without the default of their stage. */
const priorities: readonly (readonly [
  group: string,
  priority: number,
  versions?: { readonly [version: string]: number },
])[] = [
  ['', 18_000, { v1: 1 }],
  ['apps', 17_800],
  ['events.{domain}', 17_750, { v1beta1: 5 }],
  ['authentication.{domain}', 17_700],
  ['authorization.{domain}', 17_600],
  ['autoscaling', 17_500, { v2: 30 }],
  ['batch', 17_400],
  ['certificates.{domain}', 17_300],
  ['networking.{domain}', 17_200],
  ['policy', 17_100],
  ['rbac.authorization.{domain}', 17_000],
  ['storage.{domain}', 16_800],
  ['apiextensions.{domain}', 16_700],
  ['admissionregistration.{domain}', 16_700, { v1beta1: 12, v1alpha1: 9 }],
  ['scheduling.{domain}', 16_600],
  ['coordination.{domain}', 16_500, { v1beta1: 13, v1alpha2: 12 }],
  ['node.{domain}', 16_300],
  ['discovery.{domain}', 16_200, { v1beta1: 12 }],
  ['resource.{domain}', 16_200, { v1beta2: 15 }],
  ['flowcontrol.apiserver.{domain}', 16_100, { v1: 21, v1beta3: 18 }],
  ['internal.apiserver.{domain}', 16_000, { v1alpha1: 9 }],
  ['storagemigration.{domain}', 15_800, { v1alpha1: 9 }],
];

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
  if (entries.length > 0) {
    const { ok } = await store.commit(
      entries.map(({ key }) => ({ key, revision: 0 })),
      entries,
    );
    if (!ok) throw statusError.conflict({ group, resource: 'apiservices' }, '', 'another server made some of them');
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
  const known = new Map(priorities.map(([group, ...rest]) => [expandNames(group, names), rest]));
  const specs = new Map<string, JsonObject>();
  for (const { definition } of registry.resources) {
    const { group, versions } = definition;
    const [priority, special = {}] = known.get(group) ?? [];
    // The group of APIServices itself has none, as in the reference server.
    if (priority === undefined) continue;
    for (const { version } of versions) {
      const versionPriority = special[version] ?? usual(version);
      const spec = { ...(group === '' ? {} : { group }), version, groupPriorityMinimum: priority, versionPriority };
      specs.set(`${version}.${group}`, spec);
    }
  }
  return specs;
}
