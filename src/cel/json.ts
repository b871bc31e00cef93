/** Values as JSON. */
import { type Json, type JsonObject, setKey } from '../meta/index.ts';
import { typeNameOf } from './evaluate/type-values.ts';
import { formatSeconds, formatTimestamp } from './library/times.ts';
import {
  CelError,
  ConstructedValue,
  Double,
  Duration,
  intOf,
  ListValue,
  MapValue,
  ObjectValue,
  Timestamp,
  Uint,
  type Value,
} from './values.ts';

/** The deepest nesting of values that are written as JSON. */
const MAX_DEPTH = 500;

/** A value as JSON; objects over JSON are not copied. @throws CelError for a value that JSON cannot express */
export function jsonOf(value: Value): Json {
  return write(value, 0);
}

function write(value: Value, depth: number): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) throw new CelError('the value is nested too deeply');
  if (value instanceof ObjectValue) return value.json;
  if (value instanceof ConstructedValue) return object(value.fields, depth);
  if (value instanceof ListValue) return Array.from({ length: value.size }, (_, i) => write(value.get(i), depth + 1));
  if (value instanceof MapValue) return object(entriesOf(value), depth);
  if (value instanceof Uint) return intOf(value.value);
  if (value instanceof Double && Number.isFinite(value.value)) return value.value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  throw new CelError(`a value of type '${typeNameOf(value)}' cannot be written as JSON`);
}

function object(entries: Iterable<readonly [Value, Value]>, depth: number): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of entries) {
    if (typeof key !== 'string') throw new CelError(`map key is of type ${typeNameOf(key)}, not string`);
    setKey(result, key, write(value, depth + 1));
  }
  return result;
}

function* entriesOf(map: MapValue): Iterable<readonly [Value, Value]> {
  for (const key of map.keys()) {
    const value = map.get(key);
    if (value !== undefined) yield [key, value];
  }
}
