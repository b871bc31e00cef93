import { getKey } from '../../meta/index.ts';
import type { Field, Fields, Schema, StructSchema, Via } from '../../schema/index.ts';

/**
 * Copies types into a group version: a type, and the types of the same package and version that its fields lead to, each
 * once. `differing`: the fields of those structs that are not as in the other version, by name. They may refer to structs
 * of the other version, and the structs are not atomic. `shared`: structs of the other version that are used as they are.
 *
 *     const v1beta1 = typesIn('networking/v1beta1', { IngressSpec: { … } });
 *     const schema = v1beta1(v1.Ingress);
 */
export function typesIn(
  groupVersion: string,
  differing: { readonly [name: string]: Fields } = {},
  shared: readonly StructSchema[] = [],
): (schema: StructSchema) => StructSchema {
  const copies = new Map<string, StructSchema>();

  const copyStruct = (schema: StructSchema, home: string): StructSchema => {
    if (homeOf(schema.name) !== home || shared.includes(schema)) return schema;
    const name = nameIn(groupVersion, schema.name);
    const known = copies.get(name);
    if (known !== undefined) return known;
    const own = getKey(differing, name.slice(homeOf(name).length));
    const { structType: _, ...granular } = schema;
    const fields = Object.entries(own ?? schema.fields).map(([key, field]) => [key, copyField(field, home)] as const);
    const copy = { ...(own === undefined ? schema : granular), name, fields: Object.fromEntries(fields) };
    copies.set(name, copy);
    return copy;
  };
  const copySchema = (schema: Schema, home: string): Schema => {
    switch (schema.type) {
      case 'struct':
        return copyStruct(schema, home);
      case 'list':
        return { ...schema, element: copySchema(schema.element, home) };
      case 'map':
        return { ...schema, value: copySchema(schema.value, home) };
      case 'either':
        return {
          ...schema,
          name: homeOf(schema.name) === home ? nameIn(groupVersion, schema.name) : schema.name,
          options: schema.options.map((option) => copySchema(option, home)),
        };
      case 'lazy':
        return { ...schema, resolve: () => copySchema(schema.resolve(), home) };
      default:
        return schema;
    }
  };
  const copyVia = ({ inner, ...via }: Via, home: string): Via => ({
    ...via,
    message: homeOf(via.message) === home ? nameIn(groupVersion, via.message) : via.message,
    ...(inner === undefined ? {} : { inner: copyVia(inner, home) }),
  });
  const copyField = ({ via, ...field }: Field, home: string): Field => ({
    ...field,
    schema: copySchema(field.schema, home),
    ...(via === undefined ? {} : { via: copyVia(via, home) }),
  });
  return (schema) => copyStruct(schema, homeOf(schema.name));
}

/** Package and version of a type, with the point after it: `networking/v1.`. */
const homeOf = (name: string): string => name.slice(0, name.lastIndexOf('.') + 1);

const nameIn = (groupVersion: string, name: string): string => `${groupVersion}.${name.slice(homeOf(name).length)}`;
