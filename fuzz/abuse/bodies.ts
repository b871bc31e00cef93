import { encodeFields } from '../protobuf.ts';
import {
  answered,
  asAdmin,
  asBob,
  configMaps,
  hold,
  refused,
  type Scenario,
  selfAccessReviews,
  selfReviews,
  usable,
} from './scenario.ts';

/** Request bodies that are more expensive to parse than to send. */

const yamlType = 'application/yaml';
const megabyte = 1024 * 1024;

const deepYaml: Scenario = {
  name: 'deep-yaml',
  title: 'YAML of any nesting is refused',
  sharesServer: true,
  attack: async ({ client }) => {
    const lines = Array.from({ length: 1_500 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
    const bodies = {
      sequences: `${'- '.repeat(5_000)}a`,
      'explicit keys': `${'? '.repeat(5_000)}a`,
      'flow sequences': '['.repeat(5_000),
      'flow mappings': '{a: '.repeat(5_000),
      mappings: lines,
      'tagged sequences': `${'- !!seq '.repeat(5_000)}a`,
      'anchored sequences': `${'- &a '.repeat(5_000)}a`,
    };
    for (const [what, body] of Object.entries(bodies)) {
      const asks = [asBob(selfReviews, body, yamlType), asBob(selfReviews, body, yamlType)];
      for (const answer of await Promise.all(asks.map((ask) => client.http1(ask)))) refused(what, answer);
      const apply = asAdmin('PATCH', `${configMaps}/a?fieldManager=m`, body, 'application/apply-patch+yaml');
      refused(`${what} to apply`, await client.http1(apply));
    }
  },
};

const longYaml: Scenario = {
  name: 'long-yaml',
  title: 'YAML scalars of the size of a body do not block the event loop',
  sharesServer: true,
  attack: async ({ client, full }) => {
    const size = (full ? 2.9 : 0.5) * megabyte;
    const bodies = {
      'wrong escapes': `"${'\\q'.repeat(size / 2)}"`,
      'right escapes': `a: "${'\\n'.repeat(size / 2)}"`,
      'a literal block': `a: |\n${' b\n'.repeat(size / 3)}`,
      'a folded block': `a: >\n${' b\n'.repeat(size / 3)}`,
      'a plain scalar': `a: ${'b\n  '.repeat(size / 4)}`,
      'a comment': `# ${'b'.repeat(size)}\na: b`,
      'empty lines': `a: b${'\n'.repeat(size)}`,
      'an anchor': `a: &${'b'.repeat(size)} c`,
      'a tag': `a: !${'b'.repeat(size)} c`,
    };
    for (const [what, body] of Object.entries(bodies)) {
      answered(what, await client.http1(asBob(selfReviews, body, yamlType)));
    }
  },
};

const manyYaml: Scenario = {
  name: 'many-yaml',
  title: 'many long YAML bodies at once stay within the memory limit',
  sharesServer: true,
  attack: async ({ client, full }) => {
    const body = `[${'a,'.repeat(198_000)}a]`;
    // Each takes more than 100 MB while it is parsed.
    const asks = Array.from({ length: full ? 110 : 6 }, () => client.http1(asBob(selfReviews, body, yamlType)));
    for (const { status } of await Promise.all(asks)) {
      hold((status >= 400 && status < 500) || status === 503, `a long list in YAML is answered with ${status}`);
    }
  },
};

const yamlAliases: Scenario = {
  name: 'yaml-aliases',
  title: 'aliases do not multiply a YAML body',
  sharesServer: true,
  attack: async ({ client }) => {
    const levels = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i},*a${i},*a${i},*a${i}]`);
    const merges = Array.from({ length: 2_000 }, (_, i) => `m${i}: {<<: [*b, *b, *b]}`);
    const keys = Array.from({ length: 2_000 }, (_, i) => `k${i}: v`).join(', ');
    refused('aliases', await client.http1(asBob(selfReviews, `a0: &a0 x\n${levels.join('\n')}`, yamlType)));
    answered('merges', await client.http1(asBob(selfReviews, `b: &b {${keys}}\n${merges.join('\n')}`, yamlType)));
  },
};

const longKeys: Scenario = {
  name: 'long-keys',
  title: 'errors about long and duplicate JSON keys are short',
  sharesServer: true,
  attack: async ({ client }) => {
    const numbered = Array.from({ length: 4_000 }, (_, i) => `"a${i}":1`).join();
    const pairs = Array.from({ length: 100 }, (_, i) => `"a${i}":1,"a${i}":2`).join();
    const bodies = {
      'a long key over many keys': `{"${'k'.repeat(20_000)}":{${numbered},"a0":1}}`,
      'a very long key over duplicates': `{"${'k'.repeat(2.9 * megabyte)}":{${pairs}}}`,
      'long keys within long keys': `${`{"${'k'.repeat(10_000)}":`.repeat(250)}{${pairs}}${'}'.repeat(250)}`,
    };
    for (const [what, body] of Object.entries(bodies)) {
      for (const validation of ['Strict', 'Warn', 'Ignore']) {
        const ask = asBob(`${selfReviews}?fieldValidation=${validation}`, body);
        answered(`${what} (${validation})`, await client.http1(ask));
      }
    }
  },
};

/** Protobuf of about 3 MB with very many fields: of a list, of a map, of a time, unknown ones, and of the envelope. */
function protobufOfManyFields(): readonly (readonly [what: string, body: Buffer])[] {
  const full = (...bytes: readonly number[]) => Buffer.alloc(3_000_000, Buffer.from(bytes));
  const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
  const review = (metadata: Buffer) => Buffer.concat([magic, encodeFields([[2, encodeFields([[1, metadata]])]])]);
  return [
    ['finalizers', review(full(0x72, 0))],
    ['owners', review(full(0x6a, 0))],
    ['labels', review(full(0x5a, 4, 0x0a, 2, 0x61, 0x62))],
    ['a time', review(encodeFields([[8, full(0x08, 1)]]))],
    ['unknown fields', review(full(0x78, 1))],
    ['an unknown group', review(full(0x7b, 0x78, 1, 0x7c))],
    ['objects in the envelope', Buffer.concat([magic, full(0x12, 0)])],
    ['types in the envelope', Buffer.concat([magic, encodeFields([[1, full(0x0a, 0)]])])],
  ];
}

const manyProtobufFields: Scenario = {
  name: 'many-protobuf-fields',
  title: 'protobuf with a million fields is refused while it is read',
  sharesServer: true,
  attack: async ({ client, full }) => {
    const asks = protobufOfManyFields().flatMap((one) => Array<typeof one>(full ? 10 : 2).fill(one));
    await Promise.all(
      asks.map(async ([what, body]) => {
        const ask = asBob(selfReviews, '', 'application/vnd.orch.protobuf');
        const answer = await client.http2({ ...ask, body });
        refused(what, answer);
        hold([413, 429].includes(answer.status), `${what}: ${answer.status}`);
      }),
    );
  },
};

const manyErrors: Scenario = {
  name: 'many-errors',
  title: 'a body with a million errors is refused with a short message',
  sharesServer: true,
  attack: async ({ client }) => {
    const empty = (count: number) => Array<object>(count).fill({});
    const metadata = { name: 'a' };
    const attributes = { verb: 'list', resource: 'pods', labelSelector: { requirements: empty(900_000) } };
    refused(
      'a selector of a review',
      await client.http1(asBob(selfAccessReviews, JSON.stringify({ spec: { resourceAttributes: attributes } }))),
    );
    const policy = { metadata, spec: { podSelector: { matchExpressions: empty(900_000) } } };
    const policies = '/apis/networking.orch.io/v1/namespaces/default/networkpolicies';
    refused('a selector', await client.http1(asAdmin('POST', policies, policy)));
    const pods = '/api/v1/namespaces/default/pods';
    refused(
      'containers',
      await client.http1(asAdmin('POST', pods, { metadata, spec: { containers: empty(200_000) } })),
    );
    const services = '/api/v1/namespaces/default/services';
    refused('ports', await client.http1(asAdmin('POST', services, { metadata, spec: { ports: empty(200_000) } })));
    const unknown = Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`unknown${i}`, 1]));
    for (const validation of ['Strict', 'Warn']) {
      const ask = asAdmin('POST', `${configMaps}?dryRun=All&fieldValidation=${validation}`, { metadata, ...unknown });
      answered(`unknown fields (${validation})`, await client.http1(ask));
    }
    const invisible = `?fieldManager=${'%01'.repeat(4_000)}`;
    refused('an invisible field manager', await client.http1(asBob(selfReviews + invisible, '{}')));
    const long = { metadata: { name: 'a', creationTimestamp: '\u0001'.repeat(400_000) } };
    refused('an invisible time', await client.http1(asBob(selfReviews, JSON.stringify(long))));
    const apply = asAdmin(
      'PATCH',
      `${pods}/a?fieldManager=m`,
      { apiVersion: 'v1', kind: 'Pod', spec: { containers: empty(200_000) } },
      'application/apply-patch+yaml',
    );
    const applied = await client.http1(apply);
    hold(applied.body.length <= 1024 * 1024, `an apply with many faults is answered with ${applied.body.length} bytes`);
  },
};

const manyManagers: Scenario = {
  name: 'many-managers',
  title: 'a hundred thousand managed entries do not block the event loop',
  sharesServer: true,
  attack: async ({ client }) => {
    const managedFields = Array.from({ length: 18_000 }, (_, i) => ({
      manager: `m${i}`,
      operation: 'Update',
      apiVersion: 'v1',
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
    }));
    const object = { metadata: { name: 'many', managedFields }, data: { a: 'b' } };
    const created = await client.http1(asAdmin('POST', configMaps, object));
    hold(created.status < 500, `creating an object with many managers gives ${created.status}`);
    await client.http1(asAdmin('POST', configMaps, { metadata: { name: 'few' }, data: { a: 'b' } }));
    const patch = asAdmin(
      'PATCH',
      `${configMaps}/few`,
      { metadata: { managedFields } },
      'application/merge-patch+json',
    );
    const patched = await client.http1(patch);
    hold(patched.status < 500, `patching an object with many managers gives ${patched.status}`);
    if (created.status < 300) await usable(client, configMaps, 'many');
    await usable(client, configMaps, 'few');
  },
};

/** Deeply nested field sets, and field sets with deeply nested values in their elements. */
function deepSet(depth: number, form: 'fields' | 'value' | 'keys'): string {
  if (form === 'fields') return `${'{"f:a":'.repeat(depth)}{}${'}'.repeat(depth)}`;
  const value = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  return JSON.stringify({ [form === 'value' ? `v:${value}` : `k:{"a":${value}}`]: {} });
}

/** A config map in protobuf with this field set in its managed fields. */
function withFields(name: string, fieldsV1: string): Buffer {
  const text = [
    [1, 'm'],
    [2, 'Update'],
    [3, 'v1'],
    [6, 'FieldsV1'],
  ] as const;
  const entry = encodeFields([...text, [7, encodeFields([[1, fieldsV1]])]]);
  const metadata = encodeFields([
    [1, name],
    [17, entry],
  ]);
  const type = encodeFields([
    [1, 'v1'],
    [2, 'ConfigMap'],
  ]);
  return Buffer.concat([
    Buffer.from('k8s\0'),
    encodeFields([
      [1, type],
      [2, encodeFields([[1, metadata]])],
    ]),
  ]);
}

const deepFields: Scenario = {
  name: 'deep-fields',
  title: 'field sets of any nesting are decoded or refused, never an internal error',
  sharesServer: true,
  attack: async ({ client }) => {
    for (const form of ['fields', 'value', 'keys'] as const) {
      for (const depth of [400, 600, 5_000, 20_000, 200_000]) {
        const name = `${form}-${depth}`;
        const fieldsV1 = deepSet(depth, form);
        const binary = withFields(name, fieldsV1);
        const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
        const text = `{"metadata":{"name":"${name}-text","managedFields":[${JSON.stringify(entry).slice(0, -1)},"fieldsV1":${fieldsV1}}]}}`;
        for (const [body, type, made] of [
          [binary, 'application/vnd.orch.protobuf', name],
          [text, 'application/json', `${name}-text`],
        ] as const) {
          const answer = await client.http1(asAdmin('POST', configMaps, body, type));
          answered(`a field set of ${name} in ${type}`, answer);
          if (answer.status < 300) await usable(client, configMaps, made);
        }
      }
    }
  },
};

export const bodyScenarios: readonly Scenario[] = [
  deepYaml,
  longYaml,
  manyYaml,
  yamlAliases,
  longKeys,
  manyErrors,
  manyProtobufFields,
  manyManagers,
  deepFields,
];
