import { type Client, shown } from '../client.ts';
import { answered, asAdmin, hold, refused, type Scenario, succeeded } from './scenario.ts';

/** Custom objects whose validation takes long, by their schemas or by expressions. */

const group = 'custom.example.com';
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';

type Fragment = { readonly [key: string]: unknown };

const text = { type: 'string' };
const list = (items: Fragment, more: Fragment = {}): Fragment => ({ type: 'array', items, ...more });
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const ruled = (schema: Fragment, rule: string): Fragment => ({ ...schema, 'x-orch-validations': [{ rule }] });

async function define(client: Client, plural: string, spec: Fragment): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural, kind: plural.toUpperCase() };
  const given = {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions },
  };
  succeeded(`the definition ${plural}`, await client.http1(asAdmin('POST', definitions, given)));
}

const pathOf = (plural: string) => `/apis/${group}/v1/namespaces/default/${plural}`;

function make(client: Client, plural: string, spec: unknown) {
  const body = { apiVersion: `${group}/v1`, kind: plural.toUpperCase(), metadata: { generateName: 'a' }, spec };
  return client.http1(asAdmin('POST', `${pathOf(plural)}?dryRun=All`, body));
}

const map = { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['k'] };
const set = { 'x-orch-list-type': 'set' };

const largeCustomLists: Scenario = {
  name: 'large-custom-lists',
  title: 'the lists of custom objects are validated while others are served',
  attack: async ({ client, full }) => {
    const count = full ? 36_000 : 24_000;
    const keyed = { type: 'object', required: ['k'], properties: { k: text } };
    await define(client, 'maps', list(keyed, map));
    await define(client, 'sets', list(text, set));
    await define(client, 'enums', list({ ...keyed, enum: times(5_000, (i) => ({ k: `k${i}` })) }));
    for (let round = 0; round < (full ? 3 : 1); round++) {
      const items = times(count, (i) => ({ k: `k${i}` }));
      succeeded('a list of type map', await make(client, 'maps', items));
      refused(
        'a list with keys twice',
        await make(client, 'maps', [...items.slice(0, count / 2), ...items.slice(0, count / 2)]),
      );
      succeeded(
        'a list of type set',
        await make(
          client,
          'sets',
          times(count, (i) => `k${i}`),
        ),
      );
      succeeded(
        'a list of listed objects',
        await make(
          client,
          'enums',
          times(count, () => ({ k: 'k4999' })),
        ),
      );
    }
  },
};

const costlyPatterns: Scenario = {
  name: 'costly-patterns',
  title: 'long texts are matched with many patterns, or with one of many states, while others are served',
  attack: async ({ client, full }) => {
    const long = 'abc'.repeat(full ? 450_000 : 150_000);
    const patterns = times(full ? 150 : 60, (i) => ({ pattern: `^[a-z]+${i}[0-9]*$` }));
    await define(client, 'alternatives', { ...text, anyOf: patterns });
    refused('a text of no alternative', await make(client, 'alternatives', long));
    await define(client, 'states', { ...text, pattern: `(a|b|c)*a(a|b|c){${full ? 900 : 300}}[de]` });
    let seed = 1;
    const random = times(100_000, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return 'abc'[(seed >>> 16) % 3];
    }).join('');
    answered('a text for which the pattern has many states', await make(client, 'states', random));
  },
};

/** Rules that cost much for one value each. */
const rules: readonly (readonly [name: string, schema: Fragment, rule: string, spec: (full: boolean) => unknown])[] = [
  [
    'quantities',
    list({ ...text, maxLength: 10 }, { maxItems: 60_000 }),
    'self.all(x, quantity(x).isGreaterThan(quantity("0")))',
    (full) => times(full ? 60_000 : 15_000, (i) => `${i}Mi`),
  ],
  [
    'subsets',
    list({ ...text, maxLength: 10 }, { maxItems: 3_000 }),
    'sets.contains(self, self)',
    () => times(3_000, (i) => `k${i}`),
  ],
  [
    'keys',
    { type: 'object', maxProperties: 16_000, additionalProperties: { ...text, maxLength: 10 } },
    'self.all(k, self[k] != "")',
    (full) => Object.fromEntries(times(full ? 16_000 : 8_000, (i) => [`k${i}`, 'v'])),
  ],
  [
    'sums',
    list(
      { type: 'object', required: ['k'], properties: { k: { ...text, maxLength: 10 } } },
      { ...map, maxItems: 40_000 },
    ),
    '(self + self + self + self).size() > 0',
    (full) => times(full ? 36_000 : 10_000, (i) => ({ k: `k${i}` })),
  ],
  ['replaced', text, 'self.replace("a", "bc").size() > 0', (full) => 'a'.repeat(full ? 1_400_000 : 350_000)],
  ['parts', text, 'self.split("").size() > 0', (full) => 'a'.repeat(full ? 1_400_000 : 350_000)],
  ['lowered', text, 'self.lowerAscii() != ""', (full) => 'aB'.repeat(full ? 700_000 : 350_000)],
  ['matched', text, 'self.matches("^(a|b)*$")', (full) => 'ab'.repeat(full ? 700_000 : 350_000)],
];

const costlyExpressions: Scenario = {
  name: 'costly-expressions',
  title: 'expressions over large custom objects are evaluated while others are served',
  attack: async ({ client, full }) => {
    for (const [name, schema, rule, spec] of rules) {
      await define(client, name, ruled(schema, rule));
      for (let i = 0; i < (full ? 3 : 1); i++) {
        const { status, body } = await make(client, name, spec(full));
        hold(status < 500, `${name} is answered with ${status}: ${shown(body)}`);
      }
    }
  },
};

export const customScenarios: readonly Scenario[] = [largeCustomLists, costlyPatterns, costlyExpressions];
