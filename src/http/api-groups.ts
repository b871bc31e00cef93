import { formatGroupVersion } from '../meta/index.ts';
import type { Registry, Resource, ResourceVersion } from '../registry/index.ts';

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

/** Every group of a registry, in the order in which the registry defines them: that of discovery. */
export function apiGroupsOf(registry: Registry): Group[] {
  const found = new Map<string, Map<string, ServedResource[]>>();
  for (const resource of registry.resources) {
    const { definition } = resource;
    const versions = found.get(definition.group) ?? new Map<string, ServedResource[]>();
    found.set(definition.group, versions);
    for (const version of definition.versions) {
      const served = versions.get(version.version) ?? [];
      versions.set(version.version, served);
      served.push({ resource, version });
    }
  }
  return [...found].map(([name, versions]) => ({
    name,
    versions: [...versions.keys()].sort(compareVersions).map((version) => ({
      group: name,
      version,
      apiVersion: formatGroupVersion({ group: name, version }),
      resources: (versions.get(version) as ServedResource[]).sort((a, b) => (pluralOf(a) < pluralOf(b) ? -1 : 1)),
    })),
  }));
}

const pluralOf = (served: ServedResource) => served.resource.definition.plural;

/** Orders versions, best first: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then all else by name. */
export function compareVersions(a: string, b: string): number {
  const x = weigh(a);
  const y = weigh(b);
  for (let i = 0; i < 3; i++) {
    const difference = (y[i] as number) - (x[i] as number);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function weigh(version: string): readonly [stage: number, major: number, minor: number] {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}
