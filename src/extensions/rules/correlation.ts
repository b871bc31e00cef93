/** Values before an update, matched with the values after it. */
import { getKey, isJsonObject, type Json, jsonEqual } from '../../meta/index.ts';
import type { Structural } from '../structural.ts';

/** Finds the item of a list of the type map that has the keys of another item; undefined in other lists. */
export function findByKeys(structural: Structural, items: readonly Json[]): (item: Json) => Json | undefined {
  const { listType, listMapKeys } = structural;
  if (listType !== 'map' || listMapKeys.length === 0 || items.length === 0) return () => undefined;
  let byKeys: Map<string, Json> | undefined;
  return (item) => {
    const keys = keysOf(item, listMapKeys);
    if (keys === undefined) return undefined;
    if (byKeys === undefined) {
      byKeys = new Map();
      for (const one of items) {
        const own = keysOf(one, listMapKeys);
        if (own !== undefined && !byKeys.has(own)) byKeys.set(own, one);
      }
    }
    return byKeys.get(keys);
  };
}

/** The same text for the same keys; undefined where one is absent or no scalar. */
function keysOf(item: Json, names: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const keys: string[] = [];
  for (const name of names) {
    const key = getKey(item, name);
    if (key === undefined || key === null || typeof key === 'object') return undefined;
    keys.push(typeof key === 'bigint' ? String(key) : JSON.stringify(key));
  }
  return keys.join('\0');
}

/** A value and the value that it replaces. */
export class Correlation {
  readonly #value: Json;
  readonly #old: Json;
  readonly #structural: Structural;
  #find: ((item: Json) => Json | undefined) | undefined;
  #equal: boolean | undefined;

  constructor(value: Json, old: Json, structural: Structural) {
    this.#value = value;
    this.#old = old;
    this.#structural = structural;
  }

  /** The correlation of a property; undefined where one of both values lacks it, and for undeclared properties. */
  key(name: string): Correlation | undefined {
    if (!isJsonObject(this.#value) || !isJsonObject(this.#old)) return undefined;
    const value = getKey(this.#value, name);
    const old = getKey(this.#old, name);
    const { properties, additionalProperties: values } = this.#structural;
    const structural = properties.get(name) ?? (values === true ? undefined : values);
    if (value === undefined || old === undefined || structural === undefined) return undefined;
    return new Correlation(value, old, structural);
  }

  /** The correlation of a list item; undefined where the old list has none of its keys, and in other lists. */
  index(i: number): Correlation | undefined {
    if (!Array.isArray(this.#value) || !Array.isArray(this.#old)) return undefined;
    const { items } = this.#structural;
    const value = this.#value[i];
    this.#find ??= findByKeys(this.#structural, this.#old);
    const old = value === undefined ? undefined : this.#find(value);
    if (value === undefined || old === undefined || items === undefined) return undefined;
    return new Correlation(value, old, items);
  }

  /** Whether the value is unchanged. The order of lists of the type map does not matter. */
  get unchanged(): boolean {
    this.#equal ??= this.#compare();
    return this.#equal;
  }

  #compare(): boolean {
    const value = this.#value;
    const old = this.#old;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (this.#structural.listType !== 'map') return jsonEqual(value, old);
      return value.length === old.length && value.every((_, i) => this.index(i)?.unchanged === true);
    }
    if (!isJsonObject(value) || !isJsonObject(old)) return jsonEqual(value, old);
    const names = Object.keys(value);
    return names.length === Object.keys(old).length && names.every((name) => this.key(name)?.unchanged === true);
  }
}
