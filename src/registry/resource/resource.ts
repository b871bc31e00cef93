import type { TypeMeta } from '../../codec/index.ts';
import {
  type ApiObject,
  atOnce,
  expandNames,
  type FeatureName,
  type Features,
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  isSince,
  type JsonObject,
  type Names,
  type Release,
} from '../../meta/index.ts';
import {
  type CompiledType,
  compile,
  type DeclarativeRules,
  declarativeRules,
  type GatedFields,
  gatedFields,
} from '../../schema/index.ts';
import { type CorruptReport, formatOf, type ObjectFormat, type SharedState } from '../stored/format.ts';
import {
  allVerbs,
  type Connection,
  type ResourceDefinition,
  type ResourceVersion,
  type SelectableField,
  type Subresource,
  type Verb,
} from './definition.ts';
import { type Deprecation, deprecationOf } from './deprecation.ts';
import { keyPrefixOf } from './key-prefix.ts';
import { ResourceStorage, type StorageOptions } from './resource-storage.ts';

/** A definition as served: names expanded, schemas compiled, with the cache of its objects. */
export interface Resource {
  /** With the served versions and subresources only; no versions when it is not served at all. */
  readonly definition: ResourceDefinition;
  readonly names: Names;
  /** Group and plural name, as in messages. */
  readonly id: GroupResource;
  /** Keys of its objects begin with this. */
  readonly keyPrefix: string;
  /** The objects and their watch cache. */
  readonly storage: ResourceStorage;
  /** The encoding of stored objects. */
  readonly format: ObjectFormat;
  readonly storageVersion: CompiledVersion;
  /** Of the storage version. */
  readonly writeRules: WriteRules;
  /** All versions: objects and managed fields may be in one that is not served. */
  readonly versions: CompiledVersions;
  readonly subresources: ReadonlyMap<string, CompiledSubresource>;
  /** How requests to its subresources are passed on to a node or to what runs on it; the registry serves the others. */
  readonly connections: ReadonlyMap<string, Connection>;
  /** The verbs at its own paths; those of a subresource are its `verbs`. */
  readonly verbs: VerbsByPath;
}

/** The rules of feature gates for writes. A custom resource has none. */
export interface WriteRules {
  /** Fields that writes drop because their feature gate is off. */
  readonly gated: GatedFields | undefined;
  /** Declarative validation. */
  readonly declarative: DeclarativeRules | undefined;
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
  /** Undefined: it is not deprecated. */
  readonly deprecation: Deprecation | undefined;
}

/** By name. The resources of a custom resource share them. */
export type CompiledVersions = ReadonlyMap<string, CompiledVersion>;

export interface ResourceOptions extends StorageOptions {
  readonly names: Names;
  readonly report: CorruptReport;
  /** The release that the server serves: later versions are not served, and earlier ones may be deprecated. */
  readonly release: Release;
  readonly serves: (group: string, version: string, plural: string) => boolean;
}

/** The resources of the built-in definitions, in their order. */
export function makeResources(
  declared: readonly ResourceDefinition[],
  shared: SharedState,
  options: ResourceOptions,
): Resource[] {
  const definitions = declared.map((definition) => expand(definition, options.names));
  const sharers = new Map<string, ResourceDefinition[]>();
  for (const definition of definitions) {
    const id = formatGroupResource(definition.storage);
    const others = sharers.get(id);
    if (others === undefined) sharers.set(id, [definition]);
    else others.push(definition);
  }
  const storages = new Map<string, ResourceStorage>();
  return definitions.map((definition) => {
    const id = formatGroupResource(definition.storage);
    const owner = storageOf(definition, sharers.get(id) ?? []);
    let storage = storages.get(id);
    if (storage === undefined) {
      storage = makeStorage(owner, sharers.get(id) ?? [], shared, options);
      storages.set(id, storage);
    }
    const versions = compiledVersions(definition, options);
    const stored = storedVersion(definition, owner === definition ? versions : compiledVersions(owner, options));
    return new StoredResource(servedPart(definition, options), definition, versions, stored, storage, options);
  });
}

/**
 * The resource of one version of a custom resource, which is not compiled before it is used. It shares the cache, and
 * thus the watches, of `replaced` if its objects are stored and shown as before.
 */
export function makeCustomResource(
  definition: ResourceDefinition,
  versions: CompiledVersions,
  replaced: Resource | undefined,
  shared: SharedState,
  options: ResourceOptions,
): Resource {
  const keeps = replaced !== undefined && replaced.definition.custom === definition.custom;
  const storage = keeps ? replaced.storage : makeStorage(definition, [definition], shared, options);
  const { version } = definition.storage;
  const served = { ...definition, versions: definition.versions.filter((one) => one.version === version) };
  return new StoredResource(served, definition, versions, storedVersion(definition, versions), storage, options);
}

function expand(definition: ResourceDefinition, names: Names): ResourceDefinition {
  return {
    ...definition,
    group: expandNames(definition.group, names),
    storage: { ...definition.storage, group: expandNames(definition.storage.group, names) },
    subresources: definition.subresources.map((subresource) =>
      subresource.group === undefined ? subresource : { ...subresource, group: expandNames(subresource.group, names) },
    ),
  };
}

/** The definition without the versions and subresources that are not served. */
function servedPart(
  definition: ResourceDefinition,
  { features, release, serves }: ResourceOptions,
): ResourceDefinition {
  const { group, plural, versions, subresources } = definition;
  const isServed = ({ version, lifecycle }: ResourceVersion) =>
    serves(group, version, plural) && (lifecycle === undefined || isSince(release, lifecycle.introduced));
  const isOn = ({ gate }: { readonly gate?: FeatureName }) => gate === undefined || features[gate];
  return {
    ...definition,
    versions: isOn(definition) ? versions.filter(isServed) : [],
    subresources: subresources.filter(isOn),
  };
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
function storageOf(definition: ResourceDefinition, sharers: readonly ResourceDefinition[]): ResourceDefinition {
  const { storage } = definition;
  return sharers.find((other) => other.group === storage.group && other.plural === storage.resource) ?? definition;
}

function makeStorage(
  owner: ResourceDefinition,
  sharers: readonly ResourceDefinition[],
  shared: SharedState,
  options: ResourceOptions,
): ResourceStorage {
  const { storage, kind, namespaced, custom } = owner;
  const fields = new Map<string, SelectableField>();
  for (const field of sharers.flatMap(({ selectableFields }) => selectableFields)) fields.set(field.path, field);
  const format = formatOf(kind, formatGroupVersion(storage), {
    namespaced,
    keyPrefix: keyPrefixOf(owner),
    fields: [...fields.values()],
    report: options.report,
    shared,
    ...(custom === undefined ? { fromOtherVersions: conversionsTo(owner, sharers, options.names) } : { custom }),
  });
  return new ResourceStorage({ group: owner.group, resource: owner.plural }, format, options);
}

/** The conversions, with defaults, of objects that are stored in another version of those that share a storage. */
function conversionsTo(
  { kind, storage, versions, strategy }: ResourceDefinition,
  sharers: readonly ResourceDefinition[],
  names: Names,
): ObjectFormat['fromOtherVersions'] {
  const apiVersion = formatGroupVersion(storage);
  const stored = versions.find(({ version }) => version === storage.version);
  if (stored === undefined) return new Map();
  const inNormalForm = (object: JsonObject, { schema }: ResourceVersion, type: TypeMeta): ApiObject => {
    const { kind: _, apiVersion: __, ...content } = compile(schema, names).decode(object).value;
    return { ...type, ...content } as ApiObject;
  };
  return new Map(
    sharers.flatMap((sharer) =>
      sharer.versions.map((declared): [string, (object: ApiObject) => ApiObject] => {
        const type = {
          kind: sharer.kind,
          apiVersion: formatGroupVersion({ group: sharer.group, version: declared.version }),
        };
        return [
          type.apiVersion,
          (object) => {
            const decoded = inNormalForm(object, declared, type);
            const converted = declared.toStorage?.(decoded, names) ?? decoded;
            const result = inNormalForm(converted, stored, { kind, apiVersion });
            const steps = strategy.defaults?.(result, { names, now: 0 });
            if (steps) atOnce(steps);
            return result;
          },
        ];
      }),
    ),
  );
}

const noWriteRules: WriteRules = { gated: undefined, declarative: undefined };

/** It is compiled on first use. A class: literals with a getter do not share their hidden class. */
class LazyVersion implements CompiledVersion {
  readonly declared: ResourceVersion;
  readonly apiVersion: string;
  readonly deprecation: Deprecation | undefined;
  readonly #names: Names;
  #type: CompiledType | undefined;

  constructor(
    { group }: ResourceDefinition,
    declared: ResourceVersion,
    names: Names,
    deprecation: Deprecation | undefined,
  ) {
    this.declared = declared;
    this.apiVersion = formatGroupVersion({ group, version: declared.version });
    this.deprecation = deprecation;
    this.#names = names;
    this.#type = declared.type;
  }

  get type() {
    this.#type ??= compile(this.declared.schema, this.#names);
    return this.#type;
  }
}

/** The versions of a definition, compiled on first use. */
export function compiledVersions(
  definition: ResourceDefinition,
  { names, release }: ResourceOptions,
): CompiledVersions {
  return new Map(
    definition.versions.map((declared) => {
      const deprecation = deprecationOf(definition, declared, names, release);
      return [declared.version, new LazyVersion(definition, declared, names, deprecation)];
    }),
  );
}

/** The version in which the objects of a definition are stored, of those of the owner of its storage. */
function storedVersion({ storage }: ResourceDefinition, versions: CompiledVersions): CompiledVersion {
  const [first] = versions.values();
  const stored = versions.get(storage.version) ?? first;
  if (stored === undefined) throw new Error(`${formatGroupResource(storage)} has no version to be stored in`);
  return stored;
}

/** A class: literals with a getter do not share their hidden class, which takes more memory than the resource. */
class StoredResource implements Resource {
  readonly definition: ResourceDefinition;
  readonly names: Names;
  readonly id: GroupResource;
  readonly keyPrefix: string;
  readonly storage: ResourceStorage;
  readonly format: ObjectFormat;
  readonly storageVersion: CompiledVersion;
  readonly versions: CompiledVersions;
  readonly subresources: ReadonlyMap<string, CompiledSubresource>;
  readonly connections: ReadonlyMap<string, Connection>;
  readonly verbs: VerbsByPath;
  readonly #features: Features;
  #writeRules: WriteRules | undefined;

  /** `served`: the definition with its served parts only. */
  constructor(
    served: ResourceDefinition,
    definition: ResourceDefinition,
    versions: CompiledVersions,
    storageVersion: CompiledVersion,
    storage: ResourceStorage,
    { names, features }: ResourceOptions,
  ) {
    this.definition = served;
    this.names = names;
    this.id = { group: definition.group, resource: definition.plural };
    this.keyPrefix = storage.format.keyPrefix;
    this.storage = storage;
    this.format = storage.format;
    this.storageVersion = storageVersion;
    this.versions = versions;
    this.subresources = new Map(
      served.subresources.map((declared) => [declared.name, compileSubresource(definition, declared, names)]),
    );
    this.connections = new Map(
      served.subresources.flatMap((one) => (one.type === 'connect' ? [[one.name, one.connect] as const] : [])),
    );
    this.verbs = verbsByPath(served.verbs);
    this.#features = features;
    this.#writeRules = definition.custom && noWriteRules;
  }

  get writeRules() {
    const { declared, type } = this.storageVersion;
    this.#writeRules ??= {
      gated: gatedFields(declared.schema, this.#features),
      declarative: this.#features.DeclarativeValidation ? declarativeRules(type) : undefined,
    };
    return this.#writeRules;
  }
}

const allVerbsByPath = pathVerbs(allVerbs);
const verbsByPath = (verbs: readonly Verb[]): VerbsByPath => (verbs === allVerbs ? allVerbsByPath : pathVerbs(verbs));

function pathVerbs(verbs: readonly Verb[]): VerbsByPath {
  return {
    collection: verbs.filter((verb) => ['create', 'list', 'deletecollection', 'watch'].includes(verb)),
    acrossNamespaces: verbs.filter((verb) => verb === 'list' || verb === 'watch'),
    object: verbs.filter((verb) => !['create', 'list', 'deletecollection'].includes(verb)),
  };
}
