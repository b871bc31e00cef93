import type { ApiObject, JsonObject, Names } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { compare } from './compare.ts';
import { difference, type FieldSet, isEmpty, union } from './field-set.ts';
import { type ManagedEntry, withFields } from './managed-fields.ts';
import { reconcile } from './reconcile.ts';
import { objectShape, type StructShape, zeroObject } from './shape.ts';

/** A type as ownership sees it through one endpoint: the resource itself or one of its subresources. */
export interface ManagedType {
  readonly names: Names;
  /** A version of the type; undefined when it is not served, or no longer. */
  version(apiVersion: string): ManagedVersion | undefined;
}

export interface ManagedVersion {
  readonly schema: StructSchema;
  /** What of some fields a write through this endpoint can change: nobody comes to own the rest by writing it. */
  readonly writable: (fields: FieldSet) => FieldSet;
  /** The object in this version. Asked only for objects in another one. */
  convert(object: ApiObject): ApiObject;
  /**
   * An object of this version as it would be stored: decoded, with its defaults. Neither keeps nor changes its
   * argument.
   */
  normalize(object: JsonObject): ApiObject;
}

/** What every write knows of its writer. */
export interface Writer {
  readonly manager: string;
  /** The version of the request, which its objects are in. */
  readonly apiVersion: string;
  readonly subresource?: string;
  /** RFC 3339 in UTC, whole seconds. */
  readonly now: string;
}

export function shapeIn(type: ManagedType, apiVersion: string): StructShape | undefined {
  const version = type.version(apiVersion);
  return version && objectShape(version.schema, type.names);
}

/** An object in another version of its type; undefined when there is no such version. */
export function inVersion(type: ManagedType, object: JsonObject, from: string, to: string): JsonObject | undefined {
  return from === to ? object : type.version(to)?.convert(object as ApiObject);
}

/** What a write changes of an object, as its owners see it. */
export interface FieldChanges {
  /** Whatever it gives a value: that becomes the writer's. */
  readonly assigned: FieldSet;
  readonly removed: FieldSet;
  /** Both of them. */
  readonly changed: FieldSet;
}

/** What happens to an object in one write, compared in every version that an owner asks for. */
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

  /** What changes in a version of what can change; undefined when there is no such version. */
  in(apiVersion: string): FieldChanges | undefined {
    if (!this.#compared.has(apiVersion)) this.#compared.set(apiVersion, this.#compare(apiVersion));
    return this.#compared.get(apiVersion);
  }

  #compare(apiVersion: string): FieldChanges | undefined {
    const version = this.#type.version(apiVersion);
    if (version === undefined) return undefined;
    const { names } = this.#type;
    const convert = (object: JsonObject) =>
      apiVersion === this.#apiVersion ? object : version.convert(object as ApiObject);
    const before = this.#before === undefined ? zeroObject(version.schema, names) : convert(this.#before);
    const found = compare(objectShape(version.schema, names), before, convert(this.#after));
    const removed = version.writable(found.removed);
    const assigned = union(version.writable(found.modified), version.writable(found.added));
    return { assigned, removed, changed: union(assigned, removed) };
  }
}

/** The owners as the schemas of today have them; those of versions that are gone are gone. */
export function reconcileEntries(type: ManagedType, entries: readonly ManagedEntry[]): ManagedEntry[] {
  return entries.flatMap((entry) => {
    const shape = shapeIn(type, entry.apiVersion);
    return shape === undefined ? [] : [withFields(entry, reconcile(shape, entry.fields))];
  });
}

/** The owners without what a write changes or removes. */
export function stripChangedFields(entries: readonly ManagedEntry[], transition: Comparisons): ManagedEntry[] {
  return entries.flatMap((entry) => {
    const changes = transition.in(entry.apiVersion);
    if (changes === undefined) return [];
    const left = difference(entry.fields, changes.changed);
    return isEmpty(left) ? [] : [withFields(entry, left)];
  });
}
