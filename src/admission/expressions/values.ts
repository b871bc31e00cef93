/** How admission expressions see JSON: in place, without a schema or through declared types. */
import {
  CelError,
  type CelType,
  ListValue,
  type ObjectField,
  type ObjectType,
  ObjectValue,
  type ReadJson,
  readDyn,
  Timestamp,
  type Value,
} from '../../cel/index.ts';
import { isJsonObject, type Json, parseTime, StatusError } from '../../meta/index.ts';

/** A type with the fields of the given names and types. `UID` is read from the property `uid`. */
export function objectType(name: string, types: { readonly [field: string]: CelType }): ObjectType {
  const fields = new Map<string, ObjectField>();
  for (const [field, type] of Object.entries(types)) {
    fields.set(field, { type, property: field === 'UID' ? 'uid' : field, read: readerOf(type) });
  }
  return { kind: 'object', name, field: (identifier) => fields.get(identifier), identifiers: () => fields.keys() };
}

function readerOf(type: CelType): ReadJson {
  if (type.kind === 'timestamp') return readTime;
  if ('identifiers' in type) return (json) => (isJsonObject(json) ? new ObjectValue(type, json) : readDyn(json));
  if (type.kind !== 'list') return readDyn;
  const read = readerOf(type.element);
  return (json) => (Array.isArray(json) ? new ListValue(json, read) : readDyn(json));
}

function readTime(json: Json): Value {
  try {
    return new Timestamp(Math.floor(parseTime(typeof json === 'string' ? json : '') / 1000), 0);
  } catch (thrown) {
    if (thrown instanceof StatusError) throw new CelError(thrown.message);
    throw thrown;
  }
}
