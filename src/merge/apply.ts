import {
  type ApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  jsonEqual,
  parseGroupVersion,
  StatusError,
  type Steps,
  shorten,
  statusError,
} from '../meta/index.ts';
import { lastAppliedTo, migrateLastApplied, withLastApplied } from './client-side.ts';
import { conflictError, conflictsBeyond, conflictsWith } from './conflicts.ts';
import { isEmpty } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import {
  decodeManagedFields,
  encodeManagedFields,
  type ManagedEntry,
  sameManager,
  withFields,
  withTime,
} from './managed-fields.ts';
import { merge } from './merge.ts';
import { prune } from './prune.ts';
import { objectShape, zeroObject } from './shape.ts';
import {
  Comparisons,
  type ManagedType,
  type ManagedVersion,
  reconcileEntries,
  stripChangedFields,
  type Writer,
} from './transition.ts';
import { validateApplyConfig } from './validate-apply.ts';

/** A server-side apply. */
export interface Apply {
  readonly type: ManagedType;
  readonly writer: Writer;
  /** The object as it is, in the version of the request; undefined when the apply creates it. */
  readonly live: ApiObject | undefined;
  /** The body as it was sent: nothing filled in, nothing dropped. */
  readonly applyConfig: JsonObject;
  /** Take what other managers own. */
  readonly force: boolean;
}

const beforeFirstApply = 'before-first-apply';

/**
 * The object after an apply in its normal form, `metadata.managedFields` with it: the live one with what the intent
 * says, without what the manager applied before, does not now, and nobody else owns. It is the live object itself when
 * nothing changes, its ownership included; else it shares at most entries of managedFields with it, and untyped values.
 * @throws StatusError 400 when the intent sets managedFields, 409 when it changes what others own and is not forced,
 *   500 when it does not fit the schema (code and text as clients know them).
 * In steps, for the sake of large objects.
 */
export function* applyConfiguration(request: Apply): Steps<ApiObject> {
  const { type, writer, live, applyConfig } = request;
  const { apiVersion } = writer;
  const version = type.version(apiVersion);
  if (version === undefined) throw statusError.internal(`${apiVersion} is no version of the type`);
  const shape = objectShape(version.schema, type.names);
  const metadata = applyConfig['metadata'];
  if (isJsonObject(metadata) && (metadata['managedFields'] ?? null) !== null) {
    throw statusError.badRequest('metadata.managedFields must be nil');
  }
  const errors = validateApplyConfig(shape, applyConfig);
  if (errors.length > 0) throw invalidConfigError(applyConfig, apiVersion, errors);
  yield;
  const entries = entriesBeforeApply(type, version, live, writer);
  const last = live && lastAppliedTo(live, shape, writer.manager, apiVersion, type.names);
  yield;
  const result = yield* applied(request, version, entries, last?.unchanged);
  yield;
  const after =
    last === undefined ? result.entries : migrateLastApplied(result.entries, result.applier, last, type.names);
  const object = withLastApplied(result.object, applyConfig, writer.manager, type.names);
  const managedFields = encodeManagedFields(after, live?.metadata.managedFields);
  if (object === live && managedFields === live.metadata.managedFields) return live;
  return withManagedFields(result.object === live ? jsonCopy(object) : object, managedFields);
}

function invalidConfigError(applyConfig: JsonObject, apiVersion: string, errors: readonly string[]): StatusError {
  const { group = '', version = apiVersion } = parseGroupVersion(apiVersion) ?? {};
  const metadata = isJsonObject(applyConfig['metadata']) ? applyConfig['metadata'] : {};
  const text = (value: unknown) => (typeof value === 'string' ? shorten(value) : '');
  const what = `${text(metadata['namespace'])}/${text(metadata['name'])}; ${group}/${version}, Kind=${text(applyConfig['kind'])}`;
  const why = errors.length === 1 ? errors[0] : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
  return new StatusError(500, '', `failed to create typed patch object (${what}): ${why}`);
}

/** Whatever an object holds that nobody was ever written down for belongs to whoever wrote before the first apply. */
function entriesBeforeApply(
  type: ManagedType,
  version: ManagedVersion,
  live: ApiObject | undefined,
  writer: Writer,
): ManagedEntry[] {
  const entries = reconcileEntries(type, decodeManagedFields(live?.metadata.managedFields));
  if (live === undefined || entries.length > 0) return entries;
  const { apiVersion, subresource = '', now } = writer;
  const all = new Comparisons({ names: type.names, version: () => version }, apiVersion, undefined, live).in(
    apiVersion,
  );
  if (all === undefined || isEmpty(all.assigned)) return entries;
  const fields = all.assigned;
  return [{ manager: beforeFirstApply, operation: 'Update', apiVersion, subresource, time: now, fields }];
}

interface Applied {
  readonly object: JsonObject;
  readonly entries: ManagedEntry[];
  readonly applier: ManagedEntry;
}

/** `unchanged`: what may be taken without force. */
function* applied(
  request: Apply,
  version: ManagedVersion,
  entries: readonly ManagedEntry[],
  unchanged: ManagedEntry['fields'] = {},
): Steps<Applied> {
  const { type, live, applyConfig, writer, force } = request;
  const { manager, apiVersion, subresource = '', now } = writer;
  const shape = objectShape(version.schema, type.names);
  const id = { manager, operation: 'Apply', apiVersion, subresource } as const;
  const last = entries.find((entry) => sameManager(entry, id));
  const others = entries.filter((entry) => entry !== last);

  const fields = version.writable(fieldsOf(shape, applyConfig, last?.fields));
  yield;
  const before = live ?? zeroObject(version.schema, type.names);
  let object = merge(shape, before, applyConfig);
  yield;
  const applier = last === undefined ? { ...id, time: undefined, fields } : withFields(last, fields, apiVersion);
  if (last !== undefined && applier !== last) object = prune(type, object, apiVersion, last, [...others, applier]);
  yield;
  const after = normalized(version, live, before, object);
  yield;
  const transition = new Comparisons(type, apiVersion, before, after);
  yield* compared(transition, others);
  if (!force && after !== before) {
    const requested = new Comparisons(type, apiVersion, before, object);
    yield* compared(requested, others);
    const conflicts = conflictsBeyond(conflictsWith(others, requested, transition), unchanged);
    if (conflicts.length > 0) throw conflictError(conflicts);
  }
  const left = stripChangedFields(others, transition);
  // An entry of one who shares without changing anything has the time that it had: a new one, none.
  const self = after === before ? applier : withTime(applier, now);
  return { object: after, entries: isEmpty(fields) ? left : [...left, self], applier: self };
}

/** Compares in the versions of the owners, each in a step of its own. */
function* compared(transition: Comparisons, entries: readonly ManagedEntry[]): Steps<void> {
  for (const version of new Set(entries.map(({ apiVersion }) => apiVersion))) {
    transition.in(version);
    yield;
  }
}

/**
 * The object in its normal form: the live one itself when that is the same. Spellings and zero values are no changes.
 */
function normalized(
  version: ManagedVersion,
  live: ApiObject | undefined,
  before: JsonObject,
  object: JsonObject,
): JsonObject {
  if (live === undefined) return version.normalize(object);
  if (object === before) return live;
  const after = version.normalize(object);
  return jsonEqual(after, live) ? live : after;
}

/** Changes its argument. */
function withManagedFields(object: JsonObject, managedFields: Json[] | undefined): ApiObject {
  object['metadata'] ??= {};
  const { metadata } = object as ApiObject;
  if (managedFields === undefined) delete metadata.managedFields;
  else metadata.managedFields = managedFields;
  return object as ApiObject;
}
