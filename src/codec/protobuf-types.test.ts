import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandNames, isJsonObject, type Json, type JsonObject, namesFor, StatusError, setKey } from '../meta/index.ts';
import { compile, type Field, resolve, type ScalarName, type Schema, type StructSchema } from '../schema/index.ts';
import * as groups from '../types/index.ts';
import { parseJson, readProtobuf, writeProtobuf } from './index.ts';

const names = namesFor('orch.io');
const type = { apiVersion: 'test/v1', kind: 'Thing' };
const kinds = Object.values(groups)
  .flatMap((group): unknown[] => Object.values(group))
  .filter((value): value is StructSchema => isJsonObject(value as Json) && (value as StructSchema).type === 'struct')
  .filter(({ name, fields }) => fields['apiVersion']?.tag === 0 && name !== 'meta/v1.Table');

const write = (schema: StructSchema, value: Json) => writeProtobuf(schema, type, value, names);
/** The decoded value, normalised by its schema. */
function read(schema: StructSchema, bytes: Uint8Array): JsonObject {
  const { value } = readProtobuf(bytes, type, () => schema, names);
  return compile(schema, names).decode(value).value;
}

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
function madeOf(given: Schema, draw: Draw): Json {
  const schema = resolve(given);
  switch (schema.type) {
    case 'struct': {
      const value: JsonObject = {};
      const rare = draw.below(3) + 1;
      for (const [name, field] of Object.entries(schema.fields)) {
        if (field.tag === 0 || draw.below(rare) > 0 || draw.room-- < 0) continue;
        setKey(value, expandNames(name, names), madeOf(field.schema, draw));
      }
      return value;
    }
    case 'list':
      return Array.from({ length: draw.below(3) + 1 }, () => madeOf(schema.element, draw));
    case 'map': {
      const value: JsonObject = {};
      for (let i = draw.below(3); i >= 0; i--) setKey(value, pick(key, draw) as string, madeOf(schema.value, draw));
      return value;
    }
    case 'either':
      return madeOf(schema.options[draw.below(schema.options.length)] as Schema, draw);
    default:
      return pick(scalarValues[schema.type], draw);
  }
}

const valuesOf = (schema: StructSchema): fc.Arbitrary<Json> =>
  fc.tuple(fc.integer(), fc.integer({ min: 1, max: 500 })).map(([seed, room]) => {
    let state = seed;
    const below = (limit: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      return (state >>> 8) % limit;
    };
    return madeOf(schema, { below, room });
  });

describe('every built-in kind', () => {
  it('is tested', () => {
    expect(kinds.length).toBe(130);
  });

  it.each(kinds.map((schema) => [schema.name, schema] as const))(
    '%s decodes to the value that was encoded',
    (_, schema) => {
      fc.assert(
        fc.property(valuesOf(schema), (drawn) => {
          const { kind: _k, apiVersion: _v, ...value } = compile(schema, names).decode(drawn).value;
          const { kind, apiVersion, ...back } = read(schema, write(schema, { ...type, ...value }));
          expect({ kind, apiVersion }).toEqual(type);
          expect(back).toEqual(value);
        }),
        { numRuns: 8 },
      );
    },
  );

  it.each([groups.coreV1.Pod, groups.apiextensionsV1.CustomResourceDefinition, groups.coreV1.Event])(
    'a truncated $name decodes or throws StatusError 400',
    (schema) => {
      fc.assert(
        fc.property(valuesOf(schema), fc.nat(), (drawn, seed) => {
          const bytes = write(schema, compile(schema, names).decode(drawn).value);
          const step = Math.max(1, Math.floor(bytes.length / 300));
          for (let end = seed % step; end < bytes.length; end += step) {
            const outcome = attempt(schema, bytes.subarray(0, end));
            if (outcome === 'read') expect(end).toBeGreaterThan(4);
          }
        }),
        { numRuns: 5 },
      );
    },
  );

  it('with changed bytes decodes or throws StatusError 400', () => {
    const schema = groups.coreV1.Pod;
    const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(valuesOf(schema), fc.array(change, { minLength: 1, maxLength: 5 }), (drawn, changes) => {
        const bytes = write(schema, compile(schema, names).decode(drawn).value);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        attempt(schema, bytes);
      }),
      { numRuns: 200 },
    );
  });
});

/** Decodes bytes that may be invalid; any error other than StatusError 400 fails the test. */
function attempt(schema: StructSchema, bytes: Uint8Array): 'read' | 'refused' {
  try {
    readProtobuf(bytes, type, () => schema, names);
    return 'read';
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return 'refused';
    throw error;
  }
}

describe('fields of embedded messages', () => {
  it('are nested in protobuf as their structs are inlined', () => {
    // NamedRuleWithOperations { resourceNames = 1; RuleWithOperations = 2 { operations = 1; Rule = 2 { apiGroups = 1 } } }
    const { fields } = groups.admissionregistrationV1.NamedRuleWithOperations;
    const via = (field: Field) => [
      field.via?.tag,
      field.via?.message,
      field.via?.inner?.tag,
      field.via?.inner?.message,
    ];
    const outer = [2, 'admissionregistration/v1.RuleWithOperations'];
    expect(via(fields.resourceNames)).toEqual([undefined, undefined, undefined, undefined]);
    expect(via(fields.operations)).toEqual([...outer, undefined, undefined]);
    expect(via(fields.apiGroups)).toEqual([...outer, 2, 'admissionregistration/v1.Rule']);
  });
});
