import fc from 'fast-check';
import { expect, it } from 'vitest';
import { identifierOf } from '../../cel/index.ts';
import { atOnce, type Json, type JsonObject, namesFor, setKey } from '../../meta/index.ts';
import { Correlation } from '../objects/correlation.ts';
import { structuralOf } from '../structural.ts';
import { ruleValidator } from './evaluate.ts';
import { validateRules } from './validate-rules.ts';

const names = namesFor('k8s.io');

/** A schema, values that are valid by it, and rules that compile for it, some of which fail for some values. */
interface Case {
  readonly schema: JsonObject;
  readonly value: fc.Arbitrary<Json>;
  readonly rules: readonly string[];
}

const text = (format: string, value: fc.Arbitrary<Json>, ...rules: string[]): Case => ({
  schema: { type: 'string', format },
  value,
  rules: ['self == oldSelf', ...rules],
});
const time = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString());
const leaves: readonly Case[] = [
  text('', fc.string(), 'self.size() > 3', "self.matches('^a')", 'int(self) > 0', "self + oldSelf == ''"),
  text('date-time', time, "self > timestamp('2024-01-01T00:00:00Z')", 'self - oldSelf > duration("1h")'),
  text(
    'date',
    time.map((at) => at.slice(0, 10)),
    'self.getFullYear() == 2024',
  ),
  text('duration', fc.constantFrom('1h', '5 days', '3s', '1h1m'), 'self + self > self', 'self.getHours() == 1'),
  text('byte', fc.base64String(), 'size(self) == 0', "self + b'a' != self", 'string(self) == ""'),
  {
    schema: { type: 'integer' },
    value: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    rules: ['self > 0', '1 / self == 1', 'self * self > self', 'self == oldSelf', '-self < 0'],
  },
  {
    schema: { type: 'number' },
    value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    rules: ['self > 0.5', 'self == oldSelf', 'int(self) == 1'],
  },
  { schema: { type: 'boolean' }, value: fc.boolean(), rules: ['self', 'self == oldSelf'] },
  {
    schema: { 'x-kubernetes-int-or-string': true },
    value: fc.oneof(fc.maxSafeInteger(), fc.string()),
    rules: ['self > 5', "type(self) == string ? self == '' : self < 5", 'self == oldSelf', 'self.size() == 0'],
  },
];
const unknown: Case = {
  schema: { 'x-kubernetes-preserve-unknown-fields': true },
  value: fc.jsonValue() as fc.Arbitrary<Json>,
  rules: [],
};

const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'a-b', 'in', 'a b', 'c', 'metadata'), fc.string());

function listOf({ schema: items, value }: Case): Case {
  const { type } = items;
  const listType = type === 'object' || type === 'array' || type === undefined ? 'atomic' : 'set';
  return {
    schema: { type: 'array', items, 'x-kubernetes-list-type': listType },
    value: fc.array(value, { maxLength: 4 }),
    rules: [
      'self == oldSelf',
      'self.size() < 3',
      'self[1] == self[0]',
      'self + oldSelf == self',
      'self.all(x, x == x)',
    ],
  };
}

const mapOf = ({ schema, value }: Case): Case => ({
  schema: { type: 'object', additionalProperties: schema },
  value: fc.dictionary(key, value, { maxKeys: 4 }),
  rules: ['self == oldSelf', "self.exists(k, k == 'c')", "self['c'] == self['d']", 'self.map(k, self[k]).size() == 1'],
});

const objectOf = (fields: ReadonlyMap<string, Case>): Case => {
  const properties: JsonObject = {};
  for (const [name, { schema }] of fields) setKey(properties, name, schema);
  const value = fc
    .tuple(...Array.from(fields, ([name, field]) => fc.option(field.value).map((json) => [name, json] as const)))
    .map((entries) => {
      const json: JsonObject = {};
      for (const [name, field] of entries) if (field !== null) setKey(json, name, field);
      return json;
    });
  const usable = [...fields].filter(([, { rules }]) => rules.length > 0);
  const identifiers = usable.map(([name]) => identifierOf(name)).filter((name) => name !== undefined);
  return {
    schema: { type: 'object', properties },
    value,
    rules: [
      'self == oldSelf',
      ...identifiers.flatMap((name) => [`has(self.${name})`, `self.${name} == oldSelf.${name}`]),
    ],
  };
};

/** Adds some of its rules to the schema of a case. */
const ruled = (one: Case): fc.Arbitrary<Case> =>
  one.rules.length === 0
    ? fc.constant(one)
    : fc.subarray([...one.rules]).map((rules) => ({
        ...one,
        schema: {
          ...one.schema,
          'x-kubernetes-validations': rules.map((rule) => ({ rule, messageExpression: "'' + ''" })),
        },
      }));

const { any } = fc.letrec<{ any: Case }>((tie) => ({
  any: fc
    .oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...leaves, unknown),
      tie('any').map((one) => (one.rules.length === 0 ? one : listOf(one))),
      tie('any').map((one) => (one.rules.length === 0 ? one : mapOf(one))),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }).map((fields) => objectOf(new Map(Object.entries(fields)))),
    )
    .chain(ruled),
}));

const examples = any.chain((one) =>
  fc.record({ schema: fc.constant(one.schema), value: one.value, old: fc.option(one.value) }),
);

it('every schema is validated, and every valid value of it: rules hold or are errors', () => {
  let evaluated = 0;
  fc.assert(
    fc.property(examples, ({ schema, value, old }) => {
      const structural = structuralOf({ type: 'object', properties: { spec: schema } }, names);
      const stored = { rules: new Set<string>(), messages: new Set<string>() };
      const found = atOnce(validateRules(structural, 'schema', { names, isInvalid: () => false, stored }));
      expect(found.filter(({ message }) => /compilation|internal|evaluate/.test(message))).toEqual([]);
      const validate = ruleValidator(structural);
      if (validate === undefined) return;
      evaluated++;
      const correlation = old === null ? undefined : new Correlation({ spec: value }, { spec: old }, structural);
      for (const { field, message } of atOnce(validate({ spec: value }, correlation))) {
        expect(field).toMatch(/^spec/);
        expect(message).not.toContain('invalid data');
      }
    }),
    { numRuns: 500 },
  );
  expect(evaluated).toBeGreaterThan(100);
});
