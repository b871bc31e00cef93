import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KindPlace } from '../../client/index.ts';
import { parseTime } from '../../meta/index.ts';
import type { Kind } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { conditionsAfter, foundNothing } from './conditions.ts';
import { namespaceController } from './namespace-controller.ts';

const hold = ['example.com/hold'];

describe('namespace-controller', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await testCluster([namespaceController]);
    await cluster.client.kind(kinds.namespaces).create({ metadata: { name: 'team' } });
  });
  afterEach(() => cluster.close());

  const team = () => cluster.client.kind(kinds.namespaces).find({ name: 'team' });
  const remove = async () => {
    await cluster.client.kind(kinds.namespaces).delete({ name: 'team' });
    await cluster.settle();
  };
  const create = (name: string, finalizers: string[] = []) =>
    cluster.client.kind(kinds.configMaps).create({ metadata: { namespace: 'team', name, finalizers } });
  const namesLeft = async (kind: KindPlace) => {
    const { items } = await cluster.client.list({
      apiVersion: kind.apiVersion,
      resource: kind.resource,
      namespace: 'team',
    });
    return items.map(({ metadata }) => metadata.name);
  };
  const conditions = async () => {
    const { conditions: all = [] } = (await team())?.status ?? {};
    return Object.fromEntries(
      all.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]),
    );
  };

  it('deletes the content some time after the namespace is deleted, tells what remains, and ends when it is gone', async () => {
    const { client } = cluster;
    await create('held', hold);
    await create('free');
    await client.kind(kinds.secrets).create({ metadata: { namespace: 'team', name: 'free' } });
    await remove();
    await cluster.advance(4_999);
    expect(await namesLeft(kinds.secrets)).toEqual(['free']);
    await cluster.advance(1);
    expect(await namesLeft(kinds.secrets)).toEqual([]);
    expect(await namesLeft(kinds.configMaps)).toEqual(['held']);
    expect(await conditions()).toEqual({
      NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
      NamespaceDeletionGroupVersionParsingFailure:
        'False ParsedGroupVersions: All legacy kube types successfully parsed',
      NamespaceDeletionContentFailure:
        'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      NamespaceContentRemaining:
        'True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
      NamespaceFinalizersRemaining:
        'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    });
    await client.kind(kinds.configMaps).patch({ namespace: 'team', name: 'held' }, 'merge', {
      metadata: { finalizers: null },
    });
    await cluster.advance(8_000);
    expect(await team()).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it('leaves a namespace with another finalizer empty, and other namespaces as they are', async () => {
    const read = await cluster.client.kind(kinds.namespaces).get({ name: 'team' });
    const spec = { finalizers: ['kubernetes', 'example.com/mine'] };
    await cluster.client
      .kind(kinds.namespaces)
      .subresource('finalize')
      .update({ ...read, spec });
    await create('one');
    await cluster.client.kind(kinds.configMaps).create({ metadata: { namespace: 'default', name: 'other' } });
    await remove();
    await cluster.advance(30_000);
    expect(await team()).toMatchObject({
      spec: { finalizers: ['example.com/mine'] },
      status: { phase: 'Terminating' },
    });
    expect(await conditions()).toMatchObject({
      NamespaceContentRemaining: 'False ContentRemoved: All content successfully removed',
      NamespaceFinalizersRemaining: 'False ContentHasNoFinalizers: All content-preserving finalizers finished',
    });
    expect(await cluster.client.kind(kinds.configMaps).find({ namespace: 'default', name: 'other' })).toBeDefined();
  });

  it('gives pods their grace period before it deletes anything else', async () => {
    const { client, clock } = cluster;
    await create('mounted');
    await client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'team', name: 'default' } });
    const metadata = { namespace: 'team', name: 'app' };
    await client.kind(kinds.pods).create({
      metadata,
      spec: {
        containers: [{ name: 'c', image: 'example.com/app:1' }],
        nodeName: 'node',
        terminationGracePeriodSeconds: 40,
        automountServiceAccountToken: false,
      },
    });
    await remove();
    await cluster.advance(5_000);
    const { deletionTimestamp = '', deletionGracePeriodSeconds } = (
      await client.kind(kinds.pods).get({ namespace: 'team', name: 'app' })
    ).metadata;
    expect(deletionGracePeriodSeconds).toBe(40);
    expect(parseTime(deletionTimestamp) - clock.now()).toBe(40_000);
    expect(await namesLeft(kinds.configMaps)).toEqual(['mounted']);
    expect(await conditions()).toMatchObject({
      NamespaceContentRemaining:
        'True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances',
    });
    await client.kind(kinds.pods).delete(metadata, { gracePeriodSeconds: 0 });
    await cluster.advance(21_000);
    expect(await team()).toBeUndefined();
  });

  it('deletes custom objects', async () => {
    const definitions: Kind = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      resource: 'customresourcedefinitions',
      namespaced: false,
    };
    const nests: Kind = { apiVersion: 'gc.example.com/v1', kind: 'Nest', resource: 'nests', namespaced: true };
    await cluster.client.kind(definitions).create({
      apiVersion: definitions.apiVersion,
      kind: definitions.kind,
      metadata: { name: 'nests.gc.example.com' },
      spec: {
        group: 'gc.example.com',
        names: { plural: 'nests', singular: 'nest', kind: 'Nest', listKind: 'NestList' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    const finalizers = [...hold, 'example.com/more'];
    const type = { apiVersion: nests.apiVersion, kind: nests.kind };
    await cluster.client.kind(nests).create({ ...type, metadata: { namespace: 'team', name: 'tree', finalizers } });
    await cluster.client.kind(nests).create({ ...type, metadata: { namespace: 'team', name: 'bush' } });
    await remove();
    await cluster.advance(5_000);
    expect(await conditions()).toMatchObject({
      NamespaceContentRemaining:
        'True SomeResourcesRemain: Some resources are remaining: nests.gc.example.com has 1 resource instances',
      NamespaceFinalizersRemaining:
        'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances, example.com/more in 1 resource instances',
    });
    await cluster.client.kind(nests).patch({ namespace: 'team', name: 'tree' }, 'merge', {
      metadata: { finalizers: null },
    });
    await cluster.advance(8_000);
    expect(await team()).toBeUndefined();
  });

  it('goes on with namespaces that were deleted while no controller ran', async () => {
    await create('one');
    await cluster.restart(async () => {
      await cluster.client.kind(kinds.namespaces).delete({ name: 'team' });
    });
    await cluster.advance(5_000);
    expect(await team()).toBeUndefined();
  });
});

describe('conditionsAfter', () => {
  const now = Date.UTC(2026, 0, 1);
  const pods = {
    group: '',
    apiVersion: 'v1',
    kind: 'Pod',
    resource: 'pods',
    namespaced: true,
    verbs: [],
  };
  const jobs = { ...pods, group: 'batch', apiVersion: 'batch/v1', kind: 'Job', resource: 'jobs' };

  it('lists what is left and what failed in the order of the text', () => {
    const content = {
      discoveryFailure: 'no',
      failures: ['two', 'one'],
      remaining: new Map([
        [pods, 2],
        [jobs, 1],
      ]),
      finalizers: new Map([
        ['z', 3],
        ['a', 1],
      ]),
    };
    expect(conditionsAfter([], content, now)?.map(({ status, message }) => `${status} ${message}`)).toEqual([
      'True no',
      'False All legacy kube types successfully parsed',
      'True Failed to delete all resource types, 2 remaining: one, two',
      'True Some resources are remaining: jobs.batch has 1 resource instances, pods. has 2 resource instances',
      'True Some content in the namespace has finalizers remaining: a in 1 resource instances, z in 3 resource instances',
    ]);
  });

  it('keeps the time of a transition until the status changes, and conditions of others', () => {
    const mine = { type: 'Mine', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z', reason: 'R', message: '' };
    const first = conditionsAfter([mine], { ...foundNothing(), failures: ['one'] }, now) ?? [];
    expect(first).toHaveLength(6);
    expect(first[0]).toEqual(mine);
    expect(conditionsAfter(first, { ...foundNothing(), failures: ['one'] }, now + 1000)).toBeUndefined();
    const timeOf = (conditions: typeof first) =>
      conditions.find(({ type }) => type === 'NamespaceDeletionContentFailure')?.lastTransitionTime;
    const second = conditionsAfter(first, { ...foundNothing(), failures: ['two'] }, now + 1000) ?? [];
    expect(timeOf(second)).toBe('2026-01-01T00:00:00Z');
    expect(timeOf(conditionsAfter(second, foundNothing(), now + 2000) ?? [])).toBe('2026-01-01T00:00:02Z');
  });
});
