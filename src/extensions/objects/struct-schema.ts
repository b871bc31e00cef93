import { setKey } from '../../meta/index.ts';
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
      fields ??= { ...fieldsOf(structural(), name), ...typeMeta, metadata: field(1, ObjectMeta) };
      return fields;
    },
    get open() {
      return structural().preserveUnknownFields;
    },
  };
}

function fieldsOf(schema: Structural, name: string): { [name: string]: Field } {
  const fields: { [name: string]: Field } = {};
  // Zero values are values: they are neither set nor dropped.
  const options = { nullable: true };
  for (const [key, property] of schema.properties) {
    const own = property.default === undefined ? options : { ...options, default: property.default };
    setKey(fields, key, field(1, schemaOf(property, `${name}.${key}`), own));
  }
  if (!schema.embeddedResource) return fields;
  return { ...fields, ...typeMeta, metadata: field(1, ObjectMeta) };
}

/** The fields are read on first use. A class: literals with a getter do not share their hidden class. */
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
    this.#fields ??= fieldsOf(this.#schema, this.name);
    return this.#fields;
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
