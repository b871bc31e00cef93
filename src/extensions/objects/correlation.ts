import {
  getKey,
  isJsonObject,
  type Json,
  jsonEqualInSteps,
  Pace,
  type Steps,
  scalarIdentity,
} from '../../meta/index.ts';
import type { Structural } from '../structural.ts';

/**
 * A value of an update and the value that it replaces, so that what is unchanged is not rejected by a schema that became
 * stricter. Members of objects correspond by name, items of lists of type `map` by their keys; all other lists
 * correspond as wholes only.
 */
export class Correlation {
  readonly value: Json;
  readonly old: Json;
  readonly #schema: Structural;
  #unchanged: boolean | undefined;
  #oldItems: ReadonlyMap<unknown, Json> | undefined;

  constructor(value: Json, old: Json, schema: Structural) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  /** Undefined when there was no such member, or the schema does not know it. */
  key(name: string): Correlation | undefined {
    const { properties, additionalProperties } = this.#schema;
    if (!isJsonObject(this.value) || !isJsonObject(this.old)) return undefined;
    const value = getKey(this.value, name);
    const old = getKey(this.old, name);
    const schema = properties.get(name) ?? (additionalProperties === true ? undefined : additionalProperties);
    if (value === undefined || old === undefined || schema === undefined) return undefined;
    return new Correlation(value, old, schema);
  }

  index(i: number): Correlation | undefined {
    const { items, listType } = this.#schema;
    if (listType !== 'map' || items === undefined || !Array.isArray(this.value) || !Array.isArray(this.old)) {
      return undefined;
    }
    this.#oldItems ??= this.#itemsByKeys(this.old);
    const value = this.value[i];
    const old = value === undefined ? undefined : this.#oldItems.get(this.#keysOf(value));
    return value === undefined || old === undefined || old === null ? undefined : new Correlation(value, old, items);
  }

  /** The first item of each key. */
  #itemsByKeys(list: readonly Json[]): ReadonlyMap<unknown, Json> {
    const items = new Map<unknown, Json>();
    for (const item of list) {
      const keys = this.#keysOf(item);
      if (!items.has(keys)) items.set(keys, item);
    }
    return items;
  }

  /** The same for items of equal keys only. Keys are scalars: an item with another one corresponds to none. */
  #keysOf(item: Json): unknown {
    if (!isJsonObject(item)) return undefined;
    const keys: Exclude<Json, object>[] = [];
    for (const name of this.#schema.listMapKeys) {
      const key = getKey(item, name) ?? null;
      if (typeof key === 'object' && key !== null) return Symbol('no scalar');
      keys.push(key);
    }
    return keys.length === 1
      ? scalarIdentity(keys[0] as Exclude<Json, object>)
      : JSON.stringify(keys.map((key) => String(scalarIdentity(key))));
  }

  /** Whether the value equals the old one. Fields that the schema does not know count as changed. */
  *isUnchanged(pace = new Pace()): Steps<boolean> {
    this.#unchanged ??= yield* this.#compare(pace);
    return this.#unchanged;
  }

  *#compare(pace: Pace): Steps<boolean> {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      return this.#schema.listType === 'map'
        ? yield* areUnchanged(value.keys(), (i) => this.index(i), pace)
        : yield* jsonEqualInSteps(value, old, pace);
    }
    if (isJsonObject(value) && isJsonObject(old)) {
      const keys = Object.keys(value);
      if (keys.length !== Object.keys(old).length) return false;
      return yield* areUnchanged(keys, (key) => this.key(key), pace);
    }
    return yield* jsonEqualInSteps(value, old, pace);
  }
}

function* areUnchanged<Part>(
  parts: Iterable<Part>,
  at: (part: Part) => Correlation | undefined,
  pace: Pace,
): Steps<boolean> {
  for (const part of parts) {
    if (pace.over()) yield;
    const correlation = at(part);
    if (correlation === undefined || !(yield* correlation.isUnchanged(pace))) return false;
  }
  return true;
}
