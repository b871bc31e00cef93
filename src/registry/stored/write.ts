import { stringifyJson, stringifyJsonInSteps } from '../../codec/index.ts';
import { type ApiObject, atOnce, encodeText, type Json, type JsonObject, type Steps } from '../../meta/index.ts';
import { metaFields, type ObjectFormat, type PendingCommit, selectFields } from './format.ts';

/** The stored fields of the metadata, in their order; the managedFields follow them. */
const storedMetaFields = metaFields.filter((name) => name !== 'resourceVersion' && name !== 'managedFields');

/** The stored text of an object, without its resourceVersion. The object must have a uid and a creationTimestamp. */
export const storedText = (format: ObjectFormat, object: ApiObject): string =>
  format.custom === undefined
    ? textAtOnce(format, format.storedApiVersion, object)
    : atOnce(storedTextInSteps(format, object));

/** The same in steps, for the sake of large objects. */
export function* storedTextInSteps(format: ObjectFormat, object: ApiObject): Steps<string> {
  const { custom, storedApiVersion } = format;
  // A webhook has converted the object already.
  const converts = custom !== undefined && custom.webhook === undefined;
  return yield* textInSteps(format, storedApiVersion, converts ? yield* custom.toStored(object) : object);
}

/** The text in the form in which the object is cached: that of a custom resource may be stored in another version. */
export const cachedText = (format: ObjectFormat, object: ApiObject, apiVersion = format.apiVersion): string =>
  textAtOnce(format, apiVersion, object);

/** The same in steps, for the sake of large objects. */
export const cachedTextInSteps = (format: ObjectFormat, object: ApiObject): Steps<string> =>
  textInSteps(format, format.apiVersion, object);

/** The same as {@link textInSteps}, of an object that is not long. */
function textAtOnce({ kind }: ObjectFormat, apiVersion: string, object: ApiObject): string {
  const metadata = storedMetadata(object.metadata);
  const { managedFields } = object.metadata;
  if (managedFields !== undefined) metadata['managedFields'] = managedFields;
  let text = stringifyJson({ kind, apiVersion, metadata }).slice(0, -1);
  for (const key of Object.keys(object)) {
    if (key === 'kind' || key === 'apiVersion' || key === 'metadata') continue;
    text += `,${JSON.stringify(key)}:${stringifyJson(object[key] as Json)}`;
  }
  return `${text}}`;
}

/** The stored fields of the metadata without the managedFields, in their order. */
function storedMetadata(metadata: ApiObject['metadata']): JsonObject {
  const stored: JsonObject = {};
  for (const name of storedMetaFields) {
    const value = metadata[name];
    if (value !== undefined) stored[name] = value;
  }
  return stored;
}

function* textInSteps(format: ObjectFormat, apiVersion: string, object: ApiObject): Steps<string> {
  const type = `"kind":${JSON.stringify(format.kind)},"apiVersion":${JSON.stringify(apiVersion)}`;
  const own = yield* stringifyJsonInSteps(storedMetadata(object.metadata));
  yield;
  let text = `{${type},"metadata":${yield* withManagedFields(format, own, object.metadata.managedFields)}`;
  for (const key of Object.keys(object)) {
    if (key === 'kind' || key === 'apiVersion' || key === 'metadata') continue;
    yield;
    text += `,${JSON.stringify(key)}:${yield* stringifyJsonInSteps(object[key] as Json)}`;
  }
  return `${text}}`;
}

function* withManagedFields({ shared }: ObjectFormat, metadata: string, entries: Json[] | undefined): Steps<string> {
  if (entries === undefined) return metadata;
  const separator = metadata === '{}' ? '' : ',';
  return `${metadata.slice(0, -1)}${separator}"managedFields":${yield* shared.managedFields.text(entries)}}`;
}

/**
 * Whether a write of the unchanged object would store the same bytes: of a custom resource it may be stored in another
 * version than objects are stored in now, or without defaults.
 */
export function* isAsStored(format: ObjectFormat, object: ApiObject, stored: Uint8Array): Steps<boolean> {
  return format.custom === undefined || Buffer.from(yield* storedTextInSteps(format, object)).equals(stored);
}

/**
 * Commits an object. While the commit is pending, the watch that delivers the object does not parse it again for
 * selectable fields or defaults.
 */
export function withPendingCommit<T>(
  format: ObjectFormat,
  key: string,
  object: ApiObject,
  text: string,
  commit: () => Promise<T>,
): Promise<T> {
  const { fields, custom } = format;
  if (fields.length === 0 && custom?.normalizes !== true) return commit();
  if (custom?.webhook !== undefined && format.storedApiVersion !== format.apiVersion) return commit();
  return whilePending(format, key, { stored: encodeText(text), fields: selectFields(format, object) }, commit);
}

async function whilePending<T>(
  { pendingCommits }: ObjectFormat,
  key: string,
  pending: PendingCommit,
  commit: () => Promise<T>,
): Promise<T> {
  pendingCommits.set(key, pending);
  try {
    return await commit();
  } finally {
    if (pendingCommits.get(key) === pending) pendingCommits.delete(key);
  }
}
