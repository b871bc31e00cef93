import { type CachedObject, unknownLabels } from '../../cache/index.ts';
import { readOwnJson, readOwnJsonInSteps, stringifyJson } from '../../codec/index.ts';
import {
  type ApiObject,
  atOnce,
  type ByteString,
  decodeText,
  encodeText,
  isJsonObject,
  type Steps,
} from '../../meta/index.ts';
import type { Entry } from '../../store/index.ts';
import { headEnd, headOf, isUnconverted, type ObjectFormat, selectFields } from './format.ts';
import { outlineOf } from './outline.ts';
import { cachedText, cachedTextInSteps, storedTextInSteps } from './write.ts';

/** Only name, generateName and namespace are stored before the uid, and in their texts a quote is escaped. */
const uidMark = '"uid":"';
const versionMark = '"resourceVersion":"';
const labelsMark = '"labels":{';
const versionText = (revision: number): string => `${versionMark}${revision}",`;

/**
 * Where the bytes of a cached object are put together, so that the string made of them is flat and not a chain of
 * pieces. What it holds is valid until the next call of {@link scratchOf}.
 */
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** A buffer of at least this length in bytes. */
function scratchOf(length: number): Buffer {
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(2 * length);
  return scratch;
}

/**
 * The cached form of a stored value. Never throws: of a value that cannot be read it has the name, and `isCorrupt`.
 * `parsed`: the object, where it has been parsed.
 */
export function toCachedObject(format: ObjectFormat, entry: Entry, parsed?: ApiObject): CachedObject {
  const view = viewOf(entry.value);
  const at = behindUid(format.head, view);
  const isForeign = at < 0 || (format.custom?.normalizes === true && !isOwnWrite(format, entry.key, view));
  return isForeign ? describeForeign(format, entry, view, parsed) : describeView(format, entry, view, at, parsed);
}

/** The same in steps, for the sake of large objects. */
export function* describeInSteps(format: ObjectFormat, entry: Entry): Steps<CachedObject> {
  const isParsed = format.fields.length > 0 || format.custom?.normalizes === true;
  return toCachedObject(format, entry, isParsed ? yield* parsedInSteps(entry) : undefined);
}

/** Undefined: the value cannot be read. */
function* parsedInSteps({ value }: Entry): Steps<ApiObject | undefined> {
  try {
    return (yield* readOwnJsonInSteps(viewOf(value).toString())) as ApiObject;
  } catch {
    return undefined;
  }
}

const viewOf = (value: Uint8Array): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);

/** Whether this server has just written the value: it has all that the definition gives it now. */
function isOwnWrite({ pendingCommits }: ObjectFormat, key: string, view: Buffer): boolean {
  const mine = pendingCommits.get(key);
  return mine !== undefined && mine.stored === view.toString('latin1');
}

/** The cached form of bytes in the form of this resource; `parsed` is their object, where it has been parsed. */
function describeView(format: ObjectFormat, entry: Entry, view: Buffer, at: number, parsed?: ApiObject): CachedObject {
  const { revision } = entry;
  const insert = versionText(revision);
  const out = scratchOf(view.length + insert.length);
  view.copy(out, 0, 0, at);
  out.write(insert, at, 'latin1');
  view.copy(out, at + insert.length, at);
  const bytes = out.toString('latin1', 0, view.length + insert.length) as ByteString;
  return finish(format, entry.key, revision, bytes, at, parsed) ?? describeCorrupt(format, entry);
}

/** The cached form of an object in the form of this resource; `text`: its text in that form, where it is known. */
export function* describeObject(
  format: ObjectFormat,
  key: string,
  object: ApiObject,
  revision: number,
  text?: string,
): Steps<CachedObject> {
  const own = text ?? (yield* cachedTextInSteps(format, object));
  yield;
  return describeText(format, key, own, revision, object);
}

/**
 * The cached form of an object that is stored as `text`: a custom object that is stored in another version lacks what
 * that version does not declare.
 */
export function* describeAsRead(
  format: ObjectFormat,
  key: string,
  object: ApiObject,
  revision: number,
  text: string,
): Steps<CachedObject> {
  const { custom, apiVersion, storedApiVersion } = format;
  if (custom === undefined) return yield* describeObject(format, key, object, revision, text);
  if (custom.webhook !== undefined || storedApiVersion === apiVersion || text === '') {
    return yield* describeObject(format, key, object, revision);
  }
  const read = (yield* readOwnJsonInSteps(text)) as ApiObject;
  yield* custom.fromStored(read);
  return yield* describeObject(format, key, read, revision);
}

/** The cached form of an object's text; at revision 0 it has no resourceVersion. `parsed`: the object, where it is known. */
export function describeText(
  format: ObjectFormat,
  key: string,
  text: string,
  revision: number,
  parsed?: ApiObject,
): CachedObject {
  if (revision !== 0) {
    const entry = { key, revision, value: Buffer.from(text) };
    const at = behindUid(format.head, entry.value);
    return at < 0 ? describeCorrupt(format, entry) : describeView(format, entry, entry.value, at, parsed);
  }
  const stored = encodeText(text);
  const mark = stored.indexOf(uidMark, format.head.length);
  const at = mark < 0 ? format.head.length : stored.indexOf(',', mark + uidMark.length) + 1;
  return finish(format, key, 0, stored, at, parsed) ?? named(format, key, 0, stored);
}

/** A deleted object: its last state with the resourceVersion of its deletion. */
export function describeDeleted(format: ObjectFormat, last: CachedObject, revision: number): CachedObject {
  const { bytes } = last;
  // Not behind `head`: the object may be in another version, with a shorter one.
  const mark = bytes.indexOf(versionMark) + versionMark.length;
  const end = bytes.indexOf('"', mark);
  const version = String(revision);
  const length = bytes.length - (end - mark) + version.length;
  const out = scratchOf(length + bytes.length);
  out.write(bytes, 0, 'latin1');
  out.copyWithin(mark + version.length, end, bytes.length);
  out.write(version, mark, 'latin1');
  return {
    ...last,
    revision,
    bytes: out.toString('latin1', 0, length) as ByteString,
    metadataEnd: undefined,
    row: undefined,
    sizeOf: undefined,
    ...(last.converted === undefined ? {} : { converted: describeDeleted(format, last.converted, revision) }),
  };
}

/** The index behind `"uid":"…",` of stored bytes that begin with `head`; -1 when they have another form. */
function behindUid(head: ByteString, stored: Buffer): number {
  if (stored.length < head.length || stored.toString('latin1', 0, head.length) !== head) return -1;
  const mark = stored.indexOf(uidMark, head.length, 'latin1');
  if (mark < 0 || stored[stored.length - 1] !== 0x7d) return -1;
  return stored.indexOf(0x2c, mark + uidMark.length) + 1 || -1;
}

/** The cached object; undefined when its labels or selectable fields cannot be read. `at` is an index between uid and labels. */
function finish(
  format: ObjectFormat,
  key: string,
  revision: number,
  bytes: ByteString,
  at: number,
  parsed?: ApiObject,
): CachedObject | undefined {
  const labels = labelsOf(bytes, at);
  const selects = format.fields.length > 0 && !isUnconverted(format, bytes);
  const fields = selects ? fieldsOf(format, key, revision, bytes, at, parsed) : noFields;
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
    // Present from the start, so that all objects have one hidden class.
    metadataEnd: undefined,
    row: undefined,
    rowOf: undefined,
    size: undefined,
    sizeOf: undefined,
  };
}

const noFields: { readonly [path: string]: string } = {};
const noLabels: { readonly [key: string]: string } = {};

/**
 * Between uid and labels there are only numbers and times, so the first brace opens the labels, or a later field of an
 * object without labels. Label keys and values hold neither quotes nor braces.
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
  parsed: ApiObject | undefined,
): CachedObject['fields'] | undefined {
  const pending = format.pendingCommits.get(key);
  if (pending !== undefined && isStored(pending.stored, revision, bytes, at)) return pending.fields;
  try {
    return selectFields(format, parsed ?? (readOwnJson(decodeText(selectableText(format, bytes))) as ApiObject));
  } catch {
    return undefined;
  }
}

/** From this length on (bytes) an object is not parsed as a whole for its selectable fields. */
const longText = 32 * 1024;

/** The part of an object's text in which its selectable fields are: of a long one, not what no field's path begins with. */
function selectableText({ fields }: ObjectFormat, bytes: ByteString): ByteString {
  if (bytes.length < longText) return bytes;
  const names = fields.map(({ path }) => /^[\w-]+(?=[.[]|$)/.exec(path)?.[0]);
  return names.includes(undefined) ? bytes : (outlineOf(bytes, (name) => names.includes(name)) ?? bytes);
}

/**
 * Whether the stored bytes of `cached`, which is `old` as an object, are those that a write of it would store: another
 * process, or an earlier version, may have written them in another form.
 */
export function* isCanonical(format: ObjectFormat, old: ApiObject, cached: CachedObject): Steps<boolean> {
  if (cached.foreign === true) return false;
  const text = yield* storedTextInSteps(format, old);
  const stored = encodeText(text);
  return isStored(
    stored,
    cached.revision,
    cached.bytes,
    stored.indexOf(',', stored.indexOf(uidMark, format.head.length) + uidMark.length) + 1,
  );
}

/** Whether `bytes` are the stored ones with the resourceVersion inserted at `at`. */
function isStored(stored: ByteString, revision: number, bytes: ByteString, at: number): boolean {
  const rest = at + versionText(revision).length;
  return (
    bytes.length - rest === stored.length - at &&
    bytes.slice(rest) === stored.slice(at) &&
    bytes.startsWith(stored.slice(0, at))
  );
}

/**
 * A value in another form than `cachedText`, in another version, or one that may lack defaults: parsed, converted, and
 * encoded again unless it has that form; corrupt when that fails. One that a webhook converts remains in the version in
 * which it is stored.
 */
function describeForeign(
  format: ObjectFormat,
  entry: Entry,
  view: Buffer,
  parsed: ApiObject | undefined,
): CachedObject {
  const other = unconvertedHead(format, view);
  const behind = other === undefined ? -1 : behindUid(other, view);
  if (behind > 0) return describeView(format, entry, view, behind);
  try {
    const object = inOwnVersion(format, parsed ?? (readOwnJson(view.toString()) as ApiObject));
    if (isJsonObject(object) && isJsonObject(object.metadata) && typeof object.metadata.uid === 'string') {
      object.metadata.creationTimestamp ??= '1970-01-01T00:00:00Z';
      const { custom } = format;
      const apiVersion = custom?.webhook === undefined ? format.apiVersion : object.apiVersion;
      const changed = apiVersion === format.apiVersion && custom !== undefined && atOnce(custom.fromStored(object));
      const head = apiVersion === format.apiVersion ? format.head : headOf(format.kind, apiVersion);
      const found = changed ? -1 : behindUid(head, view);
      const value = found > 0 ? view : Buffer.from(cachedText(format, object, apiVersion));
      const at = found > 0 ? found : behindUid(head, value);
      if (at > 0) {
        const cached = describeView(format, entry, value, at, object);
        return at === found ? cached : { ...cached, foreign: true };
      }
    }
  } catch {
    // Corrupt.
  }
  return describeCorrupt(format, entry);
}

/** An object of a built-in kind that may be stored in another version. @throws Error for an unknown version */
function inOwnVersion({ apiVersion, custom, fromOtherVersions }: ObjectFormat, stored: ApiObject): ApiObject {
  if (custom !== undefined || !isJsonObject(stored) || stored.apiVersion === apiVersion) return stored;
  const convert = fromOtherVersions.get(stored.apiVersion);
  if (convert === undefined) throw new Error(`no conversion from ${stored.apiVersion}`);
  return convert(stored);
}

/** The head of stored bytes in a version from which a webhook converts; undefined when they have another form. */
function unconvertedHead({ kind, apiVersion, head, custom }: ObjectFormat, stored: Buffer): ByteString | undefined {
  if (custom?.webhook === undefined) return undefined;
  const end = stored.indexOf(headEnd, 0, 'latin1') + headEnd.length;
  // Kind, group and version are short.
  const found = stored.toString('latin1', 0, Math.min(end, 1_024)) as ByteString;
  const group = headOf(kind, apiVersion.slice(0, apiVersion.indexOf('/') + 1)).slice(0, -headEnd.length);
  return found !== head && found.startsWith(group) && found.endsWith(headEnd) ? found : undefined;
}

/** Maximum number of corrupt objects that are remembered. When there are more, all are forgotten and reported again. */
const maxRemembered = 1_000;

function describeCorrupt(format: ObjectFormat, { key, revision }: Entry): CachedObject {
  const { corrupt, report } = format;
  if (corrupt.get(key) !== revision) {
    if (corrupt.size >= maxRemembered) corrupt.clear();
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
