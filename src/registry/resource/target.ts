import {
  type ApiObject,
  atOnce,
  isLarge,
  type Names,
  pathSegmentName,
  quote,
  type Steps,
  statusError,
} from '../../meta/index.ts';
import type { Target } from '../types.ts';
import type {
  PartialUpdateSubresource,
  Projection,
  ResourceVersion,
  StatusSubresource,
  Strategy,
} from './definition.ts';
import type { CompiledVersion, RequestKind, Resource } from './resource.ts';

/** The version of the request. */
export function versionOf({ resource, version }: Target): CompiledVersion {
  return resource.versions.get(version) ?? resource.storageVersion;
}

/** The rules of writes to the target. */
export const strategyOf = (target: Target): Strategy =>
  versionOf(target).declared.strategy ?? target.resource.definition.strategy;

/** The kind of the bodies of requests to the target. */
export function requestKind(target: Target): RequestKind {
  const { resource } = target;
  const subresourceKind = resource.subresources.get(target.subresource)?.requestKind;
  if (subresourceKind !== undefined) return subresourceKind;
  const { declared, apiVersion, type } = versionOf(target);
  const { group, kind } = resource.definition;
  return { group, version: declared.version, kind, apiVersion, type };
}

/** How the target represents the stored object; undefined where it is read and written as it is. */
export function projectionOf({ resource, subresource }: Target): Projection | undefined {
  const served = resource.subresources.get(subresource);
  return served?.type === 'projection' ? served.projection : undefined;
}

/** The target's subresource if it writes a part of the stored object; undefined for writes of the whole object. */
export function partialWriteOf({
  resource,
  subresource,
}: Target): StatusSubresource | PartialUpdateSubresource | undefined {
  const served = resource.subresources.get(subresource);
  return served?.type === 'status' || served?.type === 'partialUpdate' ? served : undefined;
}

/** Whether the target represents objects as they are stored. */
export function isStorageVersion({ resource, version, subresource }: Target): boolean {
  const { versions, format, definition } = resource;
  const own = versions.get(version);
  if (own !== undefined && (own.apiVersion !== format.apiVersion || definition.kind !== format.kind)) return false;
  return subresource === '' || resource.subresources.get(subresource)?.type !== 'projection';
}

/** Converts an object of the storage version to the version of the request, without changing it. */
export const fromStorage = (target: Target, object: ApiObject): ApiObject => atOnce(fromStorageInSteps(target, object));

/** The same in steps, for the sake of large objects. */
export function* fromStorageInSteps(target: Target, object: ApiObject): Steps<ApiObject> {
  if (isStorageVersion(target)) return object;
  const projection = projectionOf(target);
  if (projection !== undefined) return projection.read(object);
  const { declared, apiVersion } = versionOf(target);
  const { fromStorage: convert, fromStorageInSteps: convertInSteps } = declared;
  const converted = yield* converting(object, target.resource.names, convert, convertInSteps);
  const { kind: _, apiVersion: __, ...rest } = converted;
  return { kind: target.resource.definition.kind, apiVersion, ...rest } as ApiObject;
}

function* converting(
  object: ApiObject,
  names: Names,
  convert: ResourceVersion['toStorage'],
  convertInSteps: ResourceVersion['toStorageInSteps'],
): Steps<ApiObject> {
  if (convertInSteps !== undefined) return yield* convertInSteps(object, names);
  return convert?.(object, names) ?? object;
}

/** Converts an object of the version of the request to the storage version, in its normal form. */
export const toStorage = (target: Target, object: ApiObject): ApiObject => atOnce(toStorageInSteps(target, object));

/** The same in steps, for the sake of large objects. */
export function* toStorageInSteps(target: Target, object: ApiObject): Steps<ApiObject> {
  const { format, names, storageVersion, subresources } = target.resource;
  if (isStorageVersion(target) || subresources.get(target.subresource)?.requestKind !== undefined) return object;
  const { toStorage: convert, toStorageInSteps: convertInSteps } = versionOf(target).declared;
  const converted = yield* converting(object, names, convert, convertInSteps);
  const { type } = storageVersion;
  const { value } = isLarge(converted) ? yield* type.decodeInSteps(converted) : type.decode(converted);
  const stored = value as ApiObject;
  return { ...stored, kind: format.kind, apiVersion: format.apiVersion };
}

/** @throws StatusError 400 for a name that is not a path segment */
export function checkName({ name }: Target): void {
  const problems = pathSegmentName(name);
  if (problems.length === 0) return;
  throw statusError.badRequest(`Name parameter invalid: ${quote(name)}: ${problems.join(';')}`);
}

/** The common prefix of the keys of a selection. */
export function rangeOf({ definition, keyPrefix }: Resource, { namespace }: Pick<Target, 'namespace'>): string {
  return definition.namespaced && namespace !== '' ? `${keyPrefix}${namespace}/` : keyPrefix;
}

/** The key of an object. */
export function objectKey(
  { definition, keyPrefix }: Resource,
  { namespace, name }: Pick<Target, 'namespace' | 'name'>,
): string {
  return definition.namespaced ? `${keyPrefix}${namespace}/${name}` : keyPrefix + name;
}

/** The key of the only object of that namespace and name; undefined when there may be several. */
export function keyOf(resource: Resource, place: Pick<Target, 'namespace' | 'name'>): string | undefined {
  if (place.name === '' || (resource.definition.namespaced && place.namespace === '')) return undefined;
  return objectKey(resource, place);
}
