import { describe, expect, it } from 'vitest';
import { atOnce, fieldError, fieldErrors, type Json, type JsonObject, namesFor } from '../../meta/index.ts';
import { Correlation } from '../objects/correlation.ts';
import { structuralOf } from '../structural.ts';
import { type RuleOptions, rulesNotChecked, ruleValidator } from './evaluate.ts';

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
  return atOnce(validate(value, correlation, options)).map(({ field, message }) => `${field}: ${message}`);
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
    "!has(self.namespace) || self.namespace != 'bad'",
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
        "spec: Invalid value: failed rule: !has(self.namespace) || self.namespace != 'bad'",
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

const equal = { rule: 'self == oldSelf' };
const root = { path: '' };

describe('old values', () => {
  const changed = 'failed rule: self == oldSelf';

  it('are those of the property, of the key of a map, and of the item with the keys of a list map', () => {
    const item = object({ k: text, n: { type: 'integer' }, v: ruled(text, equal) });
    const schema = object({
      map: { type: 'object', additionalProperties: ruled(text, equal) },
      list: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'n'] },
    });
    const old = {
      map: { a: '1', b: '2' },
      list: [
        { k: 'x', n: 1, v: '1' },
        { k: 'x', n: 2, v: '2' },
      ],
    };
    const now = {
      map: { b: '3', a: '1', c: '4' },
      list: [
        { k: 'x', n: 2, v: '3' },
        { k: 'y', n: 1, v: '4' },
        { k: 'x', n: 1, v: '1' },
      ],
    };
    expect(errors(schema, now, old)).toEqual([
      `spec.map[b]: Invalid value: "3": ${changed}`,
      `spec.list[0].v: Invalid value: "3": ${changed}`,
    ]);
    expect(errors(schema, now)).toEqual([]);
  });

  it('are absent in other lists, where a property was absent, and below either', () => {
    for (const type of ['atomic', 'set']) {
      const list = { type: 'array', items: ruled(text, equal), 'x-kubernetes-list-type': type };
      expect(errors(list, ['b'], ['a'])).toEqual([]);
    }
    const schema = object({ a: object({ b: ruled(text, equal) }) });
    expect(errors(schema, { a: { b: 'x' } }, {})).toEqual([]);
    expect(errors(schema, { a: { b: 'x' } }, { a: null })).toEqual([]);
    expect(errors(schema, { a: { b: 'x' } }, { a: { b: 'y' } })).toEqual([`spec.a.b: Invalid value: "x": ${changed}`]);
  });

  it('are optional where the rule says so', () => {
    const schema = ruled(text, {
      rule: "oldSelf.hasValue() ? oldSelf.value() == self : self == 'first'",
      message: 'wrong',
      optionalOldSelf: true,
    });
    expect(errors(schema, 'first')).toEqual([]);
    expect(errors(schema, 'x')).toEqual(['spec: Invalid value: "x": wrong']);
    expect(errors(schema, 'x', 'x')).toEqual([]);
    expect(errors(schema, 'first', 'x')).toEqual(['spec: Invalid value: "first": wrong']);
  });

  it('may be of another type than values are now', () => {
    expect(errors(ruled(text, equal), 'x', 5)).toEqual([
      'spec: Invalid value: "string": invalid data, expected string, got int64 evaluating rule: self == oldSelf',
    ]);
  });
});

describe('lists', () => {
  const list = (items: JsonObject, type: string) => ({ type: 'array', items, 'x-kubernetes-list-type': type });

  it('of the types set and map are equal in any order', () => {
    expect(errors(ruled(list(text, 'set'), equal), ['b', 'a'], ['a', 'b'])).toEqual([]);
    expect(errors(ruled(list(text, 'atomic'), equal), ['b', 'a'], ['a', 'b'])).toHaveLength(1);
    const map = { ...list(object({ k: text, v: text }), 'map'), 'x-kubernetes-list-map-keys': ['k'] };
    const items = [{ k: 'a', v: '1' }, { k: 'b' }];
    expect(errors(ruled(map, equal), items, [...items].reverse())).toEqual([]);
    expect(errors(ruled(map, equal), items, [{ k: 'b' }, { k: 'a', v: '2' }])).toHaveLength(1);
  });

  it('are merged by + as their type says', () => {
    const sum = (schema: JsonObject, size: number) => ruled(schema, `(self + oldSelf).size() == ${size}`);
    expect(errors(sum(list(text, 'set'), 3), ['a', 'b'], ['b', 'c'])).toEqual([]);
    expect(errors(sum(list(text, 'atomic'), 4), ['a', 'b'], ['b', 'c'])).toEqual([]);
    const map = { ...list(object({ k: text }), 'map'), 'x-kubernetes-list-map-keys': ['k'] };
    expect(errors(sum(map, 2), [{ k: 'a' }, { k: 'b' }], [{ k: 'b' }])).toEqual([]);
  });
});

describe('ratcheting: an unchanged value', () => {
  const run = (schema: JsonObject, value: Json, old: Json, path = 'spec') => {
    const warnings: string[] = [];
    const found = errors(schema, value, old, { path, warn: (warning) => warnings.push(warning) });
    return { found, warnings };
  };
  const odd = ruled(text, "self == 'even'");
  const fails = 'Invalid value: "odd": failed rule: self == \'even\'';

  it('that violates a rule is accepted with a warning', () => {
    const schema = object({ a: odd, b: text });
    expect(run(schema, { a: 'odd', b: 'now' }, { a: 'odd', b: 'old' })).toEqual({
      found: [],
      warnings: [`spec.a: ${fails}`],
    });
    expect(run(schema, { a: 'odd' }, { a: 'x' })).toEqual({ found: [`spec.a: ${fails}`], warnings: [] });
    expect(run(schema, { a: 'odd' }, {})).toEqual({ found: [`spec.a: ${fails}`], warnings: [] });
  });

  it('is a list as a whole, or the items of a list map', () => {
    const list = { type: 'array', items: odd };
    expect(run(list, ['odd'], ['odd']).found).toEqual([]);
    expect(run(list, ['odd', 'even'], ['odd']).found).toEqual([`spec[0]: ${fails}`]);
    const map = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    const schema = { ...map, items: object({ k: text, v: odd }) };
    expect(run(schema, [{ k: 'b' }, { k: 'a', v: 'odd' }], [{ k: 'a', v: 'odd' }]).found).toEqual([]);
  });

  it('counts for transition rules, failures, and the type of the object', () => {
    const transition = ruled(text, "oldSelf == self && self == 'even'");
    expect(run(transition, 'odd', 'odd').found).toHaveLength(1);
    expect(run(ruled(text, 'int(self) == 1'), 'odd', 'odd').found).toHaveLength(1);
    expect(run(object({ kind: odd }), { kind: 'odd' }, { kind: 'odd' }, '').found).toHaveLength(1);
    expect(run(object({ name: odd }), { name: 'odd' }, { name: 'odd' }, '').found).toHaveLength(0);
  });

  it('adds nothing to the errors of the validation', () => {
    const list = { type: 'array', items: odd };
    const many = Array.from({ length: 1_500 }, () => 'odd');
    const result = fieldErrors(() => {
      run(list, many, many);
      return [];
    });
    expect(result).toEqual([]);
  });
});

describe('messages', () => {
  const of = (rule: JsonObject, value: Json = 'x', schema: JsonObject = text) =>
    errors(ruled(schema, { rule: "self == ''", ...rule }), value)[0];

  it.each<[string, JsonObject, string]>([
    ['the rule', {}, `Invalid value: "x": failed rule: self == ''`],
    ['the rule without space around it', { rule: " self == '' " }, `Invalid value: "x": failed rule: self == ''`],
    ['the message', { message: ' must be empty ' }, 'Invalid value: "x": must be empty'],
    ['the messageExpression', { message: 'm', messageExpression: "' not ' + self" }, 'Invalid value: "x": not x'],
    [
      'the message after a failure',
      { message: 'm', messageExpression: 'string(1 / (self.size() - 1))' },
      'Invalid value: "x": m',
    ],
    ['the message in place of an empty text', { message: 'm', messageExpression: "' '" }, 'Invalid value: "x": m'],
    ['the message in place of lines', { message: 'm', messageExpression: "'a\\nb'" }, 'Invalid value: "x": m'],
    [
      'what a messageExpression makes of bytes',
      { message: 'm', messageExpression: "string(b'0123456789') + self + 'é'" },
      'Invalid value: "x": 0123456789xé',
    ],
    ['a missing value', { reason: 'FieldValueRequired', message: 'm' }, 'Required value: m'],
    ['a duplicate', { reason: 'FieldValueDuplicate', message: 'm' }, 'Duplicate value: "x"'],
    ['what is forbidden', { reason: 'FieldValueForbidden', message: 'm' }, 'Forbidden: m'],
    ['what is invalid', { reason: 'FieldValueInvalid', message: 'm' }, 'Invalid value: "x": m'],
  ])('show %s', (_, rule, message) => {
    expect(of(rule)).toBe(`spec: ${message}`);
  });

  it('show no long result of a messageExpression', () => {
    const rule = { rule: "self == ''", message: 'm', messageExpression: 'self' };
    expect(errors(ruled(text, rule), 'x'.repeat(5_121))[0]).toMatch(/: m$/);
    expect(errors(ruled(text, rule), 'x'.repeat(5_120))[0]).toMatch(/: x+$/);
  });

  it('show the values of scalars alone', () => {
    expect(of({ rule: 'false' }, 5, { type: 'integer' })).toBe('spec: Invalid value: 5: failed rule: false');
    expect(of({ rule: 'false' }, [1], { type: 'array', items: { type: 'integer' } })).toBe(
      'spec: Invalid value: failed rule: false',
    );
    const intOrString = { 'x-kubernetes-int-or-string': true };
    expect(of({ rule: 'false' }, 5, intOrString)).toBe('spec: Invalid value: 5: failed rule: false');
    expect(of({ rule: "self + 'a' == ''" }, 5, intOrString)).toBe(
      `spec: Invalid value: "": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self + 'a' == ''`,
    );
  });

  it('name the field path below the value, and the root of an object', () => {
    const failing = (fieldPath: string) => ({ rule: 'false', message: 'm', fieldPath });
    const schema = object({ a: object({ b: text }) });
    expect(errors(ruled(schema, failing('.a.b'), failing('')), {}, undefined, root)).toEqual([
      'a.b: Invalid value: m',
      '<nil>: Invalid value: m',
    ]);
    expect(errors(ruled(schema, failing(".a['b']")), {})).toEqual(['spec.a.b: Invalid value: m']);
  });
});

describe('the budget', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
  const list = { type: 'array', items: { type: 'integer' } };
  const square = 'self.all(x, self.all(y, true))';
  const outOf =
    'Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run';

  it('ends the validation at an expression that exceeds its limit', () => {
    const schema = object({ a: ruled(list, square, 'false'), b: ruled(text, 'false') });
    expect(errors(schema, { a: numbers(1_000), b: 'x' })).toEqual([
      `spec.a: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${square}`,
    ]);
  });

  it('ends the validation when the rules of an object exceed the limit of all', () => {
    const rules = Array.from({ length: 40 }, (_, i) => `${square} && ${i} >= 0`);
    const schema = object({ a: ruled(list, ...rules), b: ruled(text, 'false') });
    expect(errors(schema, { a: numbers(300), b: 'x' })).toEqual([`spec.a: ${outOf}`]);
    const each = { type: 'array', items: ruled(list, square) };
    const found = errors(
      each,
      Array.from({ length: 40 }, () => numbers(300)),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^spec\[\d\d\]: /);
    expect(found[0]).toContain(outOf);
  });

  it('is spent in steps, between which other work runs', () => {
    const steps = (schema: JsonObject, value: Json) => {
      const validation = ruleValidator(structuralOf(schema, names), false)?.(value, undefined);
      let count = 0;
      while (validation?.next().done === false) count++;
      return count;
    };
    const rules = Array.from({ length: 20 }, (_, i) => `${square} && ${i} >= 0`);
    expect(steps(ruled(list, ...rules), numbers(300))).toBeGreaterThanOrEqual(16);
    expect(steps({ type: 'array', items: ruled({ type: 'integer' }, 'true') }, numbers(20_000))).toBe(53);
    // The rule is parsed, its types and literals are checked, and it is compiled.
    expect(steps(ruled(list, 'true'), numbers(10))).toBe(3);
  });

  it('reports no more errors than a Status has', () => {
    const failing = { type: 'array', items: ruled({ type: 'integer' }, 'false') };
    expect(errors(failing, numbers(1_500))).toHaveLength(1_000);
    const message = 'x'.repeat(5_000);
    const verbose = { type: 'array', items: ruled({ type: 'integer' }, { rule: 'false', message }) };
    expect(errors(verbose, numbers(1_500))).toHaveLength(105);
  });

  it('ends the validation at a messageExpression that exceeds its limit', () => {
    const rule = { rule: 'false', messageExpression: `${square} ? 'a' : 'b'` };
    expect(errors(ruled(list, rule, 'false'), numbers(1_000))).toEqual([
      `spec: Invalid value: "array": no further validation rules will be run due to call cost exceeds limit for messageExpression: "${square} ? 'a' : 'b'"`,
    ]);
  });
});

describe('schemas', () => {
  it('without rules have no validator', () => {
    expect(ruleValidator(structuralOf(object({ a: text }), names))).toBeUndefined();
  });

  it('show rules the identity of resources alone', () => {
    const schema = ruled(
      object({}),
      "self.metadata.name == 'n' && self.kind == 'K' && !has(self.metadata.generateName)",
    );
    expect(errors(schema, { kind: 'K', apiVersion: 'v1', metadata: { name: 'n' } }, undefined, root)).toEqual([]);
    const labels = ruled(object({}), 'self.metadata.labels.size() == 0');
    expect(errors(labels, { metadata: {} }, undefined, root)[0]).toMatch(
      /rule compile error: compilation failed: .*undefined field 'labels'/,
    );
  });

  it('skip what expressions cannot read, and null', () => {
    const unknown = { 'x-kubernetes-preserve-unknown-fields': true };
    expect(
      errors(
        object({ a: ruled(unknown, 'false'), b: ruled({ ...text, nullable: true }, 'false'), c: ruled(text, 'true') }),
        { a: 1, b: null },
      ),
    ).toEqual([]);
  });

  it('treat a null field as absent', () => {
    const schema = ruled(object({ a: { ...text, nullable: true } }), '!has(self.a)');
    expect(errors(schema, { a: null })).toEqual([]);
    expect(errors(schema, {})).toEqual([]);
    expect(errors(schema, { a: '' })).toHaveLength(1);
  });

  it('validate properties whose names no expression can use', () => {
    expect(errors(object({ 'a b': ruled(text, 'false') }), { 'a b': 'x' })).toEqual([
      'spec.a b: Invalid value: "x": failed rule: false',
    ]);
  });
});

describe('errors before the rules', () => {
  const why =
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

  it('of a type, length, number or presence stand in for those of the rules', () => {
    const blocking = [
      fieldError.required('a'),
      fieldError.tooLong('a', 1),
      fieldError.tooMany('a', 2, 1),
      fieldError.typeInvalid('a', 1, ''),
      fieldError.notSupported('a', 1, []),
    ];
    for (const error of blocking) expect(rulesNotChecked([error])).toMatchObject([{ field: '<nil>', message: why }]);
    expect(rulesNotChecked([fieldError.invalid('a', 1, ''), fieldError.duplicate('a', 1)])).toEqual([]);
  });
});
