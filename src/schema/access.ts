import { expandNames, type Names } from '../meta/index.ts';
import type { Field, LazySchema, Schema, StructSchema } from './declare.ts';

/** A schema that is not lazy. */
export type Resolved = Exclude<Schema, LazySchema>;

/** Resolves lazy schemas. */
export function resolve(schema: Schema): Resolved {
  let current = schema;
  while (current.type === 'lazy') current = current.resolve();
  return current;
}

const fieldMaps = new WeakMap<Names, WeakMap<StructSchema, ReadonlyMap<string, Field>>>();

/** The fields of a struct under the configured names, in the order of the declaration. */
export function fieldsOf(struct: StructSchema, names: Names): ReadonlyMap<string, Field> {
  const known = remember(fieldMaps, names, () => new WeakMap<StructSchema, ReadonlyMap<string, Field>>());
  return remember(
    known,
    struct,
    () =>
      new Map(Object.entries(struct.fields).map(([declared, field]) => [fieldName(struct, declared, names), field])),
  );
}

/** A field of a struct by its configured name; undefined where it is not declared. */
export const fieldOf = (struct: StructSchema, name: string, names: Names): Field | undefined =>
  struct.fieldOf === undefined ? fieldsOf(struct, names).get(name) : struct.fieldOf(name);

/** The configured name of the field that is declared under this one. */
export const fieldName = (struct: StructSchema, declared: string, names: Names): string =>
  struct.literal === true ? declared : expandNames(declared, names);

/** The value of a key in a map, which is made on first use. */
export function remember<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  let found = map.get(key);
  if (found === undefined) {
    found = make();
    map.set(key, found);
  }
  return found;
}

/** Whether the predicate holds for a field of the schema at any depth. */
export function hasField(schema: Schema, is: (field: Field) => boolean): boolean {
  const seen = new Set<StructSchema>();
  const below = (declared: Schema): boolean => {
    const schema = resolve(declared);
    switch (schema.type) {
      case 'struct':
        if (seen.has(schema)) return false;
        seen.add(schema);
        return Object.values(schema.fields).some((field) => is(field) || below(field.schema));
      case 'list':
        return below(schema.element);
      case 'map':
        return below(schema.value);
      case 'either':
        return schema.options.some(below);
      default:
        return false;
    }
  };
  return below(schema);
}
