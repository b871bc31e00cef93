import {
  type ApiObject,
  isLarge,
  type JsonObject,
  type Names,
  Pace,
  type Steps,
  type WaitingSteps,
} from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { type Comparison, compare } from './compare.ts';
import { compareInSteps } from './compare-steps.ts';
import { type FieldFilter, type FieldSet, filterFields, isEmpty, union } from './field-set.ts';
import { differenceInSteps, filterFieldsInSteps, unionInSteps } from './field-set-steps.ts';
import { entryVisits, type ManagedEntry, withFields } from './managed-fields.ts';
import { reconcileInSteps } from './reconcile.ts';
import { objectShape, type StructShape, zeroObject } from './shape.ts';

/** A type as managed fields need it, for one endpoint: the main resource or a subresource. */
export interface ManagedType {
  readonly names: Names;
  /** The fields that a write through this endpoint can own; it does not change the others. */
  readonly fieldFilter: FieldFilter;
  /** Returns a version of the type; undefined when it is not, or no longer, served. */
  version(apiVersion: string): ManagedVersion | undefined;
}

export interface ManagedVersion {
  readonly schema: StructSchema;
  /** Converts an object of another version to this one. */
  convert(object: ApiObject): WaitingSteps<ApiObject>;
}

/** The writer of a request. */
export interface Writer {
  readonly manager: string;
  /** The version of the request and of its objects. */
  readonly apiVersion: string;
  readonly subresource?: string;
  /** RFC 3339 in UTC, whole seconds. */
  readonly now: string;
}

export function shapeIn(type: ManagedType, apiVersion: string): StructShape | undefined {
  const version = type.version(apiVersion);
  return version && objectShape(version.schema, type.names);
}

/** Converts an object to another version; undefined when the version does not exist. */
export function* inVersion(
  type: ManagedType,
  object: JsonObject,
  from: string,
  to: string,
): WaitingSteps<JsonObject | undefined> {
  if (from === to) return object;
  const version = type.version(to);
  return version && (yield* version.convert(object as ApiObject));
}

/** The fields that a write changes, in one version of the type. */
export interface FieldChanges {
  /** Added or modified fields, which the writer owns. */
  readonly assigned: FieldSet;
  readonly removed: FieldSet;
  /** The union of assigned and removed fields. */
  readonly changed: FieldSet;
}

/** The changes of one write, compared in each version of the managed fields entries on demand. */
export class Comparisons {
  readonly #type: ManagedType;
  readonly #apiVersion: string;
  /** Undefined for a new object. */
  readonly #before: JsonObject | undefined;
  readonly #after: JsonObject;
  readonly #compared = new Map<string, FieldChanges | undefined>();

  constructor(type: ManagedType, apiVersion: string, before: JsonObject | undefined, after: JsonObject) {
    this.#type = type;
    this.#apiVersion = apiVersion;
    this.#before = before;
    this.#after = after;
  }

  /** Returns the changes in a version, filtered by the field filter; undefined when the version does not exist. */
  *in(apiVersion: string): WaitingSteps<FieldChanges | undefined> {
    if (!this.#compared.has(apiVersion)) this.#compared.set(apiVersion, yield* this.#compare(apiVersion));
    return this.#compared.get(apiVersion);
  }

  *#compare(apiVersion: string): WaitingSteps<FieldChanges | undefined> {
    const version = this.#type.version(apiVersion);
    if (version === undefined) return undefined;
    const { names, fieldFilter } = this.#type;
    const isOwn = apiVersion === this.#apiVersion;
    let before = this.#before;
    if (before === undefined) before = zeroObject(version.schema, names);
    else if (!isOwn) before = yield* version.convert(before as ApiObject);
    const shape = objectShape(version.schema, names);
    const after = isOwn ? this.#after : yield* version.convert(this.#after as ApiObject);
    if (!isLarge(before) && !isLarge(after)) return changesAtOnce(fieldFilter, compare(shape, before, after));
    const found = yield* compareInSteps(shape, before, after);
    const removed = yield* filterFieldsInSteps(fieldFilter, found.removed);
    const modified = yield* filterFieldsInSteps(fieldFilter, found.modified);
    const assigned = yield* unionInSteps(modified, yield* filterFieldsInSteps(fieldFilter, found.added));
    return { assigned, removed, changed: yield* unionInSteps(assigned, removed) };
  }
}

/** The fields that the writer of a small new object sets; undefined when the version does not exist. */
export function fieldsOfNew(type: ManagedType, apiVersion: string, object: JsonObject): FieldSet | undefined {
  const version = type.version(apiVersion);
  if (version === undefined) return undefined;
  const { names, fieldFilter } = type;
  const zero = zeroObject(version.schema, names);
  return changesAtOnce(fieldFilter, compare(objectShape(version.schema, names), zero, object)).assigned;
}

/** The changes of small objects. */
function changesAtOnce(filter: FieldFilter, found: Comparison): FieldChanges {
  const removed = filterFields(filter, found.removed);
  const assigned = union(filterFields(filter, found.modified), filterFields(filter, found.added));
  return { assigned, removed, changed: union(assigned, removed) };
}

/** Reconciles entries with the current schemas, and drops those of versions that are no longer served. */
export function* reconcileEntries(type: ManagedType, entries: readonly ManagedEntry[]): Steps<ManagedEntry[]> {
  const pace = new Pace();
  const left: ManagedEntry[] = [];
  for (const entry of entries) {
    if (pace.over(entryVisits)) yield;
    const shape = shapeIn(type, entry.apiVersion);
    if (shape !== undefined) left.push(yield* withFields(entry, yield* reconcileInSteps(shape, entry.fields)));
  }
  return left;
}

/** Removes the fields that a write changes or removes from the entries of other managers. */
export function* stripChangedFields(
  entries: readonly ManagedEntry[],
  transition: Comparisons,
): WaitingSteps<ManagedEntry[]> {
  const pace = new Pace();
  const stripped: ManagedEntry[] = [];
  for (const entry of entries) {
    if (pace.over(entryVisits)) yield;
    const changes = yield* transition.in(entry.apiVersion);
    if (changes === undefined) continue;
    const left = yield* differenceInSteps(entry.fields, changes.changed);
    if (!isEmpty(left)) stripped.push(yield* withFields(entry, left));
  }
  return stripped;
}
