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
} from '../../merge/index.ts';
import {
  type ApiObject,
  equalInSteps,
  formatGroupResource,
  formatTime,
  oneStep,
  type Steps,
  type WaitingSteps,
} from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import type { FieldNames } from '../resource/definition.ts';
import type { CompiledVersion, Resource } from '../resource/resource.ts';
import {
  fromStorageInSteps,
  partialWriteOf,
  projectionOf,
  requestKind,
  toStorageInSteps,
  versionOf,
} from '../resource/target.ts';
import type { Target } from '../types.ts';
import { equalExcept, setManagedFields, withManagedFields } from './candidate/content.ts';
import type { Conversions } from './conversions.ts';
import type { Candidate, WriteRequest } from './write-request.ts';

const managedTypes = new WeakMap<Resource, Map<string, ManagedType>>();

/**
 * The type by which fields of the target are managed; one for all requests to the same resource and subresource, unless
 * a webhook converts.
 */
export function managedTypeOf(registry: RegistryContext, target: Target, conversions?: Conversions): ManagedType {
  const { resource, subresource } = target;
  if (conversions !== undefined && projectionOf(target) === undefined) {
    return managedObjectType(registry, target, (object, { apiVersion }) => conversions.convert(object, apiVersion));
  }
  const types = managedTypes.get(resource) ?? new Map<string, ManagedType>();
  managedTypes.set(resource, types);
  let type = types.get(subresource);
  if (type === undefined) {
    type = projectionOf(target) === undefined ? managedObjectType(registry, target) : managedProjectionType(target);
    types.set(subresource, type);
  }
  return type;
}

type ConvertTo = (object: ApiObject, to: CompiledVersion) => WaitingSteps<ApiObject>;

/** The type of the stored object, in all of its versions. */
function managedObjectType(registry: RegistryContext, target: Target, webhook?: ConvertTo): ManagedType {
  const { resource } = target;
  const storage = formatGroupResource(resource.definition.storage);
  const versions = new Map<string, ManagedVersion>();
  const places = new Map<string, Target>();
  // The resource of a custom version knows all versions of its definition.
  const isCustom = resource.definition.custom !== undefined;
  for (const other of isCustom ? [resource] : registry.catalog.resources) {
    if (other.definition.kind !== resource.definition.kind) continue;
    if (formatGroupResource(other.definition.storage) !== storage) continue;
    for (const [version, compiled] of other.versions) {
      const place = { resource: other, version, namespace: '', name: '', subresource: '' };
      places.set(compiled.apiVersion, place);
      versions.set(compiled.apiVersion, {
        schema: compiled.type.schema,
        convert: (object) => {
          if (webhook !== undefined) return webhook(object, compiled);
          // Neither defaults nor schemas change the fields that are compared.
          if (isCustom) return oneStep(() => ({ ...object, apiVersion: compiled.apiVersion }));
          const from = places.get(object.apiVersion);
          return from === undefined ? oneStep(() => object) : convertBetween(from, place, object);
        },
      });
    }
  }
  const fieldFilter = fieldFilterOf(target);
  return { names: registry.names, fieldFilter, version: (apiVersion) => versions.get(apiVersion) };
}

function* convertBetween(from: Target, to: Target, object: ApiObject): Steps<ApiObject> {
  return yield* fromStorageInSteps(to, yield* toStorageInSteps(from, object));
}

/** The fields that a write to the target can own. */
function fieldFilterOf(target: Target): FieldFilter {
  const { definition, subresources } = target.resource;
  const partial = partialWriteOf(target);
  if (partial?.type === 'partialUpdate' && partial.writableFields !== undefined) {
    return { include: partial.writableFields.map(fieldPathOf) };
  }
  const whole = target.subresource === '';
  const { resetFields = [] } = whole ? definition : (partial ?? {});
  const reset = whole && subresources.has('status') ? [['status'], ...resetFields] : resetFields;
  return { exclude: setOf(...reset.map(fieldPathOf)) };
}

const fieldPathOf = (names: FieldNames) => names.map((name) => (name === anyElement ? name : fieldElement(name)));

/** The type of a projection, which has one version. */
function managedProjectionType(target: Target): ManagedType {
  const { apiVersion, type } = requestKind(target);
  const version: ManagedVersion = { schema: type.schema, convert: (object) => oneStep(() => object) };
  return {
    names: type.names,
    fieldFilter: { exclude: {} },
    version: (name) => (name === apiVersion ? version : undefined),
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

/** The object as the target represents it, with the managed fields of that representation. */
export function* managedProjection(target: Target, object: ApiObject): Steps<ApiObject> {
  const converted = yield* fromStorageInSteps(target, object);
  if (projectionOf(target) === undefined) return converted;
  const managedFields = toScaleManagedFields(
    object.metadata.managedFields,
    replicasIn(target),
    requestKind(target).apiVersion,
  );
  return withManagedFields(converted, managedFields);
}

/** Updates the managed fields of the candidate. An apply has done so already: only its projection is mapped back. */
export function* trackManagedFields(
  request: WriteRequest,
  candidate: Candidate,
  old: ApiObject | undefined,
): WaitingSteps<void> {
  const { registry, target, change } = request;
  const { object, projection } = candidate;
  if (projection !== undefined && old !== undefined) {
    const type = managedTypeOf(registry, target);
    const before = yield* managedProjection(target, old);
    const managedFields =
      change.verb === 'patch' && change.format === 'apply'
        ? projection.metadata.managedFields
        : yield* updateManagedFields({ type, writer: writerOf(request), before, after: projection });
    delete projection.metadata.managedFields;
    const { apiVersion } = versionOf(target);
    setManagedFields(
      object,
      toParentManagedFields(old.metadata.managedFields, managedFields, replicasIn(target), apiVersion),
    );
    return;
  }
  if (change.verb === 'patch' && change.format === 'apply') return;
  if (old !== undefined && (yield* sameButManagedFields(object, old)) && !(yield* setsManagedFields(object, old))) {
    setManagedFields(object, old.metadata.managedFields);
    return;
  }
  const before = old === undefined ? undefined : yield* fromStorageInSteps(target, old);
  const after = yield* fromStorageInSteps(target, object);
  const type = managedTypeOf(registry, target, request.conversions);
  setManagedFields(object, yield* updateManagedFields({ type, writer: writerOf(request), before, after }));
}

/** Makes the server itself the manager, through a subresource, of the fields that it has changed in a stored object. */
export function* trackServerUpdate(
  registry: RegistryContext,
  resource: Resource,
  subresource: string,
  object: ApiObject,
  before: ApiObject,
  conversions: Conversions | undefined,
): WaitingSteps<void> {
  const { apiVersion, declared } = resource.storageVersion;
  const target = { resource, version: declared.version, namespace: '', name: '', subresource };
  const writer = { manager: registry.names.server, apiVersion, subresource, now: formatTime(registry.clock.now()) };
  const type = managedTypeOf(registry, target, conversions);
  setManagedFields(object, yield* updateManagedFields({ type, writer, before, after: object }));
}

/** Whether a write sets other managed fields than the stored ones. */
function* setsManagedFields({ metadata: { managedFields } }: ApiObject, old: ApiObject): Steps<boolean> {
  return managedFields !== undefined && !(yield* equalInSteps(managedFields, old.metadata.managedFields));
}

function* sameButManagedFields(object: ApiObject, old: ApiObject): Steps<boolean> {
  if (!(yield* equalExcept(object, old, ['metadata']))) return false;
  return yield* equalExcept(object.metadata, old.metadata, ['managedFields']);
}

/**
 * Whether a write leaves the object unchanged. Managed fields that differ in their times alone count as unchanged, and are
 * set back to the stored ones.
 */
export function* isUnchanged(object: ApiObject, old: ApiObject): Steps<boolean> {
  const { managedFields } = object.metadata;
  const before = old.metadata.managedFields;
  if (!(yield* sameButManagedFields(object, old))) return false;
  if (managedFields === before || (yield* equalInSteps(managedFields, before))) return true;
  if (!(yield* sameManagedFields(managedFields, before))) return false;
  setManagedFields(object, before);
  return true;
}

/** The path of the replicas in the versions of the scaled resource. */
function replicasIn(target: Target): ReplicasPath {
  const path = fieldPath(...(projectionOf(target)?.replicas ?? []));
  const versions = [...target.resource.versions.values()];
  return (apiVersion) => (versions.some((version) => version.apiVersion === apiVersion) ? path : undefined);
}
