import { getKey, setKey } from '../../meta/index.ts';
import {
  anyValue,
  bool,
  double,
  type Field,
  field,
  int64,
  intOrString,
  map,
  type Schema,
  type StructSchema,
  string,
} from '../../schema/index.ts';
import { ObjectMeta, typeMeta } from '../../types/meta-v1.ts';
import type { Structural } from '../structural.ts';

/**
 * The declaration of a custom type, from which managed fields and merges follow. `name` is that of the type:
 * `example.com/v1.Widget`. The schema is read on first use.
 */
export function structSchemaOf(structural: () => Structural, name: string): StructSchema {
  let fields: StructSchema['fields'] | undefined;
  return {
    type: 'struct',
    name,
    literal: true,
    get fields() {
      fields ??= { ...fieldsWithTypes(structural(), name), ...ofResources };
      return fields;
    },
    fieldOf: (key) => getKey(ofResources, key) ?? fieldOf(structural(), key, name),
    get open() {
      return structural().preserveUnknownFields;
    },
  };
}

/** The fields of every resource. */
const ofResources: { readonly [name: string]: Field } = { ...typeMeta, metadata: field(1, ObjectMeta) };

// Zero values are values: they are neither set nor dropped.
const options = { nullable: true };

function fieldFor(property: Structural, name: string): Field {
  const own = property.default === undefined ? options : { ...options, default: property.default };
  return field(1, schemaOf(property, name), own);
}

function fieldOf(schema: Structural, key: string, name: string): Field | undefined {
  const own = schema.embeddedResource ? getKey(ofResources, key) : undefined;
  const property = schema.properties.get(key);
  return own ?? (property && fieldFor(property, `${name}.${key}`));
}

/** The metadata of embedded resources, and what contains some. */
function fieldsWithTypes(schema: Structural, name: string): { [name: string]: Field } {
  const fields: { [name: string]: Field } = {};
  for (const [key, property] of schema.has.embedded ? schema.properties : []) {
    if (property.has.embedded) setKey(fields, key, fieldFor(property, `${name}.${key}`));
  }
  return schema.embeddedResource ? { ...fields, ...ofResources } : fields;
}

/** The fields are declared on first use. A class: literals with a getter do not share their hidden class. */
class NestedStruct implements StructSchema {
  readonly type = 'struct';
  readonly literal = true;
  readonly name: string;
  readonly structType?: 'atomic';
  readonly #schema: Structural;
  #fields: StructSchema['fields'] | undefined;

  constructor(schema: Structural, name: string, structType: 'atomic' | undefined) {
    this.name = name;
    if (structType !== undefined) this.structType = structType;
    this.#schema = schema;
  }

  get open() {
    return this.#schema.preserveUnknownFields;
  }

  get fields() {
    this.#fields ??= fieldsWithTypes(this.#schema, this.name);
    return this.#fields;
  }

  fieldOf(key: string): Field | undefined {
    return fieldOf(this.#schema, key, this.name);
  }
}

function schemaOf(schema: Structural, name: string): Schema {
  const { type, items, additionalProperties: values, listType, listMapKeys, mapType } = schema;
  switch (type) {
    case 'string':
      return string;
    case 'boolean':
      return bool;
    case 'integer':
      return int64;
    case 'number':
      return double;
    case 'array':
      return {
        type: 'list',
        element: items === undefined ? anyValue : schemaOf(items, name),
        listType: listType ?? 'atomic',
        listMapKeys,
      };
    case 'object': {
      const hasFields = schema.properties.size > 0 || schema.embeddedResource;
      const atomic = mapType === 'atomic' ? mapType : undefined;
      if (hasFields) {
        return new NestedStruct(schema, name, atomic);
      }
      const value = values === undefined || values === true ? anyValue : schemaOf(values, name);
      return { ...map(value), ...(atomic && { mapType: atomic }) };
    }
    default:
      return schema.intOrString ? intOrString : anyValue;
  }
}
