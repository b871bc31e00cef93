import { readOwnJson } from '../../codec/index.ts';
import { type ApiObject, isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Resource } from '../resource/resource.ts';
import { storedText } from './write.ts';

/** A value of an object in its storage version, and the version in which it was stored before. */
interface Converted {
  readonly value: Buffer;
  /** Such as `extensions/v1beta1`. */
  readonly from: string;
}

/**
 * Converts the stored value of an object of a built-in kind to the storage version. Undefined: it is in that version, or is
 * no object in a version from which the kind is converted.
 */
export function toStorageVersion({ format }: Resource, value: Uint8Array): Converted | undefined {
  const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (view.toString('latin1', 0, format.head.length) === format.head) return undefined;
  const object = parse(view);
  const from = object?.['apiVersion'];
  const convert = typeof from === 'string' ? format.fromOtherVersions.get(from) : undefined;
  if (object === undefined || convert === undefined || from === format.apiVersion) return undefined;
  try {
    return { value: Buffer.from(storedText(format, convert(object as ApiObject))), from: from as string };
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function parse(view: Buffer): JsonObject | undefined {
  try {
    const parsed = readOwnJson(view.toString());
    return isJsonObject(parsed) && isJsonObject(parsed['metadata']) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
