/** Macros with two variables: index and element of a list, or key and value of a map. */
import { textOf } from '../evaluate/attributes.ts';
import type { Library } from '../library.ts';
import { mapType, parameterType } from '../types.ts';
import { CelError, EntriesValue, type MapValue, type Value } from '../values.ts';
import { functionOf } from './overloads.ts';

const key = parameterType('K');
const value = parameterType('V');
const map = mapType(key, value);

/** What `transformMap` and `transformMapEntry` add an entry with. The evaluator compiles the macros to loops. */
export const twoVariableLibrary: Library = {
  name: 'two-variable comprehensions',
  syntax: { twoVariableMacros: true },
  functions: {
    'cel.@mapInsert': [
      functionOf('@mapInsert_map_key_value', [map, key, value], map, (target, added, element) =>
        insert(target as MapValue, [[added as Value, element as Value]]),
      ),
      functionOf('@mapInsert_map_map', [map, map], map, (target, added) =>
        insert(target as MapValue, entriesOf(added as MapValue)),
      ),
    ],
  },
};

/** @throws CelError for a key that the map has */
function insert(target: MapValue, added: Iterable<readonly [Value, Value]>): MapValue {
  const result = new EntriesValue(entriesOf(target));
  for (const [newKey, element] of added) {
    if (!result.add(newKey, element)) throw new CelError(`insert failed: key ${textOf(newKey)} already exists`);
  }
  return result;
}

function* entriesOf(source: MapValue): Iterable<readonly [Value, Value]> {
  for (const known of source.keys()) yield [known, source.get(known) as Value];
}
