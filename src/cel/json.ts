/** JSON as values, and values as JSON. */
import { isJsonObject, type Json, type JsonObject, setKey } from '../meta/index.ts';
import { typeNameOf } from './evaluate/type-values.ts';
import { formatSeconds, formatTimestamp } from './library/times.ts';
import {
  CelError,
  ConstructedValue,
  Double,
  Duration,
  intOf,
  JsonMapValue,
  ListValue,
  MapValue,
  ObjectValue,
  type ReadJson,
  Timestamp,
  Uint,
  type Value,
} from './values.ts';

/** Reads JSON of any type. Integers of 64 bits are ints. */
export const readDyn: ReadJson = (json) => {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json + 0 : new Double(json);
  if (typeof json === 'bigint') return BigInt.asIntN(64, json) === json ? intOf(json) : new Double(Number(json));
  if (Array.isArray(json)) return new ListValue(json, readDyn);
  return isJsonObject(json) ? new JsonMapValue(json, readDyn) : json;
};

/** The deepest nesting of values that are written as JSON. */
const MAX_DEPTH = 500;

/** How much JSON may be written: 8 for each value, and the lengths of texts. Values that belong together share one. */
export class JsonLimit {
  left = 4 * 1024 * 1024;
}

/** A value as JSON, without what it shares. @throws CelError for a value that JSON cannot express, and for one too large */
export function jsonOf(value: Value, limit = new JsonLimit()): Json {
  return write(value, limit, 0);
}

function spend(limit: JsonLimit, text: number): void {
  limit.left -= 8 + text;
  if (limit.left < 0) throw new CelError('the value is too large');
}

function write(value: Value, limit: JsonLimit, depth: number): Json {
  spend(limit, typeof value === 'string' ? value.length : 0);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) throw new CelError('the value is nested too deeply');
  if (value instanceof ObjectValue) return copy(value.json, limit, depth);
  if (value instanceof ConstructedValue) return object(value.fields, limit, depth);
  if (value instanceof MapValue) return object(entriesOf(value), limit, depth);
  if (value instanceof ListValue) {
    const list: Json[] = [];
    for (let i = 0; i < value.size; i++) list.push(write(value.get(i), limit, depth + 1));
    return list;
  }
  if (value instanceof Uint) return intOf(value.value);
  if (value instanceof Double && Number.isFinite(value.value)) return value.value;
  if (value instanceof Uint8Array) {
    spend(limit, value.length * 2);
    return Buffer.from(value).toString('base64');
  }
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  throw new CelError(`a value of type '${typeNameOf(value)}' cannot be written as JSON`);
}

function object(entries: Iterable<readonly [Value, Value]>, limit: JsonLimit, depth: number): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of entries) {
    if (typeof key !== 'string') throw new CelError(`map key is of type ${typeNameOf(key)}, not string`);
    spend(limit, key.length);
    setKey(result, key, write(value, limit, depth + 1));
  }
  return result;
}

function* entriesOf(map: MapValue): Iterable<readonly [Value, Value]> {
  for (const key of map.keys()) {
    const value = map.get(key);
    if (value !== undefined) yield [key, value];
  }
}

function copy(json: Json, limit: JsonLimit, depth: number): Json {
  spend(limit, typeof json === 'string' ? json.length : 0);
  if (depth >= MAX_DEPTH) throw new CelError('the value is nested too deeply');
  if (Array.isArray(json)) return json.map((item) => copy(item, limit, depth + 1));
  if (!isJsonObject(json)) return json;
  const result: JsonObject = {};
  for (const key of Object.keys(json)) {
    spend(limit, key.length);
    setKey(result, key, copy(json[key] as Json, limit, depth + 1));
  }
  return result;
}
