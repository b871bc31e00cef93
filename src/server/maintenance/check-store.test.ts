import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Entry, openMemoryStore, pagesOf, type StoreSnapshot } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { Progress } from '../commands/progress.ts';
import { type ApiObject, createServer } from '../index.ts';
import { type Check, checks, Findings } from './check-findings.ts';
import { checkStore } from './check-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-check-'));
const config = join(folder, 'encryption.yaml');
const secret = Buffer.from('k'.repeat(32)).toString('base64');
writeFileSync(
  config,
  `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{ resources: [secrets], providers: [{ aesgcm: { keys: [{ name: one, secret: ${secret} }] } }] }]
`,
  { mode: 0o600 },
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The store of a server with objects of many kinds. */
const entries: Entry[] = [];
let revision: number;
beforeAll(async () => {
  const store = openMemoryStore({ clock: drivenClock() });
  const settings = { apiDomain: 'k8s.io', encryptionProviderConfig: config } as const;
  const server = await createServer({ ...settings, controllers: '-*' }, { store });
  const make = (apiVersion: string, resource: string, object: object, namespace?: string) =>
    server.client.create({ apiVersion, resource, ...(namespace === undefined ? {} : { namespace }) }, {
      apiVersion,
      ...object,
    } as unknown as ApiObject);
  await make('v1', 'configmaps', { kind: 'ConfigMap', metadata: { name: 'a' } }, 'default');
  const owner = await server.client.get({ apiVersion: 'v1', resource: 'configmaps', namespace: 'default', name: 'a' });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: owner.metadata.uid }];
  await make('v1', 'configmaps', { kind: 'ConfigMap', metadata: { name: 'b', ownerReferences } }, 'default');
  await make('v1', 'secrets', { kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } }, 'default');
  const ports = [{ port: 80, nodePort: 30_080 }];
  await make(
    'v1',
    'services',
    { kind: 'Service', metadata: { name: 'web' }, spec: { type: 'NodePort', ports } },
    'default',
  );
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer', maximum: 3 } } } },
    },
  };
  await make('apiextensions.k8s.io/v1', 'customresourcedefinitions', {
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boxes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boxes', kind: 'Box' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
  await make('example.com/v1', 'boxes', { kind: 'Box', metadata: { name: 'one' }, spec: { size: 2 } }, 'default');
  for await (const page of pagesOf(store, { prefix: '' })) {
    for (const entry of page.entries) entries.push(entry);
    ({ revision } = page);
  }
  await server.close();
});

const snapshotOf = (of: readonly Entry[]): StoreSnapshot => ({
  revision,
  size: of.length,
  async *pages() {
    for (let i = 0; i < of.length; i += 50) {
      yield of.slice(i, i + 50).map((entry) => ({ ...entry, expires: undefined }));
    }
  },
  close: () => Promise.resolve(),
});

async function found(of: readonly Entry[], ...[encryption = config]: [file?: string | null]) {
  const findings = new Findings();
  const progress = new Progress({ write: () => undefined }, { monotonic: () => 0 });
  const checked = await checkStore({
    snapshot: snapshotOf(of),
    findings,
    progress,
    encryption: encryption ?? undefined,
    pathPrefix: '/registry',
  });
  return { checked, findings, kept: findings.retained.map(({ check, key, message }) => [check, key, message]) };
}

const text = (key: string): string => {
  const entry = entries.find((one) => one.key === key);
  if (entry === undefined) throw new Error(`no entry ${key}`);
  return Buffer.from(entry.value).toString();
};

/** The entries with other values; an absent value removes the entry. In key order. */
function changed(values: { readonly [key: string]: string | undefined }): Entry[] {
  const map = new Map(entries.map((entry) => [entry.key, entry]));
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) map.delete(key);
    else map.set(key, { key, value: Buffer.from(value), revision });
  }
  return [...map.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

const a = '/configmaps/default/a';
const b = '/configmaps/default/b';
const box = '/example.com/boxes/default/one';
const service = '/services/specs/default/web';
const uid = (letter: string) => `"uid":"${letter.repeat(8)}-0000-4000-8000-000000000000"`;
const renamed = (value: string, by: string) => value.replace(/"uid":"[^"]+"/, uid(by));

it('finds nothing wrong with what a server has written', async () => {
  const { checked, kept } = await found(entries);
  expect(kept).toEqual([]);
  expect(checked.entries).toBe(entries.length);
  expect(checked.resources.get('boxes.example.com')).toBe(1);
  expect(checked.resources.get('secrets')).toBe(1);
});

const budgetIn = (apiVersion: string) =>
  JSON.stringify({
    kind: 'PodDisruptionBudget',
    apiVersion,
    metadata: { name: 'web', namespace: 'default', uid: '00000000-0000-4000-8000-000000000001' },
    spec: { minAvailable: 1, selector: {} },
  });
const budget = '/poddisruptionbudgets/default/web';

it('counts objects that are stored in an older version, and finds nothing wrong with them', async () => {
  const oldBox = text(box).replace('example.com/v1', 'example.com/v1alpha1');
  const name = '/apiextensions.k8s.io/customresourcedefinitions/boxes.example.com';
  const definition = JSON.parse(text(name)) as { spec: { versions: { name: string; storage: boolean }[] } };
  const [version] = definition.spec.versions;
  definition.spec.versions.push({ ...version, name: 'v1alpha1', storage: false });
  const { checked, kept } = await found(
    changed({ [budget]: budgetIn('policy/v1beta1'), [box]: oldBox, [name]: JSON.stringify(definition) }),
  );
  expect(kept).toEqual([]);
  expect(checked.older.json()).toEqual({
    'boxes.example.com': { 'example.com/v1alpha1': 1 },
    'poddisruptionbudgets.policy': { 'policy/v1beta1': 1 },
  });
  expect(checked.older.lines()).toEqual([
    '1 boxes.example.com (example.com/v1alpha1)',
    '1 poddisruptionbudgets.policy (policy/v1beta1)',
  ]);
});

it('looks into encrypted values only with their keys', async () => {
  const { kept, checked } = await found(entries, null);
  expect(kept).toContainEqual([
    'encrypted',
    '/secrets/default/s',
    expect.stringContaining('--encryption-provider-config'),
  ]);
  expect(kept.every(([check, key = '']) => check === 'encrypted' && /^\/(?:keys|secrets)\//.test(key))).toBe(true);
  expect(checked.resources.has('secrets')).toBe(false);
});

interface Fault {
  readonly check: Check;
  readonly what: string;
  readonly of: () => Entry[];
  readonly key?: string;
  readonly message: RegExp;
}

const faults: readonly Fault[] = [
  {
    check: 'object',
    what: 'an object of a version that its kind has never had',
    of: () => changed({ [budget]: budgetIn('policy/v1alpha1') }),
    key: budget,
    message: /^it is of "policy\/v1alpha1" "PodDisruptionBudget" and not of .*policy\/v1beta1 PodDisruptionBudget/,
  },
  {
    check: 'revision',
    what: 'a revision that has not been reached',
    key: a,
    message: /^its revision \d+ is not/,
    of: () => entries.map((entry) => (entry.key === a ? { ...entry, revision: revision + 1 } : entry)),
  },
  {
    check: 'key',
    what: 'a key of nothing',
    key: '/what',
    message: /not the key of an object/,
    of: () => changed({ '/what': '{}' }),
  },
  {
    check: 'decryption',
    what: 'a value under another key',
    key: '/secrets/default/t',
    message: /no key/,
    of: () => {
      const moved = entries.find(({ key }) => key === '/secrets/default/s') as Entry;
      return [...entries, { ...moved, key: '/secrets/default/t' }].sort((x, y) => (x.key < y.key ? -1 : 1));
    },
  },
  {
    check: 'object',
    what: 'a value that is cut off',
    key: b,
    message: /not the JSON of an object/,
    of: () => changed({ [b]: text(b).slice(0, -3) }),
  },
  {
    check: 'object',
    what: 'an object of another kind',
    key: b,
    message: /"v1" "Secret" and not of v1 ConfigMap/,
    of: () => changed({ [b]: text(b).replace('"ConfigMap"', '"Secret"') }),
  },
  {
    check: 'object',
    what: 'a field of a wrong type',
    key: b,
    message: /does not decode .*immutable/,
    of: () => changed({ [b]: text(b).replace(/\}$/, ',"immutable":"no"}') }),
  },
  {
    check: 'object',
    what: 'an identity without a domain',
    key: '/identity',
    message: /damaged identity/,
    of: () => changed({ '/identity': '{}' }),
  },
  {
    check: 'fields',
    what: 'a field that is not declared',
    key: a,
    message: /^colour is not declared/,
    of: () => changed({ [a]: text(a).replace(/\}$/, ',"colour":"red"}') }),
  },
  {
    check: 'schema',
    what: 'a value that the schema forbids',
    key: box,
    message: /^spec.size: /,
    of: () => changed({ [box]: text(box).replace('"size":2', '"size":9') }),
  },
  {
    ...{
      check: 'name',
      what: 'an object under the key of another one',
      key: '/configmaps/default/c',
      message: /"default\/a"/,
    },
    of: () => changed({ '/configmaps/default/c': renamed(text(a), 'c') }),
  },
  {
    ...{
      check: 'uid',
      what: 'a uid of two objects',
      key: '/configmaps/default/c',
      message: /of \/configmaps\/default\/a$/,
    },
    of: () => changed({ '/configmaps/default/c': text(a).replace('"name":"a"', '"name":"c"') }),
  },
  {
    check: 'uid',
    what: 'an object without a uid',
    key: a,
    message: /no uid/,
    of: () => changed({ [a]: text(a).replace(/"uid":"[^"]+",/, ''), '/configmaps/default/b': undefined }),
  },
  {
    ...{
      check: 'namespace',
      what: 'an object of no namespace',
      key: '/configmaps/gone/a',
      message: /no namespace "gone"/,
    },
    of: () =>
      changed({ '/configmaps/gone/a': renamed(text(a), 'c').replace('"namespace":"default"', '"namespace":"gone"') }),
  },
  {
    check: 'definition',
    what: 'an object of no definition',
    key: box,
    message: /boxes.example.com/,
    of: () => changed({ '/apiextensions.k8s.io/customresourcedefinitions/boxes.example.com': undefined }),
  },
  {
    check: 'owner',
    what: 'an owner that is gone',
    key: b,
    message: /"a" .* is not there/,
    of: () => changed({ [a]: undefined }),
  },
  {
    check: 'owner',
    what: 'an owner of another name',
    key: b,
    message: /is ConfigMap "a"/,
    of: () => changed({ [b]: text(b).replace('"kind":"ConfigMap","name":"a"', '"kind":"ConfigMap","name":"z"') }),
  },
  {
    check: 'allocation',
    what: 'a port that is not allocated',
    message: /node ports were not those/,
    of: () => changed({ '/ranges/servicenodeports/00940': undefined }),
  },
  {
    check: 'allocation',
    what: 'addresses of a service that is gone',
    message: /no service uses/,
    of: () => changed({ [service]: undefined, '/ranges/servicenodeports/00940': undefined }),
  },
];

describe('finds', () => {
  it.each(faults)('$what ($check)', async ({ check, of, key, message }) => {
    const { kept, findings } = await found(of());
    expect(kept).toEqual([[check, key, expect.stringMatching(message)]]);
    expect([findings.count('error'), findings.count('warning')]).toEqual(checks[check] === 'error' ? [1, 0] : [0, 1]);
  });

  it('keys that are out of order', async () => {
    const { kept } = await found(entries.toReversed());
    expect(kept[0]).toEqual(['revision', entries.at(-2)?.key, expect.stringContaining(entries.at(-1)?.key ?? '')]);
  });

  it('every fault that has a name', () => {
    const named = new Set<string>(['store', 'encrypted', ...faults.map(({ check }) => check)]);
    expect(Object.keys(checks).filter((check) => !named.has(check))).toEqual([]);
  });
});

it('keeps a hundred findings of a kind, and counts all', async () => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`/what-${i}`, '{}']));
  const { findings } = await found(changed(many));
  expect(findings.count('warning')).toBe(150);
  expect(findings.lines()).toHaveLength(101);
  expect(findings.lines().at(-1)).toBe('warning (key): 50 more');
});
