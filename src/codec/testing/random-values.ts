import fc from 'fast-check';
import { expandNames, type Json, type JsonObject, type Names, setKey } from '../../meta/index.ts';
import { resolve, type ScalarName, type Schema, type StructSchema } from '../../schema/index.ts';
import { parseJson } from '../index.ts';

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', 'v1', 'x'.repeat(200), 'é'.repeat(70)),
);
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', '10', '9', 'é', '\ue000', '😀'));
// Integers beyond 2^53 are bigint, as parseJson returns them.
const json = fc.json({ maxDepth: 2 }).map((written) => parseJson(Buffer.from(written)).value);
const int64 = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const seconds = fc.integer({ min: -62_167_219_200, max: 253_402_300_799 });
const timeText = seconds.map((at) => `${new Date(at * 1000).toISOString().slice(0, 19)}Z`);
const scalarValues: { readonly [name in ScalarName]: fc.Arbitrary<Json> } = {
  string: text,
  bool: fc.boolean(),
  int32: fc.integer(),
  int64,
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bytes: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  time: timeText,
  microTime: fc
    .tuple(timeText, fc.nat({ max: 999_999 }))
    .map(([whole, micros]) => `${whole.slice(0, -1)}.${String(micros).padStart(6, '0')}Z`),
  duration: fc.constantFrom('0s', '1m30s', '-1.5s', '100ms'),
  quantity: fc.constantFrom('0', '1Gi', '500m', '-3', '1e3'),
  intOrString: fc.oneof<fc.Arbitrary<Json>[]>(fc.integer(), text),
  any: json.filter((value) => value !== null),
  object: fc.dictionary(key, json, { maxKeys: 3 }) as fc.Arbitrary<Json>,
};

/** The source of a random value: numbers, and the remaining number of fields and items. */
interface Draw {
  /** An integer below `limit`. */
  readonly below: (limit: number) => number;
  room: number;
}

const pools = new Map<unknown, Json[]>();
function pick(of: fc.Arbitrary<Json>, draw: Draw): Json {
  const pool = pools.get(of) ?? fc.sample(of, { numRuns: 200, seed: 1 });
  pools.set(of, pool);
  return pool[draw.below(pool.length)] as Json;
}

/** A random value of a schema, without empty lists and maps, which protobuf does not distinguish from absent ones. */
function madeOf(given: Schema, draw: Draw, names: Names): Json {
  const schema = resolve(given);
  switch (schema.type) {
    case 'struct': {
      const value: JsonObject = {};
      const rare = draw.below(3) + 1;
      for (const [name, field] of Object.entries(schema.fields)) {
        if (field.tag === 0 || draw.below(rare) > 0 || draw.room-- < 0) continue;
        setKey(value, expandNames(name, names), madeOf(field.schema, draw, names));
      }
      return value;
    }
    case 'list':
      return Array.from({ length: draw.below(3) + 1 }, () => madeOf(schema.element, draw, names));
    case 'map': {
      const value: JsonObject = {};
      for (let i = draw.below(3); i >= 0; i--)
        setKey(value, pick(key, draw) as string, madeOf(schema.value, draw, names));
      return value;
    }
    case 'either':
      return madeOf(schema.options[draw.below(schema.options.length)] as Schema, draw, names);
    default:
      return pick(scalarValues[schema.type], draw);
  }
}

/** Random values of a type, not normalised. */
export const valuesOf = (schema: StructSchema, names: Names): fc.Arbitrary<Json> =>
  fc.tuple(fc.integer(), fc.integer({ min: 1, max: 500 })).map(([seed, room]) => {
    let state = seed;
    const below = (limit: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      return (state >>> 8) % limit;
    };
    return madeOf(schema, { below, room }, names);
  });
