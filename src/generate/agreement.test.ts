import { runInThisContext } from 'node:vm';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as zod from 'zod';
import { Checks, maxChecks } from '../extensions/objects/checks.ts';
import { isValid } from '../extensions/objects/valid.ts';
import { valueSchemaOf } from '../extensions/objects/value-schema.ts';
import { atOnce, type Json, type JsonObject, namesFor } from '../meta/index.ts';
import { formats, modelOfDefinitions } from './index.ts';

// Random schemas and values: what is generated agrees with the validation of the server.

const names = namesFor('k8s.io');
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const count = optional(fc.integer({ min: 0, max: 3 }));

const text = fc.record({
  type: fc.constant('string'),
  minLength: count,
  maxLength: count,
  pattern: optional(fc.constantFrom('^a', '.', '\\s', '^[\\w-.]+$', '^$|b')),
  enum: optional(fc.constantFrom(['a', 'b'], ['', '😀'])),
  nullable: optional(fc.boolean()),
});
const limit = optional(fc.integer({ min: -2, max: 3 }));
const number = fc.record({
  type: fc.constantFrom('integer', 'number'),
  minimum: limit,
  maximum: limit,
  exclusiveMinimum: optional(fc.boolean()),
  exclusiveMaximum: optional(fc.boolean()),
  multipleOf: optional(fc.constantFrom(1, 2)),
  enum: optional(fc.constantFrom([1, 2], [0])),
  nullable: optional(fc.boolean()),
});
const either = fc.record({
  [`${names.extension}int-or-string`]: fc.constant(true),
  maximum: limit,
  pattern: optional(fc.constantFrom('^a', 'b$')),
  maxLength: count,
});
const leaf = fc.oneof(text, number, either, fc.constant({ type: 'boolean' }), fc.constant({ type: 'object' }));
const { schema: schemas } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: count, maxItems: count }),
    fc.record({
      type: fc.constant('object'),
      additionalProperties: tie('schema'),
      minProperties: count,
      maxProperties: count,
    }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c-d', 'd'), tie('schema'), {
        minKeys: 1,
        maxKeys: 3,
      }),
      required: optional(fc.subarray(['a', 'c-d'], { minLength: 1 })),
      nullable: optional(fc.boolean()),
      [`${names.extension}preserve-unknown-fields`]: optional(fc.constant(true)),
      anyOf: optional(fc.constantFrom([{ required: ['a'] }, { required: ['b'] }])),
      not: optional(fc.constantFrom({ required: ['d'] })),
    }),
  ),
}));
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('', 'a', 'b', 'ab', '😀', '😀😀', ' ', '\u00a0', '\r', 'A', null, true, 0, 1, 2, 3, -1, 1.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c-d', 'd', 'x'), tie('value'), { maxKeys: 4 }),
  ),
}));

/** The zod schema of a kind, of the program that is generated. */
function evaluate(program: string, name: string): zod.ZodType {
  const plain = program.replaceAll(/^(import|export type) .*$/gm, '').replaceAll('export const', 'const');
  const untyped = plain.replaceAll(/: (number|string|object)\b/g, '');
  return runInThisContext(`(z) => {${untyped}\nreturn ${name};}`)(zod.z) as zod.ZodType;
}

it('JSON Schema accepts the values that are valid, zod these and some more', () => {
  const seen = { valid: 0, invalid: 0, refusedByZod: 0 };
  const cases = fc.tuple(schemas, fc.array(values, { minLength: 30, maxLength: 50 }));
  fc.assert(
    fc.property(cases, ([given, candidates]) => {
      const field = JSON.parse(JSON.stringify(given)) as JsonObject;
      const schema = { type: 'object', properties: { field } };
      const model = modelOfDefinitions([{ where: 'test', definition: definitionOf(schema) }]);
      const validate = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true }).compile(
        JSON.parse(formats['json-schema'](model)),
      );
      const parser = evaluate(formats.zod(model), 'V1Widget');
      const expected = valueSchemaOf(schema, names);
      for (const value of candidates as Json[]) {
        const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: {}, field: value };
        const valid = atOnce(isValid(expected, object, new Checks(maxChecks)));
        expect([value, validate(object)]).toEqual([value, valid]);
        const { success } = parser.safeParse(object);
        if (valid) expect([value, success]).toEqual([value, true]);
        seen[valid ? 'valid' : 'invalid']++;
        if (!success) seen.refusedByZod++;
      }
    }),
    { numRuns: 50 },
  );
  expect(seen.valid).toBeGreaterThan(20);
  expect(seen.refusedByZod).toBeGreaterThan(seen.invalid * 0.9);
});

const definitionOf = (schema: JsonObject): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Widget', plural: 'widgets' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});
