import { type Field, type Fields, type Schema, type StructSchema, struct, type Via } from '../schema/index.ts';

/**
 * Declares structs that repeat those of another version of their group. The function that it returns copies a struct
 * under the same name in `groupVersion`; fields whose struct it copied before lead to that copy, all others to the
 * struct itself. `enums`: the fields whose supported values OpenAPI lists in one of the versions alone, and whether it does
 * so in this one.
 *
 *     const v1beta1 = inVersion('networking/v1beta1');
 *     export const IPAddressSpec = v1beta1(v1.IPAddressSpec);
 *     export const IPAddress = v1beta1(v1.IPAddress);
 */
export function inVersion(groupVersion: string) {
  const copies = new Map<string, StructSchema>();

  const copySchema = (schema: Schema): Schema => {
    if (schema.type === 'struct') return copies.get(schema.name) ?? schema;
    if (schema.type === 'list') return { ...schema, element: copySchema(schema.element) };
    if (schema.type === 'map') return { ...schema, value: copySchema(schema.value) };
    return schema;
  };
  const copyVia = ({ inner, ...via }: Via): Via => ({
    ...via,
    message: copies.get(via.message)?.name ?? via.message,
    ...(inner !== undefined && { inner: copyVia(inner) }),
  });
  const copyField = ({ via, ...field }: Field): Field => ({
    ...field,
    schema: copySchema(field.schema),
    ...(via !== undefined && { via: copyVia(via) }),
  });

  return <F extends Fields>(
    { name, fields, structType, union }: StructSchema<F>,
    enums: { readonly [field in keyof F]?: boolean } = {},
  ): StructSchema<F> => {
    const copied = Object.fromEntries(
      Object.entries(fields).map(([key, field]) => {
        const listed = enums[key];
        return [key, { ...copyField(field), ...(listed !== undefined && { enum: listed }) }];
      }),
    ) as F;
    const copy = struct<F>(`${groupVersion}.${name.slice(name.lastIndexOf('.') + 1)}`, copied, {
      ...(structType && { structType }),
      ...(union && { union }),
    });
    copies.set(name, copy);
    return copy;
  };
}
