import { createWatchCache, type WatchCache } from '../cache/index.ts';
import {
  type Clock,
  expandNames,
  type FeatureName,
  type Features,
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type Names,
} from '../meta/index.ts';
import {
  type CompiledType,
  compile,
  type DeclarativeRules,
  declarativeRules,
  type GatedFields,
  gatedFields,
} from '../schema/index.ts';
import type { Store } from '../store/index.ts';
import type { ResourceDefinition, ResourceVersion, SelectableField, Subresource, Verb } from './definition.ts';
import { ListSnapshots } from './list-snapshots.ts';
import { describe, describeDeleted } from './stored/describe.ts';
import { type CorruptReport, formatOf, newSharedState, type ObjectFormat, type SharedState } from './stored/format.ts';

/** A definition as served: names expanded, schemas compiled, with the cache of its objects. */
export interface Resource {
  /** With the served versions and subresources only; no versions when it is not served at all. */
  readonly definition: ResourceDefinition;
  readonly names: Names;
  /** Group and plural name, as in messages. */
  readonly id: GroupResource;
  /** Keys of its objects begin with this: `/<resource>.<group>/`. */
  readonly keyPrefix: string;
  /** Created on first use. */
  readonly cache: WatchCache;
  /** Recent snapshots for the pages of lists; undefined: older pages are read from the store. */
  readonly listSnapshots: ListSnapshots | undefined;
  /** The encoding of stored objects. */
  readonly format: ObjectFormat;
  readonly storageVersion: CompiledVersion;
  /** Fields of the storage version that writes drop because their feature gate is off. */
  readonly gated: GatedFields | undefined;
  /** Declarative validation of the storage version. */
  readonly declarativeRules: DeclarativeRules | undefined;
  /** All versions by name: objects and managed fields may be in one that is not served. */
  readonly versions: ReadonlyMap<string, CompiledVersion>;
  readonly subresources: ReadonlyMap<string, CompiledSubresource>;
  /** The verbs at its own paths; those of a subresource are its `verbs`. */
  readonly verbs: VerbsByPath;
}

/** The verbs that are served at each form of path. */
export interface VerbsByPath {
  /** `…/namespaces/<namespace>/<resource>`, or `…/<resource>` at cluster scope. */
  readonly collection: readonly Verb[];
  /** `…/<resource>` of a namespaced resource. */
  readonly acrossNamespaces: readonly Verb[];
  /** `…/<resource>/<name>`. */
  readonly object: readonly Verb[];
}

export type CompiledSubresource = Subresource & {
  /** The kind of its bodies, where it is not that of the resource. */
  readonly requestKind: RequestKind | undefined;
};

/** A kind in a version, as bodies name it. */
export interface RequestKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** `apps/v1`. */
  readonly apiVersion: string;
  readonly type: CompiledType;
}

export interface CompiledVersion {
  readonly declared: ResourceVersion;
  /** `apps/v1`. */
  readonly apiVersion: string;
  readonly type: CompiledType;
  /** Objects are stored in this version and kind. */
  readonly isStorage: boolean;
}

/** What definitions that share their objects have in common. */
interface Storage {
  readonly format: ObjectFormat;
  readonly listSnapshots: ListSnapshots | undefined;
  /** Undefined until the first use. */
  cache: WatchCache | undefined;
  readonly createCache: () => WatchCache;
}

export interface ResourceOptions {
  readonly store: Store;
  readonly names: Names;
  readonly clock: Clock;
  /** How long changes are kept for watches that start in the past (ms), and how many bytes of them at the most. */
  readonly windowMs: number;
  readonly windowBytes: number;
  readonly features: Features;
  readonly report: CorruptReport;
  readonly serves: (group: string, version: string, plural: string) => boolean;
}

/** The resources of the definitions, in their order, and a function that closes their caches. */
export function makeResources(
  declared: readonly ResourceDefinition[],
  options: ResourceOptions,
): { resources: Resource[]; close: () => void } {
  const definitions = declared.map((definition) => expand(definition, options.names));
  const storages = new Map<string, Storage>();
  const shared = newSharedState();
  const resources = definitions.map((definition) => {
    const id = formatGroupResource(definition.storage);
    let storage = storages.get(id);
    if (storage === undefined) {
      storage = makeStorage(definition, definitions, shared, options);
      storages.set(id, storage);
    }
    return makeResource(definition, storageOf(definition, definitions), storage, options);
  });
  return {
    resources,
    close: () => {
      for (const { cache, listSnapshots } of storages.values()) {
        cache?.close();
        listSnapshots?.clear();
      }
    },
  };
}

function expand(definition: ResourceDefinition, names: Names): ResourceDefinition {
  return {
    ...definition,
    group: expandNames(definition.group, names),
    storage: { ...definition.storage, group: expandNames(definition.storage.group, names) },
    versions: definition.versions.map((version) => expandDeprecation(version, names)),
    subresources: definition.subresources.map((subresource) =>
      subresource.group === undefined ? subresource : { ...subresource, group: expandNames(subresource.group, names) },
    ),
  };
}

/** The definition without the versions and subresources that are not served. */
function servedPart(definition: ResourceDefinition, { features, serves }: ResourceOptions): ResourceDefinition {
  const { group, plural, versions, subresources } = definition;
  const isOn = ({ gate }: { readonly gate?: FeatureName }) => gate === undefined || features[gate];
  return {
    ...definition,
    versions: isOn(definition) ? versions.filter(({ version }) => serves(group, version, plural)) : [],
    subresources: subresources.filter(isOn),
  };
}

function expandDeprecation(version: ResourceVersion, names: Names): ResourceVersion {
  const { deprecated } = version;
  if (deprecated === undefined || 'warning' in deprecated || deprecated.replacement === undefined) return version;
  return { ...version, deprecated: { ...deprecated, replacement: expandNames(deprecated.replacement, names) } };
}

function compileSubresource({ group }: ResourceDefinition, declared: Subresource, names: Names): CompiledSubresource {
  const { schema, kind, version = 'v1' } = declared;
  if (schema === undefined) return { ...declared, requestKind: undefined };
  const of = { group: declared.group ?? group, version };
  return {
    ...declared,
    requestKind: { ...of, kind, apiVersion: formatGroupVersion(of), type: compile(schema, names) },
  };
}

/** The definition that owns the storage version of another: mostly itself. */
function storageOf(definition: ResourceDefinition, all: readonly ResourceDefinition[]): ResourceDefinition {
  const { storage } = definition;
  return all.find((other) => other.group === storage.group && other.plural === storage.resource) ?? definition;
}

function makeStorage(
  definition: ResourceDefinition,
  all: readonly ResourceDefinition[],
  shared: SharedState,
  { store, clock, windowMs, windowBytes, features, report }: ResourceOptions,
): Storage {
  const { storage } = definition;
  const owner = storageOf(definition, all);
  const sharers = all.filter((other) => formatGroupResource(other.storage) === formatGroupResource(storage));
  const fields = new Map<string, SelectableField>();
  for (const field of sharers.flatMap(({ selectableFields }) => selectableFields)) fields.set(field.path, field);
  const format = formatOf(owner.kind, formatGroupVersion(storage), {
    namespaced: owner.namespaced,
    keyPrefix: `/${formatGroupResource(storage)}/`,
    fields: [...fields.values()],
    report,
    shared,
  });
  return {
    format,
    listSnapshots: features.ListFromCacheSnapshot ? new ListSnapshots(clock) : undefined,
    cache: undefined,
    createCache: () =>
      createWatchCache({
        store,
        prefix: format.keyPrefix,
        clock,
        describe: (entry) => describe(format, entry),
        describeDeleted: (last, revision) => describeDeleted(format, last, revision),
        indexedFields: format.fields.filter(({ indexed }) => indexed === true).map(({ path }) => path),
        windowMs,
        windowBytes,
      }),
  };
}

function makeResource(
  definition: ResourceDefinition,
  owner: ResourceDefinition,
  storage: Storage,
  options: ResourceOptions,
): Resource {
  const { names, features } = options;
  const served = servedPart(definition, options);
  const { format } = storage;
  const compiled = (of: ResourceDefinition, declared: ResourceVersion): CompiledVersion => {
    const apiVersion = formatGroupVersion({ group: of.group, version: declared.version });
    const isStorage = apiVersion === format.apiVersion && definition.kind === format.kind;
    return { declared, apiVersion, type: declared.type ?? compile(declared.schema, names), isStorage };
  };
  const stored = owner.versions.find(({ version }) => version === definition.storage.version) ?? owner.versions[0];
  if (stored === undefined)
    throw new Error(`${formatGroupResource(definition.storage)} has no version to be stored in`);
  const storageVersion = compiled(owner, stored);
  const gated = once(() => gatedFields(stored.schema, features));
  const declarative = once(() => (features.DeclarativeValidation ? declarativeRules(storageVersion.type) : undefined));
  return {
    definition: served,
    names,
    id: { group: definition.group, resource: definition.plural },
    keyPrefix: format.keyPrefix,
    get cache() {
      storage.cache ??= storage.createCache();
      return storage.cache;
    },
    listSnapshots: storage.listSnapshots,
    format,
    storageVersion,
    get gated() {
      return gated();
    },
    get declarativeRules() {
      return declarative();
    },
    versions: new Map(definition.versions.map((declared) => [declared.version, compiled(definition, declared)])),
    subresources: new Map(
      served.subresources.map((declared) => [declared.name, compileSubresource(definition, declared, names)]),
    ),
    verbs: verbsByPath(served.verbs),
  };
}

const verbsByPath = (verbs: readonly Verb[]): VerbsByPath => ({
  collection: verbs.filter((verb) => ['create', 'list', 'deletecollection', 'watch'].includes(verb)),
  acrossNamespaces: verbs.filter((verb) => verb === 'list' || verb === 'watch'),
  object: verbs.filter((verb) => !['create', 'list', 'deletecollection'].includes(verb)),
});

/** A value that is computed on first use. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
