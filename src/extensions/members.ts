import type { Json, JsonObject } from '../meta/index.ts';

/**
 * What is made of the members of an object, each when it is first asked for: objects use few of the properties that
 * definitions declare.
 */
export class Members<T> {
  readonly #source: JsonObject;
  readonly #make: (member: Json, name: string) => T | undefined;
  #made: Map<string, T> | undefined;

  /** `make` returns undefined for a member that is none. */
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
