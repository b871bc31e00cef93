/** The types of expressions for type checking, from the schemas of kinds. */
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  identifierOf,
  intType,
  listType,
  mapType,
  type ObjectField,
  type ObjectType,
  stringType,
  timestampType,
} from '../../cel/index.ts';
import { isJsonObject, type Json, type JsonObject, type Names } from '../../meta/index.ts';
import { fieldsOf, resolve, type ScalarName, type Schema, type StructSchema } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';

type Properties = Iterable<readonly [property: string, type: () => CelType | undefined]>;

/** An object type; the types of its fields are made when they are asked for. */
function objectOf(name: string, properties: Properties): ObjectType {
  const types = new Map<string, readonly [property: string, type: () => CelType | undefined]>();
  for (const [property, type] of properties) {
    const identifier = identifierOf(property);
    if (identifier === undefined) continue;
    types.set(identifier, [property, type]);
    // A reserved word can be selected, although it cannot be an identifier.
    if (/^\w+$/.test(property)) types.set(property, [property, type]);
  }
  const known = new Map<string, ObjectField | undefined>();
  const make = (identifier: string): ObjectField | undefined => {
    const [property = '', typeOf] = types.get(identifier) ?? [];
    const type = typeOf?.();
    return type && { type, property, read: () => null };
  };
  return {
    kind: 'object',
    name,
    field: (identifier) => {
      if (!known.has(identifier) && types.has(identifier)) known.set(identifier, make(identifier));
      return known.get(identifier);
    },
    identifiers: () => types.keys(),
  };
}

const ofScalars: { readonly [name in ScalarName]: CelType | undefined } = {
  string: stringType,
  bool: boolType,
  int32: intType,
  int64: intType,
  double: doubleType,
  bytes: bytesType,
  time: timestampType,
  microTime: timestampType,
  duration: stringType,
  quantity: stringType,
  intOrString: dynType,
  any: undefined,
  object: objectOf('object', []),
};

/** The type of a built-in kind. */
export const typeOfStruct = (schema: StructSchema, names: Names, name: string): ObjectType =>
  objectOf(
    name,
    Array.from(fieldsOf(schema, names), ([property, field]) => [
      property,
      () => typeOfSchema(field.schema, names, `${name}.${property}`),
    ]),
  );

/** Undefined: any JSON, of which expressions see nothing. */
function typeOfSchema(schema: Schema, names: Names, name: string): CelType | undefined {
  switch (schema.type) {
    case 'struct':
      return typeOfStruct(schema, names, name);
    case 'list': {
      const element = typeOfSchema(schema.element, names, `${name}.@idx`);
      return element && listType(element);
    }
    case 'map': {
      const value = typeOfSchema(schema.value, names, `${name}.@elem`);
      return value && mapType(stringType, value);
    }
    case 'lazy':
      return typeOfSchema(resolve(schema), names, name);
    case 'either':
      return undefined;
    default:
      return ofScalars[schema.type];
  }
}

/** The type of a version of a custom kind, by its schema. */
export function typeOfCustomKind(schema: JsonObject, names: Names, name: string): ObjectType {
  const identity: Properties = [
    ['apiVersion', () => stringType],
    ['kind', () => stringType],
    ['metadata', () => typeOfStruct(ObjectMeta, names, `${name}.metadata`)],
  ];
  return objectOf(name, [...propertiesOf(schema, names, name), ...identity]);
}

const propertiesOf = ({ properties }: JsonObject, names: Names, name: string): Properties =>
  Object.entries(isJsonObject(properties) ? properties : {}).map(([property, schema]) => [
    property,
    () => typeOfJsonSchema(schema, names, `${name}.${property}`),
  ]);

/** Undefined: a schema of which expressions see nothing. */
function typeOfJsonSchema(schema: Json | undefined, names: Names, name: string): CelType | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type, format, items, additionalProperties: values } = schema;
  if (schema[`${names.extension}int-or-string`] === true) return dynType;
  if (schema[`${names.extension}embedded-resource`] === true) return typeOfCustomKind(schema, names, name);
  switch (type) {
    case 'object': {
      if (!isJsonObject(values)) return objectOf(name, propertiesOf(schema, names, name));
      const value = typeOfJsonSchema(values, names, `${name}.@elem`);
      return value && mapType(stringType, value);
    }
    case 'array': {
      const element = typeOfJsonSchema(items, names, `${name}.@idx`);
      return element && listType(element);
    }
    case 'string':
      return formats.get(format) ?? stringType;
    case 'boolean':
      return boolType;
    case 'number':
      return doubleType;
    case 'integer':
      return intType;
    default:
      return undefined;
  }
}

const formats: ReadonlyMap<Json | undefined, CelType> = new Map([
  ['byte', bytesType],
  ['date', timestampType],
  ['date-time', timestampType],
  ['duration', durationType],
]);
