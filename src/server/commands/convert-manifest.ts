/** Conversion of manifests of built-in kinds to another version, without a server. */
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

/** The built-in kinds in every version, removed ones included. */
export interface Kinds {
  readonly names: Names;
  /** By kind, the preferred version first. */
  readonly versions: ReadonlyMap<string, readonly KindVersion[]>;
  /** The annotations that carry what a version has no field for begin with this. */
  readonly carrierPrefix: string;
}

export async function loadKinds(names: Names): Promise<Kinds> {
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
  return { names, versions, carrierPrefix: carrierPrefix(names) };
}

/** A manifest in another version. */
interface Converted {
  readonly object: JsonObject;
  /** Paths of fields that the type of the manifest does not have; the result lacks them. */
  readonly unknown: readonly Path[];
  /** What a reader of the result may not expect: defaults of the former version, and fields that the new one lacks. */
  readonly warnings: readonly string[];
}

/**
 * Converts the manifest of one object to `apiVersion`. Fields that neither the manifest nor a default of its version sets are
 * left out. @throws StartError when there is no such version, StatusError 400 for a value of the wrong type
 */
export function convertManifest(kinds: Kinds, manifest: JsonObject, apiVersion: string): Converted {
  const { names, carrierPrefix } = kinds;
  const [source, target] = versionsFor(kinds, manifest, apiVersion);
  const { stored, unknown } = storedOf(source, manifest, names);
  const shown = fromStored(source, stored, names);
  const converted = fromStored(target, stored, names);
  const object = withoutAdded(converted, manifest, (sent) =>
    fromStored(target, storedOf(target, sent, names).stored, names),
  );

  const backFrom = (result: ApiObject) => fromStored(source, storedOf(target, result, names).stored, names);
  const withoutCarriers = (result: ApiObject) => withoutAnnotations(result, carrierPrefix);
  const original = withoutCarriers(shown);
  const lost = differences(original, withoutCarriers(backFrom(withoutCarriers(converted))));
  const dropped = new Set(differences(original, withoutCarriers(backFrom(converted))).map(({ path }) => path));
  const warnings = [
    ...differences(original, manifest)
      .filter(({ was, is, at }) => was === undefined && !isEmpty(is) && !isLeftOut(converted, object, at))
      .filter(({ path }) => !lost.some((field) => isAtOrBelow(path, field.path)))
      .map(({ path, is }) => `${path}: set to ${shorten(stringifyJson(is), 100)}, the default of ${source.apiVersion}`),
    ...lost.map(({ path }) =>
      dropped.has(path)
        ? `${path}: dropped, because ${target.apiVersion} has no such field or value`
        : `${path}: kept in an annotation ${carrierPrefix}…, because ${target.apiVersion} has no such field or value`,
    ),
  ];
  return { object, unknown, warnings: [...new Set(warnings)] };
}

function versionsFor({ versions, names }: Kinds, manifest: JsonObject, to: string): [KindVersion, KindVersion] {
  const { kind, apiVersion } = manifest;
  if (typeof kind !== 'string' || kind === '' || typeof apiVersion !== 'string' || apiVersion === '') {
    throw new StartError('it must have a kind and an apiVersion');
  }
  const ofKind = versions.get(kind) ?? [];
  const source = ofKind.find((one) => one.apiVersion === apiVersion);
  if (source === undefined) {
    const known = ofKind.length === 0 ? didYouMean(kind, [...versions.keys()]) : `; it is in ${listed(ofKind)}`;
    throw new StartError(
      `${apiVersion} has no built-in kind ${JSON.stringify(shorten(kind))} in the API domain ${names.domain}${known}`,
    );
  }
  const equivalents = ofKind.filter(({ storage }) => storage === source.storage);
  const target = equivalents.find((one) => one.apiVersion === to);
  if (target === undefined) throw new StartError(`${to} has no ${kind}; it is in ${listed(equivalents)}`);
  return [source, target];
}

const listed = (versions: readonly KindVersion[]): string => versions.map(({ apiVersion }) => apiVersion).join(', ');

/** What a server would store of a manifest, apart from the fields that only a server sets. @throws StatusError */
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

function objectOf(value: JsonObject, { kind, apiVersion }: Pick<KindVersion, 'kind' | 'apiVersion'>): ApiObject {
  const { kind: _, apiVersion: __, metadata, ...content } = value;
  return { apiVersion, kind, metadata: (metadata ?? {}) as ObjectMeta & JsonObject, ...content } as ApiObject;
}

function withoutAnnotations(object: ApiObject, prefix: string): ApiObject {
  const { annotations, ...rest } = object.metadata;
  const others = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith(prefix));
  const metadata = others.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(others) };
  return { ...object, metadata: metadata as ObjectMeta & JsonObject };
}

/** Without the fields that the manifest does not have and that a server would add by itself. `read`: what it would show. */
function withoutAdded(object: ApiObject, manifest: JsonObject, read: (value: JsonObject) => JsonObject): JsonObject {
  const bare = prune(object, manifest, () => true) as JsonObject;
  const added = read(bare);
  return prune(object, manifest, (value, at) => jsonEqual(value, valueAt(added, at))) as JsonObject;
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
