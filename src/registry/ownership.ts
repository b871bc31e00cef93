import {
  anyStep,
  type FieldSet,
  fieldElement,
  fieldPath,
  type OwnedType,
  type OwnedVersion,
  type ReplicasPath,
  recursiveDifference,
  sameManagedFields,
  scaledManagedFields,
  scaleManagedFields,
  setOf,
  trackUpdate,
  type Writer,
  within,
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
import { fromStorage, spokenOf, subresourceView, toStorage, versionOf } from './convert.ts';
import type { Core } from './core.ts';
import type { FieldNames, Subresource } from './definition.ts';
import type { Draft, Job } from './job.ts';
import type { CompiledVersion, Resource } from './resource.ts';
import type { Target } from './types.ts';

const ownedTypes = new WeakMap<Resource, Map<string, OwnedType>>();

/** The target's type as ownership sees it: the same one for all requests to the same endpoint. */
export function ownedTypeOf(core: Core, target: Target): OwnedType {
  const { resource, subresource } = target;
  const known = ownedTypes.get(resource) ?? new Map<string, OwnedType>();
  ownedTypes.set(resource, known);
  let type = known.get(subresource);
  if (type === undefined) {
    type = subresourceView(target) === undefined ? ownObject(core, target) : ownView(target);
    known.set(subresource, type);
  }
  return type;
}

/** The stored object, in every version in which it is served. */
function ownObject(core: Core, { resource, subresource }: Target): OwnedType {
  const storage = formatGroupResource(resource.definition.storage);
  const writable = writableIn(resource, subresource);
  const versions = new Map<string, OwnedVersion>();
  const places = new Map<string, Target>();
  for (const other of core.resources) {
    if (other.definition.kind !== resource.definition.kind) continue;
    if (formatGroupResource(other.definition.storage) !== storage) continue;
    for (const [version, compiled] of other.versions) {
      const place = { resource: other, version, namespace: '', name: '', subresource: '' };
      places.set(compiled.apiVersion, place);
      versions.set(compiled.apiVersion, {
        schema: compiled.type.schema,
        writable,
        convert: (object) => {
          const from = places.get(object.apiVersion);
          return from === undefined ? object : fromStorage(place, toStorage(from, object));
        },
        normal: (object) => normalObject(core, place, compiled, object),
      });
    }
  }
  return { names: core.names, version: (apiVersion) => versions.get(apiVersion) };
}

/** The object as it would be stored, with every default. */
function normalObject(core: Core, place: Target, { apiVersion, type }: CompiledVersion, object: JsonObject): ApiObject {
  const { definition } = place.resource;
  const decoded = asObject(type.decode(object).value, definition.kind, apiVersion);
  const { defaults } = definition.strategy;
  if (defaults === undefined) return decoded;
  const stored = toStorage(place, decoded);
  defaults(stored, { names: core.names, now: core.clock.now() });
  return fromStorage(place, stored);
}

function asObject(value: JsonObject, kind: string, apiVersion: string): ApiObject {
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
  return Object.assign(value, { kind, apiVersion, metadata }) as ApiObject;
}

/** What of some fields a write through the endpoint can change. */
function writableIn({ definition, subresources }: Resource, subresource: string): OwnedVersion['writable'] {
  const declared = subresource === '' ? definition : subresources.get(subresource)?.declared;
  const { keeps = [], writes }: Pick<Subresource, 'keeps' | 'writes'> = declared ?? {};
  if (writes !== undefined) return (fields) => within(fields, writes.map(fieldPathOf));
  const guarded = subresource === '' && subresources.has('status') ? [['status'], ...keeps] : keeps;
  const kept = setOf(...guarded.map(fieldPathOf));
  return (fields: FieldSet) => recursiveDifference(fields, kept);
}

const fieldPathOf = (names: FieldNames) => names.map((name) => (name === anyStep ? name : fieldElement(name)));

/** What a view shows of the stored object: it has one version. */
function ownView(target: Target): OwnedType {
  const { kind, apiVersion, type } = spokenOf(target);
  const version: OwnedVersion = {
    schema: type.schema,
    writable: (fields) => fields,
    convert: (object) => object,
    normal: (object) => asObject(type.decode(object).value, kind, apiVersion),
  };
  return { names: type.names, version: (asked) => (asked === apiVersion ? version : undefined) };
}

export function writerOf({ target, options, context }: Job): Writer {
  return {
    manager: options.fieldManager,
    apiVersion: spokenOf(target).apiVersion,
    subresource: target.subresource,
    now: formatTime(context.now),
  };
}

/** The object as the target shows it, with who owns what of that. */
export function ownedView(target: Target, object: ApiObject): ApiObject {
  const shown = fromStorage(target, object);
  if (subresourceView(target) === undefined) return shown;
  const owners = scaleManagedFields(object.metadata.managedFields, replicasIn(target), spokenOf(target).apiVersion);
  return withOwners(shown, owners);
}

/** Writes down who owns what the draft holds now; for an apply, which has told that itself, only what a view told. */
export function* trackOwners(job: Job, draft: Draft, old: ApiObject | undefined): Steps<void> {
  const { core, target, change } = job;
  const { object, view } = draft;
  if (view !== undefined && old !== undefined) {
    const type = ownedTypeOf(core, target);
    const before = ownedView(target, old);
    const owners =
      change.verb === 'patch' && change.format === 'apply'
        ? view.metadata.managedFields
        : yield* trackUpdate({ type, writer: writerOf(job), before, after: view });
    delete view.metadata.managedFields;
    const { apiVersion } = versionOf(target);
    setOwners(object, scaledManagedFields(old.metadata.managedFields, owners, replicasIn(target), apiVersion));
    return;
  }
  if (change.verb === 'patch' && change.format === 'apply') return;
  if (old !== undefined && sameButOwners(object, old) && !names(object.metadata.managedFields, old)) {
    setOwners(object, old.metadata.managedFields);
    return;
  }
  const before = old === undefined ? undefined : fromStorage(target, old);
  const after = fromStorage(target, object);
  const type = ownedTypeOf(core, target);
  setOwners(object, yield* trackUpdate({ type, writer: writerOf(job), before, after }));
}

/** Writes down that the server itself owns what it has changed in a stored object, through a subresource. */
export function trackServer(
  core: Core,
  resource: Resource,
  subresource: string,
  object: ApiObject,
  before: ApiObject,
): void {
  const { apiVersion, declared } = resource.storageVersion;
  const target = { resource, version: declared.version, namespace: '', name: '', subresource };
  const writer = { manager: core.names.server, apiVersion, subresource, now: formatTime(core.clock.now()) };
  setOwners(object, atOnce(trackUpdate({ type: ownedTypeOf(core, target), writer, before, after: object })));
}

/** Whether these owners are given anew. */
const names = (given: Json[] | undefined, { metadata }: ApiObject) =>
  given !== undefined && !jsonEqual(given, metadata.managedFields);

const sameButOwners = (object: ApiObject, old: ApiObject): boolean =>
  jsonEqual(withOwners(object, undefined), withOwners(old, undefined));

/**
 * Whether an object is as it was. Then so are its owners, whatever time of a write they name: one that changes nothing is
 * no change.
 */
export function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  const { managedFields } = object.metadata;
  const before = old.metadata.managedFields;
  if (!sameButOwners(object, old)) return false;
  if (managedFields === before || jsonEqual(managedFields, before)) return true;
  if (!sameManagedFields(managedFields, before)) return false;
  setOwners(object, before);
  return true;
}

/** Where the scaled type keeps its replicas, in all of its versions. */
function replicasIn(target: Target): ReplicasPath {
  const path = fieldPath(...(subresourceView(target)?.replicas ?? []));
  const versions = [...target.resource.versions.values()];
  return (apiVersion) => (versions.some((version) => version.apiVersion === apiVersion) ? path : undefined);
}

/** A copy that shares nothing with the object but who owns its fields, which is never changed in place. */
export function copyOf(object: ApiObject): ApiObject {
  return withOwners(jsonCopy<JsonObject>(withOwners(object, undefined)) as ApiObject, object.metadata.managedFields);
}

function setOwners({ metadata }: ApiObject, owners: Json[] | undefined): void {
  // They come last.
  delete metadata.managedFields;
  if (owners !== undefined) metadata.managedFields = owners;
}

function withOwners(object: ApiObject, owners: Json[] | undefined): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: owners === undefined ? metadata : { ...metadata, managedFields: owners } } as ApiObject;
}
