import { getKey, isJsonObject, type Json, jsonEqual } from '../../meta/index.ts';
import type { Structural } from '../structural.ts';
import { identityOf } from './valid.ts';

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
    this.#oldItems ??= new Map([...this.old].reverse().map((item) => [this.#keysOf(item), item]));
    const value = this.value[i];
    const old = value === undefined ? undefined : this.#oldItems.get(this.#keysOf(value));
    return value === undefined || old === undefined || old === null ? undefined : new Correlation(value, old, items);
  }

  #keysOf(item: Json): unknown {
    if (!isJsonObject(item)) return undefined;
    return identityOf(this.#schema.listMapKeys.map((key) => getKey(item, key) ?? null));
  }

  /** Whether the value equals the old one. Fields that the schema does not know count as changed. */
  get isUnchanged(): boolean {
    this.#unchanged ??= this.#compare();
    return this.#unchanged;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (this.#schema.listType !== 'map') return jsonEqual(value, old);
      return value.every((_, i) => this.index(i)?.isUnchanged === true);
    }
    if (isJsonObject(value) && isJsonObject(old)) {
      const keys = Object.keys(value);
      return keys.length === Object.keys(old).length && keys.every((key) => this.key(key)?.isUnchanged === true);
    }
    return jsonEqual(value, old);
  }
}
