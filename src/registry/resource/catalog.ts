import type { ResourceKey } from '../../admission/index.ts';
import { formatGroupResource, type StatusError } from '../../meta/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { newSharedState } from '../stored/format.ts';
import type { ResourceDefinition } from './definition.ts';
import {
  type CompiledVersions,
  compiledVersions,
  makeCustomResource,
  makeResources,
  type Resource,
  type ResourceOptions,
} from './resource.ts';
import type { ResourceStorage } from './resource-storage.ts';

/** Finds a resource; undefined when there is none. */
export type FindResource = (key: ResourceKey) => Resource | undefined;

/** The versions of one custom resource. */
export interface CustomVersions {
  /** In the version in which the objects are stored, whether or not that is served. */
  readonly stored: ResourceDefinition;
  /** One for each served version. */
  readonly served: readonly ResourceDefinition[];
}

/** The resources of a registry: the built-in ones, and custom ones that come and go. */
export interface Catalog {
  /** All of them now, built-in ones first; also those that are not served. */
  readonly resources: readonly Resource[];
  /** Those with served versions. The same array until custom resources change. */
  readonly served: readonly Resource[];
  /** See `Registry`. */
  readonly onChange: (listener: () => void) => void;
  readonly damages: () => readonly StatusError[];
  readonly rowBytes: () => number;
  /** The resource that is served at the group, version and plural name of a path. */
  readonly find: (group: string, version: string, plural: string) => Resource | undefined;
  readonly findResource: FindResource;
  /** See `Registry`. */
  readonly install: (custom: CustomVersions) => void;
  readonly remove: (group: string, plural: string) => void;
  /** Closes all caches. */
  readonly close: () => void;
}

/** The resources of one custom resource. */
interface Installed {
  readonly stored: Resource;
  readonly served: readonly Resource[];
}

export function createCatalog(definitions: readonly ResourceDefinition[], options: ResourceOptions): Catalog {
  const shared = newSharedState();
  const builtIn = makeResources(definitions, shared, options);
  const builtInGroups = new Set(builtIn.map(({ definition }) => definition.group));
  const builtInServed = builtIn.filter(({ definition }) => definition.versions.length > 0);
  const bySchema = resourcesBySchema(builtIn);
  // An older version may be a resource of its own, after that of the kind.
  const byId = new Map([...builtIn].reverse().map((resource) => [formatGroupResource(resource.id), resource]));
  const byPath = new Map<string, Resource>();
  const custom = new Map<string, Installed>();
  const retired = new Retired();
  const listeners: (() => void)[] = [];
  const changed = () => {
    for (const listener of listeners) listener();
  };
  let all: readonly Resource[] | undefined = builtIn;
  let served: readonly Resource[] | undefined = builtInServed;
  const enter = (resource: Resource) => {
    for (const path of pathsOf(resource)) byPath.set(path, resource);
  };
  builtInServed.forEach(enter);
  const leave = (id: string, next: Installed | undefined) => {
    const last = custom.get(id);
    custom.delete(id);
    byId.delete(id);
    all = undefined;
    served = undefined;
    const retained = new Set(next && installedOf(next).map(({ storage }) => storage));
    const former = last === undefined ? [] : installedOf(last);
    for (const path of former.flatMap(pathsOf)) byPath.delete(path);
    retired.add(
      id,
      former.map(({ storage }) => storage).filter((storage) => !retained.has(storage)),
    );
  };
  return {
    get resources() {
      all ??= [...builtIn, ...[...custom.values()].flatMap(installedOf)];
      return all;
    },
    get served() {
      served ??= [...builtInServed, ...[...custom.values()].flatMap((one) => one.served)];
      return served;
    },
    onChange: (listener) => void listeners.push(listener),
    damages() {
      const storages = new Set(this.resources.map(({ storage }) => storage));
      return [...storages].flatMap(({ damage }) => damage ?? []);
    },
    rowBytes: () => shared.rows.bytes,
    find: (group, version, plural) => byPath.get(`${group}/${version}/${plural}`),
    findResource: (key) => (typeof key === 'string' ? byId.get(key) : bySchema.get(key)),
    install(versions) {
      const { group, plural } = versions.stored;
      if (builtInGroups.has(group)) throw new Error(`the group ${group} is built in`);
      const id = formatGroupResource({ group, resource: plural });
      const next = makeInstalled(versions, custom.get(id), options, (definition, versions, replaced) =>
        makeCustomResource(definition, versions, replaced, shared, options),
      );
      leave(id, next);
      custom.set(id, next);
      byId.set(id, next.stored);
      next.served.forEach(enter);
      changed();
    },
    remove: (group, plural) => {
      const id = formatGroupResource({ group, resource: plural });
      if (!custom.has(id)) return;
      leave(id, undefined);
      changed();
    },
    close: () => {
      const current = [...builtIn, ...[...custom.values()].flatMap(installedOf)];
      for (const { storage } of current) storage.close();
      retired.close();
    },
  };
}

/** Maximum number of replaced storages of a custom resource that stay open for requests in flight. */
const maxReplaced = 4;

/** The storages of custom resources that have been removed or replaced, until they are closed. */
class Retired {
  readonly #storages = new Map<string, Set<ResourceStorage>>();

  /** Adds those that a custom resource had at the same time, and closes the oldest where it has been replaced often. */
  add(id: string, storages: readonly ResourceStorage[]): void {
    if (storages.length === 0) return;
    const all = this.#storages.get(id) ?? new Set();
    this.#storages.set(id, all);
    for (const storage of storages) {
      all.add(storage);
      storage.retire(() => {
        all.delete(storage);
        if (all.size === 0 && this.#storages.get(id) === all) this.#storages.delete(id);
      });
    }
    for (const oldest of all) {
      if (all.size <= maxReplaced * storages.length) break;
      all.delete(oldest);
      oldest.close();
    }
  }

  close(): void {
    for (const all of this.#storages.values()) for (const storage of all) storage.close();
  }
}

const installedOf = ({ stored, served }: Installed): readonly Resource[] =>
  served.includes(stored) ? served : [stored, ...served];

/** The resources of a custom resource, made from those of the same versions that they replace. */
function makeInstalled(
  { stored, served }: CustomVersions,
  replaced: Installed | undefined,
  options: ResourceOptions,
  make: (definition: ResourceDefinition, versions: CompiledVersions, replaced: Resource | undefined) => Resource,
): Installed {
  const versions = compiledVersions(stored, options);
  const former = new Map(
    replaced && installedOf(replaced).map((resource) => [resource.definition.storage.version, resource]),
  );
  const byDefinition = new Map<ResourceDefinition, Resource>();
  for (const definition of new Set([...served, stored])) {
    byDefinition.set(definition, make(definition, versions, former.get(definition.storage.version)));
  }
  return {
    stored: byDefinition.get(stored) as Resource,
    served: served.map((one) => byDefinition.get(one) as Resource),
  };
}

/** Of resources that share their objects, the first has the schema of the storage version. */
function resourcesBySchema(resources: readonly Resource[]): ReadonlyMap<StructSchema, Resource> {
  const found = new Map<StructSchema, Resource>();
  for (const resource of resources) {
    const { schema } = resource.storageVersion.declared;
    if (!found.has(schema)) found.set(schema, resource);
  }
  return found;
}

function pathsOf({ definition: { group, plural, versions } }: Resource): string[] {
  return versions.map(({ version }) => `${group}/${version}/${plural}`);
}
