import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { openMemoryStore, type Store } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import * as kinds from './shared/kinds.ts';
import { storageVersionMigrator } from './storage-version-migrator.ts';
import { type TestCluster, testCluster } from './testing/cluster.ts';

let cluster: TestCluster;
let store: Store;
afterEach(() => cluster.close());

const older = ['policy/v1beta1', 'extensions/v1beta1'];

async function start(...objects: readonly JsonObject[]) {
  store = openMemoryStore({ clock: drivenClock() });
  for (const object of objects) await put(object);
  cluster = await testCluster([storageVersionMigrator], {
    store,
    server: {
      featureGates: { StorageVersionMigrator: true },
      runtimeConfig: Object.fromEntries(['storagemigration.k8s.io/v1alpha1', ...older].map((one) => [one, true])),
    },
  });
}

/** A budget as a server of release 1.20 stores it, with an entry of `managedFields` for each manager. */
const budget = (name: string, managers: readonly string[] = [], apiVersion = 'policy/v1beta1') => ({
  kind: 'PodDisruptionBudget',
  apiVersion,
  metadata: {
    name,
    namespace: 'default',
    uid: `00000000-0000-4000-8000-${name.padStart(12, '0')}`,
    generation: 3,
    creationTimestamp: '2021-03-01T10:00:00Z',
    ...(managers.length === 0 ? {} : { managedFields: managers.map(managedEntry) }),
  },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 0 },
});

const managedEntry = (manager: string) => ({
  manager,
  operation: 'Update',
  apiVersion: 'policy/v1beta1',
  time: '2021-03-01T10:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:minAvailable': {}, 'f:selector': {} } },
});

const keyOf = (name: string) => `/poddisruptionbudgets/default/${name}`;

/** Stores an object as the reference server does: compact, with a line feed at the end. */
async function put(object: JsonObject, key = keyOf((object['metadata'] as { name: string }).name)): Promise<number> {
  const answer = await store.commit([], [{ key, value: Buffer.from(`${JSON.stringify(object)}\n`) }]);
  return answer.revision;
}

const storedAt = async (key: string) => {
  const { entry } = await store.get(key);
  return { revision: entry?.revision, object: JSON.parse(Buffer.from(entry?.value ?? []).toString()) as JsonObject };
};

const budgets = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' };

const create = (resource: JsonObject) =>
  cluster.client.kind(kinds.storageVersionMigrations).create({ metadata: { name: 'm' }, spec: { resource } });

const statusOf = async () => (await cluster.client.kind(kinds.storageVersionMigrations).get({ name: 'm' })).status;

const condition = (type: string, status: string, reason: string, message?: string) => ({
  type,
  status,
  lastUpdateTime: expect.any(String),
  reason,
  ...(message === undefined ? {} : { message }),
});
const ran = condition('Running', 'False', 'StorageVersionMigrationInProgress');
const succeeded = condition('Succeeded', 'True', 'StorageVersionMigrationSucceeded');
const failed = (message: string) => condition('Failed', 'True', 'StorageVersionMigrationFailed', message);

async function migrate(resource: JsonObject = budgets) {
  await create(resource);
  await cluster.settle();
  return statusOf();
}

describe('a migration', () => {
  it('has objects of an older version stored in the storage version; clients see a new resourceVersion and nothing else', async () => {
    await start(budget('1', ['kubectl']), budget('2'));
    const all = () => cluster.client.kind(kinds.podDisruptionBudgets).list({ namespace: 'default' });
    const before = (await all()).items;
    const { conditions, resourceVersion } = (await migrate()) ?? {};
    expect(conditions).toEqual([ran, succeeded]);
    expect(Number(resourceVersion)).toBeGreaterThan(0);
    const after = (await all()).items;
    for (const [i, { metadata, ...object }] of after.entries()) {
      const { metadata: metadataBefore, ...objectBefore } = before[i] ?? {};
      expect(object).toEqual(objectBefore);
      expect(metadata).toEqual({ ...metadataBefore, resourceVersion: expect.any(String) });
      expect(metadata.resourceVersion).not.toBe(metadataBefore?.resourceVersion);
      expect((await storedAt(keyOf(metadata.name ?? ''))).object).toMatchObject({
        apiVersion: 'policy/v1',
        metadata: { generation: 3 },
      });
    }
  });

  it('leaves objects alone that are stored in the storage version', async () => {
    await start(budget('1', [], 'policy/v1'));
    await migrate();
    const { revision } = await storedAt(keyOf('1'));
    await cluster.client.kind(kinds.storageVersionMigrations).delete({ name: 'm' });
    expect(await migrate()).toMatchObject({ conditions: [ran, succeeded] });
    expect((await storedAt(keyOf('1'))).revision).toBe(revision);
  });

  it('writes every one of more objects than a server remembers as unreadable', async () => {
    const names = Array.from({ length: 1_100 }, (_, i) => String(i));
    await start(...names.map((name) => budget(name)));
    expect(await migrate()).toMatchObject({ conditions: [ran, succeeded] });
    const { entries } = await store.list({ prefix: '/poddisruptionbudgets/' });
    const versions = entries.map(({ value }) => /"apiVersion":"([^"]+)"/.exec(Buffer.from(value).toString())?.[1]);
    expect(versions).toEqual(names.map(() => 'policy/v1'));
  });
});

describe('a migration that cannot be carried out', () => {
  const message = 'migration encountered unhandled error: ';

  it('fails for an object that cannot be read', async () => {
    await start(budget('1'));
    await store.commit([], [{ key: keyOf('2'), value: Buffer.from('{"kind":"Pod') }]);
    const why = `Internal error occurred: the stored object "${keyOf('2')}" cannot be read`;
    expect(await migrate()).toEqual({ conditions: [failed(message + why)] });
  });

  it('fails for an object whose write is refused, after those before it', async () => {
    await start(budget('1'), budget('2'), budget('3'));
    await deny('2');
    expect(await migrate()).toMatchObject({
      conditions: [ran, failed(expect.stringMatching(`${message}.*denied request: not now`))],
    });
    const versions = await Promise.all(['1', '2', '3'].map(async (name) => (await storedAt(keyOf(name))).object));
    expect(versions.map(({ apiVersion }) => apiVersion)).toEqual(['policy/v1', 'policy/v1beta1', 'policy/v1beta1']);
  });

  it.each([
    [{ group: 'example.com', version: 'v1', resource: 'boxes' }, 'resource does not exist in discovery'],
    [{ group: 'policy', version: 'v2', resource: 'poddisruptionbudgets' }, 'resource does not exist in discovery'],
  ])('fails after a minute for a resource that is not served: %j', async (resource, why) => {
    await start();
    expect(await migrate(resource)).toEqual({});
    await cluster.advance(65_000);
    expect(await statusOf()).toEqual({ conditions: [failed(why)] });
  });

  it('fails for a resource without objects of its own', async () => {
    await start();
    const resource = { version: 'v1', resource: 'componentstatuses' };
    expect(await migrate(resource)).toEqual({ conditions: [failed('resource cannot be listed and patched')] });
  });
});

/** Has updates of one budget refused. */
async function deny(name: string): Promise<void> {
  const policies = { apiVersion: 'admissionregistration.k8s.io/v1', resource: 'validatingadmissionpolicies' };
  await cluster.client.create(policies, {
    apiVersion: policies.apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['policy'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['poddisruptionbudgets'] },
        ],
      },
      validations: [{ expression: `object.metadata.name != '${name}'`, message: 'not now' }],
    },
  } as never);
  const bindings = { ...policies, resource: 'validatingadmissionpolicybindings' };
  await cluster.client.create(bindings, {
    apiVersion: policies.apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  } as never);
}

describe('an interrupted migration', () => {
  it('is continued after a restart, and keeps the resourceVersion at which it began', async () => {
    await start(budget('1'), budget('2'));
    const running = { type: 'Running', status: 'True', reason: 'StorageVersionMigrationInProgress' };
    await cluster.restart(async () => {
      const { metadata } = await create(budgets);
      const status = { conditions: [running], resourceVersion: '1' };
      await cluster.client
        .kind(kinds.storageVersionMigrations)
        .subresource('status')
        .patch(metadata, 'merge', { status });
    });
    expect(await statusOf()).toMatchObject({
      resourceVersion: '1',
      conditions: [{ ...running, status: 'False' }, succeeded],
    });
    expect((await storedAt(keyOf('2'))).object['apiVersion']).toBe('policy/v1');
  });
});

describe('a migration of a custom resource', () => {
  const name = 'boxes.example.com';
  const version = (of: string, storage: boolean) => ({
    name: of,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
  const definitions = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions', name };
  const boxes = { apiVersion: 'example.com/v1', resource: 'boxes', namespace: 'default' };

  it('lets the definition drop the old version, once it has been removed from the stored ones', async () => {
    await start();
    const { client } = cluster;
    await client.create({ ...definitions, name: '' }, {
      apiVersion: definitions.apiVersion,
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'boxes', kind: 'Box' },
        versions: [version('v1', true), version('v2', false)],
      },
    } as never);
    await cluster.settle();
    const box = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'b' } };
    await client.create(boxes, { ...box, spec: { size: 1 } } as never);
    await client.patch(definitions, 'merge', { spec: { versions: [version('v1', false), version('v2', true)] } });
    const dropOld = { spec: { versions: [version('v2', true)] } };
    await expect(client.patch(definitions, 'merge', dropOld)).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions'),
    });
    const key = '/example.com/boxes/default/b';
    expect((await storedAt(key)).object['apiVersion']).toBe('example.com/v1');
    const { generation } = (await client.get({ ...boxes, name: 'b' })).metadata;
    expect(await migrate({ group: 'example.com', version: 'v1', resource: 'boxes' })).toMatchObject({
      conditions: [ran, succeeded],
    });
    expect((await storedAt(key)).object).toMatchObject({ apiVersion: 'example.com/v2', metadata: { generation } });
    // As in the reference server, the stored versions are for the administrator to update.
    expect((await client.get(definitions))['status']).toMatchObject({ storedVersions: ['v1', 'v2'] });
    const status = { ...definitions, subresource: 'status' };
    await client.patch(status, 'merge', { status: { storedVersions: ['v2'] } });
    await client.patch(definitions, 'merge', dropOld);
    expect(await client.get({ ...boxes, apiVersion: 'example.com/v2', name: 'b' })).toMatchObject({
      spec: { size: 1 },
    });
  });
});
