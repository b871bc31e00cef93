/** The types of expressions, from a structural schema: made on first use, and read in place over JSON. */
import {
  boolType,
  bytesType,
  CelError,
  type CelType,
  Double,
  doubleType,
  durationType,
  dynType,
  identifierOf,
  intOf,
  intType,
  JsonMapValue,
  ListValue,
  listType,
  MapListValue,
  mapType,
  type ObjectField,
  type ObjectType,
  ObjectValue,
  propertyOf,
  type ReadJson,
  SetListValue,
  type SimpleType,
  stringType,
  timestampType,
  type Value,
} from '../../cel/index.ts';
import { isJsonObject, type Json } from '../../meta/index.ts';
import type { Structural } from '../structural.ts';
import { readBytes, readDate, readDateTime, readDuration } from './formats.ts';
import { withIdentity } from './identity.ts';
import { formatOf, maxItemsOf, maxPropertiesOf, maxTextOf, minSizeOf } from './sizes.ts';

/** How expressions see the values of a schema. */
export interface Binding {
  readonly type: CelType;
  readonly read: ReadJson;
}

/**
 * How expressions see the values of a schema; undefined when they cannot, as nothing is known of its values. `name` is
 * that of the type where it is an object. A resource has its identity even where the schema does not declare it.
 */
export function bindingOf(structural: Structural, isResource: boolean, name: string): Binding | undefined {
  if (minSizeOf(structural) === undefined) return undefined;
  const { type, read } = bind(isResource ? withIdentity(structural) : structural, name);
  return { type, read: structural.nullable ? (json) => (json === null ? null : read(json)) : notNull(read) };
}

const notNull =
  (read: ReadJson): ReadJson =>
  (json) => {
    if (json === null) throw new CelError('invalid data, got null for schema with nullable=false');
    return read(json);
  };

function bind(structural: Structural, name: string): Binding {
  const { type, intOrString, additionalProperties: values } = structural;
  if (intOrString) return { type: { ...dynType, maxSize: maxTextOf(structural) }, read: readIntOrString };
  if (type === 'array') return bindList(structural, name);
  if (type === 'string') return bindText(structural);
  if (type === 'object') {
    return values === undefined || values === true ? bindObject(structural, name) : bindMap(structural, values, name);
  }
  return type === '' ? { type: dynType, read: unknown } : scalars[type];
}

const unknown: ReadJson = () => {
  throw new CelError('invalid data, the schema has no type');
};

function bindList(structural: Structural, name: string): Binding {
  const items = structural.items as Structural;
  const element = bindingOf(items, items.embeddedResource, `${name}.@idx`) as Binding;
  const type = listType(element.type, maxItemsOf(structural, minSizeOf(items) as number));
  const { listType: kind, listMapKeys } = structural;
  const keys = listMapKeys.map((key) => identifierOf(key) ?? key);
  const read: ReadJson = (json) => {
    if (!Array.isArray(json))
      throw new CelError('invalid data, expected an array for the provided schema with type=array');
    if (kind === 'set') return new SetListValue(json, element.read);
    return kind === 'map' ? new MapListValue(keys, json, element.read) : new ListValue(json, element.read);
  };
  return { type, read };
}

/** Estimates count nothing for the size of a key. */
const keyType: CelType = { ...stringType, maxSize: 0 };

function bindMap(structural: Structural, values: Structural, name: string): Binding {
  const value = bindingOf(values, values.embeddedResource, `${name}.@elem`) as Binding;
  const maxSize = maxPropertiesOf(structural, minSizeOf(values) as number);
  return {
    type: mapType(keyType, value.type, maxSize),
    read: (json) => new JsonMapValue(objectOf(json), value.read),
  };
}

function objectOf(json: Json) {
  if (isJsonObject(json)) return json;
  throw new CelError('invalid data, expected a map for the provided schema with type=object');
}

function bindObject(structural: Structural, name: string): Binding {
  const type = new StructuralType(structural, name);
  return { type, read: (json) => new ObjectValue(type, objectOf(json)) };
}

/** The type of an object; its fields are made when they are asked for. */
class StructuralType implements ObjectType {
  readonly kind = 'object';
  readonly name: string;
  readonly #structural: Structural;
  readonly #fields = new Map<string, ObjectField | undefined>();

  constructor(structural: Structural, name: string) {
    this.#structural = structural;
    this.name = name;
  }

  field(identifier: string): ObjectField | undefined {
    const cached = this.#fields.get(identifier);
    if (cached !== undefined) return cached;
    const property = propertyOf(identifier);
    const inner = property === undefined ? undefined : this.#structural.properties.get(property);
    const binding = inner && bindingOf(inner, inner.embeddedResource, `${this.name}.${identifier}`);
    if (binding === undefined || property === undefined) return undefined;
    const field = { ...binding, property };
    this.#fields.set(identifier, field);
    return field;
  }

  *identifiers(): Iterable<string> {
    for (const [property, inner] of this.#structural.properties) {
      const identifier = identifierOf(property);
      if (identifier !== undefined && minSizeOf(inner) !== undefined) yield identifier;
    }
  }
}

const plainText = [stringType, (text: string): Value => text] as const;

function bindText(structural: Structural): Binding {
  const [type, read] = texts.get(formatOf(structural)) ?? plainText;
  return {
    type: { ...type, maxSize: maxTextOf(structural) },
    read: (json) => {
      if (typeof json === 'string') return read(json);
      throw mismatch('string', json);
    },
  };
}

const texts: ReadonlyMap<string, readonly [type: SimpleType, read: (text: string) => Value]> = new Map([
  ['byte', [bytesType, readBytes]],
  ['date', [timestampType, readDate]],
  ['date-time', [timestampType, readDateTime]],
  ['duration', [durationType, readDuration]],
]);

/** An int of 64 bits; undefined for other JSON. */
function readInteger(json: Json): number | bigint | undefined {
  if (Number.isSafeInteger(json)) return (json as number) + 0;
  if (typeof json !== 'bigint' && !Number.isInteger(json)) return undefined;
  const exact = BigInt(json as number | bigint);
  return BigInt.asIntN(64, exact) === exact ? intOf(exact) : undefined;
}

function readIntOrString(json: Json) {
  const value = typeof json === 'string' ? json : readInteger(json);
  if (value !== undefined) return value;
  throw new CelError('invalid data, expected XIntOrString value to be either a string or integer');
}

const scalars = {
  boolean: {
    type: boolType,
    read: (json: Json) => {
      if (typeof json === 'boolean') return json;
      throw mismatch('bool', json);
    },
  },
  integer: {
    type: intType,
    read: (json: Json) => {
      const value = readInteger(json);
      if (value !== undefined) return value;
      throw mismatch('int', json);
    },
  },
  number: {
    type: doubleType,
    read: (json: Json) => {
      if (typeof json === 'number' || typeof json === 'bigint') return new Double(Number(json));
      throw mismatch('float', json);
    },
  },
};

function mismatch(expected: string, json: Json): CelError {
  return new CelError(`invalid data, expected ${expected}, got ${shownType(json)}`);
}

/** The type of JSON as messages name it. */
function shownType(json: Json): string {
  if (Array.isArray(json)) return '[]interface {}';
  if (typeof json === 'boolean') return 'bool';
  if (typeof json === 'bigint' || typeof json === 'number') return Number.isInteger(Number(json)) ? 'int64' : 'float64';
  return typeof json === 'string' ? 'string' : 'map[string]interface {}';
}
