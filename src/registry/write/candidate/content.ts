import {
  type ApiObject,
  equalInSteps,
  isLarge,
  type Json,
  type JsonObject,
  jsonCopyInSteps,
  jsonEqual,
  type ObjectMeta,
  Pace,
  type Steps,
  setKey,
} from '../../../meta/index.ts';
import type { PartialUpdateSubresource, StatusSubresource, StrategyContext } from '../../resource/definition.ts';
import type { Resource } from '../../resource/resource.ts';
import { partialWriteOf, projectionOf } from '../../resource/target.ts';
import type { Candidate, WriteRequest } from '../write-request.ts';
import { checkVersion, storedMetadata } from './metadata.ts';

/** The stored object replaced by `sent`, as far as the request writes it. @throws StatusError 409, 422 */
export function* replacedCandidate(
  { target, context }: WriteRequest,
  sent: ApiObject,
  old: ApiObject,
): Steps<Candidate> {
  const remove = false;
  const generated = false;
  if (projectionOf(target) !== undefined) {
    return { object: yield* copyObject(old), projection: sent, remove, generated };
  }
  const { metadata } = sent;
  const stored = old.metadata;
  checkVersion(target, metadata, stored);
  const next = storedMetadata(metadata, {
    uid: metadata.uid || stored.uid,
    resourceVersion: stored.resourceVersion,
    generation: stored.generation,
    // Another time is ignored, such as that of an object that was exported and created again.
    creationTimestamp: stored.creationTimestamp ?? metadata.creationTimestamp,
    // A deletion cannot be undone.
    deletionTimestamp: stored.deletionTimestamp ?? metadata.deletionTimestamp,
    deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds ?? stored.deletionGracePeriodSeconds,
  });
  const partial = partialWriteOf(target);
  if (partial !== undefined) {
    return { object: yield* withPart(partial, old, sent, next, context), remove, generated };
  }
  sent.metadata = next;
  yield* restoreStatus(target.resource, sent, old);
  return { object: sent, remove, generated };
}

/** A deep copy, except for the managed fields, which are never changed in place. */
export function* copyObject(object: ApiObject): Steps<ApiObject> {
  const copy = yield* jsonCopyInSteps(withManagedFields(object, undefined));
  return withManagedFields(copy, object.metadata.managedFields);
}

/** Replaces the managed fields of the object in place. */
export function setManagedFields({ metadata }: ApiObject, managedFields: Json[] | undefined): void {
  // They are encoded last.
  delete metadata.managedFields;
  if (managedFields !== undefined) metadata.managedFields = managedFields;
}

/** A shallow copy of the object with other managed fields. */
export function withManagedFields(object: ApiObject, managedFields: Json[] | undefined): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } } as ApiObject;
}

/** Whether two objects have the same members, apart from those of the given names. */
export function* equalExcept(a: JsonObject, b: JsonObject, names: readonly string[]): Steps<boolean> {
  if (!isLarge(a)) {
    for (const key of Object.keys(a)) {
      if (!names.includes(key) && (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key]))) return false;
    }
    return Object.keys(b).every((key) => Object.hasOwn(a, key) || names.includes(key));
  }
  const pace = new Pace();
  const keys = Object.keys(a);
  if (pace.over(keys.length)) yield;
  for (const key of keys) {
    if (pace.over()) yield;
    if (names.includes(key)) continue;
    if (!Object.hasOwn(b, key) || !(yield* equalInSteps(a[key], b[key]))) return false;
  }
  const others = Object.keys(b);
  if (pace.over(2 * others.length)) yield;
  return others.every((key) => Object.hasOwn(a, key) || names.includes(key));
}

/** Sets the defaults of a kind that depend on other fields: at once, or in the steps that are returned. */
export const setDefaults = (
  { definition }: Resource,
  object: ApiObject,
  context: StrategyContext,
): Steps<void> | undefined => definition.strategy.defaults?.(object, context) ?? undefined;

/** Replaces the content of an object in place. */
export function replaceContent(object: JsonObject, next: JsonObject): void {
  for (const key of Object.keys(object)) delete object[key];
  for (const [key, value] of Object.entries(next)) if (value !== undefined) setKey(object, key, value);
}

/** Whether the status of the resource's objects is written through a subresource. */
const hasStatus = ({ subresources }: Resource): boolean => subresources.has('status');

function setField(object: JsonObject, field: string, value: Json | undefined): void {
  if (value === undefined) delete object[field];
  else object[field] = value;
}

/** Restores the stored status of an object whose status is written through a subresource. */
export function* restoreStatus(resource: Resource, object: ApiObject, old: ApiObject): Steps<void> {
  if (!hasStatus(resource)) return;
  setField(object, 'status', old['status'] === undefined ? undefined : yield* jsonCopyInSteps(old['status']));
}

/** Resets the status of a new object, where a create does not set it: the body or an annotation of it may have one. */
export function resetStatus(resource: Resource, object: ApiObject): void {
  if (resource.definition.strategy.createsWithStatus === true || !hasStatus(resource)) return;
  if (object['status'] === undefined) return;
  setField(object, 'status', resource.storageVersion.type.decode({}).value['status']);
}

/** A copy of the stored object with the part of `sent` that the subresource writes, and `metadata` as far as it does. */
export function* withPart(
  subresource: StatusSubresource | PartialUpdateSubresource,
  old: ApiObject,
  sent: ApiObject,
  metadata: ObjectMeta & JsonObject,
  context: StrategyContext,
): Steps<ApiObject> {
  const object = yield* copyObject(old);
  object.metadata = partialMetadata(subresource, metadata, object.metadata);
  if (subresource.type === 'status') setField(object, 'status', sent['status'] ?? undefined);
  else subresource.partialUpdate.apply(object, sent, context);
  return object;
}

/** The metadata after a write of a part: as sent, except for fields that are reset. Managed fields are always as sent. */
function partialMetadata(
  subresource: StatusSubresource | PartialUpdateSubresource,
  sent: ObjectMeta & JsonObject,
  stored: ObjectMeta & JsonObject,
): ObjectMeta & JsonObject {
  const resetsAll = subresource.type === 'partialUpdate' && subresource.writableFields !== undefined;
  const resetPaths = resetsAll ? [['metadata']] : (subresource.resetFields ?? []);
  const names = resetPaths.flatMap(([field, ...inner]) => (field === 'metadata' ? [inner] : []));
  if (names.some(([name]) => name === undefined)) return storedMetadata(stored, { managedFields: sent.managedFields });
  return storedMetadata(sent, Object.fromEntries(names.map(([name = '']) => [name, stored[name]])));
}
