import type { ApiObject, JsonObject, Names } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { compare } from './compare.ts';
import { difference, type FieldSet, isEmpty, union } from './field-set.ts';
import { type Owner, withFields } from './owners.ts';
import { reconcile } from './reconcile.ts';
import { objectShape, type StructShape, zeroObject } from './shape.ts';

/** A type as ownership sees it through one endpoint: the resource itself or one of its subresources. */
export interface OwnedType {
  readonly names: Names;
  /** A version of the type; undefined when it is not served, or no longer. */
  version(apiVersion: string): OwnedVersion | undefined;
}

export interface OwnedVersion {
  readonly schema: StructSchema;
  /** What of some fields a write through this endpoint can change: nobody comes to own the rest by writing it. */
  readonly writable: (fields: FieldSet) => FieldSet;
  /** The object in this version. Asked only for objects in another one. */
  convert(object: ApiObject): ApiObject;
  /** An object of this version as it would be stored: decoded, with its defaults. Neither keeps nor changes its argument. */
  normal(object: JsonObject): ApiObject;
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

export function shapeIn(type: OwnedType, apiVersion: string): StructShape | undefined {
  const version = type.version(apiVersion);
  return version && objectShape(version.schema, type.names);
}

/** An object in another version of its type; undefined when there is no such version. */
export function inVersion(type: OwnedType, object: JsonObject, from: string, to: string): JsonObject | undefined {
  return from === to ? object : type.version(to)?.convert(object as ApiObject);
}

/** What a write changes of an object, as its owners see it. */
export interface Changed {
  /** Whatever it gives a value: that becomes the writer's. */
  readonly taken: FieldSet;
  readonly removed: FieldSet;
  /** Both of them. */
  readonly touched: FieldSet;
}

/** What happens to an object in one write, compared in every version that an owner asks for. */
export class Transition {
  readonly #type: OwnedType;
  readonly #apiVersion: string;
  /** Undefined for a new object. */
  readonly #before: JsonObject | undefined;
  readonly #after: JsonObject;
  readonly #compared = new Map<string, Changed | undefined>();

  constructor(type: OwnedType, apiVersion: string, before: JsonObject | undefined, after: JsonObject) {
    this.#type = type;
    this.#apiVersion = apiVersion;
    this.#before = before;
    this.#after = after;
  }

  /** What changes in a version of what can change; undefined when there is no such version. */
  in(apiVersion: string): Changed | undefined {
    if (!this.#compared.has(apiVersion)) this.#compared.set(apiVersion, this.#compare(apiVersion));
    return this.#compared.get(apiVersion);
  }

  #compare(apiVersion: string): Changed | undefined {
    const version = this.#type.version(apiVersion);
    if (version === undefined) return undefined;
    const { names } = this.#type;
    const convert = (object: JsonObject) =>
      apiVersion === this.#apiVersion ? object : version.convert(object as ApiObject);
    const before = this.#before === undefined ? zeroObject(version.schema, names) : convert(this.#before);
    const found = compare(objectShape(version.schema, names), before, convert(this.#after));
    const removed = version.writable(found.removed);
    const taken = union(version.writable(found.modified), version.writable(found.added));
    return { taken, removed, touched: union(taken, removed) };
  }
}

/** The owners as the schemas of today have them; those of versions that are gone are gone. */
export function reconciledOwners(type: OwnedType, owners: readonly Owner[]): Owner[] {
  return owners.flatMap((owner) => {
    const shape = shapeIn(type, owner.apiVersion);
    return shape === undefined ? [] : [withFields(owner, reconcile(shape, owner.fields))];
  });
}

/** The owners without what a write changes or removes. */
export function dispossessed(owners: readonly Owner[], transition: Transition): Owner[] {
  return owners.flatMap((owner) => {
    const changes = transition.in(owner.apiVersion);
    if (changes === undefined) return [];
    const left = difference(owner.fields, changes.touched);
    return isEmpty(left) ? [] : [withFields(owner, left)];
  });
}
