import { admittedManagedFields } from '../../merge/index.ts';
import {
  type ApiObject,
  allErrors,
  atOnce,
  equalInSteps,
  fieldError,
  formatTime,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopyInSteps,
  type ObjectMeta,
  type Random,
  StatusError,
  type Steps,
  setKey,
  statusError,
} from '../../meta/index.ts';
import { dropGated } from '../../schema/index.ts';
import { versionFault } from '../read/parameters.ts';
import { objectKey } from '../read/selection.ts';
import { partialWriteOf, projectionOf, requestKind } from '../resource/convert.ts';
import type { PartialUpdateSubresource, StatusSubresource } from '../resource/definition.ts';
import type { Change, Target } from '../types.ts';
import { decodeBody, decodePatched } from './body.ts';
import { copyOf, managedProjection } from './field-management.ts';
import { metadataOf } from './metadata.ts';
import { applied, applyPatch } from './patch.ts';
import { prepareDelete } from './prepare-delete.ts';
import type { PendingObject, WriteRequest } from './write-request.ts';

/** Applies the change to the stored object, before defaulting, admission and validation. */
export function* preparePendingObject(request: WriteRequest, old: ApiObject | undefined): Steps<PendingObject> {
  const { change, registry, target, options } = request;
  switch (change.verb) {
    case 'create':
      return prepareCreate(request, yield* decodeBody(registry, target, change.object, options), change.object.value);
    case 'update': {
      const body = yield* decodeBody(registry, target, change.object, options);
      checkNamespaceAndName(target, body.metadata);
      if (old !== undefined) {
        if (projectionOf(target) === undefined) checkUid(target, body.metadata, old);
        return yield* prepareUpdate(request, body, old);
      }
      if (target.resource.definition.strategy.createOnUpdate !== true || target.subresource !== '')
        throw absent(target);
      checkUid(target, body.metadata, undefined);
      body.metadata.resourceVersion = '';
      return prepareCreate(request, body, change.object.value);
    }
    case 'patch': {
      if (change.format === 'apply') return yield* prepareApply(request, old);
      if (old === undefined) throw absent(target);
      const patched = yield* applyPatch(target, change, managedProjection(target, old), options);
      yield;
      const body = yield* decodePatched(registry, target, patched, change, options);
      checkNamespaceAndName(target, body.metadata);
      return yield* prepareUpdate(request, body, old);
    }
    default:
      if (old === undefined || request.deletion === undefined) throw absent(target);
      return yield* prepareDelete(registry, target.resource, old, request.deletion, request.context);
  }
}

function* prepareApply(request: WriteRequest, old: ApiObject | undefined): Steps<PendingObject> {
  const { target, change } = request;
  if (old === undefined && target.subresource !== '') throw absent(target);
  const body = yield* applied(request, old);
  const { metadata } = body;
  checkNamespaceAndName(target, metadata);
  if (old !== undefined) return yield* prepareUpdate(request, body, old);
  const { uid = '' } = metadata;
  if (uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw statusError.conflict(target.resource.id, target.name, why);
  }
  metadata.resourceVersion = '';
  return prepareCreate(request, body, change.verb === 'patch' ? change.patch : {});
}

const absent = ({ resource, name }: Target) => statusError.notFound(resource.id, name);

/** Defaults the namespace to that of the request; removes it from a cluster-scoped object. @throws StatusError 400 */
export function defaultNamespace({ resource, namespace }: Target, metadata: ObjectMeta): void {
  const given = metadata.namespace ?? '';
  if (resource.definition.namespaced && given !== '' && given !== namespace) {
    throw statusError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  metadata.namespace = resource.definition.namespaced ? namespace : '';
}

function checkNamespaceAndName(target: Target, metadata: ObjectMeta): void {
  defaultNamespace(target, metadata);
  const { name = '' } = metadata;
  if (name === '') {
    throw statusError.badRequest(
      `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== target.name) {
    throw statusError.badRequest(
      `the name of the object (${name}) does not match the name on the URL (${target.name})`,
    );
  }
}

/** @throws StatusError 409 for a body whose uid is not that of the stored object */
function checkUid(target: Target, { uid = '' }: ObjectMeta, old: ApiObject | undefined): void {
  const { resource, name } = target;
  const found = old?.metadata.uid ?? '';
  if (uid === '' || uid === found) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  // The storage layer of the reference server reports it, with the key in its etcd.
  const where = `StorageError: invalid object, Code: 4, Key: /registry${objectKey(target.resource, target)}, ResourceVersion: 0`;
  throw statusError.conflict(resource.id, name, `${where}, AdditionalErrorMsg: ${why}`);
}

const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

function generateName(random: Random, base: string): string {
  let name = base.slice(0, 58);
  for (let i = 0; i < 5; i++) name += nameLetters[random.integer(nameLetters.length)];
  return name;
}

function prepareCreate({ registry, target, context }: WriteRequest, object: ApiObject, sent: Json): PendingObject {
  const { definition, storageVersion } = target.resource;
  const { strategy } = definition;
  const { metadata } = object;
  if (definition.terminating === true) throw terminating();
  defaultNamespace(target, metadata);
  const generated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '';
  object.metadata = metadataOf(metadata, {
    name: generated ? generateName(registry.random, metadata.generateName ?? '') : metadata.name,
    generation: strategy.generation === true ? 1 : metadata.generation,
    uid: registry.random.uuid(),
    creationTimestamp: formatTime(context.now),
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  });
  const resetsStatus = strategy.createsWithStatus !== true && hasStatus(target);
  if (resetsStatus && isJsonObject(sent) && sent['status'] !== undefined) {
    setField(object, 'status', storageVersion.type.decode({}).value['status']);
  }
  return { object, remove: false, generated };
}

const terminating = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'create not allowed while custom resource definition is terminating');

const hasStatus = ({ resource }: Target) => resource.subresources.has('status');

function setField(object: JsonObject, field: string, value: Json | undefined): void {
  if (value === undefined) delete object[field];
  else object[field] = value;
}

function* prepareUpdate(
  { target, change, context }: WriteRequest,
  sent: ApiObject,
  old: ApiObject,
): Steps<PendingObject> {
  const { metadata } = sent;
  const before = old.metadata;
  const pending = { remove: false, generated: false };
  if (projectionOf(target) !== undefined) return { ...pending, object: yield* copyOf(old), projection: sent };
  checkVersion(target, change, metadata, before);
  const after = metadataOf(metadata, {
    uid: metadata.uid || before.uid,
    resourceVersion: before.resourceVersion,
    generation: before.generation,
    creationTimestamp: metadata.creationTimestamp ?? before.creationTimestamp,
    // A deletion cannot be taken back.
    deletionTimestamp: before.deletionTimestamp ?? metadata.deletionTimestamp,
    deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds ?? before.deletionGracePeriodSeconds,
  });
  const partial = partialWriteOf(target);
  if (partial !== undefined) {
    const object = yield* copyOf(old);
    object.metadata = partialMetadata(partial, after, object.metadata);
    if (partial.type === 'status') setField(object, 'status', sent['status']);
    else partial.partialUpdate.apply(object, sent, context);
    return { ...pending, object };
  }
  sent.metadata = after;
  if (hasStatus(target)) {
    setField(sent, 'status', old['status'] === undefined ? undefined : yield* jsonCopyInSteps(old['status']));
  }
  return { ...pending, object: sent };
}

/** The metadata after a write of a part: as sent, but for the fields that are reset. Managed fields are always as sent. */
function partialMetadata(
  partial: StatusSubresource | PartialUpdateSubresource,
  given: ObjectMeta & JsonObject,
  before: ObjectMeta & JsonObject,
): ObjectMeta & JsonObject {
  const whole = partial.type === 'partialUpdate' && partial.writableFields !== undefined;
  const reset = whole ? [['metadata']] : (partial.resetFields ?? []);
  const names = reset.flatMap(([field, ...inner]) => (field === 'metadata' ? [inner] : []));
  if (names.some(([name]) => name === undefined)) return metadataOf(before, { managedFields: given.managedFields });
  return metadataOf(given, Object.fromEntries(names.map(([name = '']) => [name, before[name]])));
}

const invalidManagers =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests';

/**
 * Undoes what mutating admission has written beyond the part of the object that the request writes.
 * @throws StatusError 400 for another namespace
 */
export function* keepToPart(
  { target, context, options }: WriteRequest,
  { object, rewritten }: PendingObject,
  old: ApiObject | undefined,
): Steps<void> {
  if (rewritten === undefined) return;
  const { definition, storageVersion } = target.resource;
  defaultNamespace(target, object.metadata);
  const admitted = yield* admittedManagedFields(object.metadata.managedFields, rewritten.managedFields);
  if (admitted === undefined) options.warnings.add(invalidManagers);
  const { entries: managedFields } = admitted ?? { entries: rewritten.managedFields };
  object.metadata = metadataOf(object.metadata, { managedFields });
  const partial = partialWriteOf(target);
  if (partial !== undefined && old !== undefined) {
    const kept = yield* copyOf(old);
    kept.metadata = partialMetadata(partial, object.metadata, kept.metadata);
    if (partial.type === 'status') setField(kept, 'status', object['status']);
    else partial.partialUpdate.apply(kept, object, context);
    replaceContent(object, kept);
  } else if (hasStatus(target) && old !== undefined) {
    setField(object, 'status', old['status'] === undefined ? undefined : yield* jsonCopyInSteps(old['status']));
  } else if (hasStatus(target) && definition.strategy.createsWithStatus !== true && object['status'] !== undefined) {
    setField(object, 'status', storageVersion.type.decode({}).value['status']);
  }
}

/** Gives an object the fields of another one, in place. */
export function replaceContent(object: JsonObject, next: JsonObject): void {
  for (const key of Object.keys(object)) delete object[key];
  for (const [key, value] of Object.entries(next)) if (value !== undefined) setKey(object, key, value);
}

/** Writes a projection that was sent into the object. @throws StatusError 409, 422 */
export function completeProjection(
  { target, change, context }: WriteRequest,
  { object, projection: sent }: PendingObject,
): void {
  const projection = projectionOf(target);
  if (projection === undefined || sent === undefined) return;
  const errors = atOnce(allErrors(() => projection.validate(sent, context)));
  if (errors.length > 0) throw statusError.invalid(requestKind(target), target.name, errors);
  checkUid(target, sent.metadata, object);
  // Without a resourceVersion it is that of the object.
  if ((sent.metadata.resourceVersion ?? '') !== '') checkVersion(target, change, sent.metadata, object.metadata);
  projection.write(object, sent);
}

/** Whether a resourceVersion is set: neither empty nor 0. @throws StatusError 500 when it is no number */
function isVersionSet(text: string): boolean {
  const why = text === '' ? undefined : versionFault(text);
  if (why !== undefined) throw new StatusError(500, '', why);
  return Number(text) > 0;
}

function checkVersion(target: Target, change: Change, { resourceVersion = '' }: ObjectMeta, before: ObjectMeta): void {
  const { definition, id } = target.resource;
  const { group, resource: kind } = id;
  if (resourceVersion === before.resourceVersion) return;
  if (isVersionSet(resourceVersion)) throw statusError.modified(id, target.name);
  if (definition.strategy.unconditionalUpdate !== false || change.verb === 'patch') return;
  throw statusError.invalid({ group, kind }, target.name, [
    fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
  ]);
}

/** Runs the strategy's preparation after mutating admission; increments the generation when the spec has changed. */
export function* completePendingObject(
  { target, change, context }: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
): Steps<void> {
  const { definition, gated } = target.resource;
  const { strategy } = definition;
  const { object } = pending;
  if (change.verb === 'delete') return;
  if (gated !== undefined) dropGated(object, old, gated);
  if (old === undefined) {
    strategy.prepareCreate?.(object, context);
    return;
  }
  const partial = partialWriteOf(target);
  if (partial === undefined) strategy.prepareUpdate?.(object, old, context);
  else if (partial.type === 'status') strategy.prepareStatusUpdate?.(object, old, context);
  if (strategy.generation === true && (yield* specChanged(object, old))) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  pending.remove =
    old.metadata.deletionTimestamp !== undefined &&
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds === 0 &&
    finalizers.length === 0 &&
    strategy.termination?.pending(object) !== true;
}

/** Whether two objects differ in more than metadata and status. */
function* specChanged(object: ApiObject, old: ApiObject): Steps<boolean> {
  const skipped = (key: string) => key === 'metadata' || key === 'status' || key === 'kind' || key === 'apiVersion';
  for (const key of Object.keys(object)) {
    if (!skipped(key) && !(yield* equalInSteps(object[key], old[key]))) return true;
  }
  for (const key of Object.keys(old)) if (!skipped(key) && !Object.hasOwn(object, key)) return true;
  return false;
}

/** @throws StatusError 500 for a new object with a resourceVersion */
export function rejectPresetResourceVersion({ object }: PendingObject): void {
  const { resourceVersion = '' } = object.metadata;
  // A resourceVersion that is no number is ignored.
  if (!/^[0-9]+$/.test(resourceVersion) || !isVersionSet(resourceVersion)) return;
  throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
}
