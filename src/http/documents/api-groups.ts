import type { Registrations, RemoteServer } from '../../aggregation/index.ts';
import { type Clock, compareVersions, formatGroupVersion } from '../../meta/index.ts';
import type { Registry, Resource, ResourceVersion } from '../../registry/index.ts';

/** An API group as discovery shows it. */
export interface Group {
  readonly name: string;
  /** Best first: by priority, then released before beta before alpha, newer before older. */
  readonly versions: readonly ServedVersion[];
}

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  /** `apps/v1`. */
  readonly apiVersion: string;
  /** By plural name. Empty: this server does not serve the version. */
  readonly resources: readonly ServedResource[];
  /** The extension API server that serves the version. */
  readonly remote: RemoteServer | undefined;
}

export interface ServedResource {
  readonly resource: Resource;
  readonly version: ResourceVersion;
}

/** The path prefix of a version: `/api/v1`, `/apis/apps/v1`. */
export function rootOf(version: { readonly group: string; readonly version: string }): string {
  return version.group === '' ? `/api/${version.version}` : `/apis/${version.group}/${version.version}`;
}

/** The groups that are served now: the same array, groups and versions as at the last call where nothing has changed. */
export type ApiGroups = () => readonly Group[];

/** The part of the APIServices that discovery shows. */
export type RegisteredVersions = Pick<Registrations, 'all' | 'prioritiesOf'>;

/** How long groups that are no longer served, and their documents, stay in memory where nobody asks for discovery (ms). */
const releaseMs = 5_000;

/** `registrations`: the group versions of APIServices, and their order. */
export function createApiGroups(registry: Registry, registrations: RegisteredVersions, clock: Clock): ApiGroups {
  let of: Registry['resources'] | undefined;
  let registered: Registrations['all'] | undefined;
  let groups: readonly Group[] = [];
  let isDue = false;
  const release = () => {
    isDue = false;
    if (registry.resources === of) return;
    of = undefined;
    const served = new Set(registry.resources);
    groups = groups.filter(({ versions }) =>
      versions.every(({ resources }) => resources.every(({ resource }) => served.has(resource))),
    );
  };
  registry.onChange(() => {
    if (isDue || groups.length === 0) return;
    isDue = true;
    clock.after(releaseMs, release);
  });
  return () => {
    const { resources } = registry;
    const { all } = registrations;
    if (resources !== of || all !== registered) {
      groups = apiGroupsOf(resources, registrations, groups);
      of = resources;
      registered = all;
    }
    return groups;
  };
}

/** Whether a group is one of built-in resources. */
export function builtInGroups({ resources }: Registry): (group: string) => boolean {
  const groups = new Set(resources.filter(isBuiltIn).map(({ definition }) => definition.group));
  return (group) => groups.has(group);
}

const isBuiltIn = ({ definition }: Resource): boolean => definition.custom === undefined;

/** Whether a version has built-in resources: then it has no others. */
export const isBuiltInVersion = ({ resources: [first] }: ServedVersion): boolean =>
  first !== undefined && isBuiltIn(first.resource);

/** Whether a version has custom resources. */
export const isCustomVersion = ({ resources: [first] }: ServedVersion): boolean =>
  first !== undefined && !isBuiltIn(first.resource);

/**
 * The groups in the order of discovery: that of their highest priorities; of the same priority, built-in ones in the order of
 * the registry, then the others by name. Groups and versions that have not changed are those of `before`.
 */
function apiGroupsOf(
  resources: readonly Resource[],
  registrations: RegisteredVersions,
  before: readonly Group[],
): readonly Group[] {
  const found = new Map<string, Map<string, ServedResource[]>>();
  const versionsOf = (group: string) => remembered(found, group, () => new Map<string, ServedResource[]>());
  for (const resource of resources) {
    const { definition } = resource;
    const versions = versionsOf(definition.group);
    for (const version of definition.versions) {
      remembered(versions, version.version, () => []).push({ resource, version });
    }
  }
  const builtIn = [...found].filter(([, versions]) =>
    [...versions.values()].some(([first]) => first && isBuiltIn(first.resource)),
  );
  const rank = new Map(builtIn.map(([name], index) => [name, index]));
  for (const { group, version, remote } of registrations.all.values()) {
    const versions = versionsOf(group);
    if (remote !== undefined || !versions.has(version)) versions.set(version, []);
  }
  const known = new Map(before.map((group) => [group.name, group]));
  return [...found]
    .map(([name, versions]) => ({
      ...groupOf(name, versions, registrations, known.get(name)),
      rank: rank.get(name) ?? rank.size,
    }))
    .sort((a, b) => b.priority - a.priority || a.rank - b.rank || (a.group.name < b.group.name ? -1 : 1))
    .map(({ group }) => group);
}

/** A group and its priority: the highest of its versions. */
function groupOf(
  name: string,
  resources: ReadonlyMap<string, readonly ServedResource[]>,
  registrations: RegisteredVersions,
  before: Group | undefined,
): { readonly group: Group; readonly priority: number } {
  const known = new Map(before?.versions.map((served) => [served.version, served]));
  const ranked = [...resources].map(([version, served]) => {
    const made: ServedVersion = {
      group: name,
      version,
      apiVersion: formatGroupVersion({ group: name, version }),
      resources: [...served].sort((a, b) => (pluralOf(a) < pluralOf(b) ? -1 : 1)),
      remote: registrations.all.get(`${version}.${name}`)?.remote,
    };
    const last = known.get(version);
    return {
      served: last !== undefined && isSame(last, made) ? last : made,
      priorities: registrations.prioritiesOf(name, version),
    };
  });
  ranked.sort(
    (a, b) => b.priorities.version - a.priorities.version || compareVersions(a.served.version, b.served.version),
  );
  const versions = ranked.map(({ served }) => served);
  const same = before?.versions.length === versions.length && versions.every((one, i) => one === before.versions[i]);
  return {
    group: same ? before : { name, versions },
    priority: ranked.reduce((most, { priorities }) => Math.max(most, priorities.group), 0),
  };
}

const isSame = (a: ServedVersion, b: ServedVersion): boolean =>
  a.remote === b.remote &&
  a.resources.length === b.resources.length &&
  a.resources.every(({ resource }, i) => resource === b.resources[i]?.resource);

const pluralOf = (served: ServedResource) => served.resource.definition.plural;

/** The value of a map for a key, made on first use. */
export function remembered<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
