import { type CachedObject, unknownLabels } from '../cache/index.ts';
import { readOwnJson, stringifyJson } from '../codec/index.ts';
import {
  type ApiObject,
  atOnce,
  type ByteString,
  decodeText,
  encodeText,
  isJsonObject,
  type Json,
  type JsonObject,
  quote,
  type StatusError,
  type Steps,
  statusError,
} from '../meta/index.ts';
import type { Entry } from '../store/index.ts';
import type { SelectableField } from './definition.ts';
import { managedFieldsText, spliceManagedFields } from './managed-fields-cache.ts';
import { metaFields } from './metadata.ts';

/**
 * How the objects of a resource are written. Stored and cached bytes begin with `head`, then come the fields of the
 * metadata in the order of `metaFields`; cached bytes have the resourceVersion as well, right behind the uid.
 */
export interface ObjectFormat {
  readonly namespaced: boolean;
  readonly keyPrefix: string;
  readonly kind: string;
  /** Of the storage version, such as `apps/v1`. */
  readonly apiVersion: string;
  /** `{"kind":…,"apiVersion":…,"metadata":{` */
  readonly head: ByteString;
  /** Selectable fields beyond name and namespace, of every definition that shares the objects. */
  readonly fields: readonly SelectableField[];
  /** Objects on their way to the store, by key: when they come back their fields are known. */
  readonly underway: Map<string, Underway>;
  /** What could not be read, by key: the revision that was reported last. */
  readonly corrupt: Map<string, number>;
  readonly report: CorruptReport;
}

/** Takes the key and the revision of a stored object that cannot be read. */
export type CorruptReport = (key: string, revision: number) => void;

interface Underway {
  readonly stored: ByteString;
  readonly fields: CachedObject['fields'];
}

export function formatOf(
  kind: string,
  apiVersion: string,
  rest: Pick<ObjectFormat, 'namespaced' | 'keyPrefix' | 'fields'> & { readonly report?: CorruptReport },
): ObjectFormat {
  const head = encodeText(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`);
  return { kind, apiVersion, head, underway: new Map(), corrupt: new Map(), report: () => {}, ...rest };
}

/** Stored fields of the metadata, in the order in which they are written; behind them come the managedFields. */
const storedMetaFields = metaFields.filter((name) => name !== 'resourceVersion' && name !== 'managedFields');

/** Only a name, a generateName and a namespace stand before it, and in their texts a quote is escaped. */
const uidMark = '"uid":"';
const versionMark = '"resourceVersion":"';
const labelsMark = '"labels":{';
const versionText = (revision: number): string => `${versionMark}${revision}",`;

/** The stored text of an object, which must have a uid and a creationTimestamp: without its resourceVersion. */
export const storedText = (format: ObjectFormat, object: ApiObject): string =>
  atOnce(storedTextInSteps(format, object));

/** The same in steps, for the sake of large objects. */
export function* storedTextInSteps(format: ObjectFormat, object: ApiObject): Steps<string> {
  const metadata: JsonObject = {};
  for (const name of storedMetaFields) {
    const value = object.metadata[name] as Json | undefined;
    if (value !== undefined) metadata[name] = value;
  }
  const type = `"kind":${JSON.stringify(format.kind)},"apiVersion":${JSON.stringify(format.apiVersion)}`;
  const own = stringifyJson(metadata);
  yield;
  let text = `{${type},"metadata":${withOwners(own, object.metadata.managedFields)}`;
  for (const key of Object.keys(object)) {
    if (key === 'kind' || key === 'apiVersion' || key === 'metadata') continue;
    yield;
    text += `,${JSON.stringify(key)}:${stringifyJson(object[key] as Json)}`;
  }
  return `${text}}`;
}

const withOwners = (metadata: string, owners: Json[] | undefined): string =>
  owners === undefined
    ? metadata
    : `${metadata.slice(0, -1)}${metadata === '{}' ? '' : ','}"managedFields":${managedFieldsText(owners)}}`;

/** Where texts are put together, so that what is kept is one flat string and no chain of pieces. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

function scratchFor(length: number): Buffer {
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(2 * length);
  return scratch;
}

/** Commits an object, of which nothing need be read when its text comes back from the store. */
export async function announced<T>(
  { fields, underway }: ObjectFormat,
  key: string,
  object: ApiObject,
  text: string,
  commit: () => Promise<T>,
): Promise<T> {
  if (fields.length === 0) return commit();
  const mine = { stored: encodeText(text), fields: selected(fields, object) };
  underway.set(key, mine);
  try {
    return await commit();
  } finally {
    if (underway.get(key) === mine) underway.delete(key);
  }
}

/** The bytes of a text, until the next text is put together: for the store, which keeps none that it was given. */
export function passingBytes(text: string): Buffer {
  const out = scratchFor(Buffer.byteLength(text));
  return out.subarray(0, out.write(text));
}

/** The cached form of a stored value. Never throws: what cannot be read is there with its name, and `isCorrupt`. */
export function describe(format: ObjectFormat, entry: Entry): CachedObject {
  const { value, revision } = entry;
  const view = Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const at = behindUid(format, view);
  if (at < 0) return describeForeign(format, entry, view);
  const insert = versionText(revision);
  const out = scratchFor(view.length + insert.length);
  view.copy(out, 0, 0, at);
  out.write(insert, at, 'latin1');
  view.copy(out, at + insert.length, at);
  const bytes = out.toString('latin1', 0, view.length + insert.length) as ByteString;
  return finish(format, entry.key, revision, bytes, at) ?? describeCorrupt(format, entry);
}

/** The cached form of an object whose stored text is at hand; at revision 0 it has no resourceVersion. */
export function describeText(format: ObjectFormat, key: string, text: string, revision: number): CachedObject {
  const stored = encodeText(text);
  if (revision !== 0) return describe(format, { key, revision, value: Buffer.from(stored, 'latin1') });
  const mark = stored.indexOf(uidMark, format.head.length);
  const at = mark < 0 ? format.head.length : stored.indexOf(',', mark + uidMark.length) + 1;
  return finish(format, key, 0, stored, at) ?? named(format, key, 0, stored);
}

/** The same object with the revision at which it was deleted. */
export function describeDeleted(format: ObjectFormat, last: CachedObject, revision: number): CachedObject {
  const { bytes } = last;
  const mark = bytes.indexOf(versionMark, format.head.length) + versionMark.length;
  const end = bytes.indexOf('"', mark);
  const version = String(revision);
  const length = bytes.length - (end - mark) + version.length;
  const out = scratchFor(length + bytes.length);
  out.write(bytes, 0, 'latin1');
  out.copyWithin(mark + version.length, end, bytes.length);
  out.write(version, mark, 'latin1');
  return {
    ...last,
    revision,
    bytes: out.toString('latin1', 0, length) as ByteString,
    cells: undefined,
    sizeOf: undefined,
  };
}

/** The index behind `"uid":"…",` of stored bytes in the form of this resource; -1 when they have another form. */
function behindUid(format: ObjectFormat, stored: Buffer): number {
  const { head } = format;
  if (stored.length < head.length || stored.toString('latin1', 0, head.length) !== head) return -1;
  const mark = stored.indexOf(uidMark, head.length, 'latin1');
  if (mark < 0 || stored[stored.length - 1] !== 0x7d) return -1;
  return stored.indexOf(0x2c, mark + uidMark.length) + 1 || -1;
}

/** Reads what filters need; undefined when that cannot be read. `at` lies in the metadata, before the labels. */
function finish(
  format: ObjectFormat,
  key: string,
  revision: number,
  bytes: ByteString,
  at: number,
): CachedObject | undefined {
  const labels = labelsOf(bytes, at);
  const fields = format.fields.length === 0 ? noFields : fieldsOf(format, key, revision, bytes, at);
  if (labels === undefined || fields === undefined) return undefined;
  const path = key.slice(format.keyPrefix.length);
  const slash = format.namespaced ? path.indexOf('/') : -1;
  return {
    key,
    namespace: slash < 0 ? '' : path.slice(0, slash),
    name: path.slice(slash + 1),
    revision,
    bytes,
    labels,
    fields,
    // There from the start, so that all objects have one shape.
    cells: undefined,
    cellsOf: undefined,
    size: undefined,
    sizeOf: undefined,
  };
}

const noFields: { readonly [path: string]: string } = {};
const noLabels: { readonly [key: string]: string } = {};

/**
 * Between the uid and the labels stand numbers and times alone, so the first brace there opens the labels or something
 * that comes after their place. Label keys and values hold neither quotes nor braces.
 */
function labelsOf(bytes: ByteString, at: number): CachedObject['labels'] | undefined {
  let open = at;
  for (; open < bytes.length; open++) {
    const code = bytes.charCodeAt(open);
    if (code === 0x7b || code === 0x7d) break;
  }
  if (!bytes.endsWith(labelsMark, open + 1)) return noLabels;
  const close = bytes.indexOf('}', open);
  if (close === open + 1) return noLabels;
  try {
    const labels: unknown = JSON.parse(bytes.slice(open, close + 1));
    return labels as CachedObject['labels'];
  } catch {
    return undefined;
  }
}

function fieldsOf(
  format: ObjectFormat,
  key: string,
  revision: number,
  bytes: ByteString,
  at: number,
): CachedObject['fields'] | undefined {
  const known = format.underway.get(key);
  if (known !== undefined && isStored(known.stored, revision, bytes, at)) return known.fields;
  try {
    return selected(format.fields, readOwnJson(decodeText(bytes)) as ApiObject);
  } catch {
    return undefined;
  }
}

/** Whether cached bytes are those stored ones, with the resourceVersion at `at`. */
function isStored(stored: ByteString, revision: number, bytes: ByteString, at: number): boolean {
  const rest = at + versionText(revision).length;
  return (
    bytes.length - rest === stored.length - at &&
    bytes.slice(rest) === stored.slice(at) &&
    bytes.startsWith(stored.slice(0, at))
  );
}

function selected(fields: readonly SelectableField[], object: ApiObject): CachedObject['fields'] {
  const found: { [path: string]: string } = {};
  for (const { path, value } of fields) found[path] = value(object);
  return found;
}

/** A value in another form than we write: read whole and written anew, or else kept by its name. */
function describeForeign(format: ObjectFormat, entry: Entry, view: Buffer): CachedObject {
  try {
    const object = readOwnJson(view.toString()) as ApiObject;
    if (isJsonObject(object) && isJsonObject(object.metadata) && typeof object.metadata.uid === 'string') {
      object.metadata.creationTimestamp ??= '1970-01-01T00:00:00Z';
      const value = Buffer.from(storedText(format, object));
      if (behindUid(format, value) > 0) return describe(format, { ...entry, value });
    }
  } catch {
    // Told apart below.
  }
  return describeCorrupt(format, entry);
}

/** Whether what is stored of the object cannot be read: then its bytes tell its name and nothing else. */
export const isCorrupt = (object: CachedObject): boolean => object.labels === unknownLabels;

/** Of so many keys it is known that they were reported. */
const maxReported = 1_000;

function describeCorrupt(format: ObjectFormat, { key, revision }: Entry): CachedObject {
  const { corrupt, report } = format;
  if (corrupt.get(key) !== revision) {
    if (corrupt.size >= maxReported) corrupt.clear();
    corrupt.set(key, revision);
    report(key, revision);
  }
  const object = named(format, key, revision, '' as ByteString);
  const { name, namespace } = object;
  const metadata = { name, ...(namespace === '' ? {} : { namespace }), resourceVersion: String(revision) };
  const bytes = encodeText(stringifyJson({ kind: format.kind, apiVersion: format.apiVersion, metadata }));
  return { ...object, bytes, labels: unknownLabels };
}

function named(format: ObjectFormat, key: string, revision: number, bytes: ByteString): CachedObject {
  const path = key.slice(format.keyPrefix.length);
  const slash = format.namespaced ? path.indexOf('/') : -1;
  const namespace = slash < 0 ? '' : path.slice(0, slash);
  return { key, namespace, name: path.slice(slash + 1), revision, bytes, labels: noLabels, fields: noFields };
}

/** Names the key under which what cannot be read is stored. */
export const unreadable = ({ key }: CachedObject, cause?: unknown): StatusError =>
  statusError.internal(`the stored object ${quote(key)} cannot be read`, cause);

/**
 * The object itself, with its resourceVersion; fresh but for who owns its fields, which is never changed in place.
 * @throws StatusError 500 when its bytes are no JSON
 */
export function readObject(held: CachedObject): ApiObject {
  const { key, bytes } = held;
  const cut = spliceManagedFields(key, bytes);
  try {
    if (cut !== undefined) {
      const object = readOwnJson(decodeText(cut.rest)) as ApiObject;
      if ((object.metadata.managedFields as Json | undefined) === 0) {
        object.metadata.managedFields = cut.owners;
        return object;
      }
    }
    return readOwnJson(decodeText(bytes)) as ApiObject;
  } catch (error) {
    throw unreadable(held, error);
  }
}

/** The text of the metadata, cut out of the bytes of an object that is not corrupt. */
export function metadataText(format: ObjectFormat, { bytes }: CachedObject): ByteString {
  const start = bytes.startsWith(format.head) ? format.head.length - 1 : bytes.indexOf('"metadata":{') + 11;
  let depth = 0;
  for (let i = start; i < bytes.length; i++) {
    const code = bytes.charCodeAt(i);
    if (code === 0x22) {
      i = endOfString(bytes, i);
    } else if (code === 0x7b) depth++;
    else if (code === 0x7d && --depth === 0) return bytes.slice(start, i + 1) as ByteString;
  }
  return '{}' as ByteString;
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
