import type { CachedObject } from '../cache/index.ts';
import { stringifyJson } from '../codec/index.ts';
import { type ApiObject, type ByteString, encodeText } from '../meta/index.ts';
import type { Projection } from './definition.ts';
import type { CompiledVersion, RequestKind } from './resource.ts';
import { readObject } from './stored/read.ts';
import type { Target } from './types.ts';

/** The version in which the client speaks. */
export function versionOf({ resource, version }: Target): CompiledVersion {
  return resource.versions.get(version) ?? resource.storageVersion;
}

/** The kind that is spoken at a subresource instead of that of the resource. */
function ownKind({ resource, subresource }: Target): RequestKind | undefined {
  return subresource === '' ? undefined : resource.subresources.get(subresource)?.own;
}

/** The kind, and its version, that is read and sent at the target. */
export function requestKind(target: Target): RequestKind {
  const { resource } = target;
  const own = ownKind(target);
  if (own !== undefined) return own;
  const { declared, apiVersion, type } = versionOf(target);
  const { group, kind } = resource.definition;
  return { group, version: declared.version, kind, apiVersion, type };
}

/** How the target shows the stored object, when it shows another. */
export function projectionOf({ resource, subresource }: Target): Projection | undefined {
  return subresource === '' ? undefined : resource.subresources.get(subresource)?.declared.projection;
}

/** Whether a write there is one to the whole object. */
export const isWhole = (target: Target): boolean => target.subresource === '' || projectionOf(target) !== undefined;

/** Whether the client sees the objects as they are stored. */
export function isStorageVersion(target: Target): boolean {
  const { definition, format } = target.resource;
  if (projectionOf(target) !== undefined) return false;
  return versionOf(target).apiVersion === format.apiVersion && definition.kind === format.kind;
}

/** An object of the storage version in the client's version; the argument is not changed. */
export function fromStorage(target: Target, object: ApiObject): ApiObject {
  if (isStorageVersion(target)) return object;
  const view = projectionOf(target);
  if (view !== undefined) return view.read(object);
  const { declared, apiVersion } = versionOf(target);
  const { kind: _, apiVersion: __, ...rest } = declared.fromStorage?.(object, target.resource.names) ?? object;
  return { kind: target.resource.definition.kind, apiVersion, ...rest } as ApiObject;
}

/** An object of the client's version in the normal form of the storage version. */
export function toStorage(target: Target, object: ApiObject): ApiObject {
  if (isStorageVersion(target) || ownKind(target) !== undefined) return object;
  const { format, names, storageVersion } = target.resource;
  const converted = versionOf(target).declared.toStorage?.(object, names) ?? object;
  const stored = storageVersion.type.decode(converted).value as ApiObject;
  return { ...stored, kind: format.kind, apiVersion: format.apiVersion };
}

/** The object as the client's version shows it: the stored bytes themselves when that is the storage version. */
export function encode(target: Target, object: CachedObject): ByteString {
  if (isStorageVersion(target)) return object.bytes;
  return encodeText(stringifyJson(fromStorage(target, readObject(target.resource.format, object))));
}
