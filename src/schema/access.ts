import { expandNames, type Names } from '../meta/index.ts';
import type { Field, LazySchema, Schema, StructSchema } from './declare.ts';

/** A schema that says what it is. */
export type Resolved = Exclude<Schema, LazySchema>;

/** The schema itself, with declarations that stand further down looked up. */
export function resolve(schema: Schema): Resolved {
  let current = schema;
  while (current.type === 'lazy') current = current.resolve();
  return current;
}

const fieldMaps = new WeakMap<Names, WeakMap<StructSchema, ReadonlyMap<string, Field>>>();

/** The fields of a struct under the names in force, in the order of the declaration. Any text may be looked up. */
export function fieldsOf(struct: StructSchema, names: Names): ReadonlyMap<string, Field> {
  const known = remember(fieldMaps, names, () => new WeakMap<StructSchema, ReadonlyMap<string, Field>>());
  return remember(
    known,
    struct,
    () => new Map(Object.entries(struct.fields).map(([name, field]) => [expandNames(name, names), field])),
  );
}

/** What the map holds for the key, which is made when it holds nothing yet. */
export function remember<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  let found = map.get(key);
  if (found === undefined) {
    found = make();
    map.set(key, found);
  }
  return found;
}

/** Whether a field of the schema, or one of any depth below it, is of a kind. */
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
