import { compareVersions, formatGroupVersion } from '../../meta/index.ts';
import type { Registry, Resource, ResourceVersion } from '../../registry/index.ts';

/** An API group as discovery shows it. */
export interface Group {
  readonly name: string;
  /** Best first: released before beta before alpha, newer before older. */
  readonly versions: readonly ServedVersion[];
}

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  /** `apps/v1`. */
  readonly apiVersion: string;
  /** By plural name. */
  readonly resources: readonly ServedResource[];
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

export function createApiGroups(registry: Registry): ApiGroups {
  let of: Registry['resources'] | undefined;
  let groups: readonly Group[] = [];
  return () => {
    const { resources } = registry;
    if (resources !== of) {
      groups = apiGroupsOf(resources, groups);
      of = resources;
    }
    return groups;
  };
}

/** Whether a group is one of built-in resources. */
export function builtInGroups({ resources }: Registry): (group: string) => boolean {
  const builtIn = resources.filter(({ definition }) => definition.custom === undefined);
  const groups = new Set(builtIn.map(({ definition }) => definition.group));
  return (group) => groups.has(group);
}

/** Whether a group is one of custom resources. Such a group has no built-in resource. */
export const isCustom = ({ versions: [first] }: Group): boolean => first !== undefined && isCustomVersion(first);

export const isCustomVersion = ({ resources: [first] }: ServedVersion): boolean =>
  first?.resource.definition.custom !== undefined;

/**
 * The groups of resources in the order of discovery: built-in ones in that of the registry, then custom ones by name.
 * Groups and versions that have not changed are those of `before`.
 */
function apiGroupsOf(resources: readonly Resource[], before: readonly Group[]): Group[] {
  const found = new Map<string, Map<string, ServedResource[]>>();
  for (const resource of resources) {
    const { definition } = resource;
    const versions = found.get(definition.group) ?? new Map<string, ServedResource[]>();
    found.set(definition.group, versions);
    for (const version of definition.versions) {
      const served = versions.get(version.version) ?? [];
      versions.set(version.version, served);
      served.push({ resource, version });
    }
  }
  const known = new Map(before.map((group) => [group.name, group]));
  const groups = [...found].map(([name, versions]) => groupOf(name, versions, known.get(name)));
  const custom = groups.filter(isCustom).sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...groups.filter((group) => !isCustom(group)), ...custom];
}

function groupOf(
  name: string,
  resources: ReadonlyMap<string, readonly ServedResource[]>,
  before: Group | undefined,
): Group {
  const versions = [...resources].map(([version, served]) => {
    const made: ServedVersion = {
      group: name,
      version,
      apiVersion: formatGroupVersion({ group: name, version }),
      resources: [...served].sort((a, b) => (pluralOf(a) < pluralOf(b) ? -1 : 1)),
    };
    const last = before?.versions.find((one) => one.version === version);
    return last !== undefined && sameResources(last, made) ? last : made;
  });
  versions.sort((a, b) => compareVersions(a.version, b.version));
  const same = before?.versions.length === versions.length && versions.every((one, i) => one === before.versions[i]);
  return same ? before : { name, versions };
}

const sameResources = (a: ServedVersion, b: ServedVersion): boolean =>
  a.resources.length === b.resources.length &&
  a.resources.every(({ resource }, i) => resource === b.resources[i]?.resource);

const pluralOf = (served: ServedResource) => served.resource.definition.plural;
