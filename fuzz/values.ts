import { expandNames, isJsonObject, type Json, type JsonArray, type JsonObject, setKey } from '../src/meta/index.ts';
import { resolve, type ScalarName, type Schema, type StructSchema } from '../src/schema/index.ts';
import { names } from './names.ts';
import type { Random } from './random.ts';

/** Keys that a careless parser does not treat as data. */
const keys = [
  'a',
  'b',
  'name',
  '',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '10',
  'é',
  '\ue000',
  '😀',
  'a.b/c',
  '$patch',
];
const texts = [
  '',
  'a',
  'web',
  'Not.Valid_',
  '-',
  'x'.repeat(64),
  'x'.repeat(300),
  '10.0.0.1',
  '::1',
  '1Gi',
  '1e3',
  '50%',
  '2024-01-01T00:00:00Z',
  'example.com/a',
  'TCP',
  'null',
  '9'.repeat(400),
  'a=b,c!=d',
  '$(A)',
  '../..',
  'a\u0000b',
  '\ud800',
  'é😀\u2028',
];
const numbers: readonly Json[] = [
  0,
  1,
  -1,
  80,
  65_536,
  2 ** 31,
  2 ** 53,
  0.5,
  -1e308,
  2n ** 63n,
  -(2n ** 63n),
  10n ** 30n,
];

export const anyKey = (random: Random): string => random.pick(keys);
export const anyText = (random: Random): string =>
  random.once(6) ? random.pick(texts).repeat(random.power(6)) : random.pick(texts);

/** A random JSON value of limited depth. */
export function anyJson(random: Random, depth = 3): Json {
  const kind = random.below(depth > 0 ? 7 : 4);
  if (kind === 0) return random.pick([null, true, false]);
  if (kind === 1) return random.pick(numbers);
  if (kind < 4) return anyText(random);
  if (kind === 4) return random.list(0, 3, () => anyJson(random, depth - 1));
  const out: JsonObject = {};
  for (const key of random.list(0, 4, () => anyKey(random))) setKey(out, key, anyJson(random, depth - 1));
  return out;
}

/** A value with some parts removed, swapped, duplicated or moved to a wrong place. */
export function changed(random: Random, value: Json, changes = 1 + random.below(3)): Json {
  let out = value;
  for (let i = 0; i < changes; i++) out = changedOnce(random, out, random.below(sizeOf(out)));
  return out;
}

/** The number of values in a value, including itself. */
function sizeOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item as Json), 1);
}

/** Changes the nested value with this index. */
function changedOnce(random: Random, value: Json, at: number): Json {
  if (at === 0 || typeof value !== 'object' || value === null) return replacement(random, value);
  let left = at - 1;
  const entries = Object.entries(value) as [string, Json][];
  const place = entries.findIndex(([, item]) => {
    const size = sizeOf(item);
    if (left < size) return true;
    left -= size;
    return false;
  });
  const [key, item] = entries[place] as [string, Json];
  if (Array.isArray(value)) return changedList(random, value, place, left);
  const out: JsonObject = { ...value };
  if (left === 0 && random.once(4)) delete out[key];
  else if (left === 0 && random.once(8)) setKey(out, anyKey(random), item);
  else setKey(out, key, changedOnce(random, item, left));
  return out;
}

function changedList(random: Random, list: JsonArray, place: number, at: number): Json {
  const item = list[place] as Json;
  if (at === 0 && random.once(4)) return list.toSpliced(place, 1);
  if (at === 0 && random.once(4)) return list.toSpliced(place, 0, ...Array<Json>(random.power(8)).fill(item));
  return list.with(place, changedOnce(random, item, at));
}

function replacement(random: Random, value: Json): Json {
  switch (random.below(6)) {
    case 0:
      return nested(random, value);
    case 1:
      if (isJsonObject(value)) return { ...value, [anyText(random)]: anyJson(random) };
      return Array.isArray(value) ? [...value, anyJson(random)] : anyText(random);
    case 2:
      return typeof value === 'string' ? value.repeat(random.power(10)).slice(0, 100_000) : random.pick(numbers);
    case 3:
      return null;
    default:
      return anyJson(random);
  }
}

/** The value nested in about a hundred lists and objects. */
export function nested(random: Random, value: Json, depth = random.power(9)): Json {
  let out = value;
  const key = anyKey(random);
  for (let i = 0; i < depth; i++) out = random.once(2) ? [out] : { [key]: out };
  return out;
}

const scalarTexts: { readonly [name in ScalarName]?: readonly Json[] } = {
  bool: [true, false],
  int32: [0, 1, -1, 80, 2 ** 31 - 1, 2 ** 31],
  int64: [0, 1, -1, 1000, 2 ** 53, 2n ** 63n - 1n],
  double: [0, 0.5, -1e300],
  bytes: ['', 'YQ==', 'not base64', 'QUJD'.repeat(50)],
  time: ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.5+02:00', 'yesterday', null],
  microTime: ['2024-01-01T00:00:00.000001Z', '2024-01-01', null],
  duration: ['1h', '-1.5s', '0', 'long'],
  quantity: ['1', '500m', '1Gi', '-3', '1e3', 'x', 1, 0.1],
  intOrString: [1, 80, '50%', 'http', '101%', -1],
};

/** A value that nearly matches a schema: some fields are missing, null, or rarely of another type. */
export function valueFor(random: Random, given: Schema, room = { left: 60 }): Json {
  const schema = resolve(given);
  if (room.left-- <= 0) return null;
  if (random.once(60)) return anyJson(random);
  switch (schema.type) {
    case 'struct':
      return structFor(random, schema, room);
    case 'list':
      return random.list(0, 3, () => valueFor(random, schema.element, room));
    case 'map': {
      const out: JsonObject = {};
      for (const key of random.list(0, 3, () => anyKey(random))) setKey(out, key, valueFor(random, schema.value, room));
      return out;
    }
    case 'either':
      return valueFor(random, random.pick(schema.options), room);
    default:
      return scalarTexts[schema.type] === undefined
        ? schema.type === 'string'
          ? anyText(random)
          : anyJson(random)
        : random.pick(scalarTexts[schema.type] as readonly Json[]);
  }
}

function structFor(random: Random, { fields }: StructSchema, room: { left: number }): JsonObject {
  const out: JsonObject = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.required !== true && !random.once(3)) continue;
    const known = field.known;
    const value = known !== undefined && !random.once(10) ? random.pick(known) : valueFor(random, field.schema, room);
    setKey(out, expandNames(name, names), value);
  }
  return out;
}
