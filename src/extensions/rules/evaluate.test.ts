import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, namesFor } from '../../meta/index.ts';
import { Correlation } from '../objects/correlation.ts';
import { structuralOf } from '../structural.ts';
import { type RuleOptions, ruleValidator } from './evaluate.ts';

const names = namesFor('k8s.io');
const text = { type: 'string' };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const ruled = (schema: JsonObject, ...rules: (string | JsonObject)[]): JsonObject => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

/** The errors as text, of a value of the schema at `spec`. */
function errors(schema: JsonObject, value: Json, old?: Json, options: RuleOptions = { path: 'spec' }): string[] {
  const structural = structuralOf(schema, names);
  const validate = ruleValidator(structural, options.path === '');
  if (validate === undefined) throw new Error('no rules');
  const correlation = old === undefined ? undefined : new Correlation(value, old, structural);
  return validate(value, correlation, options).map(({ field, message }) => `${field}: ${message}`);
}

describe('rules of objects', () => {
  const spec = ruled(
    object({
      min: { type: 'integer' },
      max: { type: 'integer' },
      fixed: ruled(text, { rule: 'self == oldSelf', message: 'fixed cannot change' }),
      names: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 20 } },
      q: ruled(text, { rule: "quantity(self).isGreaterThan(quantity('1Gi'))", messageExpression: "'got ' + self" }),
      url: ruled(text, { rule: "isURL(self) && url(self).getScheme() == 'https'", reason: 'FieldValueForbidden' }),
      'a-b': text,
      namespace: text,
    }),
    {
      rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
      message: 'min must not exceed max',
      fieldPath: '.min',
    },
    "!has(self.names) || self.names.all(n, n.startsWith('x'))",
    '!has(self.a__dash__b) || self.a__dash__b.size() > 1',
    "!has(self.__namespace__) || self.__namespace__ != 'bad'",
    { rule: '!has(oldSelf.max) || has(self.max)', message: 'max may not be unset' },
  );

  it.each<[string, Json, string[]]>([
    ['holds', { min: 1, max: 2 }, []],
    ['a field path', { min: 3, max: 2 }, ['spec.min: Invalid value: min must not exceed max']],
    [
      'no message',
      { names: ['xa', 'b'] },
      ["spec: Invalid value: failed rule: !has(self.names) || self.names.all(n, n.startsWith('x'))"],
    ],
    ['a message expression', { q: '512Mi' }, ['spec.q: Invalid value: "512Mi": got 512Mi']],
    [
      'a failure',
      { q: 'lots' },
      [
        `spec.q: Invalid value: "string": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' evaluating rule: quantity(self).isGreaterThan(quantity('1Gi'))`,
      ],
    ],
    [
      'a reason',
      { url: 'http://x' },
      ["spec.url: Forbidden: failed rule: isURL(self) && url(self).getScheme() == 'https'"],
    ],
    [
      'escaped names',
      { 'a-b': 'x', namespace: 'bad' },
      [
        'spec: Invalid value: failed rule: !has(self.a__dash__b) || self.a__dash__b.size() > 1',
        "spec: Invalid value: failed rule: !has(self.__namespace__) || self.__namespace__ != 'bad'",
      ],
    ],
  ])('%s', (_, value, expected) => {
    expect(errors(spec, value)).toEqual(expected);
  });

  it('evaluates transition rules where there is an old value', () => {
    const old = { fixed: 'a', max: 5 };
    expect(errors(spec, { fixed: 'b', max: 5 }, old)).toEqual(['spec.fixed: Invalid value: "b": fixed cannot change']);
    expect(errors(spec, { fixed: 'a' }, old)).toEqual(['spec: Invalid value: max may not be unset']);
    expect(errors(spec, { fixed: 'b' }, {})).toEqual([]);
    expect(errors(spec, { fixed: null }, old)).toEqual(['spec: Invalid value: max may not be unset']);
  });
});
