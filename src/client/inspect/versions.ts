/** Former versions of an object, which a server with `--object-history` returns (docs/history.md). */
import { at, isJsonObject, isStatus, type JsonObject, StatusError } from '../../meta/index.ts';

/** The parameters of a GET that reads a former version. */
export interface VersionQuery {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: 'Exact';
}

/** Reads one object as it was at a version. @throws StatusError */
export type ReadFormer = (query: VersionQuery) => Promise<JsonObject>;

/** The resourceVersion of an object. */
export const versionOf = (object: JsonObject): number => Number(at(object, 'metadata', 'resourceVersion'));

/**
 * The object as it was at a version; undefined when it did not exist then.
 * @throws StatusError 410 when that version has been compacted, 501 when the server does not read former versions
 */
export async function readAt(read: ReadFormer, version: number): Promise<JsonObject | undefined> {
  try {
    const object = await read({ resourceVersion: String(version), resourceVersionMatch: 'Exact' });
    if (versionOf(object) <= version) return object;
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
  throw historyUnsupported();
}

/** The error of a server without `--object-history`, which returns the latest version instead. */
export const historyUnsupported = (): StatusError =>
  new StatusError(
    501,
    'NotImplemented',
    'the server does not read former versions of objects: it must run with --object-history',
  );

/** A version of an object. */
export interface Version {
  readonly version: number;
  readonly object: JsonObject;
  /** Whether the object was deleted at this version; `object` is its last state. */
  readonly deleted: boolean;
}

export interface Versions {
  /** The newest first. */
  readonly versions: readonly Version[];
  /** Why there is no version before the last one: the limit is reached, the object was created, or they are compacted. */
  readonly end: 'limit' | 'created' | 'compacted';
}

/**
 * At most `limit` versions of an object, from `newest` on. Each is one request.
 * @throws StatusError 501 when the server does not read former versions
 */
export async function readVersions(read: ReadFormer, newest: Version, limit: number): Promise<Versions> {
  const versions = [newest];
  for (let last = newest; ; ) {
    try {
      const object = await readAt(read, last.version - 1);
      if (object === undefined) return { versions, end: 'created' };
      if (versions.length === limit) return { versions, end: 'limit' };
      last = { version: versionOf(object), object, deleted: false };
      versions.push(last);
    } catch (error) {
      if (!isStatus(error, 410)) throw error;
      return { versions, end: 'compacted' };
    }
  }
}

/** The fields of the metadata that a user decides about. */
export function ownMetadata({ metadata }: JsonObject): JsonObject {
  const { name, namespace, labels, annotations } = isJsonObject(metadata) ? metadata : ({} as JsonObject);
  return Object.fromEntries(
    Object.entries({ name, namespace, labels, annotations }).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}

/**
 * The body of the update that restores a former version: with the UID and the resourceVersion of the current object as
 * preconditions, and with its owner references and finalizers.
 */
export function restorationOf(former: JsonObject, current: JsonObject): JsonObject {
  const metadata: JsonObject = { ...(isJsonObject(current['metadata']) ? current['metadata'] : {}) };
  for (const field of ['labels', 'annotations', 'managedFields']) delete metadata[field];
  return { ...former, metadata: { ...metadata, ...ownMetadata(former) } };
}
