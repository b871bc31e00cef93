import { afterEach, describe, expect, it } from 'vitest';
import { namesFor } from '../meta/index.ts';
import type { PolicyRule } from '../types/rbac-v1.ts';
import { aggregatedRules, clusterRoleAggregationController } from './cluster-role-aggregation.ts';
import * as kinds from './shared/kinds.ts';
import { type TestCluster, testCluster } from './testing/cluster.ts';

const get = (...resources: string[]): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources });
type Role = Parameters<typeof aggregatedRules>[0];

const plain = (name: string, labels: { [key: string]: string }, ...rules: PolicyRule[]): Role => ({
  metadata: { name, labels },
  rules,
});
const selector = (matchLabels: { [key: string]: string }) => ({ matchLabels });
const aggregated = (name: string, selectors: readonly ReturnType<typeof selector>[], ...rules: PolicyRule[]): Role => ({
  ...plain(name, {}, ...rules),
  aggregationRule: { clusterRoleSelectors: [...selectors] },
});
const [a, b, c] = [get('a'), get('b'), get('c')];

describe('the rules of an aggregated cluster role', () => {
  it('are those of the roles that it selects, by name, each rule once', () => {
    const roles = [plain('z', { to: 'x' }, a, b), plain('y', { to: 'x' }, c, a), plain('w', { to: 'other' }, get('d'))];
    expect(aggregatedRules(aggregated('x', [selector({ to: 'x' })]), roles)).toEqual([c, a, b]);
  });

  it('are in the order of the selectors', () => {
    const roles = [plain('a', { n: '2' }, a), plain('b', { n: '1' }, b), plain('c', { n: '2' }, b, c)];
    const selectors = [selector({ n: '1' }), selector({ n: '2' })];
    expect(aggregatedRules(aggregated('x', selectors), roles)).toEqual([b, a, c]);
  });

  it('are none when nothing is selected', () => {
    expect(aggregatedRules(aggregated('x', [selector({ to: 'x' })], a), [plain('s', { to: 'y' }, b)])).toEqual([]);
    expect(aggregatedRules(aggregated('x', [], a), [plain('s', {}, b)])).toEqual([]);
  });

  it('do not come from the role itself', () => {
    const x = { ...aggregated('x', [selector({ to: 'x' })], a), metadata: { name: 'x', labels: { to: 'x' } } };
    expect(aggregatedRules(x, [x, plain('s', { to: 'x' }, b)])).toEqual([b]);
  });
});

describe('clusterrole-aggregation-controller', () => {
  let cluster: TestCluster;
  afterEach(() => cluster.close());
  const rulesOf = async (name: string) => (await cluster.client.kind(kinds.clusterRoles).get({ name })).rules;
  const versionOf = async (name: string) =>
    (await cluster.client.kind(kinds.clusterRoles).get({ name })).metadata.resourceVersion;
  const create = (role: Role) => cluster.client.kind(kinds.clusterRoles).create(role);
  const toView = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
  const start = async () => {
    cluster = await testCluster([clusterRoleAggregationController]);
    return cluster;
  };

  it('fills the user-facing roles, with an apply of its own field manager', async () => {
    const { client } = await start();
    const source = await rulesOf('system:aggregate-to-view');
    expect(source?.length).toBeGreaterThan(10);
    expect(await rulesOf('view')).toEqual(source);
    const edit = [...((await rulesOf('system:aggregate-to-edit')) ?? []), ...(source ?? [])];
    expect(await rulesOf('edit')).toEqual(edit);
    expect(await rulesOf('admin')).toHaveLength(edit.length + 2);
    const place = { apiVersion: `rbac.authorization.${namesFor('k8s.io').domain}/v1`, resource: 'clusterroles' };
    expect((await client.get({ ...place, name: 'view' })).metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'clusterrole-aggregation-controller', operation: 'Apply' }),
    );
    expect(cluster.logged).toEqual([]);
  });

  it('follows changes of roles and of their labels', async () => {
    const { client } = await start();
    const before = (await rulesOf('admin')) ?? [];
    const more = get('things');
    await create(plain('more', toView, more));
    await cluster.settle();
    expect(await rulesOf('admin')).toContainEqual(more);
    const at = { metadata: { name: 'more' } };
    await client.kind(kinds.clusterRoles).patch(at.metadata, 'merge', { metadata: { labels: null } });
    await cluster.settle();
    expect(await rulesOf('admin')).toEqual(before);
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['others'] }];
    await client.kind(kinds.clusterRoles).patch(at.metadata, 'merge', { metadata: { labels: toView }, rules });
    await cluster.settle();
    expect(await rulesOf('view')).toContainEqual(get('others'));
    await client.kind(kinds.clusterRoles).delete(at.metadata);
    await cluster.settle();
    expect(await rulesOf('admin')).toEqual(before);
  });

  it('takes back rules that somebody writes into an aggregated role', async () => {
    const { client } = await start();
    const before = await rulesOf('view');
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
    await client.kind(kinds.clusterRoles).patch({ name: 'view' }, 'merge', { rules });
    await cluster.settle();
    expect(await rulesOf('view')).toEqual(before);
  });

  it('passes rules on through aggregated roles, whatever their names', async () => {
    await start();
    for (const [i, name] of ['a', 'b', 'c'].entries()) {
      const role = aggregated(name, [selector({ to: name })]);
      await create({ ...role, metadata: { name, labels: { to: ['', 'a', 'b'][i] ?? '' } } });
    }
    await create(plain('s', { to: 'c' }, c));
    await cluster.settle();
    expect([await rulesOf('a'), await rulesOf('b'), await rulesOf('c')]).toEqual([[c], [c], [c]]);
  });

  it('settles when two roles select each other', async () => {
    await start();
    const [x, y] = [aggregated('x', [selector({ to: 'x' })], a), aggregated('y', [selector({ to: 'y' })], b)];
    await create({ ...x, metadata: { name: 'x', labels: { to: 'y' } } });
    await create({ ...y, metadata: { name: 'y', labels: { to: 'x' } } });
    await cluster.settle();
    expect(await rulesOf('x')).toEqual(await rulesOf('y'));
  });

  it('writes once for simultaneous changes, and nothing for unrelated ones', async () => {
    await start();
    let written = 0;
    cluster.controllers.informers.of(kinds.clusterRoles).onChange((role, old) => {
      if (role?.metadata.name === 'view' && old !== undefined) written++;
    });
    await Promise.all(Array.from({ length: 100 }, (_, i) => create(plain(`more-${i}`, toView, get(`things-${i}`)))));
    await cluster.settle();
    expect((await rulesOf('view'))?.length).toBeGreaterThan(110);
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(50);
    const version = await versionOf('view');
    await create(plain('unrelated', {}, get('others')));
    await cluster.settle();
    expect(await versionOf('view')).toBe(version);
  });

  it('creates no role that has been deleted meanwhile', async () => {
    const { client } = await start();
    await create(aggregated('x', [selector({ to: 'x' })]));
    await cluster.settle();
    await Promise.all([create(plain('s', { to: 'x' }, a)), client.kind(kinds.clusterRoles).delete({ name: 'x' })]);
    await cluster.settle();
    expect(await client.kind(kinds.clusterRoles).find({ name: 'x' })).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });
});
