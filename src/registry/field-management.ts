import {
  anyElement,
  type FieldFilter,
  fieldElement,
  fieldPath,
  type ManagedType,
  type ManagedVersion,
  type ReplicasPath,
  sameManagedFields,
  setOf,
  toParentManagedFields,
  toScaleManagedFields,
  updateManagedFields,
  type Writer,
} from '../merge/index.ts';
import {
  type ApiObject,
  atOnce,
  formatGroupResource,
  formatTime,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  jsonEqual,
  type Steps,
} from '../meta/index.ts';
import type { RegistryContext } from './context.ts';
import { fromStorage, projectionOf, requestKind, toStorage, versionOf } from './convert.ts';
import type { FieldNames, Subresource } from './definition.ts';
import type { Resource } from './resource.ts';
import type { Target } from './types.ts';
import type { PendingObject, WriteRequest } from './write-request.ts';

const ownedTypes = new WeakMap<Resource, Map<string, ManagedType>>();

/** The target's type as ownership sees it: the same one for all requests to the same endpoint. */
export function managedTypeOf(registry: RegistryContext, target: Target): ManagedType {
  const { resource, subresource } = target;
  const known = ownedTypes.get(resource) ?? new Map<string, ManagedType>();
  ownedTypes.set(resource, known);
  let type = known.get(subresource);
  if (type === undefined) {
    type = projectionOf(target) === undefined ? ownObject(registry, target) : ownView(target);
    known.set(subresource, type);
  }
  return type;
}

/** The stored object, in every version in which it is served. */
function ownObject(registry: RegistryContext, { resource, subresource }: Target): ManagedType {
  const storage = formatGroupResource(resource.definition.storage);
  const versions = new Map<string, ManagedVersion>();
  const places = new Map<string, Target>();
  for (const other of registry.resources) {
    if (other.definition.kind !== resource.definition.kind) continue;
    if (formatGroupResource(other.definition.storage) !== storage) continue;
    for (const [version, compiled] of other.versions) {
      const place = { resource: other, version, namespace: '', name: '', subresource: '' };
      places.set(compiled.apiVersion, place);
      versions.set(compiled.apiVersion, {
        schema: compiled.type.schema,
        convert: (object) => {
          const from = places.get(object.apiVersion);
          return from === undefined ? object : fromStorage(place, toStorage(from, object));
        },
      });
    }
  }
  const fieldFilter = fieldFilterOf(resource, subresource);
  return { names: registry.names, fieldFilter, version: (apiVersion) => versions.get(apiVersion) };
}

/**
 * The object of the target as it would be stored: decoded, with all defaults. Neither keeps nor changes its argument.
 */
export function normalize(registry: RegistryContext, target: Target, object: JsonObject): ApiObject {
  const { kind, apiVersion, type } = requestKind(target);
  const decoded = asObject(type.decode(object).value, kind, apiVersion);
  const { defaults } = target.resource.definition.strategy;
  if (defaults === undefined || projectionOf(target) !== undefined) return decoded;
  const stored = toStorage(target, decoded);
  defaults(stored, { names: registry.names, now: registry.clock.now() });
  return fromStorage(target, stored);
}

function asObject(value: JsonObject, kind: string, apiVersion: string): ApiObject {
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
  return Object.assign(value, { kind, apiVersion, metadata }) as ApiObject;
}

/** The fields that a write through an endpoint can own. */
function fieldFilterOf({ definition, subresources }: Resource, subresource: string): FieldFilter {
  const declared = subresource === '' ? definition : subresources.get(subresource)?.declared;
  const { resetFields = [], writableFields }: Pick<Subresource, 'resetFields' | 'writableFields'> = declared ?? {};
  if (writableFields !== undefined) return { include: writableFields.map(fieldPathOf) };
  const guarded = subresource === '' && subresources.has('status') ? [['status'], ...resetFields] : resetFields;
  return { exclude: setOf(...guarded.map(fieldPathOf)) };
}

const fieldPathOf = (names: FieldNames) => names.map((name) => (name === anyElement ? name : fieldElement(name)));

/** What a view shows of the stored object: it has one version. */
function ownView(target: Target): ManagedType {
  const { apiVersion, type } = requestKind(target);
  const version: ManagedVersion = {
    schema: type.schema,
    convert: (object) => object,
  };
  return {
    names: type.names,
    fieldFilter: { exclude: {} },
    version: (asked) => (asked === apiVersion ? version : undefined),
  };
}

export function writerOf({ target, options, context }: WriteRequest): Writer {
  return {
    manager: options.fieldManager,
    apiVersion: requestKind(target).apiVersion,
    subresource: target.subresource,
    now: formatTime(context.now),
  };
}

/** The object as the target shows it, with who owns what of that. */
export function managedProjection(target: Target, object: ApiObject): ApiObject {
  const shown = fromStorage(target, object);
  if (projectionOf(target) === undefined) return shown;
  const owners = toScaleManagedFields(
    object.metadata.managedFields,
    replicasIn(target),
    requestKind(target).apiVersion,
  );
  return withManagedFields(shown, owners);
}

/** Writes down who owns what the draft holds now; for an apply, which has told that itself, only what a view told. */
export function* trackManagedFields(
  request: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
): Steps<void> {
  const { registry, target, change } = request;
  const { object, projection } = pending;
  if (projection !== undefined && old !== undefined) {
    const type = managedTypeOf(registry, target);
    const before = managedProjection(target, old);
    const owners =
      change.verb === 'patch' && change.format === 'apply'
        ? projection.metadata.managedFields
        : yield* updateManagedFields({ type, writer: writerOf(request), before, after: projection });
    delete projection.metadata.managedFields;
    const { apiVersion } = versionOf(target);
    setManagedFields(object, toParentManagedFields(old.metadata.managedFields, owners, replicasIn(target), apiVersion));
    return;
  }
  if (change.verb === 'patch' && change.format === 'apply') return;
  if (old !== undefined && sameButManagedFields(object, old) && !names(object.metadata.managedFields, old)) {
    setManagedFields(object, old.metadata.managedFields);
    return;
  }
  const before = old === undefined ? undefined : fromStorage(target, old);
  const after = fromStorage(target, object);
  const type = managedTypeOf(registry, target);
  setManagedFields(object, yield* updateManagedFields({ type, writer: writerOf(request), before, after }));
}

/** Writes down that the server itself owns what it has changed in a stored object, through a subresource. */
export function trackServerUpdate(
  registry: RegistryContext,
  resource: Resource,
  subresource: string,
  object: ApiObject,
  before: ApiObject,
): void {
  const { apiVersion, declared } = resource.storageVersion;
  const target = { resource, version: declared.version, namespace: '', name: '', subresource };
  const writer = { manager: registry.names.server, apiVersion, subresource, now: formatTime(registry.clock.now()) };
  setManagedFields(
    object,
    atOnce(updateManagedFields({ type: managedTypeOf(registry, target), writer, before, after: object })),
  );
}

/** Whether these owners are given anew. */
const names = (given: Json[] | undefined, { metadata }: ApiObject) =>
  given !== undefined && !jsonEqual(given, metadata.managedFields);

const sameButManagedFields = (object: ApiObject, old: ApiObject): boolean =>
  jsonEqual(withManagedFields(object, undefined), withManagedFields(old, undefined));

/**
 * Whether an object is as it was. Then so are its owners, whatever time of a write they name: one that changes nothing
 * is no change.
 */
export function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  const { managedFields } = object.metadata;
  const before = old.metadata.managedFields;
  if (!sameButManagedFields(object, old)) return false;
  if (managedFields === before || jsonEqual(managedFields, before)) return true;
  if (!sameManagedFields(managedFields, before)) return false;
  setManagedFields(object, before);
  return true;
}

/** Where the scaled type keeps its replicas, in all of its versions. */
function replicasIn(target: Target): ReplicasPath {
  const path = fieldPath(...(projectionOf(target)?.replicas ?? []));
  const versions = [...target.resource.versions.values()];
  return (apiVersion) => (versions.some((version) => version.apiVersion === apiVersion) ? path : undefined);
}

/** A copy that shares nothing with the object but who owns its fields, which is never changed in place. */
export function copyOf(object: ApiObject): ApiObject {
  return withManagedFields(
    jsonCopy<JsonObject>(withManagedFields(object, undefined)) as ApiObject,
    object.metadata.managedFields,
  );
}

function setManagedFields({ metadata }: ApiObject, owners: Json[] | undefined): void {
  // They come last.
  delete metadata.managedFields;
  if (owners !== undefined) metadata.managedFields = owners;
}

function withManagedFields(object: ApiObject, owners: Json[] | undefined): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: owners === undefined ? metadata : { ...metadata, managedFields: owners } } as ApiObject;
}
