/** Comprehensions with two variables: `all(i, v, …)`, `transformList`, `transformMap`, `transformMapEntry`. */
import type { Library } from '../library.ts';
import { mapType, parameterType } from '../types.ts';
import { CelError, EntriesValue, type MapValue, type Value } from '../values.ts';

const key = parameterType('K');
const value = parameterType('V');
const map = mapType(key, value);

export const twoVariablesLibrary: Library = {
  name: 'two-variables',
  syntax: { twoVariableMacros: true },
  functions: {
    /** The expansion of `transformMap` and `transformMapEntry`; loops over it build one map. */
    'cel.@mapInsert': [
      {
        id: '@mapInsert_map_key_value',
        args: [map, key, value],
        result: map,
        call: (to, at, inserted) => insert(to as MapValue, [[at as Value, inserted as Value]]),
      },
      {
        id: '@mapInsert_map_map',
        args: [map, map],
        result: map,
        call: (to, from) => insert(to as MapValue, entries(from as MapValue)),
      },
    ],
  },
};

function insert(to: MapValue, inserted: Iterable<readonly [Value, Value]>): Value {
  const all = [...entries(to)];
  for (const entry of inserted) {
    if (to.has(entry[0])) throw new CelError('insert failed: key already exists');
    all.push(entry);
  }
  return new EntriesValue(all);
}

function* entries(from: MapValue): Iterable<readonly [Value, Value]> {
  for (const at of from.keys()) yield [at, from.get(at) as Value];
}
