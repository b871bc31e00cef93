/** Conversion of manifests to another version. */
import { stringifyJson } from '../../codec/index.ts';
import {
  type ApiObject,
  atOnce,
  expandNames,
  formatGroupResource,
  formatGroupVersion,
  formatPath,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqual,
  type Names,
  type ObjectMeta,
  type Path,
  parseGroupVersion,
  setKey,
  shorten,
} from '../../meta/index.ts';
import type { ResourceVersion, Strategy } from '../../registry/index.ts';
import { builtinResources, loadOlderVersions } from '../../resources/index.ts';
import { type CompiledType, compile } from '../../schema/index.ts';
import { didYouMean } from '../settings/suggest.ts';
import { StartError } from '../start-error.ts';

/** A kind in a version, and the version in which its objects are stored, through which every conversion goes. */
export interface KindVersion {
  readonly apiVersion: string;
  readonly kind: string;
  /** The resource that has the objects, which resources of several groups may show. */
  readonly storage: string;
  readonly declared: ResourceVersion;
  readonly type: CompiledType;
  readonly stored: { readonly apiVersion: string; readonly type: CompiledType };
  /** The defaults of the kind in its storage version. */
  readonly defaults: Strategy['defaults'];
}

/** The versions of one kind, in all groups that have its objects. */
export interface KindVersions {
  /** In the order of messages. */
  readonly apiVersions: readonly string[];
  readonly show: Show;
}

/**
 * Converts a manifest from version `from` to version `to` as a server does, without the fields that only a server sets.
 * `unknown`: the paths of fields that the type of the manifest does not have. @throws StatusError for a value of the wrong
 * type, and where the object cannot be converted
 */
type Show = (
  manifest: JsonObject,
  from: string,
  to: string,
) => Promise<{ readonly object: ApiObject; readonly unknown: readonly Path[] }>;

/** The built-in kinds in every version, removed ones included, and custom kinds. */
export interface Kinds {
  readonly names: Names;
  /** The built-in versions by kind, the preferred one first. */
  readonly versions: ReadonlyMap<string, readonly KindVersion[]>;
  /** The versions of custom kinds by {@link customKey}. */
  readonly custom: ReadonlyMap<string, KindVersions>;
  /** The annotations that carry what a version has no field for begin with this. */
  readonly carrierPrefix: string;
}

export const customKey = (group: string, kind: string): string => `${group}/${kind}`;

export async function loadKinds(names: Names, custom: Kinds['custom'] = new Map()): Promise<Kinds> {
  const { carrierPrefix, withOlderVersions } = await loadOlderVersions();
  const definitions = withOlderVersions(builtinResources);
  const versions = new Map<string, KindVersion[]>();
  for (const { group, kind, storage, strategy, versions: declaredVersions } of definitions) {
    const owner = definitions.find((one) => one.group === storage.group && one.plural === storage.resource);
    const stored = owner?.versions.find(({ version }) => version === storage.version);
    if (stored === undefined) throw new Error(`${kind} is not stored in a version of a kind`);
    const ofKind = declaredVersions.map((declared) => ({
      apiVersion: expandNames(formatGroupVersion({ group, version: declared.version }), names),
      kind,
      storage: formatGroupResource(storage),
      declared,
      type: compile(declared.schema, names),
      stored: {
        apiVersion: expandNames(formatGroupVersion(storage), names),
        type: compile(stored.schema, names),
      },
      defaults: strategy.defaults,
    }));
    versions.set(kind, [...(versions.get(kind) ?? []), ...ofKind]);
  }
  return { names, versions, custom, carrierPrefix: carrierPrefix(names) };
}

/** A manifest in another version. */
interface Converted {
  readonly object: JsonObject;
  /** Paths of fields that the type of the manifest does not have; the result lacks them. */
  readonly unknown: readonly Path[];
  /** Surprises for a reader of the result: defaults of the former version, and fields that the new one lacks. */
  readonly warnings: readonly string[];
}

/**
 * Converts the manifest of one object to `apiVersion`. Fields that neither the manifest nor a default of its version sets are
 * left out. @throws StartError when there is no such version, StatusError for a value of the wrong type, and where the object
 * cannot be converted
 */
export async function convertManifest(kinds: Kinds, manifest: JsonObject, apiVersion: string): Promise<Converted> {
  const { carrierPrefix } = kinds;
  const { source, show } = kindOf(kinds, manifest, apiVersion);
  const { object: shown, unknown } = await show(manifest, source, source);
  const { object: converted } = await show(manifest, source, apiVersion);
  const bare = prune(converted, manifest, () => true) as JsonObject;
  // Fields that a server adds by itself.
  const added = (await show(bare, apiVersion, apiVersion)).object;
  const object = prune(converted, manifest, (value, at) => jsonEqual(value, valueAt(added, at))) as JsonObject;

  const backFrom = async (result: ApiObject) => (await show(result, apiVersion, source)).object;
  const withoutCarriers = (result: ApiObject) => withoutAnnotations(result, carrierPrefix);
  const original = withoutCarriers(shown);
  const lost = differences(original, withoutCarriers(await backFrom(withoutCarriers(converted))));
  const dropped = new Set(differences(original, withoutCarriers(await backFrom(converted))).map(({ path }) => path));
  const warnings = [
    ...differences(original, manifest)
      .filter(({ was, is, at }) => was === undefined && !isEmpty(is) && !isLeftOut(converted, object, at))
      .filter(({ path }) => !lost.some((field) => isAtOrBelow(path, field.path)))
      .map(({ path, is }) => `${path}: set to ${shorten(stringifyJson(is), 100)}, the default of ${source}`),
    ...lost.map(({ path }) =>
      dropped.has(path)
        ? `${path}: dropped, because ${apiVersion} has no such field or value`
        : `${path}: kept in an annotation ${carrierPrefix}…, because ${apiVersion} has no such field or value`,
    ),
  ];
  return { object, unknown, warnings: [...new Set(warnings)] };
}

/** The version of a manifest, and how its kind is shown. @throws StartError where the kind does not have both versions */
function kindOf(kinds: Kinds, manifest: JsonObject, to: string): { readonly source: string; readonly show: Show } {
  const { kind, apiVersion: source } = manifest;
  if (typeof kind !== 'string' || kind === '' || typeof source !== 'string' || source === '') {
    throw new StartError('it must have a kind and an apiVersion');
  }
  const custom = kinds.custom.get(customKey(groupOf(source), kind));
  const { apiVersions, show } = custom ?? builtInKind(kinds, kind, source);
  for (const version of [source, to]) {
    if (!apiVersions.includes(version)) {
      throw new StartError(`${version} has no ${shorten(kind)}; it is in ${apiVersions.join(', ')}`);
    }
  }
  return { source, show };
}

/** @throws StartError where there is no such kind in this version */
function builtInKind({ versions, names }: Kinds, kind: string, apiVersion: string): KindVersions {
  const ofKind = versions.get(kind) ?? [];
  const source = ofKind.find((one) => one.apiVersion === apiVersion);
  if (source === undefined) {
    const group = groupOf(apiVersion);
    const isBuiltIn = [...versions.values()].flat().some((one) => groupOf(one.apiVersion) === group);
    const similar = isBuiltIn
      ? didYouMean(kind, [...versions.keys()])
      : '; the definition of a custom kind must be in --definitions';
    const known = ofKind.length === 0 ? similar : `; it is in ${listed(ofKind)}`;
    throw new StartError(
      `${apiVersion} has no built-in kind ${JSON.stringify(shorten(kind))} in the API domain ${names.domain}${known}`,
    );
  }
  const equivalents = ofKind.filter(({ storage }) => storage === source.storage);
  const versionOf = (name: string) => equivalents.find((one) => one.apiVersion === name) as KindVersion;
  return {
    apiVersions: equivalents.map((one) => one.apiVersion),
    show: async (manifest, from, to) => {
      const { stored, unknown } = storedOf(versionOf(from), manifest, names);
      return { object: fromStored(versionOf(to), stored, names), unknown };
    },
  };
}

const groupOf = (apiVersion: string): string => parseGroupVersion(apiVersion)?.group ?? '';

const listed = (versions: readonly KindVersion[]): string => versions.map(({ apiVersion }) => apiVersion).join(', ');

/** The stored form of a manifest, without the fields that only a server sets. @throws StatusError */
export function storedOf(version: KindVersion, manifest: JsonObject, names: Names) {
  const { kind, declared, stored, defaults } = version;
  const { value, unknown } = version.type.decode(manifest);
  const object = objectOf(value, version);
  const converted = declared.toStorage?.(object, names) ?? object;
  const result = objectOf(stored.type.decode(converted).value, { kind, apiVersion: stored.apiVersion });
  const steps = defaults?.(result, { names, now: 0 });
  if (steps !== undefined) atOnce(steps);
  return { stored: result, unknown };
}

const fromStored = (version: KindVersion, stored: ApiObject, names: Names): ApiObject =>
  objectOf(version.declared.fromStorage?.(stored, names) ?? stored, version);

/** An object of a kind with the content of another one. */
export function objectOf(value: JsonObject, { kind, apiVersion }: Pick<KindVersion, 'kind' | 'apiVersion'>): ApiObject {
  const { kind: _, apiVersion: __, metadata, ...content } = value;
  return { apiVersion, kind, metadata: (metadata ?? {}) as ObjectMeta & JsonObject, ...content } as ApiObject;
}

function withoutAnnotations(object: ApiObject, prefix: string): ApiObject {
  const { annotations, ...rest } = object.metadata;
  const others = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith(prefix));
  const metadata = others.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(others) };
  return { ...object, metadata: metadata as ObjectMeta & JsonObject };
}

/** A copy without those fields that the manifest does not have and for which the predicate holds. */
function prune(
  value: Json,
  manifest: Json | undefined,
  isLeftOut: (value: Json, at: Path) => boolean,
  at: Path = [],
): Json {
  if (Array.isArray(value) && Array.isArray(manifest) && value.length === manifest.length) {
    return value.map((item, i) => prune(item, manifest[i], isLeftOut, [...at, i]));
  }
  if (!isJsonObject(value) || !isJsonObject(manifest)) return value;
  const kept: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const own = getKey(manifest, key);
    const path = [...at, key];
    if (own !== undefined) setKey(kept, key, prune(member, own, isLeftOut, path));
    else if (!isLeftOut(member, path)) setKey(kept, key, member);
  }
  return kept;
}

interface Difference {
  /** Without the indexes of lists, since a list repeats its differences: `spec.rules[].host`. */
  readonly path: string;
  readonly at: Path;
  readonly is: Json;
  readonly was: Json | undefined;
}

/** The values of `is` that `was` lacks or that differ in it. */
function differences(is: Json, was: Json | undefined, at: Path = []): Difference[] {
  if (isJsonObject(is) && isJsonObject(was)) {
    return Object.entries(is).flatMap(([key, member]) => differences(member, getKey(was, key), [...at, key]));
  }
  if (Array.isArray(is) && Array.isArray(was) && is.length === was.length) {
    return is.flatMap((item, i) => differences(item, was[i], [...at, i]));
  }
  if (jsonEqual(is, was)) return [];
  return [{ path: formatPath(at).replaceAll(/\[\d+\]/g, '[]'), at, is, was }];
}

const isAtOrBelow = (path: string, field: string): boolean =>
  path.startsWith(field) && ['', '.', '['].includes(path.charAt(field.length));

/** Whether a field of the first object is not in the second one. */
const isLeftOut = (converted: JsonObject, object: JsonObject, at: Path): boolean =>
  valueAt(converted, at) !== undefined && valueAt(object, at) === undefined;

function valueAt(value: Json, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else found = isJsonObject(found) ? getKey(found, String(step)) : undefined;
  }
  return found;
}

/** Whether a value says nothing: what types with required fields write where there is no value. */
function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.values(value).every(isEmpty);
  return value === null || value === '' || value === 0 || value === '0' || value === false;
}
