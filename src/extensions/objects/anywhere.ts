import type { Structural } from '../structural.ts';

/** A predicate that holds for a schema when `is` holds for it or for one below it. It looks at each schema once. */
export function anywhere(is: (schema: Structural) => boolean): (schema: Structural) => boolean {
  const known = new WeakMap<Structural, boolean>();
  const holds = (schema: Structural): boolean => {
    let found = known.get(schema);
    if (found === undefined) {
      const { properties, additionalProperties, items } = schema;
      found =
        is(schema) ||
        (items !== undefined && holds(items)) ||
        (typeof additionalProperties === 'object' && holds(additionalProperties)) ||
        [...properties.values()].some(holds);
      known.set(schema, found);
    }
    return found;
  };
  return holds;
}
