import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiObject, OwnerReference } from '../../meta/index.ts';
import type { Kind } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { garbageCollector } from './garbage-collector.ts';

interface Referable {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly name?: string; readonly uid?: string };
}
interface Owned {
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: string[];
  readonly namespace?: string;
}

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await testCluster([garbageCollector]);
});
afterEach(async () => {
  await cluster.close();
});

const refOf = (
  { apiVersion = '', kind = '', metadata: { name = '', uid = '' } }: Referable,
  more: { readonly blockOwnerDeletion?: boolean; readonly controller?: boolean } = {},
): OwnerReference => ({ apiVersion, kind, name, uid, ...more });

const create = (name: string, { owners = [], finalizers = [], namespace = 'default' }: Owned = {}) =>
  cluster.client.kind(kinds.configMaps).create({
    metadata: { namespace, name, finalizers, ownerReferences: [...owners] },
  });
const find = (name: string, namespace = 'default') => cluster.client.kind(kinds.configMaps).find({ namespace, name });
const remove = (name: string, propagationPolicy?: 'Background' | 'Foreground' | 'Orphan') =>
  cluster.client
    .kind(kinds.configMaps)
    .delete({ namespace: 'default', name }, propagationPolicy === undefined ? {} : { propagationPolicy });
const release = (name: string) =>
  cluster.client.kind(kinds.configMaps).patch({ namespace: 'default', name }, 'merge', {
    metadata: { finalizers: null },
  });
/** `-` gone, `x` being deleted, `+` there. */
const states = async (...names: string[]) => {
  await cluster.settle();
  const objects = await Promise.all(names.map((name) => find(name)));
  return objects
    .map((object) => (object === undefined ? '-' : object.metadata.deletionTimestamp === undefined ? '+' : 'x'))
    .join('');
};
const hold = ['example.com/hold'];
const absentUid = '11111111-2222-4333-8444-555555555555';

describe('background deletion', () => {
  it('deletes all dependents, over several steps, and waits for the finalizers of others', async () => {
    const owner = await create('owner');
    const child = await create('child', { owners: [refOf(owner, { controller: true, blockOwnerDeletion: true })] });
    await create('grandchild', { owners: [refOf(child)] });
    await create('held', { owners: [refOf(owner)], finalizers: hold });
    await create('other');
    await remove('owner', 'Background');
    expect(await states('owner', 'child', 'grandchild', 'held', 'other')).toBe('---x+');
    await release('held');
    expect(await states('held')).toBe('-');
    expect(cluster.logged).toEqual([]);
  });

  it('keeps an object that has another owner, without the reference to the absent one', async () => {
    const [first, second] = [await create('first'), await create('second')];
    await create('shared', { owners: [refOf(first, { blockOwnerDeletion: true }), refOf(second)] });
    await remove('first');
    expect(await states('first', 'second', 'shared')).toBe('-++');
    expect((await find('shared'))?.metadata.ownerReferences).toEqual([refOf(second)]);
    await remove('second');
    expect(await states('second', 'shared')).toBe('--');
  });
});

describe('foreground deletion', () => {
  it('ends when the blocking dependents are gone, whatever the others do', async () => {
    const owner = await create('owner');
    const block = { blockOwnerDeletion: true };
    await create('blocking', { owners: [refOf(owner, block)], finalizers: hold });
    await create('free', { owners: [refOf(owner)], finalizers: hold });
    await create('quick', { owners: [refOf(owner, block)] });
    await remove('owner', 'Foreground');
    expect(await states('owner', 'blocking', 'free', 'quick')).toBe('xxx-');
    await release('blocking');
    expect(await states('owner', 'blocking', 'free')).toBe('--x');
  });

  it('ends at once without dependents', async () => {
    await create('owner');
    await remove('owner', 'Foreground');
    expect(await states('owner')).toBe('-');
  });

  it('goes on in the foreground with dependents that have dependents', async () => {
    const block = { blockOwnerDeletion: true };
    const owner = await create('owner');
    const child = await create('child', { owners: [refOf(owner, block)] });
    await create('grandchild', { owners: [refOf(child, block)], finalizers: hold });
    await remove('owner', 'Foreground');
    expect(await states('owner', 'child', 'grandchild')).toBe('xxx');
    expect((await find('child'))?.metadata.finalizers).toEqual(['foregroundDeletion']);
    await release('grandchild');
    expect(await states('owner', 'child', 'grandchild')).toBe('---');
  });

  it('does not wait for a dependent that has another owner', async () => {
    const [owner, other] = [await create('owner'), await create('other')];
    await create('shared', { owners: [refOf(owner, { blockOwnerDeletion: true }), refOf(other)] });
    await remove('owner', 'Foreground');
    expect(await states('owner', 'other', 'shared')).toBe('-++');
    expect((await find('shared'))?.metadata.ownerReferences).toEqual([refOf(other)]);
  });

  it('ends when a dependent no longer blocks, or no longer refers to the owner', async () => {
    for (const owners of [(ref: OwnerReference) => [{ ...ref, blockOwnerDeletion: false }], () => null]) {
      const owner = await create('owner');
      const ref = refOf(owner, { blockOwnerDeletion: true });
      await create('blocking', { owners: [ref], finalizers: hold });
      await remove('owner', 'Foreground');
      expect(await states('owner', 'blocking')).toBe('xx');
      const place = { metadata: { namespace: 'default', name: 'blocking' } };
      await cluster.client
        .kind(kinds.configMaps)
        .patch(place.metadata, 'merge', { metadata: { ownerReferences: owners(ref) } });
      expect(await states('owner')).toBe('-');
      await release('blocking');
      expect(await states('blocking')).toBe('-');
    }
  });

  it('deletes objects that own each other', async () => {
    const one = await create('one');
    const two = await create('two', { owners: [refOf(one, { blockOwnerDeletion: true })] });
    await cluster.client.kind(kinds.configMaps).patch(one.metadata, 'merge', {
      metadata: { ownerReferences: [refOf(two, { blockOwnerDeletion: true })] },
    });
    await cluster.settle();
    await remove('one', 'Foreground');
    expect(await states('one', 'two')).toBe('--');
  });
});

describe('orphaning', () => {
  it('removes the owner from its dependents, and leaves them', async () => {
    const [owner, other] = [await create('owner'), await create('other')];
    const one = await create('one', { owners: [refOf(owner, { controller: true, blockOwnerDeletion: true })] });
    await create('two', { owners: [refOf(other), refOf(owner)] });
    await remove('owner', 'Orphan');
    expect(await states('owner', 'other', 'one', 'two')).toBe('-+++');
    expect((await find('one'))?.metadata).toMatchObject({ uid: one.metadata.uid });
    expect((await find('one'))?.metadata.ownerReferences).toBeUndefined();
    expect((await find('two'))?.metadata.ownerReferences).toEqual([refOf(other)]);
  });
});

describe('a deletion without a propagation policy', () => {
  it('orphans the dependents of a kind that does so by default', async () => {
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'example.com/a:1' }] },
    };
    const owner = await cluster.client.kind(kinds.replicationControllers).create({
      metadata: { namespace: 'default', name: 'owner' },
      spec: { replicas: 0, selector: { app: 'a' }, template },
    });
    await create('child', { owners: [refOf(owner)] });
    await cluster.settle();
    await cluster.client.kind(kinds.replicationControllers).delete(owner.metadata);
    expect(await states('child')).toBe('+');
    expect(
      await cluster.client.kind(kinds.replicationControllers).find({ namespace: 'default', name: 'owner' }),
    ).toBeUndefined();
    expect((await find('child'))?.metadata.ownerReferences).toBeUndefined();
  });
});

describe('what happened while no collector ran', () => {
  it('is corrected when one starts', async () => {
    const [deleted, orphaned, waiting] = [await create('gone'), await create('orphaned'), await create('waiting')];
    await create('child', { owners: [refOf(deleted)] });
    await create('left', { owners: [refOf(orphaned)] });
    await create('blocking', { owners: [refOf(waiting, { blockOwnerDeletion: true })] });
    await cluster.restart(async () => {
      await remove('gone');
      await remove('orphaned', 'Orphan');
      await remove('waiting', 'Foreground');
      expect((await find('child'))?.metadata.deletionTimestamp).toBeUndefined();
    });
    expect(await states('gone', 'child', 'orphaned', 'left', 'waiting', 'blocking')).toBe('---+--');
  });
});

describe('references', () => {
  it.each([
    ['an owner that never existed', { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: absentUid }, '-'],
    ['the name of another object', { apiVersion: 'v1', kind: 'ConfigMap', name: 'real', uid: absentUid }, '-'],
    ['an unknown kind', { apiVersion: 'example.com/v1', kind: 'Nothing', name: 'x', uid: absentUid }, '+'],
    ['an unknown version', { apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'x', uid: absentUid }, '+'],
    ['a kind that is not watched', { apiVersion: 'v1', kind: 'ComponentStatus', name: 'x', uid: absentUid }, '-'],
  ])('of an object to %s', async (_, ref, state) => {
    await create('real');
    await create('child', { owners: [ref] });
    expect(await states('real', 'child')).toBe(`+${state}`);
    expect(cluster.logged).toEqual([]);
  });

  it('to the uid of an object under another name or kind do not count', async () => {
    const real = await create('real');
    await create('good', { owners: [refOf(real)] });
    await create('misnamed', { owners: [{ ...refOf(real), name: 'wrong' }] });
    await create('unkind', { owners: [{ ...refOf(real), kind: 'Secret' }] });
    expect(await states('real', 'good', 'misnamed', 'unkind')).toBe('++--');
    await remove('real');
    expect(await states('good')).toBe('-');
  });

  it('to the uid of an object under another name first, then under its own', async () => {
    const real = await create('real');
    const wrong = { ...refOf(real), name: 'wrong' };
    await create('held', { owners: [wrong], finalizers: hold });
    await create('good', { owners: [refOf(real)] });
    expect(await states('real', 'held', 'good')).toBe('+x+');
    await remove('real');
    expect(await states('good')).toBe('-');
    await release('held');
    expect(await states('held')).toBe('-');
  });

  it('across namespaces are to nothing, and are reported', async () => {
    await cluster.client.kind(kinds.namespaces).create({ metadata: { name: 'other' } });
    const owner = await create('owner', { namespace: 'other' });
    const child = await create('child', { owners: [refOf(owner)] });
    expect(await states('child')).toBe('-');
    expect(await find('owner', 'other')).toBeDefined();
    const [event, ...more] = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
      source: { component: 'garbage-collector-controller' },
      involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'child', uid: child.metadata.uid },
    });
  });

  it('of a cluster object to one in a namespace are reported, and no reason to delete', async () => {
    const owner = await create('owner');
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    const wrong = await cluster.client.kind(kinds.clusterRoles).create({
      ...role,
      metadata: { name: 'wrong', ownerReferences: [refOf(owner)] },
    });
    const absent = { ...refOf(owner), name: 'absent', uid: absentUid };
    await cluster.client
      .kind(kinds.clusterRoles)
      .create({ ...role, metadata: { name: 'w', ownerReferences: [absent] } });
    await cluster.settle();
    expect(await cluster.client.kind(kinds.clusterRoles).find({ name: 'wrong' })).toMatchObject({
      metadata: wrong.metadata,
    });
    expect(await cluster.client.kind(kinds.clusterRoles).find({ name: 'w' })).toBeDefined();
    expect(
      (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items.map(({ message }) => message),
    ).toEqual([
      `ownerRef [v1/ConfigMap, namespace: , name: owner, uid: ${owner.metadata.uid}] does not exist in namespace ""`,
    ]);
    expect(cluster.logged).toEqual([]);
  });

  it('of an object in a namespace to a cluster object count', async () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'owner' } };
    const owner = await cluster.client.kind(kinds.clusterRoles).create(role);
    await create('child', { owners: [refOf(owner)] });
    expect(await states('child')).toBe('+');
    await cluster.client.kind(kinds.clusterRoles).delete(owner.metadata);
    expect(await states('child')).toBe('-');
  });
});

describe('custom objects', () => {
  const nests: Kind = { apiVersion: 'gc.example.com/v1', kind: 'Nest', resource: 'nests', namespaced: true };
  const definitions: Kind = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    resource: 'customresourcedefinitions',
    namespaced: false,
  };
  const definition = {
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
  };
  const nest = (name: string, owners: OwnerReference[] = []): ApiObject => ({
    apiVersion: nests.apiVersion,
    kind: 'Nest',
    metadata: { namespace: 'default', name, ownerReferences: owners },
  });

  it('own and are owned as soon as their definition is there, and their dependents go with it', async () => {
    const { client } = cluster;
    // A reference that can be resolved when the kind is known.
    const early = { apiVersion: nests.apiVersion, kind: 'Nest', name: 'early', uid: absentUid };
    await create('waits', { owners: [early] });
    expect(await states('waits')).toBe('+');
    await client.kind(definitions).create(definition);
    expect(await states('waits')).toBe('-');
    const tree = await client.kind(nests).create(nest('tree'));
    const root = await create('root');
    await client.kind(nests).create(nest('egg', [refOf(root)]));
    await create('leaf', { owners: [refOf(tree, { controller: true, blockOwnerDeletion: true })] });
    expect(await states('root', 'leaf')).toBe('++');
    await client.kind(nests).delete(tree.metadata);
    expect(await states('leaf')).toBe('-');
    await remove('root');
    await cluster.settle();
    expect(await client.kind(nests).find({ namespace: 'default', name: 'egg' })).toBeUndefined();

    const last = await client.kind(nests).create(nest('last'));
    await create('feather', { owners: [refOf(last)] });
    expect(await states('feather')).toBe('+');
    await client.kind(definitions).delete({ name: 'nests.gc.example.com' });
    expect(await states('feather')).toBe('-');
    expect(cluster.logged).toEqual([]);
  });
});
