import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce, type FieldError, type Json, type JsonObject, namesFor } from '../../meta/index.ts';
import { structuralOf } from '../structural.ts';
import { Checks, maxChecks } from './checks.ts';
import { Correlation } from './correlation.ts';
import { validateEmbedded } from './embedded.ts';
import { explainWhole } from './explain.ts';
import { validateListTypes } from './list-types.ts';
import { isValid } from './valid.ts';
import { validateValue } from './validate.ts';
import { valueSchemaOf } from './value-schema.ts';

const names = namesFor('k8s.io');
const shown = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`);
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });

function errorsOf(schema: JsonObject, value: Json, old?: Json): string[] {
  const structural = structuralOf(schema, names);
  const correlation = old === undefined ? undefined : new Correlation(value, old, structural);
  return shown([
    ...atOnce(validateValue(valueSchemaOf(schema, names), value, '', correlation)),
    ...atOnce(validateListTypes(structural, value)),
  ]);
}

/** The errors of `spec.x`. */
const ofField = (schema: JsonObject, value: Json) =>
  errorsOf(object({ spec: object({ x: schema }) }), { spec: { x: value } });
const integer = { type: 'integer' };
const number = { type: 'number' };
const string = { type: 'string' };
const body = 'spec.x in body';

describe('the work of a validation', () => {
  /** Alternatives of three, nested. */
  const alternatives = (depth: number): JsonObject => {
    let inner: JsonObject = { minLength: 5 };
    for (let i = 0; i < depth; i++) inner = { anyOf: [inner, inner, inner] };
    return { ...string, ...inner };
  };

  it('is limited where alternatives multiply', () => {
    expect(ofField(alternatives(5), 'abcde')).toEqual([]);
    expect(ofField(alternatives(5), 'x')).toContain(
      'spec.x: Invalid value: "x": spec.x in body should be at least 5 chars long',
    );
    const explain = 'does not match its schema, which takes too many comparisons to explain';
    expect(ofField(alternatives(12), 'x')).toEqual([`<nil>: Invalid value: "": ${explain}`]);
    const validate = 'takes more than 4000000 comparisons of values with schemas to validate';
    expect(ofField(alternatives(20), 'x')).toEqual([`<nil>: Invalid value: "": ${validate}`]);
    const validated = { ...string, allOf: Array<JsonObject>(3).fill(alternatives(20)) };
    expect(ofField(validated, 'abcde')).toEqual([]);
  });

  it('ends with as many errors as are reported', () => {
    const names = Array.from({ length: 400 }, (_, i) => `r${i}`);
    const oneOf = names.map((name) => ({ required: [name] }));
    const items = object(Object.fromEntries(names.map((name) => [name, string])), { oneOf });
    expect(ofField({ type: 'array', items }, Array<JsonObject>(20_000).fill({})).length).toBe(1_000);
  });
});

describe('validation of values', () => {
  const cases: { readonly [title: string]: readonly [schema: JsonObject, value: Json, errors: readonly string[]] } = {
    'wrong type': [integer, '1', [`Invalid value: "string": ${body} must be of type integer: "string"`]],
    null: [string, null, [`Invalid value: "null": ${body} must be of type string: "null"`]],
    'nullable null': [{ ...string, nullable: true }, null, []],
    'null is in no enumeration': [
      { ...string, nullable: true, enum: ['a'] },
      null,
      ['Unsupported value: null: supported values: "a"'],
    ],
    'an integer is a number': [number, 1, []],
    'int-or-string': [
      { 'x-kubernetes-int-or-string': true },
      true,
      [`Invalid value: "boolean": ${body} must be of type integer,string: "boolean"`],
    ],
    enumeration: [{ ...integer, enum: [1, 2] }, 3, ['Unsupported value: 3: supported values: "1", "2"']],
    'enumeration of objects': [
      object({}, { enum: [{ a: 1 }] }),
      { b: 1 },
      ['Unsupported value: {"b":1}: supported values: "{\\"a\\":1}"'],
    ],
    minimum: [{ ...integer, minimum: 1 }, 0, [`Invalid value: 0: ${body} should be greater than or equal to 1`]],
    'exclusive minimum': [
      { ...number, minimum: 1.5, exclusiveMinimum: true },
      1.25,
      [`Invalid value: 1.25: ${body} should be greater than 1.5`],
    ],
    maximum: [
      { ...number, maximum: 0.00001 },
      0.5,
      [`Invalid value: 0.5: ${body} should be less than or equal to 1e-05`],
    ],
    'exclusive maximum': [
      { ...integer, maximum: 3, exclusiveMaximum: true },
      3,
      [`Invalid value: 3: ${body} should be less than 3`],
    ],
    'multiple of': [{ ...integer, multipleOf: 3 }, 7, [`Invalid value: 7: ${body} should be a multiple of 3`]],
    'multiple of a fraction': [
      { ...number, multipleOf: 0.1 },
      0.25,
      [`Invalid value: 0.25: ${body} should be a multiple of 0.1`],
    ],
    'multiples of fractions are inexact': [{ ...number, multipleOf: 0.1 }, 0.3, []],
    int32: [
      { ...integer, format: 'int32' },
      2 ** 31,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x'],
    ],
    int64: [
      integer,
      2n ** 63n,
      [
        `Invalid value: "number": ${body} must be of type integer: "number"`,
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.x',
      ],
    ],
    'a bound outside of its type': [
      { ...integer, maximum: 1.5 },
      1,
      ['<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in spec.x'],
    ],
    float: [
      { ...number, format: 'float' },
      1e39,
      ['<nil>: Invalid value: "": Checked value must be of type number with format float in spec.x'],
    ],
    'length in code points': [{ ...string, maxLength: 2 }, '😀😀', []],
    'too long': [{ ...string, maxLength: 2, pattern: '^b' }, 'aaa', ['Too long: may not be more than 2 bytes']],
    'too short': [{ ...string, minLength: 2 }, 'a', [`Invalid value: "a": ${body} should be at least 2 chars long`]],
    pattern: [{ ...string, pattern: '^[a-z]+$' }, 'A', [`Invalid value: "A": ${body} should match '^[a-z]+$'`]],
    'a pattern may match anywhere': [{ ...string, pattern: 'b' }, 'abc', []],
    format: [
      { ...string, format: 'date-time' },
      'yesterday',
      [`Invalid value: "yesterday": ${body} must be of type date-time: "yesterday"`],
    ],
    'a number in place of text in a format': [
      { ...string, format: 'date' },
      1,
      [`Invalid value: "int64": ${body} must be of type date: "int64"`],
    ],
    'too few items': [
      { type: 'array', items: string, minItems: 1 },
      [],
      [`Invalid value: 0: ${body} should have at least 1 items`],
    ],
    'too many items': [
      { type: 'array', items: string, maxItems: 1 },
      ['a', 'b'],
      ['Too many: 2: must have at most 1 item'],
    ],
    'unique items': [
      { type: 'array', uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [`Invalid value: "": ${body} shouldn't contain duplicates`],
    ],
    items: [
      { type: 'array', items: integer },
      [1, 'a'],
      ['spec.x[1]: Invalid value: "string": spec.x[1] in body must be of type integer: "string"'],
    ],
    'too few properties': [
      { type: 'object', minProperties: 1 },
      {},
      [`Invalid value: 0: ${body} should have at least 1 properties`],
    ],
    'too many properties': [
      { type: 'object', maxProperties: 1 },
      { a: 1, b: 2 },
      ['Too many: 2: must have at most 1 item'],
    ],
    'values of a map': [
      { type: 'object', additionalProperties: integer },
      { k: 'a' },
      ['spec.x.k: Invalid value: "string": spec.x.k in body must be of type integer: "string"'],
    ],
    required: [
      object({ a: string }, { required: ['a', 'constructor'] }),
      {},
      ['spec.x.a: Required value', 'spec.x.constructor: Required value'],
    ],
    not: [
      { ...string, not: { enum: ['a'] } },
      'a',
      ['<nil>: Invalid value: "": "spec.x" must not validate the schema (not)'],
    ],
    allOf: [
      { ...string, allOf: [{ minLength: 2 }, { maxLength: 3 }] },
      'a',
      [
        `Invalid value: "a": ${body} should be at least 2 chars long`,
        '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)',
      ],
    ],
    'allOf, none valid': [
      { ...string, allOf: [{ minLength: 2 }] },
      'a',
      [
        `Invalid value: "a": ${body} should be at least 2 chars long`,
        '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf). None validated',
      ],
    ],
    'anyOf reports the schema with most checks passed': [
      object(
        { a: integer, b: integer },
        { anyOf: [{ required: ['a'] }, { required: ['b'], properties: { c: { minimum: 1 } } }] },
      ),
      { c: 5 },
      ['<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)', 'spec.x.b: Required value'],
    ],
    'oneOf, none valid': [
      object({}, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      {},
      [
        '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
        'spec.x.a: Required value',
      ],
    ],
    'oneOf, several valid': [
      object({}, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      { a: 1, b: 1 },
      ['<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    set: [
      { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
      ['a', 'a', 'a', 'b'],
      ['spec.x[1]: Duplicate value: "a"'],
    ],
    'set of objects': [
      { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
      [
        { a: 1, b: 1 },
        { b: 1, a: 1 },
      ],
      ['spec.x[1]: Duplicate value: {"b":1,"a":1}'],
    ],
    map: [
      {
        type: 'array',
        items: object({ id: string }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['id'],
      },
      [{ id: 'a' }, { id: 'a' }, {}, {}],
      ['spec.x[1]: Duplicate value: {"id":"a"}', 'spec.x[3]: Duplicate value: {}'],
    ],
  };
  for (const [title, [schema, value, errors]] of Object.entries(cases)) {
    it(title, () => {
      const expected = errors.map((error) =>
        /^(?:spec|<nil>)/.test(error) && !error.startsWith('spec.x in') ? error : `spec.x: ${error}`,
      );
      expect(ofField(schema, value)).toEqual(expected);
    });
  }

  it('texts of errors name fields relative to the validated value', () => {
    expect(errorsOf(object({}, { required: ['spec'] }), {})).toEqual(['spec: Required value']);
    expect(shown(atOnce(validateValue(valueSchemaOf(integer, names), 'a', 'status')))).toEqual([
      'status: Invalid value: "string":  in body must be of type integer: "string"',
    ]);
    expect(shown(atOnce(validateValue(valueSchemaOf(object({ a: integer }), names), { a: 'a' }, 'status')))).toEqual([
      'status.a: Invalid value: "string": a in body must be of type integer: "string"',
    ]);
  });

  it('embedded resources have an apiVersion, a kind and valid metadata', () => {
    const schema = structuralOf(object({ e: { type: 'object', 'x-kubernetes-embedded-resource': true } }), names);
    expect(
      shown(
        atOnce(
          validateEmbedded(
            schema,
            { e: { apiVersion: 'a/b/c', kind: 'Not ok', metadata: { labels: { 'a b': '' } } } },
            names,
          ),
        ),
      ).map((text) => text.slice(0, 60)),
    ).toEqual(
      [
        'e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion',
        'e.kind: Invalid value: "Not ok": may have mixed case, but sh',
        'e.metadata.labels: Invalid value: "a b": name part must cons',
      ].map((text) => text.slice(0, 60)),
    );
    expect(shown(atOnce(validateEmbedded(schema, { e: {} }, names)))).toEqual([
      'e.apiVersion: Required value',
      'e.kind: Required value',
    ]);
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } };
    expect(atOnce(validateEmbedded(schema, { e: pod }, names))).toEqual([]);
  });
});

describe('ratcheting', () => {
  const list = (listType: string) => ({
    type: 'array',
    items: object({ id: string, n: { ...integer, maximum: 5 } }),
    'x-kubernetes-list-type': listType,
    ...(listType === 'map' ? { 'x-kubernetes-list-map-keys': ['id'] } : {}),
  });
  const tooMuch = (at: string) => `${at}: Invalid value: 9: ${at} in body should be less than or equal to 5`;

  it('unchanged invalid fields are accepted, changed ones are rejected', () => {
    const schema = object({ a: { ...integer, maximum: 5 }, b: { ...integer, maximum: 5 } });
    expect(errorsOf(schema, { a: 9, b: 9 }, { a: 9, b: 8 })).toEqual([tooMuch('b')]);
    expect(errorsOf(schema, { a: 9 }, { a: 9, b: 8 })).toEqual([]);
  });

  it('items of a list of type map are correlated by their keys', () => {
    const schema = object({ l: list('map') });
    const value = {
      l: [
        { id: 'new', n: 1 },
        { id: 'a', n: 9 },
        { id: 'b', n: 9 },
      ],
    };
    expect(
      errorsOf(schema, value, {
        l: [
          { id: 'a', n: 9 },
          { id: 'b', n: 8 },
        ],
      }),
    ).toEqual([tooMuch('l[2].n')]);
  });

  it('an atomic list is unchanged as a whole or not at all', () => {
    const schema = object({ l: list('atomic'), x: string });
    expect(errorsOf(schema, { l: [{ n: 9 }], x: 'b' }, { l: [{ n: 9 }], x: 'a' })).toEqual([]);
    expect(errorsOf(schema, { l: [{ n: 9 }, { n: 1 }] }, { l: [{ n: 9 }] })).toEqual([tooMuch('l[0].n')]);
  });

  it('a changed object must have its required fields', () => {
    const schema = object({ s: object({ a: string }, { required: ['b'] }) });
    expect(errorsOf(schema, { s: { a: 'x' } }, { s: { a: 'x' } })).toEqual([]);
    expect(errorsOf(schema, { s: { a: 'y' } }, { s: { a: 'x' } })).toEqual(['s.b: Required value']);
  });
});

describe('validity', () => {
  const rules: { readonly [name: string]: fc.Arbitrary<Json> } = {
    type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'object', 'array'),
    nullable: fc.boolean(),
    format: fc.constantFrom('date', 'ipv4', 'int32', 'float', 'nope'),
    enum: fc.constantFrom<Json>([1, 'a'], [null], [{ a: 1 }]),
    minimum: fc.constantFrom(0, 1.5, 3),
    maximum: fc.constantFrom(0, 1.5, 3),
    exclusiveMaximum: fc.boolean(),
    multipleOf: fc.constantFrom(2, 0.5),
    maxLength: fc.constantFrom(1, 3),
    pattern: fc.constantFrom('a', '('),
    minItems: fc.constantFrom(1, 2),
    uniqueItems: fc.boolean(),
    maxProperties: fc.constantFrom(0, 1),
    required: fc.constantFrom<Json>(['a'], ['__proto__']),
    'x-kubernetes-int-or-string': fc.boolean(),
  };
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => {
    const inner = tie('schema');
    const several = fc.array(inner, { minLength: 1, maxLength: 3 });
    const below = {
      items: inner,
      additionalProperties: inner,
      not: inner,
      allOf: several,
      anyOf: several,
      oneOf: several,
      properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), inner, { maxKeys: 2 }),
    };
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        fc.record(rules, { requiredKeys: [] }),
        fc.record({ ...rules, ...below }, { requiredKeys: [] }),
      ) as fc.Arbitrary<JsonObject>,
    };
  });
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, 0, 1, 2.5, 2n ** 63n, 1e300, 'a', 'abcd', '2024-01-01', true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc
        .array(fc.tuple(fc.constantFrom('a', 'b', '__proto__'), tie('value')))
        .map((entries) => Object.fromEntries(entries)),
    ),
  }));

  it('a value has errors exactly when it is not valid', () => {
    fc.assert(
      fc.property(schema, value, (given, value) => {
        const compiled = valueSchemaOf(given, names);
        const checks = new Checks(maxChecks);
        const explained = atOnce(explainWhole(compiled, value, undefined, checks));
        expect(explained.isValid).toBe(atOnce(isValid(compiled, value, checks)));
      }),
      { numRuns: 1000 },
    );
  });

  it('an unchanged list is never rejected', () => {
    fc.assert(
      fc.property(value, (value) => {
        const whole = { x: [value] };
        const correlation = new Correlation(whole, whole, structuralOf(object({ x: string }), names));
        const schema = valueSchemaOf(object({ x: string }), names);
        expect(atOnce(validateValue(schema, whole, '', correlation))).toEqual([]);
      }),
    );
  });
});
