import { CelError, compileRegex, maxKeptPatterns, sizeOfPattern } from '../../cel/index.ts';
import {
  type FieldError,
  fieldError,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  Pace,
  type Steps,
} from '../../meta/index.ts';

/**
 * The errors of the patterns of a schema, in the order of their paths: those that are invalid, or one if they cannot all
 * be kept compiled, since each object would compile them again. Compiles one in each step.
 */
export function* validatePatterns(schema: JsonObject, path: string): Steps<FieldError[]> {
  const places = yield* patternsOf(schema, path);
  const patterns = new Set(places.map(([, pattern]) => pattern));
  let size = 0;
  for (const pattern of patterns) size += sizeOfPattern(pattern);
  if (size > maxKeptPatterns) {
    const limit = `its ${patterns.size} different patterns take ${size} instructions when they are compiled, of at most ${maxKeptPatterns}`;
    return [fieldError.forbidden(path, limit)];
  }
  const errorsByPattern = new Map<string, string>();
  for (const pattern of patterns) {
    const error = problemOf(pattern);
    if (error !== undefined) errorsByPattern.set(pattern, error);
    yield;
  }
  return places
    .filter(([, pattern]) => errorsByPattern.has(pattern))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([at, pattern]) =>
      fieldError.invalid(at, pattern, `must be a valid regular expression, but isn't: ${errorsByPattern.get(pattern)}`),
    );
}

type Place = readonly [path: string, pattern: string];

/** All patterns of a schema, with their paths. */
function* patternsOf(schema: JsonObject, path: string): Steps<Place[]> {
  const places: Place[] = [];
  const pace = new Pace();
  function* visit(value: Json | undefined, path: string): Steps<void> {
    if (!isJsonObject(value)) return;
    if (pace.over()) yield;
    const pattern = getKey(value, 'pattern');
    if (typeof pattern === 'string') places.push([`${path}.pattern`, pattern]);
    for (const key of ['items', 'additionalProperties', 'not']) yield* visit(getKey(value, key), `${path}.${key}`);
    const properties = getKey(value, 'properties');
    for (const name of isJsonObject(properties) ? Object.keys(properties) : []) {
      yield* visit((properties as JsonObject)[name], `${path}.properties[${name}]`);
    }
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      const parts = getKey(value, key);
      for (const [i, part] of Array.isArray(parts) ? parts.entries() : []) yield* visit(part, `${path}.${key}[${i}]`);
    }
  }
  yield* visit(schema, path);
  return places;
}

/** Why a pattern is not a regular expression; undefined for a valid one. */
function problemOf(pattern: string): string | undefined {
  try {
    compileRegex(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof CelError) return error.message;
    throw error;
  }
}
