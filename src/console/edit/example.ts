/** An example of a kind, from its schema: its required fields, with a value of each type. */
import type { Json, JsonObject } from '../../meta/index.ts';
import type { FieldPath } from '../object/paths.ts';
import { fieldsOf, type KindSchema, requiredOf } from '../object/schema.ts';
import type { Kind } from '../state/discovery.ts';

/** Deeper fields are left out, and so are those after this many: definitions may refer to themselves. */
const maxDepth = 8;
const maxFields = 1_000;

export function exampleOf(
  { apiVersion, kind, namespaced }: Kind,
  schema: KindSchema | undefined,
  namespace: string,
): JsonObject {
  const metadata = { name: 'example', ...(namespaced ? { namespace: namespace === '' ? 'default' : namespace } : {}) };
  const example: JsonObject = { apiVersion, kind, metadata };
  if (schema === undefined) return example;
  const own = fieldsOf(schema.root).map(([name]) => name);
  const required = requiredOf(schema.root);
  // The specification is shown even where it is not required, and so is the data of kinds without one.
  for (const name of own.filter((field) => required.includes(field) || field === 'spec' || field === 'data')) {
    if (!Object.hasOwn(example, name)) example[name] = exampleValue(schema, [name]);
  }
  return example;
}

/** A value of a field: its default, its first choice, or the fields that it requires. */
export function exampleValue(kindSchema: KindSchema, path: FieldPath): Json {
  let fields = 0;
  const valueAt = (at: FieldPath): Json => {
    const schema = kindSchema.at(at) ?? {};
    const { type, default: preset, enum: choices, minimum } = schema;
    if (preset !== undefined && type !== 'object') return preset;
    if (Array.isArray(choices) && choices[0] !== undefined) return choices[0];
    if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 1;
    if (type === 'boolean') return false;
    if (type === 'string') return 'example';
    fields += 1;
    if (at.length >= maxDepth || fields > maxFields) return type === 'array' ? [] : {};
    if (type === 'array') return [valueAt([...at, 0])];
    return Object.fromEntries(requiredOf(schema).map((name) => [name, valueAt([...at, name])]));
  };
  return valueAt(path);
}
