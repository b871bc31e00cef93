import type { Structural } from '../structural.ts';

/** A predicate that holds for a schema when `is` holds for it or for one below it. It looks at each schema once. */
export function anywhere(is: (schema: Structural) => boolean): (schema: Structural) => boolean {
  const results = new WeakMap<Structural, boolean>();
  const holds = (schema: Structural): boolean => {
    let result = results.get(schema);
    if (result === undefined) {
      const { properties, additionalProperties, items } = schema;
      result =
        is(schema) ||
        (items !== undefined && holds(items)) ||
        (typeof additionalProperties === 'object' && holds(additionalProperties)) ||
        [...properties.values()].some(holds);
      results.set(schema, result);
    }
    return result;
  };
  return holds;
}
