import { type CachedObject, unknownLabels } from '../../cache/index.ts';
import { readOwnJson, readOwnJsonInSteps } from '../../codec/index.ts';
import {
  type ApiObject,
  type ByteString,
  decodeText,
  type Json,
  quote,
  type StatusError,
  type Steps,
  statusError,
} from '../../meta/index.ts';
import { isUnconverted, type ObjectFormat } from './format.ts';

/** Whether the stored object cannot be read: its bytes then hold its name and nothing else. */
export const isCorrupt = (object: CachedObject): boolean => object.labels === unknownLabels;

/** The 500 for a stored object that cannot be read; it names the key. */
export const unreadable = ({ key }: CachedObject, cause?: unknown): StatusError =>
  statusError.internal(`the stored object ${quote(key)} cannot be read`, cause);

/**
 * The parsed object, with its resourceVersion. The caller may change it, except the entries of its managedFields, which
 * are shared.
 * @throws StatusError 500 when its bytes are not JSON
 */
export function readObject({ shared }: ObjectFormat, cached: CachedObject): ApiObject {
  const { key, bytes } = cached;
  const cut = shared.managedFields.splice(key, bytes);
  try {
    if (cut !== undefined) {
      const object = readOwnJson(decodeText(cut.rest)) as ApiObject;
      if ((object.metadata.managedFields as Json | undefined) === 0) {
        object.metadata.managedFields = cut.entries;
        return object;
      }
    }
    return readOwnJson(decodeText(bytes)) as ApiObject;
  } catch (error) {
    throw unreadable(cached, error);
  }
}

/** The same in steps, for a large object. */
export function* readObjectInSteps({ shared }: ObjectFormat, cached: CachedObject): Steps<ApiObject> {
  const { key, bytes } = cached;
  const cut = shared.managedFields.splice(key, bytes);
  try {
    if (cut !== undefined) {
      const object = (yield* readOwnJsonInSteps(decodeText(cut.rest))) as ApiObject;
      if ((object.metadata.managedFields as Json | undefined) === 0) {
        object.metadata.managedFields = cut.entries;
        return object;
      }
    }
    return (yield* readOwnJsonInSteps(decodeText(bytes))) as ApiObject;
  } catch (error) {
    throw unreadable(cached, error);
  }
}

/** The text of the metadata, cut out of the bytes of an object that is not corrupt. */
export function metadataText(format: ObjectFormat, object: Pick<CachedObject, 'bytes' | 'metadataEnd'>): ByteString {
  const { bytes } = object;
  const start = isUnconverted(format, bytes) ? bytes.indexOf('"metadata":{') + 11 : format.head.length - 1;
  object.metadataEnd ??= endOfObject(bytes, start);
  return bytes.slice(start, object.metadataEnd) as ByteString;
}

/** The index behind the JSON object that begins at `start`. */
function endOfObject(bytes: ByteString, start: number): number {
  let depth = 0;
  for (let i = start; i < bytes.length; i++) {
    const code = bytes.charCodeAt(i);
    if (code === 0x22) {
      i = endOfString(bytes, i);
    } else if (code === 0x7b) depth++;
    else if (code === 0x7d && --depth === 0) return i + 1;
  }
  return bytes.length;
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(bytes: ByteString, start: number): number {
  for (let i = start + 1; i < bytes.length; i++) {
    const code = bytes.charCodeAt(i);
    if (code === 0x5c) i++;
    else if (code === 0x22) return i;
  }
  return bytes.length;
}
