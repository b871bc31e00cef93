import {
  type ApiObject,
  equalInSteps,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopyInSteps,
  parseGroupVersion,
  StatusError,
  shorten,
  statusError,
  type WaitingSteps,
} from '../meta/index.ts';
import { kubectlManager, type LastApplied, lastAppliedTo, migrateLastApplied, withLastApplied } from './client-side.ts';
import { conflictError, conflictsBeyond, conflictsWith } from './conflicts.ts';
import { isEmpty } from './field-set.ts';
import { filterFieldsInSteps } from './field-set-steps.ts';
import { fieldsOfInSteps } from './fields-of.ts';
import {
  decodeManagedFieldsInSteps,
  encodeManagedFields,
  type ManagedEntry,
  sameManager,
  withFields,
  withTime,
} from './managed-fields.ts';
import { mergeInSteps } from './merge.ts';
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
  /** The live object in the version of the request; undefined when the apply creates it. */
  readonly live: ApiObject | undefined;
  /** The body as sent: neither defaulted nor pruned. */
  readonly applyConfig: JsonObject;
  /** Take conflicting fields from their managers. */
  readonly force: boolean;
}

const beforeFirstApply = 'before-first-apply';

/** An applied configuration merged into the live object, before normalization. */
export interface MergedApply {
  /** The merged and pruned object; the live object itself when the configuration changes nothing. */
  readonly object: JsonObject;
  /** The live object, or the zero object for a create. */
  readonly before: JsonObject;
  /** The new entry of the applier. */
  readonly applier: ManagedEntry;
  /** The entries of all other managers. */
  readonly others: readonly ManagedEntry[];
  /** The configuration of the last client-side apply, which the applier takes over. */
  readonly lastApplied: LastApplied | undefined;
}

/**
 * The first half of an apply: validates the applied configuration, merges it into the live object and prunes what the
 * manager no longer applies. The caller normalizes the object and calls {@link settleApply}. Runs in steps, because
 * objects may be large.
 * @throws StatusError 400 when the configuration sets managedFields, 500 when it does not fit the schema (code and
 *   message as clients know them)
 */
export function* mergeApply(request: Apply): WaitingSteps<MergedApply> {
  const { type, writer, live, applyConfig } = request;
  const { manager, apiVersion, subresource = '' } = writer;
  const version = type.version(apiVersion);
  if (version === undefined) throw statusError.internal(`${apiVersion} is not a version of the type`);
  const shape = objectShape(version.schema, type.names);
  const metadata = applyConfig['metadata'];
  if (isJsonObject(metadata) && (metadata['managedFields'] ?? null) !== null) {
    throw statusError.badRequest('metadata.managedFields must be nil');
  }
  const errors = yield* validateApplyConfig(shape, applyConfig);
  if (errors.length > 0) throw invalidConfigError(applyConfig, apiVersion, errors);
  yield;
  const entries = yield* entriesBeforeApply(type, version, live, writer);
  const takesOver = live !== undefined && manager === kubectlManager;
  const lastApplied = takesOver ? yield* lastAppliedTo(live, shape, apiVersion, type.names) : undefined;
  yield;
  const id = { manager, operation: 'Apply', apiVersion, subresource } as const;
  const last = entries.find((entry) => sameManager(entry, id));
  const others = entries.filter((entry) => entry !== last);
  const sent = yield* fieldsOfInSteps(shape, applyConfig, last?.fields);
  const fields = yield* filterFieldsInSteps(type.fieldFilter, sent);
  yield;
  const before = live ?? zeroObject(version.schema, type.names);
  let object = yield* mergeInSteps(shape, before, applyConfig);
  yield;
  const applier = last === undefined ? { ...id, time: undefined, fields } : yield* withFields(last, fields, apiVersion);
  if (last !== undefined && applier !== last)
    object = yield* prune(type, object, apiVersion, last, [...others, applier]);
  return { object, before, applier, others, lastApplied };
}

/**
 * The second half of an apply: detects conflicts and returns the normalized object with its `metadata.managedFields`.
 * Returns the live object itself when nothing changes, managed fields included; else the result shares at most entries
 * of managedFields and values without a schema with it. A different encoding of an equal value, or of a zero value, is
 * no change.
 * @throws StatusError 409 when the apply changes fields of other managers and is not forced
 */
export function* settleApply(request: Apply, merged: MergedApply, normalized: ApiObject): WaitingSteps<ApiObject> {
  const { type, live, applyConfig, writer, force } = request;
  const { before, applier, others, lastApplied } = merged;
  const { manager, apiVersion, now } = writer;
  const after = live !== undefined && (yield* equalInSteps(normalized, live)) ? live : normalized;
  yield;
  const actual = new Comparisons(type, apiVersion, before, after);
  yield* compared(actual, others);
  if (!force && after !== before) {
    const requested = new Comparisons(type, apiVersion, before, merged.object);
    yield* compared(requested, others);
    const conflicts = conflictsBeyond(yield* conflictsWith(others, requested, actual), lastApplied?.unchanged ?? {});
    if (conflicts.length > 0) throw conflictError(conflicts);
  }
  const left = yield* stripChangedFields(others, actual);
  // An apply that changes no value retains the time of its entry; a new entry then has none.
  const self = merged.object === before ? applier : withTime(applier, now);
  const applied = isEmpty(self.fields) ? left : [...left, self];
  yield;
  const entries =
    lastApplied === undefined ? applied : yield* migrateLastApplied(applied, self, lastApplied, type.names);
  const object = manager === kubectlManager ? withLastApplied(after, applyConfig, type.names) : after;
  const managedFields = yield* encodeManagedFields(entries, live?.metadata.managedFields);
  if (object === live && managedFields === live.metadata.managedFields) return live;
  return withManagedFields(after === live ? yield* jsonCopyInSteps(object) : object, managedFields);
}

function invalidConfigError(applyConfig: JsonObject, apiVersion: string, errors: readonly string[]): StatusError {
  const { group = '', version = apiVersion } = parseGroupVersion(apiVersion) ?? {};
  const metadata = isJsonObject(applyConfig['metadata']) ? applyConfig['metadata'] : {};
  const text = (value: unknown) => (typeof value === 'string' ? shorten(value) : '');
  const what = `${text(metadata['namespace'])}/${text(metadata['name'])}; ${group}/${version}, Kind=${text(applyConfig['kind'])}`;
  const why = errors.length === 1 ? errors[0] : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
  return new StatusError(500, '', `failed to create typed patch object (${what}): ${why}`);
}

/** The entries of the live object. Without any, the manager `before-first-apply` owns all of its fields. */
function* entriesBeforeApply(
  type: ManagedType,
  version: ManagedVersion,
  live: ApiObject | undefined,
  writer: Writer,
): WaitingSteps<ManagedEntry[]> {
  const entries = yield* reconcileEntries(type, yield* decodeManagedFieldsInSteps(live?.metadata.managedFields));
  if (live === undefined || entries.length > 0) return entries;
  const { apiVersion, subresource = '', now } = writer;
  const comparisons = new Comparisons({ ...type, version: () => version }, apiVersion, undefined, live);
  const all = yield* comparisons.in(apiVersion);
  if (all === undefined || isEmpty(all.assigned)) return entries;
  const fields = all.assigned;
  return [{ manager: beforeFirstApply, operation: 'Update', apiVersion, subresource, time: now, fields }];
}

/** Runs the comparisons of all versions of the entries, each in a step. */
function* compared(transition: Comparisons, entries: readonly ManagedEntry[]): WaitingSteps<void> {
  for (const version of new Set(entries.map(({ apiVersion }) => apiVersion))) {
    yield* transition.in(version);
    yield;
  }
}

/** Changes its argument. */
function withManagedFields(object: JsonObject, managedFields: Json[] | undefined): ApiObject {
  object['metadata'] ??= {};
  const { metadata } = object as ApiObject;
  if (managedFields === undefined) delete metadata.managedFields;
  else metadata.managedFields = managedFields;
  return object as ApiObject;
}
