import { describe, expect, test } from 'vitest';
import { atOnce, type JsonObject, namesFor } from '../../meta/index.ts';
import { onCreate, type Row, sorted } from '../testing/kind.ts';
import { forbidden, invalid, required, unsupported } from '../testing/messages.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import { validateSchema } from './json-schema.validation.ts';

const definition = (openAPIV3Schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  metadata: { name: 'alphas.a.b' },
  spec: {
    group: 'a.b',
    scope: 'Namespaced',
    names: { plural: 'alphas', kind: 'Alpha' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...more }],
  },
});

const at = 'spec.validation.openAPIV3Schema';
const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const text = { type: 'string' };
const entries = (listType: string, items: JsonObject, more: JsonObject = {}): JsonObject =>
  object({ l: { type: 'array', items, 'x-kubernetes-list-type': listType, ...more } });
const list = `${at}.properties[l]`;
const keyed = (items: JsonObject, keys: string[] = ['id']) =>
  entries('map', items, { 'x-kubernetes-list-map-keys': keys });
const structural = (state: string) => forbidden(`must be ${state} to be structural`);

// Fields and texts are those of the reference server.
const structure: readonly Row[] = [
  ['a string', object({ a: text })],
  ['no type at the root', {}, [`${at}.type`, 'Required', required('must not be empty at the root')]],
  ['a text at the root', text, [`${at}.type`, 'Invalid', invalid('string', 'must be object at the root')]],
  [
    'a field without a type',
    object({ spec: { properties: { a: text } } }),
    [`${at}.properties[spec].type`, 'Required', required('must not be empty for specified object fields')],
  ],
  [
    'items without a type',
    object({ l: { type: 'array', items: {} } }),
    [`${list}.items.type`, 'Required', required('must not be empty for specified array items')],
  ],
  [
    'an array without items',
    object({ l: { type: 'array' } }),
    [`${list}.items`, 'Required', required('must be specified')],
  ],
  ['unknown fields preserved', object({ a: { 'x-kubernetes-preserve-unknown-fields': true } })],
  ['int-or-string', object({ a: { 'x-kubernetes-int-or-string': true } })],
  [
    'x-int-or-string with anyOf and with allOf',
    object({
      a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      b: {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }],
      },
    }),
  ],
  [
    'int-or-string with unknown fields',
    object({ a: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true } }),
    [
      `${at}.properties[a].x-kubernetes-preserve-unknown-fields`,
      'Invalid',
      invalid(true, 'must be false if x-kubernetes-int-or-string is true'),
    ],
  ],
  [
    'an empty embedded object',
    object({ a: { 'x-kubernetes-embedded-resource': true } }),
    [`${at}.properties[a].type`, 'Required', required('must be object if x-kubernetes-embedded-resource is true')],
    [
      `${at}.properties[a].properties`,
      'Required',
      required(
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    ],
  ],
  [
    'a map at the root',
    { type: 'object', additionalProperties: text },
    [`${at}.additionalProperties`, 'Forbidden', forbidden('must not be used at the root')],
  ],
  [
    'types in value validation',
    object({ a: { type: 'string', not: { type: 'string', default: 'x', nullable: true, description: 'd' } } }),
    [`${at}.properties[a].not.type`, 'Forbidden', structural('empty')],
    [`${at}.properties[a].not.default`, 'Forbidden', structural('undefined')],
    [`${at}.properties[a].not.nullable`, 'Forbidden', structural('false')],
    [`${at}.properties[a].not.description`, 'Forbidden', structural('empty')],
  ],
  [
    'value validation of an undeclared field',
    { ...object({ a: text }), anyOf: [{ properties: { a: { pattern: 'x' }, b: { pattern: 'x' } } }] },
    [`${at}.properties[b]`, 'Required', required(`because it is defined in ${at}.anyOf[0].properties[b]`)],
  ],
  ['metadata with a restricted name', object({ metadata: object({ name: { type: 'string', maxLength: 5 } }) })],
  [
    'restricted labels of metadata',
    object({ metadata: object({ labels: object({}) }), kind: { type: 'integer' } }),
    [
      `${at}.properties[metadata]`,
      'Forbidden',
      forbidden('must not specify anything other than name and generateName, but metadata is implicitly specified'),
    ],
    [`${at}.properties[kind].type`, 'Invalid', invalid('integer', 'must be string')],
  ],
];

const standard: readonly Row[] = [
  [
    'an unknown type',
    object({ a: { type: 'strin' } }),
    [
      `${at}.properties[a].type`,
      'NotSupported',
      unsupported('strin', 'array', 'boolean', 'integer', 'number', 'object', 'string'),
    ],
  ],
  [
    '$ref and definitions',
    object({ a: { $ref: '#/definitions/x' }, b: { definitions: { x: text } } }),
    [`${at}.properties[a].$ref`, 'Forbidden', forbidden('$ref is not supported')],
    [`${at}.properties[b].definitions`, 'Forbidden', forbidden('definitions is not supported')],
  ],
  [
    'uniqueItems',
    object({ l: { type: 'array', items: text, uniqueItems: true } }),
    [
      `${list}.uniqueItems`,
      'Forbidden',
      forbidden('uniqueItems cannot be set to true since the runtime complexity becomes quadratic'),
    ],
  ],
  [
    'additionalProperties with properties',
    object({ a: { type: 'object', properties: { b: text }, additionalProperties: text } }),
    [
      `${at}.properties[a].additionalProperties`,
      'Forbidden',
      forbidden('additionalProperties and properties are mutual exclusive'),
    ],
  ],
  [
    'nullable at the root',
    { type: 'object', nullable: true },
    [`${at}.nullable`, 'Forbidden', forbidden('nullable cannot be true at the root')],
  ],
  [
    'a default of kind',
    object({ kind: { type: 'string', default: 'x' } }),
    [`${at}.properties[kind].default`, 'Forbidden', forbidden('must not be set in top-level kind')],
  ],
  [
    'preserve-unknown-fields set to false',
    object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false } }),
    [
      `${at}.properties[a].x-kubernetes-preserve-unknown-fields`,
      'Invalid',
      invalid(false, 'must be true or undefined'),
    ],
  ],
];

const merging: readonly Row[] = [
  ['required list map keys', keyed({ ...object({ id: text }), required: ['id'] })],
  ['list map keys with defaults', keyed(object({ id: { type: 'string', default: 'x' } }))],
  [
    'an optional list map key',
    keyed(object({ id: { type: 'string', nullable: true } })),
    [
      `${list}.items.properties[id].default`,
      'Required',
      required('this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'),
    ],
    [
      `${list}.items.properties[id].nullable`,
      'Forbidden',
      forbidden('this property is in x-kubernetes-list-map-keys, so it cannot be nullable'),
    ],
  ],
  [
    'no list map keys',
    entries('map', { type: 'object' }),
    [`${list}.x-kubernetes-list-map-keys`, 'Required', required('must not be empty if x-kubernetes-list-type is map')],
  ],
  [
    'list map keys on strings',
    keyed(text),
    [
      `${list}.items.type`,
      'Invalid',
      invalid('string', "must be object if parent array's x-kubernetes-list-type is map"),
    ],
  ],
  [
    'undeclared list map keys',
    keyed(object({}), ['id', 'id']),
    [
      `${list}.x-kubernetes-list-map-keys`,
      'Invalid',
      invalid(['id', 'id'], 'entries must all be names of item properties'),
    ],
    [
      `${list}.x-kubernetes-list-map-keys`,
      'Invalid',
      invalid(['id', 'id'], 'entries must all be names of item properties'),
    ],
    [`${list}.x-kubernetes-list-map-keys`, 'Invalid', invalid(['id', 'id'], 'must not contain duplicate entries')],
  ],
  [
    'list map keys without a list',
    object({ l: { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['id'] } }),
    [`${list}.x-kubernetes-list-type`, 'Required', required('must be map if x-kubernetes-list-map-keys is non-empty')],
  ],
  [
    'a set of objects',
    entries('set', { type: 'object' }),
    [
      `${list}.items.x-kubernetes-map-type`,
      'Invalid',
      invalid(null, 'must be atomic as item of a list with x-kubernetes-list-type=set'),
    ],
  ],
  [
    'unknown list and map types',
    object({
      l: { type: 'array', items: text, 'x-kubernetes-list-type': 'odd' },
      m: { type: 'string', 'x-kubernetes-map-type': 'atomic' },
    }),
    [`${list}.x-kubernetes-list-type`, 'NotSupported', unsupported('odd', 'atomic', 'set', 'map')],
    [`${at}.properties[m].type`, 'Invalid', invalid('string', 'must be object if x-kubernetes-map-type is specified')],
  ],
  [
    'a field path of no field',
    object({
      a: object({ b: text }),
      c: { ...text, 'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.a' }] },
    }),
    [`${at}.properties[c].x-kubernetes-validations[0].fieldPath`, 'Invalid', invalid('.a', 'must be a valid path')],
  ],
  [
    'rules and merge types in value validation',
    object({
      a: { ...text, not: { 'x-kubernetes-validations': [{ rule: 'true' }], 'x-kubernetes-map-type': 'atomic' } },
      b: { ...text, not: { 'x-kubernetes-validations': [] } },
    }),
    [`${at}.properties[a].not.type`, 'Required', required('must be object if x-kubernetes-map-type is specified')],
    [`${at}.properties[a].not.x-kubernetes-map-type`, 'Forbidden', structural('undefined')],
    [`${at}.properties[a].not.x-kubernetes-validations`, 'Forbidden', structural('empty')],
  ],
  [
    'an empty expression',
    object({ a: { type: 'string', 'x-kubernetes-validations': [{ rule: ' ' }, { rule: 'a\nb', reason: 'Odd' }] } }),
    [`${at}.properties[a].x-kubernetes-validations[0].rule`, 'Required', required('rule is not specified')],
    [
      `${at}.properties[a].x-kubernetes-validations[1].message`,
      'Required',
      required('message must be specified if rule contains line breaks'),
    ],
    [
      `${at}.properties[a].x-kubernetes-validations[1].reason`,
      'NotSupported',
      unsupported('Odd', 'FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'),
    ],
  ],
];

describe('schemas of custom resources', () => {
  test.each([...structure, ...standard, ...merging])('%s', (_, schema, ...expected) => {
    expect(onCreate(customResourceDefinitions, definition(schema))).toEqual(sorted(expected));
  });

  test('with the status subresource the root schema may not use other keywords', () => {
    const schema = { type: 'object', oneOf: [{ required: ['a'] }] };
    const found = onCreate(customResourceDefinitions, definition(schema, { subresources: { status: {} } }));
    expect(found.map(([field, reason]) => [field, reason])).toEqual([[at, 'Invalid']]);
    expect(found[0]?.[2]).toContain(
      'fields are allowed at the root of the schema if the status subresource is enabled',
    );
  });

  const refused = (pattern: string, reason: string) =>
    invalid(pattern, `must be a valid regular expression, but isn't: error parsing regexp: ${reason}`);
  const opened = (pattern: string) => refused(pattern, `missing closing ): \`${pattern}\``);

  // As the reference server answers.
  test('patterns are regular expressions of RE2, wherever they are', () => {
    const list = {
      type: 'array',
      pattern: '(own',
      items: { ...text, pattern: '(items' },
      allOf: [{ pattern: '(all' }],
      anyOf: [{ pattern: '(any' }],
      not: { pattern: '(not' },
      oneOf: [{ pattern: '(one', items: { pattern: '(oneItems' } }],
    };
    const map = { type: 'object', additionalProperties: { type: 'integer', pattern: '(values' } };
    expect(onCreate(customResourceDefinitions, definition(object({ a: list, b: map })))).toEqual([
      [`${at}.properties[a].allOf[0].pattern`, 'Invalid', opened('(all')],
      [`${at}.properties[a].anyOf[0].pattern`, 'Invalid', opened('(any')],
      [`${at}.properties[a].items.pattern`, 'Invalid', opened('(items')],
      [`${at}.properties[a].not.pattern`, 'Invalid', opened('(not')],
      [`${at}.properties[a].oneOf[0].items.pattern`, 'Invalid', opened('(oneItems')],
      [`${at}.properties[a].oneOf[0].pattern`, 'Invalid', opened('(one')],
      [`${at}.properties[a].pattern`, 'Invalid', opened('(own')],
      [`${at}.properties[b].additionalProperties.pattern`, 'Invalid', opened('(values')],
    ]);
  });

  test('patterns are refused with the reason of RE2', () => {
    const patterns = ['(?=x)', '\\1', '\\', '(?<n>a)', '(?i)x'];
    const properties = Object.fromEntries(patterns.map((pattern, i) => [`p${i}`, { ...text, pattern }]));
    expect(onCreate(customResourceDefinitions, definition(object(properties)))).toEqual([
      [`${at}.properties[p0].pattern`, 'Invalid', refused('(?=x)', 'invalid or unsupported Perl syntax: `(?=`')],
      [`${at}.properties[p1].pattern`, 'Invalid', refused('\\1', 'invalid escape sequence: `\\1`')],
      [`${at}.properties[p2].pattern`, 'Invalid', refused('\\', 'trailing backslash at end of expression: ``')],
    ]);
  });

  test('rules are checked once patterns are valid', () => {
    const rules = { 'x-kubernetes-validations': [{ rule: 'self +' }] };
    const schema = object({ a: { ...text, pattern: '(', ...rules } });
    expect(onCreate(customResourceDefinitions, definition(schema)).map(([field]) => field)).toEqual([
      `${at}.properties[a].pattern`,
    ]);
  });

  test('patterns of a schema that is not structural are not looked at', () => {
    const schema = object({ a: { type: 'array', items: [{ ...text, pattern: '(' }] }, b: { ...text, pattern: '(' } });
    expect(onCreate(customResourceDefinitions, definition(schema)).map(([field]) => field)).toEqual([
      `${at}.properties[a].items`,
    ]);
  });

  test('different schemas are reported by version', () => {
    const one = { served: true, schema: { openAPIV3Schema: object({ a: text }) } };
    const versions = [
      { ...one, name: 'v1', storage: true },
      { ...one, name: 'v2', storage: false, schema: { openAPIV3Schema: object({ a: {} }) } },
    ];
    const { metadata, spec } = definition({}) as { metadata: JsonObject; spec: JsonObject };
    expect(onCreate(customResourceDefinitions, { metadata, spec: { ...spec, versions } })).toEqual([
      [
        'spec.versions[1].schema.openAPIV3Schema.properties[a].type',
        'Required',
        required('must not be empty for specified object fields'),
      ],
    ]);
  });
});

const schemaRules = { hasStatus: false, structural: true };

test('a schema is read once for the field paths of all its rules', () => {
  const reads = (rules: number): number => {
    let count = 0;
    const below = { type: 'object', 'x-kubernetes-validations': Array(rules).fill({ rule: 'true', fieldPath: '.a' }) };
    Object.defineProperty(below, 'properties', {
      enumerable: true,
      get: () => {
        count++;
        return { a: text };
      },
    });
    expect(atOnce(validateSchema(object({ spec: below }), at, namesFor('k8s.io'), schemaRules))).toEqual([]);
    return count;
  };
  expect(reads(50)).toBe(reads(1));
});

test('a schema is validated in steps, in proportion to its properties', () => {
  const stepsFor = (count: number): number => {
    const properties = Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, text]));
    const steps = validateSchema(object({ spec: object(properties) }), at, namesFor('k8s.io'), schemaRules);
    for (let taken = 0; ; taken++) {
      const step = steps.next();
      if (step.done !== true) continue;
      expect(step.value).toEqual([]);
      return taken;
    }
  };
  const [one, two] = [stepsFor(10_000), stepsFor(20_000)];
  // Three walks, with a step for a thousand properties each.
  expect(one).toBeGreaterThanOrEqual(30);
  expect(two).toBeGreaterThanOrEqual(1.9 * one);
});
