import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receiveSelectors, selectorBytes } from './received-selectors.ts';
import { selectorFromObject, validateSelectorObject } from './selector-object.ts';
import { fieldSelector, type Labels, labelSelector, parseFieldSelector, parseLabelSelector } from './selectors.ts';
import { StatusError } from './status-error.ts';

const refusal = (run: () => unknown): [number, string] => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return [error.code, error.message];
  }
  throw new Error('accepted');
};

describe('label selectors', () => {
  const objects: { [name: string]: Labels } = {
    a: { app: 'x', 'only-a': '' },
    b: { app: 'x', n: '5' },
    c: { app: 'y', 'only-c': 'yes', n: '12' },
    d: {},
  };
  it.each<[string, string[], string]>([
    ['', ['a', 'b', 'c', 'd'], ''],
    ['app=x', ['a', 'b'], 'app=x'],
    ['app!=x', ['c', 'd'], 'app!=x'],
    ['app in (x,y),only-a', ['a'], 'app in (x,y),only-a'],
    ['!only-a', ['b', 'c', 'd'], '!only-a'],
    ['app notin (x)', ['c', 'd'], 'app notin (x)'],
    ['only-c, app==y', ['c'], 'app==y,only-c'],
    ['missing', [], 'missing'],
    ['app in ()', [], 'app in ()'],
    ['only-a=', ['a'], 'only-a='],
    ['only-a in (,b)', ['a'], 'only-a in (,b)'],
    ['app in (y, x,x)', ['a', 'b', 'c'], 'app in (x,y)'],
    ['n>9', ['c'], 'n>9'],
    ['n < 9', ['b'], 'n<9'],
    ['app>1', [], 'app>1'],
    ['in in (in),notin=notin', [], 'in in (in),notin=notin'],
    // Inherited properties of an object are not labels.
    ['!constructor,!toString', ['a', 'b', 'c', 'd'], '!constructor,!toString'],
  ])('%s', (text, names, canonical) => {
    const selector = parseLabelSelector(text);
    expect(Object.keys(objects).filter((name) => selector.matches(objects[name]))).toEqual(names);
    expect(selector.text).toBe(canonical);
    expect(parseLabelSelector(selector.text).requirements).toEqual(selector.requirements);
  });

  // Texts as recorded in lists.selectors and watches.errors.
  it.each([
    ['app=x,', "found '', expected: identifier after ','"],
    ['app in', "unable to parse requirement: found '' expected: '('"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    [
      'app=-bad-',
      `unable to parse requirement: values[0][app]: Invalid value: "-bad-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    [
      'a>b',
      `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('refuses %s', (text, message) => {
    expect(refusal(() => parseLabelSelector(text))).toEqual([400, message]);
  });

  it('rejects a selector beyond the limits', () => {
    expect(refusal(() => parseLabelSelector(`a=${'b'.repeat(70_000)}`))[1]).toMatch(/too long/);
    expect(refusal(() => parseFieldSelector(`a=${'b'.repeat(70_000)}`))[1]).toMatch(/too long/);
    const terms = (count: number) => Array.from({ length: count }, (_, i) => `a${i}!=b`).join();
    const many = 'selector is too long: may not be more than 1000 requirements';
    for (const parse of [parseLabelSelector, parseFieldSelector]) {
      expect(parse(terms(1_000)).matches({})).toBe(true);
      expect(refusal(() => parse(terms(1_001)))).toEqual([400, many]);
    }
    expect(parseLabelSelector(`a in (${terms(5_000).replaceAll('!=', '-')})`).requirements).toHaveLength(1);
  });

  it('requires returns the only value that a label may have', () => {
    const selector = parseLabelSelector('a=1,b==2,c in (3),d in (4,5),e!=6,f');
    expect(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => selector.requires(key))).toEqual([
      '1',
      '2',
      '3',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is one object for requests with the same long text', () => {
    const text = Array.from({ length: 100 }, (_, i) => `key${i}!=value`).join(',');
    expect(parseLabelSelector(text)).toBe(parseLabelSelector(`${text}`));
    expect(parseLabelSelector(`${text},a`)).not.toBe(parseLabelSelector(text));
    expect(parseLabelSelector(`${text},a`).matches({ a: '' })).toBe(true);
    expect(parseLabelSelector(`${text},a`).matches({})).toBe(false);
  });

  it('counts what it takes in memory', () => {
    const bytes = (labels: string, fields: string) => selectorBytes(receiveSelectors(labels, fields));
    expect(bytes('', '')).toBe(0);
    const one = bytes('a=b', '');
    expect(bytes('a=b,c=d', '')).toBeGreaterThan(one + 50);
    expect(bytes('a=b', 'metadata.name=x')).toBeGreaterThan(one + 50);
    // One value with many texts counts as well.
    expect(bytes(`a in (${'x'.repeat(10_000)})`, '')).toBeGreaterThan(10_000);
  });

  it('matches as a naive evaluation of each requirement', () => {
    const word = fc.constantFrom('a', 'b', '1', '7', '-3');
    const requirement = fc.record({
      key: fc.constantFrom('k', 'l', 'constructor'),
      operator: fc.constantFrom('=', '==', '!=', 'in', 'notin', 'exists', '!', 'gt', 'lt'),
      values: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
    });
    const labels = fc.dictionary(fc.constantFrom('k', 'l', 'constructor', 'm'), word);
    const naive = (own: Map<string, string>, key: string, operator: string, values: string[]): boolean => {
      const value = own.get(key);
      if (operator === 'exists') return value !== undefined;
      if (operator === '!') return value === undefined;
      if (operator === '!=' || operator === 'notin') return value === undefined || !values.includes(value);
      if (value === undefined) return false;
      if (operator === 'gt') return Number(value) > Number(values[0]);
      if (operator === 'lt') return Number(value) < Number(values[0]);
      return values.includes(value);
    };
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), labels, (drawn, object) => {
        const requirements = drawn.map(({ key, operator, values }) => ({
          key,
          operator,
          values: operator === 'in' || operator === 'notin' ? values : operator === 'exists' ? [] : values.slice(0, 1),
        }));
        const own = new Map(Object.entries(object));
        expect(labelSelector(requirements as never).matches(object)).toBe(
          requirements.every(({ key, operator, values }) => naive(own, key, operator, values)),
        );
      }),
    );
  });
});

describe('field selectors', () => {
  it.each<[string, { [field: string]: string }, boolean]>([
    ['metadata.name=a', { 'metadata.name': 'a' }, true],
    ['metadata.name==a', { 'metadata.name': 'b' }, false],
    ['metadata.name!=a', { 'metadata.name': 'b' }, true],
    ['metadata.name=a,metadata.name=b', { 'metadata.name': 'a' }, false],
    ['spec.x=', {}, true],
    ['spec.x!=', {}, false],
    ['', {}, true],
    ['k=a\\,b\\=c\\\\', { k: 'a,b=c\\' }, true],
  ])('%s', (text, fields, matched) => {
    expect(parseFieldSelector(text).matches(fields)).toBe(matched);
  });

  it.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses %s', (text, message) => {
    expect(refusal(() => parseFieldSelector(text))).toEqual([400, message]);
  });

  it('parses its canonical text, whatever the values', () => {
    const term = fc.record({
      field: fc.constantFrom('metadata.name', 'spec.a'),
      value: fc.string({ unit: fc.constantFrom('a', ',', '=', '\\', '!', ' ') }),
      not: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(term), (terms) => {
        const again = parseFieldSelector(fieldSelector(terms).text);
        expect(new Set(again.terms)).toEqual(new Set(terms));
      }),
    );
  });

  it('requires returns the only value that a field may have', () => {
    const selector = parseFieldSelector('a=1,b!=2');
    expect([selector.requires('a'), selector.requires('b'), selector.requires('c')]).toEqual([
      '1',
      undefined,
      undefined,
    ]);
  });
});

describe('selector objects', () => {
  it('combines matchLabels and matchExpressions', () => {
    const selector = selectorFromObject({
      matchLabels: { app: 'x' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.text).toBe('app=x,!old,tier in (a,b)');
    expect(selector.matches({ app: 'x', tier: 'a' })).toBe(true);
    expect(selector.matches({ app: 'x', tier: 'a', old: '' })).toBe(false);
  });
  it('selects everything when empty and nothing when absent', () => {
    expect([selectorFromObject({}).matches({ a: 'b' }), selectorFromObject(undefined).matches({})]).toEqual([
      true,
      false,
    ]);
  });
  it('reports the errors of a selector', () => {
    const found = validateSelectorObject(
      {
        matchLabels: { 'a b': 'c' },
        matchExpressions: [
          { key: 'k', operator: 'In' },
          { key: 'k', operator: 'Exists', values: ['a'] },
          { key: 'k', operator: 'Gt' },
        ],
      },
      'spec.selector',
    );
    expect(found.map(({ field, reason }) => [field, reason])).toEqual([
      ['spec.selector.matchLabels', 'FieldValueInvalid'],
      ['spec.selector.matchExpressions[0].values', 'FieldValueRequired'],
      ['spec.selector.matchExpressions[1].values', 'FieldValueForbidden'],
      ['spec.selector.matchExpressions[2].operator', 'FieldValueInvalid'],
    ]);
  });
});
