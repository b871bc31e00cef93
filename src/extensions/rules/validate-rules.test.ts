import { describe, expect, it } from 'vitest';
import { atOnce, type JsonObject, namesFor, type Steps } from '../../meta/index.ts';
import { structuralOf } from '../structural.ts';
import { type RuleValidator, ruleValidator } from './evaluate.ts';
import { type RuleValidation, validateRules } from './validate-rules.ts';

const names = namesFor('k8s.io');
const text = { type: 'string' };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const list = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more });
const ruled = (schema: JsonObject, ...rules: (string | JsonObject)[]): JsonObject => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

function errors(spec: JsonObject, validation: Partial<RuleValidation> = {}): string[] {
  const steps = validateRules(structuralOf(object({ spec }), names), 'schema', {
    names,
    isInvalid: () => false,
    stored: { rules: new Set(), messages: new Set() },
    ...validation,
  });
  return atOnce(steps).map(({ field, message }) => `${field}: ${message}`);
}

const at = 'schema.properties[spec]';
const formattedRule = (rule: string, more: JsonObject = {}) =>
  JSON.stringify({
    Rule: rule,
    Message: '',
    MessageExpression: '',
    Reason: null,
    FieldPath: '',
    OptionalOldSelf: null,
    ...more,
  }).replaceAll('>', '\\u003e');

/** The number of pauses of a computation. */
function pausesOf(steps: Steps<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
}

describe('many rules', () => {
  const schemaOf = (count: number) =>
    structuralOf(ruled({ type: 'integer' }, ...Array.from({ length: count }, (_, i) => `self != ${i}`)), names);

  it('are checked with pauses in between', () => {
    const validation = {
      names,
      isInvalid: () => false,
      stored: { rules: new Set<string>(), messages: new Set<string>() },
    };
    expect(pausesOf(validateRules(schemaOf(20), 'schema', validation))).toBeGreaterThanOrEqual(20);
  });

  it('are compiled for the first object with pauses in between', () => {
    const validate = ruleValidator(schemaOf(20), false) as RuleValidator;
    expect(pausesOf(validate(50, undefined))).toBe(79);
    expect(pausesOf(validate(50, undefined))).toBe(0);
  });
});

describe('rules of definitions', () => {
  it.each<[JsonObject, string[]]>([
    [ruled(object({ n: { type: 'integer' } }), 'self.n > 1'), []],
    [
      ruled(object({}), 'self.nope > 1'),
      [
        `${at}.x-kubernetes-validations[0].rule: Invalid value: ${formattedRule('self.nope > 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^`,
      ],
    ],
    [
      ruled(object({ n: { type: 'integer' } }), 'self.n +'),
      [
        `${at}.x-kubernetes-validations[0].rule: Invalid value: ${formattedRule('self.n +')}: compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.n +\n | ........^`,
      ],
    ],
    [
      ruled(object({ n: { type: 'integer' } }), 'self.n'),
      [
        `${at}.x-kubernetes-validations[0].rule: Invalid value: ${formattedRule('self.n')}: cel expression must evaluate to a bool`,
      ],
    ],
    [
      ruled(object({ n: { 'x-kubernetes-int-or-string': true } }), 'self.n'),
      [
        `${at}.x-kubernetes-validations[0].rule: Invalid value: ${formattedRule('self.n')}: cel expression must evaluate to a bool`,
      ],
    ],
    [
      ruled(object({}), { rule: 'true', messageExpression: '1' }),
      [
        `${at}.x-kubernetes-validations[0].messageExpression: Invalid value: ${formattedRule('true', { MessageExpression: '1' })}: messageExpression must evaluate to a string`,
      ],
    ],
    [
      ruled(object({}), { rule: 'true', messageExpression: 'self.nope' }),
      [
        `${at}.x-kubernetes-validations[0].messageExpression: Invalid value: ${formattedRule('true', { MessageExpression: 'self.nope' })}: messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^`,
      ],
    ],
    ...[
      ["self.a.find('(') == ''", 'missing closing ): `(`'],
      ["self.a.findAll('[').size() == 0", 'missing closing ]: `[`'],
      ["self.a.findAll('a{1001}', 1).size() == 0", 'invalid repeat count: `{1001}`'],
      ["matches(self.a, '(')", 'missing closing ): `(`'],
    ].map(([rule = '', why = '']): [JsonObject, string[]] => [
      ruled(object({ a: text }), rule),
      [
        `${at}.x-kubernetes-validations[0].rule: Invalid value: ${formattedRule(rule)}: program instantiation failed: error parsing regexp: ${why}`,
      ],
    ]),
    [
      ruled(object({ a: text }), 'self.a == 1'),
      [
        `${at}.x-kubernetes-validations[0].rule: Invalid value: ${formattedRule('self.a == 1')}: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(string, int)'\n | self.a == 1\n | .......^`,
      ],
    ],
    [
      object({ l: list(ruled(object({ a: object({}) }), "self.a == 'x'"), { maxItems: 5 }) }),
      [
        `${at}.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: ${formattedRule("self.a == 'x'")}: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(selfType.a, string)'\n | self.a == 'x'\n | .......^`,
      ],
    ],
    [
      ruled({ 'x-kubernetes-preserve-unknown-fields': true }, 'true'),
      [
        `${at}.x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations`,
      ],
    ],
  ])('%j', (schema, expected) => {
    expect(errors(schema)).toEqual(expected);
  });

  it('refuses oldSelf where old values are not known', () => {
    const items = ruled({ type: 'string', maxLength: 5 }, 'self == oldSelf');
    const why = (within: string) =>
      `Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${within}`;
    const bounded = { maxItems: 5 };
    const rule = 'x-kubernetes-validations[0].rule';
    expect(errors(list(items, bounded))).toEqual([`${at}.items.${rule}: ${why(at)}`]);
    expect(errors(list(list(items, bounded), bounded))).toEqual([`${at}.items.items.${rule}: ${why(at)}`]);
    const set = { ...bounded, 'x-kubernetes-list-type': 'set' };
    expect(errors(object({ s: list(items, set) }))).toEqual([
      `${at}.properties[s].items.${rule}: ${why(`${at}.properties[s]`)}`,
    ]);
    const map = { ...bounded, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    expect(errors(list(object({ k: text, v: items }), map))).toEqual([]);
    expect(errors({ type: 'object', additionalProperties: items, maxProperties: 5 })).toEqual([]);
  });

  it('allows optionalOldSelf with oldSelf only', () => {
    const optional = (rule: string) => ruled({ type: 'string', maxLength: 5 }, { rule, optionalOldSelf: true });
    expect(errors(optional('!oldSelf.hasValue() || oldSelf.value() == self'))).toEqual([]);
    expect(errors(optional('true'))).toEqual([
      `${at}.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
    ]);
  });

  it('compiles no rule of a schema that is invalid', () => {
    const schema = object({ a: ruled(text, 'nope'), b: ruled(text, 'nope') });
    const invalid = new Set([`${at}.properties[a]`, at, 'schema']);
    expect(errors(schema, { isInvalid: (path) => invalid.has(path) })).toHaveLength(1);
  });
});

describe('the estimated cost of rules', () => {
  const hint =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  const total = `schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${hint}`;
  const contributed =
    'Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';

  it('takes names of objects to have 253 characters, or less where that is declared', () => {
    const embedded = (metadata: JsonObject, rule: string) =>
      ruled(object({ metadata }, { 'x-kubernetes-embedded-resource': true }), rule);
    const rule = 'self.metadata.name.contains(self.metadata.name)';
    expect(errors(embedded({ type: 'object' }, `${rule} && self.metadata.generateName.contains('a')`))).toEqual([]);
    // Evaluated 3^9 times.
    const often = `${'[1, 2, 3].all(x, '.repeat(9)}${rule}${')'.repeat(9)}`;
    expect(errors(embedded({ type: 'object' }, often)).join()).toContain('exceeds budget by factor of');
    expect(errors(embedded(object({ name: { ...text, maxLength: 1 } }), often))).toEqual([]);
  });

  it('limits each rule and their total', () => {
    const schema = object({ l: list(list(ruled(text, "self.matches('a+')"))) });
    const rule = `${at}.properties[l].items.items.x-kubernetes-validations[0].rule`;
    expect(errors(schema)).toEqual([
      `${rule}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${hint}`,
      `${rule}: ${contributed}`,
      total,
    ]);
  });

  /** A rule that costs 2, and 4 for each item. */
  const cost = (maxItems: number) => ruled(list({ type: 'boolean' }, { maxItems }), 'self.all(x, x)');

  it.each<[number, string | undefined]>([
    [1_000_000, undefined],
    [3_300_000, '1.320000x'],
    [10_000_000, '4.0x'],
    [1_000_000_000, 'more than 100x'],
  ])('of %s items', (maxItems, factor) => {
    const [first] = errors(cost(maxItems));
    if (factor === undefined) expect(first).toBeUndefined();
    else expect(first).toContain(`estimated rule cost exceeds budget by factor of ${factor}`);
  });

  it('counts how often a value can be in an object', () => {
    const inner = cost(10);
    const factor = (schema: JsonObject) => /factor of ([\d.]+|more than 100)x/.exec(errors(schema)[0] ?? '')?.[1];
    expect(factor(list(inner, { maxItems: 1_000_000 }))).toBe('4.2');
    expect(
      factor({ type: 'object', additionalProperties: list(inner, { maxItems: 1_000 }), maxProperties: 1_000 }),
    ).toBe('4.2');
    expect(factor(list(inner, { maxItems: 100 }))).toBeUndefined();
    // A list of 10 items is at least `[]` and a comma: 1,048,576 times in a request.
    expect(factor(list(inner))).toBe('4.4');
  });

  it('names the four most expensive rules of a total above the limit', () => {
    const properties = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`p${n}`, cost(n * 2_000_000)]));
    const found = errors(object(properties)).filter((error) => !error.includes('estimated rule cost exceeds'));
    expect(found.slice(0, -1).map((error) => /\[(p\d)\]/.exec(error)?.[1])).toEqual(['p6', 'p5', 'p4', 'p3']);
    expect(found.at(-1)).toContain(
      'estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.7x',
    );
  });

  it('limits the cost of a messageExpression', () => {
    const words = Array.from({ length: 20 }, () => "self.matches('^((a+)+)+$')").join(' && ');
    const costly = ruled(text, { rule: 'true', messageExpression: `${words} ? 'a' : 'b'` });
    expect(errors(costly)[0]).toMatch(
      /^schema.properties\[spec\].x-kubernetes-validations\[0\].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of /,
    );
  });
});
