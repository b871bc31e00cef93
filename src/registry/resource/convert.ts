import { type ApiObject, atOnce, isLarge, type Steps } from '../../meta/index.ts';
import type { Target } from '../types.ts';
import { isStorageVersion, projectionOf, versionOf } from './target.ts';

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
