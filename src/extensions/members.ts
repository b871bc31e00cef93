import type { Json, JsonObject } from '../meta/index.ts';

/**
 * A value for each member of a JSON object, made on first use: custom objects have few of the properties that their
 * definitions declare.
 */
export class Members<T> {
  readonly #source: JsonObject;
  readonly #make: (member: Json, name: string) => T | undefined;
  #made: Map<string, T> | undefined;

  /** `make` returns undefined for a member that has no value. */
  constructor(source: JsonObject, make: (member: Json, name: string) => T | undefined) {
    this.#source = source;
    this.#make = make;
  }

  get(name: string): T | undefined {
    const known = this.#made?.get(name);
    if (known !== undefined || !Object.hasOwn(this.#source, name)) return known;
    const made = this.#make(this.#source[name] as Json, name);
    if (made === undefined) return undefined;
    this.#made ??= new Map();
    this.#made.set(name, made);
    return made;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get size(): number {
    return Object.keys(this.#source).length;
  }

  *values(): Generator<T, undefined> {
    for (const [, made] of this) yield made;
  }

  *[Symbol.iterator](): Generator<[name: string, made: T], undefined> {
    for (const name of Object.keys(this.#source)) {
      const made = this.get(name);
      if (made !== undefined) yield [name, made];
    }
  }
}
