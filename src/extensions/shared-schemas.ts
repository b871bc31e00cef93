import type { Json, JsonObject } from '../meta/index.ts';

/** Maximum number of schemas that are shared, and their maximum size (characters of JSON, more or less). */
const maxShared = 2_000;
const maxSize = 300;

/** Values that equal small schemas share: definitions have many of them, such as conditions and references. */
export class SharedSchemas<T> {
  readonly #made = new Map<string, T>();

  /**
   * `make` reads nothing but the schema it gets and what `context` says. `without`: keywords of the schema that it does not
   * read. What is shared is made of a copy without them, so that it keeps nothing of a definition.
   */
  of(schema: JsonObject, context: string, make: (schema: JsonObject) => T, without?: ReadonlySet<string>): T {
    const text = textOf(schema, without);
    if (text === undefined) return make(schema);
    const key = context + text;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    if (this.#made.size >= maxShared) return make(schema);
    const made = make(JSON.parse(text) as JsonObject);
    this.#made.set(key, made);
    return made;
  }
}

/** The JSON of a schema; undefined when it is large, or another value has the same JSON. */
function textOf(schema: JsonObject, without: ReadonlySet<string> | undefined): string | undefined {
  let rest: JsonObject = schema;
  if (without !== undefined) {
    rest = {};
    for (const key in schema) if (!without.has(key)) rest[key] = schema[key] as Json;
  }
  return roomAfter(rest, maxSize) < 0 ? undefined : JSON.stringify(rest);
}

/**
 * The room that is left after a value (characters); below 0 when the value does not fit, or has a number that JSON does not
 * tell apart.
 */
function roomAfter(value: Json, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value === 'bigint' || Object.is(value, -0)) return -1;
  if (typeof value !== 'object' || value === null) return room - 4;
  let left = room - 2;
  if (Array.isArray(value)) for (const item of value) left = left < 0 ? left : roomAfter(item, left);
  else for (const key in value) left = left < 0 ? left : roomAfter(value[key] as Json, left - key.length);
  return left;
}
