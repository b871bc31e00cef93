import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, namesFor, StatusError } from '../meta/index.ts';
import {
  anyObject,
  anyValue,
  bool,
  bytes,
  compile,
  double,
  duration,
  either,
  type Field,
  field,
  inspect,
  int32,
  int64,
  intOrString,
  lazy,
  list,
  map,
  microTime,
  openApiSchemas,
  quantity,
  resolve,
  type ScalarName,
  type Schema,
  type StructSchema,
  string,
  struct,
  time,
  validate,
} from './index.ts';

const names = namesFor('orch.io');
const scalarSchemas = [
  string,
  bool,
  int32,
  int64,
  double,
  bytes,
  time,
  microTime,
  duration,
  quantity,
  intOrString,
  anyValue,
  anyObject,
];
const fieldName = fc.constantFrom('a', 'b', 'c', 'd', 'constructor', 'toString', '__proto__', 'x-{product}-y');

const leaf: fc.Arbitrary<Schema> = fc.constantFrom(...scalarSchemas);
let made = 0;
const schemaOfDepth = (depth: number): fc.Arbitrary<Schema> =>
  depth === 0
    ? leaf
    : fc.oneof(
        leaf,
        schemaOfDepth(depth - 1).map((element): Schema => list(element)),
        schemaOfDepth(depth - 1).map((value): Schema => map(value)),
        schemaOfDepth(depth - 1).map((schema): Schema => lazy(() => schema)),
        structOfDepth(depth - 1),
        structOfDepth(depth - 1).map((schema): Schema => either<Schema>('test/v1.Either', bool, schema, list(string))),
      );
const structOfDepth = (depth: number): fc.Arbitrary<StructSchema> =>
  fc
    .uniqueArray(fc.tuple(fieldName, schemaOfDepth(depth), options), { selector: ([name]) => name, maxLength: 6 })
    .map((entries) => {
      const fields: { [name: string]: Field } = {};
      for (const [i, [name, schema, option]] of entries.entries()) {
        Object.defineProperty(fields, name, { value: field(i + 1, schema, option), enumerable: true });
      }
      return struct(`test/v1.Made${made++}`, fields);
    });
const options = fc.record(
  {
    always: fc.boolean(),
    nullable: fc.boolean(),
    required: fc.boolean(),
    known: fc.constant(['A', 'B']),
    min: fc.constant(1),
    listType: fc.constantFrom('atomic', 'set', 'map'),
    listMapKeys: fc.constantFrom(['a'], ['a', 'constructor']),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<object>;

/** A value of a schema, with fields missing, null, out of order, and now and then one that is not declared. */
function valueFor(given: Schema): fc.Arbitrary<Json> {
  const schema = resolve(given);
  switch (schema.type) {
    case 'struct': {
      const known = Object.entries(schema.fields).map(([name, { schema: inner }]) =>
        fc.tuple(fc.constant(name.replace('{product}', 'orch')), orNull(valueFor(inner))),
      );
      const entries = fc.tuple(...known).chain((all) => fc.shuffledSubarray(all));
      return fc
        .tuple(entries, fc.option(fc.constant(['unknown', 1] as [string, Json]), { freq: 5 }))
        .map(([some, extra]) => Object.fromEntries(extra === null ? some : [...some, extra]));
    }
    case 'list':
      return fc.array(orNull(valueFor(schema.element)), { maxLength: 3 });
    case 'map':
      return fc
        .array(fc.tuple(fc.oneof(fieldName, fc.string()), orNull(valueFor(schema.value))), { maxLength: 3 })
        .map((entries) => Object.fromEntries(entries));
    case 'either':
      return fc.oneof(...schema.options.map((option) => valueFor(option)));
    default:
      return scalarValues[schema.type];
  }
}
const orNull = (value: fc.Arbitrary<Json>): fc.Arbitrary<Json> => fc.option(value, { freq: 8, nil: null });
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
const scalarValues: { readonly [type in ScalarName]: fc.Arbitrary<Json> } = {
  string: fc.oneof(fc.string(), fc.constantFrom('A', 'B', '')),
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.oneof(fc.integer(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bytes: fc.uint8Array({ maxLength: 9 }).map((b) => Buffer.from(b).toString('base64')),
  time: fc.constantFrom('2024-01-01T02:00:00.5+02:00', '1969-12-31T23:59:59Z'),
  microTime: fc.constantFrom('2024-01-01T02:00:00.123456+02:00'),
  duration: fc.constantFrom('90s', '0s', '1h30m'),
  quantity: fc.oneof(fc.constantFrom<Json>('1024Mi', '0.5', '1e3', 2, 1.5), fc.nat()),
  intOrString: fc.oneof<fc.Arbitrary<Json>[]>(fc.integer(), fc.string()),
  any: json,
  object: fc.dictionary(fc.string(), json) as fc.Arbitrary<Json>,
};

const typed = structOfDepth(3).chain((schema) => fc.tuple(fc.constant(schema), valueFor(schema)));

/** Holds where every struct has declared fields alone, in the order of the declaration, and maps sorted keys. */
function expectNormal(given: Schema, value: Json): void {
  const schema = resolve(given);
  if (value === null) return;
  if (schema.type === 'struct') {
    const declared = Object.keys(schema.fields).map((name) => name.replace('{product}', 'orch'));
    expect(Object.keys(value)).toEqual(declared.filter((name) => Object.hasOwn(value as JsonObject, name)));
    for (const [name, inner] of Object.entries(schema.fields)) {
      const written = name.replace('{product}', 'orch');
      if (Object.hasOwn(value as JsonObject, written))
        expectNormal(inner.schema, (value as JsonObject)[written] as Json);
    }
  } else if (schema.type === 'list') {
    for (const item of value as Json[]) expectNormal(schema.element, item);
  } else if (schema.type === 'map') {
    const keys = Object.keys(value).filter((key) => !/^\d+$/.test(key));
    expect(keys).toEqual([...keys].sort());
    for (const item of Object.values(value as JsonObject)) expectNormal(schema.value, item);
  }
}

describe('any type and value', () => {
  it('a decoded value is normal, and decodes to itself', () => {
    fc.assert(
      fc.property(typed, ([schema, value]) => {
        const first = compile(schema, names).decode(value).value;
        expectNormal(schema, first);
        const again = compile(schema, names).decode(first);
        expect(again.unknown).toEqual([]);
        expect(text(again.value)).toBe(text(first));
      }),
      { numRuns: 300 },
    );
  });

  it('inspection finds the fields that decoding prunes and the values that it rejects', () => {
    fc.assert(
      fc.property(structOfDepth(3), json, fc.dictionary(fieldName, json), (schema, other, fields) => {
        for (const value of [other, fields as Json]) {
          const found = outcome(() => inspect(schema, value, names));
          expect(outcome(() => compile(schema, names).decode(value).unknown)).toEqual(found);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('validation never throws, whatever the value', () => {
    fc.assert(
      fc.property(typed, json, ([schema, value], other) => {
        const compiled = compile(schema, names);
        for (const it of [value, other, compiled.decode(value).value]) {
          expect(Array.isArray(validate(it, compiled, 'root'))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('every reference of an OpenAPI document has its schema', () => {
    fc.assert(
      fc.property(structOfDepth(3), fc.constantFrom('v2' as const, 'v3' as const), (schema, dialect) => {
        const schemas = openApiSchemas([schema], { names, dialect });
        for (const [, name] of JSON.stringify(schemas).matchAll(/"\$ref":"#\/[a-z/]+\/([^"]+)"/g)) {
          expect(Object.keys(schemas)).toContain(name);
        }
      }),
    );
  });
});

const text = (value: Json) => JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v));

/** The result, or the message of the error; nothing but a bad request may be thrown. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    expect(error.code).toBe(400);
    return error.message;
  }
}
