/** The APIService objects of the group versions that this server serves itself. */
import type { Priorities } from '../../aggregation/index.ts';
import { type Client, pagesOf } from '../../client/index.ts';
import {
  type ApiObject,
  expandNames,
  type JsonObject,
  jsonEqual,
  type Names,
  serverTurns,
  statusError,
  type Turns,
} from '../../meta/index.ts';
import type { NewEntry, Registry, ResourceDefinition } from '../../registry/index.ts';
import { type BuiltinGroup, builtinGroups } from '../../resources/index.ts';
import type { Store } from '../../store/index.ts';
import { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import { commitNew, ownManager } from './bootstrap-objects.ts';

const usual = (version: string) => (version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15);

export interface RegistrationOptions {
  readonly client: Client;
  readonly registry: Registry;
  readonly store: Store;
  readonly names: Names;
}

/**
 * Creates missing APIServices, a hundred in one commit, corrects the spec of those with the automanaged label, and deletes those of
 * versions that are no longer served. After the start (`atStart` false) it handles custom resources only: other servers may
 * be of a release that serves other built-in versions. Writes nothing when nothing differs.
 * @throws StatusError, StoreError
 */
export async function registerApiServices(options: RegistrationOptions, atStart: boolean): Promise<void> {
  const { client, registry, store, names } = options;
  const group = `apiregistration.${names.domain}`;
  const resource = registry.find(group, 'v1', 'apiservices');
  if (resource === undefined) return;
  const place = { apiVersion: `${group}/v1`, resource: 'apiservices' };
  const turns = serverTurns();
  const existing = new Map<string, ApiObject>();
  for await (const { items } of pagesOf<ApiObject>(client, place, { limit: pageSize })) {
    for (const item of items) existing.set(item.metadata.name ?? '', item);
    if (turns.over) await turns.next();
  }
  const expected = await servedVersions(registry, names, turns);
  const label = `kube-aggregator.${names.labels}/automanaged`;
  const isDue = (managed: string | undefined) => managed === 'true' || (atStart && managed === 'onstart');

  const missing = [...expected].filter(([name, { managed }]) => !existing.has(name) && isDue(managed));
  for (let at = 0; at < missing.length; at += pageSize) {
    const entries: NewEntry[] = [];
    for (const [name, { spec, managed }] of missing.slice(at, at + pageSize)) {
      if (turns.over) await turns.next();
      const metadata = { name, labels: { [label]: managed } };
      const object = { kind: 'APIService', apiVersion: place.apiVersion, metadata, spec };
      entries.push(registry.newEntry(resource, object, ownManager));
    }
    if (!(await commitNew(store, entries))) {
      throw statusError.conflict({ group, resource: 'apiservices' }, '', 'another server created some of them');
    }
  }
  const managed = [...existing].filter(([, { metadata }]) => isDue(metadata.labels?.[label]));
  const defined = managed.every(([name]) => expected.has(name)) ? noVersions : await definedVersions(registry);
  for (const [name, object] of managed) {
    if (turns.over) await turns.next();
    const { spec } = expected.get(name) ?? {};
    const { uid = '', resourceVersion = '' } = object.metadata;
    if (spec !== undefined && !jsonEqual(object['spec'] ?? {}, spec)) {
      await client.update({ ...place, name }, { ...object, spec }, { fieldManager: ownManager });
    } else if (spec === undefined && !defined.has(name)) {
      await client.delete({ ...place, name }, { preconditions: { uid, resourceVersion } });
    }
  }
}

/** How many APIServices are read or created at a time: parsing them takes a millisecond. */
const pageSize = 100;

const noVersions: ReadonlySet<string> = new Set();

/** Names of the APIServices for the served versions of stored definitions, which this server may not serve yet. */
async function definedVersions(registry: Registry): Promise<ReadonlySet<string>> {
  const definitions = await registry.objects.list(CustomResourceDefinition, '', true);
  const versions = definitions.flatMap(({ spec }) =>
    (spec?.versions ?? []).filter(({ served }) => served).map(({ name }) => `${name}.${spec?.group}`),
  );
  return new Set(versions);
}

/** Values of the label: built-in group versions are reconciled at the start, those of custom resources always. */
type Managed = 'onstart' | 'true';

interface ExpectedService {
  readonly spec: JsonObject;
  readonly managed: Managed;
}

/** The priority of the group of APIServices, which has none of its own: above all that an APIService may have. */
const highestPriority = 20_001;

/** The built-in groups by their names. */
const groupsByName = (names: Names): ReadonlyMap<string, BuiltinGroup> =>
  new Map(builtinGroups.map((entry) => [expandNames(entry.group, names), entry]));

/** The priorities of the group versions of built-in definitions, by the names of their APIServices. */
export function builtInPriorities(definitions: readonly ResourceDefinition[], names: Names): Map<string, Priorities> {
  const groups = groupsByName(names);
  const all = new Map<string, Priorities>();
  for (const definition of definitions) {
    const group = expandNames(definition.group, names);
    const { priority = highestPriority, versionPriorities = {} } = groups.get(group) ?? {};
    for (const { version } of definition.versions) {
      all.set(`${version}.${group}`, { group: priority, version: versionPriorities[version] ?? usual(version) });
    }
  }
  return all;
}

/** The expected APIServices of all served group versions, by name. */
async function servedVersions(registry: Registry, names: Names, turns: Turns): Promise<Map<string, ExpectedService>> {
  const builtin = groupsByName(names);
  const services = new Map<string, ExpectedService>();
  for (const { definition } of registry.resources) {
    if (turns.over) await turns.next();
    const { group, versions, custom } = definition;
    const { priority, versionPriorities = {} } = custom === undefined ? (builtin.get(group) ?? {}) : { priority: 1000 };
    if (priority === undefined) continue;
    for (const { version } of versions) {
      const versionPriority = custom === undefined ? (versionPriorities[version] ?? usual(version)) : 100;
      const spec = { ...(group === '' ? {} : { group }), version, groupPriorityMinimum: priority, versionPriority };
      services.set(`${version}.${group}`, { spec, managed: custom === undefined ? 'onstart' : 'true' });
    }
  }
  return services;
}
