import type { CachedObject } from '../../cache/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import { type ApiObject, atOnce, type ByteString, encodeText, isLarge, type Steps } from '../../meta/index.ts';
import { readObject } from '../stored/read.ts';
import type { Target } from '../types.ts';
import type { PartialUpdateSubresource, Projection, StatusSubresource } from './definition.ts';
import type { CompiledVersion, RequestKind } from './resource.ts';

/** The version of the request. */
export function versionOf({ resource, version }: Target): CompiledVersion {
  return resource.versions.get(version) ?? resource.storageVersion;
}

/** The kind of the bodies of requests to the target. */
export function requestKind(target: Target): RequestKind {
  const { resource } = target;
  const own = resource.subresources.get(target.subresource)?.requestKind;
  if (own !== undefined) return own;
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
  if (resource.subresources.get(subresource)?.type === 'projection') return false;
  return (resource.versions.get(version) ?? resource.storageVersion).isStorage;
}

/** Converts an object of the storage version to the version of the request, without changing it. */
export function fromStorage(target: Target, object: ApiObject): ApiObject {
  if (isStorageVersion(target)) return object;
  const projection = projectionOf(target);
  if (projection !== undefined) return projection.read(object);
  const { declared, apiVersion } = versionOf(target);
  const { kind: _, apiVersion: __, ...rest } = declared.fromStorage?.(object, target.resource.names) ?? object;
  return { kind: target.resource.definition.kind, apiVersion, ...rest } as ApiObject;
}

/** Converts an object of the version of the request to the storage version, in its normal form. */
export const toStorage = (target: Target, object: ApiObject): ApiObject => atOnce(toStorageInSteps(target, object));

/** The same in steps, for the sake of large objects. */
export function* toStorageInSteps(target: Target, object: ApiObject): Steps<ApiObject> {
  const { format, names, storageVersion, subresources } = target.resource;
  if (isStorageVersion(target) || subresources.get(target.subresource)?.requestKind !== undefined) return object;
  const converted = versionOf(target).declared.toStorage?.(object, names) ?? object;
  const { type } = storageVersion;
  const { value } = isLarge(converted) ? yield* type.decodeInSteps(converted) : type.decode(converted);
  const stored = value as ApiObject;
  return { ...stored, kind: format.kind, apiVersion: format.apiVersion };
}

/**
 * Encodes an object in the version of the request: the stored bytes where that is the storage version. `read`: the
 * object, if it has been parsed.
 */
export function encode(target: Target, object: CachedObject, read?: ApiObject): ByteString {
  if (isStorageVersion(target)) return object.bytes;
  const stored = read ?? readObject(target.resource.format, object);
  projectionOf(target)?.checkRead?.(stored);
  return encodeText(stringifyJson(fromStorage(target, stored)));
}
