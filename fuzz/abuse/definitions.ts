import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type Client, createClient } from '../client.ts';
import { startServer } from '../server.ts';
import { answered, asAdmin, hold, refused, type Scenario, succeeded } from './scenario.ts';

/** Custom resource definitions that make their objects, or themselves, expensive. */

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
const group = 'abuse.example.com';
const table = 'application/json;as=Table;v=v1;g=meta.orch.io';

type Fragment = { readonly [key: string]: unknown };

const text = { type: 'string' };
const object = (properties: Fragment, more: Fragment = {}): Fragment => ({ type: 'object', properties, ...more });
const list = (items: Fragment, more: Fragment = {}): Fragment => ({ type: 'array', items, ...more });
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const rules = (...all: Fragment[]): Fragment => ({ 'x-orch-validations': all });
const anything = { type: 'object', 'x-orch-preserve-unknown-fields': true };

/** A definition with this schema of `spec`, and with more in its version. */
function definition(plural: string, spec: Fragment, more: Fragment = {}): Fragment {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: object({ spec }) }, ...more };
  const names = { plural, kind: plural.toUpperCase() };
  return {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [version] },
  };
}

const pathOf = (plural: string) => `/apis/${group}/v1/namespaces/default/${plural}`;

const define = (client: Client, given: Fragment): Promise<Answer> => client.http1(asAdmin('POST', definitions, given));

const undefine = (client: Client, plural: string): Promise<Answer> =>
  client.http1(asAdmin('DELETE', `${definitions}/${plural}.${group}`));

function make(client: Client, plural: string, spec: unknown, name = 'a'): Promise<Answer> {
  const body = { apiVersion: `${group}/v1`, kind: plural.toUpperCase(), metadata: { name }, spec };
  return client.http1(asAdmin('POST', pathOf(plural), body));
}

/** Resolves when the definition is gone. */
async function gone(client: Client, plural: string): Promise<void> {
  for (;;) {
    const { status } = await client.http1(asAdmin('GET', `${definitions}/${plural}.${group}`));
    if (status === 404) return;
  }
}

const multiplyingDefaults: Scenario = {
  name: 'multiplying-defaults',
  title: 'defaults do not multiply a small object, in a request, in the store, or in the schema',
  attack: async ({ client }) => {
    const long = { ...text, default: 'x'.repeat(1_000_000) };
    succeeded('a long default', await define(client, definition('longs', list(long))));
    refused('a list of nulls', await make(client, 'longs', Array(10_000).fill(null)));
    succeeded('a short list', await make(client, 'longs', [null]));

    succeeded('no default', await define(client, definition('laters', list(object({ b: text })))));
    succeeded('many items', await make(client, 'laters', Array(60_000).fill({})));
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/items/properties/b';
    const patch = [{ op: 'add', path, value: { ...text, default: 'x'.repeat(100_000) } }];
    const name = `${definitions}/laters.${group}`;
    succeeded('a later default', await client.http1(asAdmin('PATCH', name, patch, 'application/json-patch+json')));
    for (const accept of ['application/json', table]) {
      const got = await client.http1({ user: 'admin', method: 'GET', path: pathOf('laters'), headers: { accept } });
      succeeded('reading what was stored before', got);
    }
    succeeded('deleting it', await client.http1(asAdmin('DELETE', `${pathOf('laters')}/a`)));

    let nested: Fragment = object({ l: text });
    for (let i = 0; i < 6; i++) nested = object({ l: list(nested, { default: Array(30).fill({}) }) });
    refused('defaults within defaults', await define(client, definition('nesteds', nested)));
  },
};

const costlySchemas: Scenario = {
  name: 'costly-schemas',
  title: 'alternatives, enumerations and rules of any number are validated within limits',
  attack: async ({ client, full }) => {
    const names = times(400, (i) => `r${i}`);
    const oneOf = names.map((name) => ({ required: [name] }));
    const members = Object.fromEntries(names.map((name) => [name, text]));
    succeeded('alternatives', await define(client, definition('ones', list(object(members, { oneOf })))));
    refused('items of no alternative', await make(client, 'ones', Array(20_000).fill({})));
    answered('items of one alternative', await make(client, 'ones', Array(20_000).fill({ r399: 'x' })));

    const values = times(20_000, (i) => `value-${i}`);
    succeeded('an enumeration', await define(client, definition('enums', list({ ...text, enum: values }))));
    refused('other values', await make(client, 'enums', Array(20_000).fill('other')));
    succeeded('the last value', await make(client, 'enums', Array(20_000).fill('value-19999')));

    const properties = Object.fromEntries(times(full ? 5_000 : 500, (i) => [`a${i}`, text]));
    const paths = times(full ? 3_000 : 300, () => ({ rule: 'true', fieldPath: '.a1' }));
    succeeded('field paths', await define(client, definition('paths', object(properties, rules(...paths)))));
    const chain = times(4_000, (i) => `self.a == ${i}`).join(' || ');
    const chains = times(full ? 20 : 3, () => ({ rule: chain, message: 'none' }));
    const integer = object({ a: { type: 'integer' } }, rules(...chains));
    succeeded('long rules', await define(client, definition('chains', integer)));
    refused('an object that breaks them', await make(client, 'chains', { a: -1 }));

    const many = definition('manies', text);
    const { versions } = many['spec'] as { versions: Fragment[] };
    const all = times(2_000, (i) => ({ ...versions[0], name: `v${i + 1}`, storage: i === 0 }));
    refused('many versions', await define(client, { ...many, spec: { ...(many['spec'] as Fragment), versions: all } }));
  },
};

const multiplyingColumns: Scenario = {
  name: 'multiplying-columns',
  title: 'columns do not multiply an object in a table',
  attack: async ({ client }) => {
    const columns = (count: number) => ({
      additionalPrinterColumns: Array(count).fill({ name: 'c', type: 'string', jsonPath: '.spec' }),
    });
    refused('many columns', await define(client, definition('cols', anything, columns(5_000))));
    succeeded('some columns', await define(client, definition('cols', anything, columns(100))));
    for (const name of times(10, (i) => `a${i}`)) {
      succeeded('a large object', await make(client, 'cols', { a: 'y'.repeat(500_000) }, name));
    }
    const ask = {
      user: 'admin',
      method: 'GET',
      path: `${pathOf('cols')}?limit=2`,
      headers: { accept: table },
    } as const;
    const { status, body } = await client.http1(ask);
    hold(status === 200, `a table is answered with ${status}`);
    hold(body.length < 8_000_000, `a table of two objects of 500 KB takes ${body.length} bytes`);
  },
};

const definitionChurn: Scenario = {
  name: 'definition-churn',
  title: 'definitions that come, change and go leave nothing behind, while their objects are watched and written',
  sharesServer: true,
  attack: async ({ client, full }) => {
    const rule = rules({ rule: 'self.matches("^[a-z]{1,20}$")' });
    for (let round = 0; round < (full ? 150 : 8); round++) {
      succeeded('a definition', await define(client, definition('churns', { ...text, maxLength: 20, ...rule })));
      const watches = times(full ? 20 : 4, () =>
        client.http1(asAdmin('GET', `${pathOf('churns')}?watch=true&timeoutSeconds=20`)),
      );
      const writes = times(8, (i) => make(client, 'churns', 'abc', `a${i}`));
      for (const { status } of await Promise.all(writes)) {
        hold(status === 201 || status === 404 || status === 429, `a write to a new definition gives ${status}`);
      }
      const change = { spec: { names: { shortNames: [`c${round}`] } } };
      const path = `${definitions}/churns.${group}`;
      succeeded('a change', await client.http1(asAdmin('PATCH', path, change, 'application/merge-patch+json')));
      succeeded('its deletion', await undefine(client, 'churns'));
      for (const { status } of await Promise.all(watches)) {
        hold(status === 200 || status === 404 || status === 429, `a watch of a definition gives ${status}`);
      }
      await gone(client, 'churns');
      const after = await client.http1(asAdmin('GET', pathOf('churns')));
      hold(after.status === 404, `objects of a deleted definition are answered with ${after.status}`);
    }
  },
};

const strangeKeys: Scenario = {
  name: 'strange-keys',
  title: 'the names of members of Object.prototype are plain data in definitions and their objects',
  sharesServer: true,
  attack: async ({ client }) => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const parse = (json: string): Fragment => JSON.parse(json) as Fragment;
    for (const [i, name] of names.entries()) {
      const plural = `strange${'abcd'[i]}s`;
      const key = JSON.stringify(name);
      const at = escaped(name);
      const properties = parse(`{${key}: {"type": "string", "default": "x", "maxLength": 5}}`);
      const keyed = { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': [name] };
      const spec = object({
        o: object(properties, { default: {}, ...rules({ rule: `!has(self.${at}) || self.${at} != 'bad'` }) }),
        m: { type: 'object', additionalProperties: text },
        l: list(object(properties), keyed),
      });
      succeeded(`a property ${name}`, await define(client, definition(plural, spec)));
      const value = parse(`{"m": {${key}: "y"}, "l": [{${key}: "a"}, {${key}: "b"}]}`);
      const made = await make(client, plural, value);
      succeeded(`an object with ${name}`, made);
      const expected = `{"l":[{${key}:"a"},{${key}:"b"}],"m":{${key}:"y"},"o":{${key}:"x"}}`;
      const { spec: found } = JSON.parse(made.body.toString()) as { spec: { [part: string]: unknown } };
      const sorted = JSON.stringify(Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1))));
      hold(sorted === expected, `${expected} becomes ${sorted}`);
      refused(`twice ${name}`, await make(client, plural, parse(`{"l": [{${key}: "a"}, {${key}: "a"}]}`), 'b'));
      refused(`a long ${name}`, await make(client, plural, parse(`{"o": {${key}: "123456"}}`), 'b'));
      refused(`a bad ${name}`, await make(client, plural, parse(`{"o": {${key}: "bad"}}`), 'b'));
      succeeded('its deletion', await undefine(client, plural));
    }
  },
};

const killedCleanUp: Scenario = {
  name: 'killed-clean-up',
  title: 'a server that was killed while it deleted the objects of a definition goes on after its restart',
  sharesServer: true,
  attack: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-abuse-'));
    const run = async (work: (client: Client) => Promise<void>) => {
      const server = await startServer({ folder });
      const client = createClient(server);
      try {
        await work(client);
      } finally {
        client.close();
        await server.stop();
      }
    };
    try {
      await run(async (client) => {
        succeeded('a definition', await define(client, definition('killeds', text)));
        succeeded('another definition', await define(client, definition('kepts', text)));
        succeeded('its object', await make(client, 'kepts', 'x'));
        const made = await Promise.all(times(100, (i) => make(client, 'killeds', 'x', `a${i}`)));
        for (const answer of made) succeeded('an object', answer);
        succeeded('its deletion', await undefine(client, 'killeds'));
      });
      await run(async (client) => {
        succeeded('the object of the other', await client.http1(asAdmin('GET', `${pathOf('kepts')}/a`)));
        await gone(client, 'killeds');
        succeeded('its creation again', await define(client, definition('killeds', text)));
        succeeded('an object of it', await make(client, 'killeds', 'y', 'a0'));
        const { body } = await client.http1(asAdmin('GET', pathOf('killeds')));
        const { items } = JSON.parse(body.toString()) as { items: unknown[] };
        hold(items.length === 1, `${items.length} objects are there after the definition was deleted`);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** A property as rules name it. */
const escaped = (name: string): string => name.replaceAll('__', '__underscores__');

export const definitionScenarios: readonly Scenario[] = [
  multiplyingDefaults,
  costlySchemas,
  multiplyingColumns,
  definitionChurn,
  strangeKeys,
  killedCleanUp,
];
