import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../client/index.ts';
import { type ApiObject, namesFor, statusError } from '../meta/index.ts';
import { openMemoryStore, type Store } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import type { PolicyRule } from '../types/rbac-v1.ts';
import { systemClock } from './clock.ts';
import { ClusterRoleAggregation, staleAggregations } from './cluster-role-aggregation.ts';
import { silentLog } from './dependencies.ts';
import { createServer, type OrchServer } from './server.ts';
import type { ServerOptions } from './server-options.ts';

const get = (...resources: string[]): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources });
type Role = Parameters<typeof staleAggregations>[0] extends Iterable<infer T> ? T : never;

const plain = (name: string, labels: { [key: string]: string }, ...rules: PolicyRule[]): Role => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules,
});
const selector = (matchLabels: { [key: string]: string }) => ({ matchLabels });
const aggregated = (name: string, selectors: readonly ReturnType<typeof selector>[], ...rules: PolicyRule[]): Role => ({
  ...plain(name, {}, ...rules),
  aggregationRule: { clusterRoleSelectors: [...selectors] },
});

describe('the rules of an aggregated cluster role', () => {
  const [a, b, c] = [get('a'), get('b'), get('c')];
  const stale = (...roles: Role[]) => Object.fromEntries(staleAggregations(roles));

  it('are those of the roles that it selects, by name, each rule once', () => {
    const roles = [plain('z', { to: 'x' }, a, b), plain('y', { to: 'x' }, c, a), plain('w', { to: 'other' }, get('d'))];
    expect(stale(...roles, aggregated('x', [selector({ to: 'x' })]))).toEqual({ x: [c, a, b] });
  });

  it('are in the order of the selectors', () => {
    const roles = [plain('a', { n: '2' }, a), plain('b', { n: '1' }, b), plain('c', { n: '2' }, b, c)];
    const selectors = [selector({ n: '1' }), selector({ n: '2' })];
    expect(stale(...roles, aggregated('x', selectors))).toEqual({ x: [b, a, c] });
  });

  it('are left as they are when they are right, where an empty list counts as absent', () => {
    const source = plain('s', { to: 'x' }, { ...a, resourceNames: [] });
    expect(stale(source, aggregated('x', [selector({ to: 'x' })], a))).toEqual({});
    expect(stale(aggregated('x', [selector({ to: 'x' })]))).toEqual({});
    const { rules: _, ...without } = aggregated('x', [selector({ to: 'x' })]);
    expect(stale(without)).toEqual({});
  });

  it('replace others, also when nothing is selected', () => {
    expect(stale(aggregated('x', [selector({ to: 'x' })], a))).toEqual({ x: [] });
    expect(stale(plain('s', { to: 'x' }, b), aggregated('x', [selector({ to: 'x' })], a))).toEqual({ x: [b] });
  });

  it('do not come from the role itself', () => {
    const x = { ...aggregated('x', [selector({ to: 'x' })], a), metadata: { name: 'x', labels: { to: 'x' } } };
    expect(stale(x, plain('s', { to: 'x' }, b))).toEqual({ x: [b] });
  });

  it('come through other aggregated roles at once, whatever their names', () => {
    const chain = ['a', 'b', 'c'].map((name, i, all) => ({
      ...aggregated(name, [selector({ to: name })]),
      metadata: { name, labels: { to: all[i - 1] ?? '' } },
    }));
    expect(stale(...chain, plain('s', { to: 'c' }, c))).toEqual({ a: [c], b: [c], c: [c] });
  });

  it('settle when two roles select each other', () => {
    const x = { ...aggregated('x', [selector({ to: 'x' })], a), metadata: { name: 'x', labels: { to: 'y' } } };
    const y = { ...aggregated('y', [selector({ to: 'y' })], b), metadata: { name: 'y', labels: { to: 'x' } } };
    const first = staleAggregations([x, y]);
    const next = [x, y].map((role) => ({ ...role, rules: first.get(role.metadata.name) ?? role.rules ?? [] }));
    expect(staleAggregations(next).size).toBe(0);
  });
});

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(options: ServerOptions = {}, store?: Store): Promise<OrchServer> {
  const given = { apiDomain: 'k8s.io', securePort: 0, ...options };
  const server = await createServer(given, store === undefined ? {} : { store });
  servers.push(server);
  return server;
}
const place = { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterroles' };
const named = (name: string) => ({ ...place, name });
const rulesOf = async (server: OrchServer, name: string) => (await server.client.get<Role>(named(name))).rules;
const toView = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };

/** A store that one server may close for others, with the commits to the cluster role `view`. */
function sharedStore() {
  const store = openMemoryStore({ clock: systemClock });
  let written = 0;
  const shared = new Proxy(store, {
    get: (target, key) => {
      if (key === 'close') return () => Promise.resolve();
      if (key !== 'commit') return (target[key as keyof Store] as () => unknown).bind(target);
      return (...[compares, writes]: Parameters<Store['commit']>) => {
        if (writes.length === 1 && writes[0]?.key.endsWith('/view') === true) written++;
        return target.commit(compares, writes);
      };
    },
  });
  return { store: shared, written: () => written };
}

describe('the controller of aggregated cluster roles', () => {
  it('has filled the user-facing roles when the server has started', async () => {
    const server = await start();
    const view = await server.client.get<Role>(named('view'));
    const source = await rulesOf(server, 'system:aggregate-to-view');
    expect(source?.length).toBeGreaterThan(10);
    expect(view.rules).toEqual(source);
    const edit = [...((await rulesOf(server, 'system:aggregate-to-edit')) ?? []), ...(source ?? [])];
    expect(await rulesOf(server, 'edit')).toEqual(edit);
    const admin = await rulesOf(server, 'admin');
    expect(admin).toHaveLength(edit.length + 2);
    expect(view.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'clusterrole-aggregation-controller', operation: 'Apply' }),
    );
  });

  it.each([[['-*']], [['-clusterrole-aggregation']]])('does nothing with --controllers=%j', async (controllers) => {
    const server = await start({ controllers });
    await server.client.create(place, plain('more', toView, get('things')));
    for (const name of ['admin', 'edit', 'view']) expect(await rulesOf(server, name)).toBeNull();
  });

  it('follows changes of roles and of their labels', async () => {
    const server = await start();
    const before = (await rulesOf(server, 'admin')) ?? [];
    const more = get('things');
    await server.client.create(place, plain('more', toView, more));
    await expect.poll(() => rulesOf(server, 'admin')).toContainEqual(more);
    await server.client.patch(named('more'), 'merge', { metadata: { labels: null } });
    await expect.poll(() => rulesOf(server, 'admin')).toEqual(before);
    await server.client.patch(named('more'), 'merge', { metadata: { labels: toView }, rules: [get('others')] });
    await expect.poll(() => rulesOf(server, 'view')).toContainEqual(get('others'));
    await server.client.delete(named('more'));
    await expect.poll(() => rulesOf(server, 'admin')).toEqual(before);
  });

  it('takes back rules that somebody writes into an aggregated role', async () => {
    const server = await start();
    const before = await rulesOf(server, 'view');
    await server.client.patch(named('view'), 'merge', { rules: [get('secrets')] });
    await expect.poll(() => rulesOf(server, 'view')).toEqual(before);
  });

  it('writes once for many changes that come together', async () => {
    const { store, written } = sharedStore();
    const server = await start({}, store);
    const before = written();
    const roles = Array.from({ length: 100 }, (_, i) => plain(`more-${i}`, toView, get(`things-${i}`)));
    await Promise.all(roles.map((role) => server.client.create(place, role)));
    await expect.poll(async () => (await rulesOf(server, 'view'))?.length).toBeGreaterThan(110);
    expect(written() - before).toBeLessThan(50);
  });

  it('agrees with that of another server, and then neither writes', async () => {
    const { store, written } = sharedStore();
    const [one, two] = await Promise.all([start({}, store), start({}, store)]);
    await one.client.create(place, plain('more', toView, get('things')));
    await expect.poll(() => rulesOf(two, 'view')).toContainEqual(get('things'));
    const { resourceVersion } = (await one.client.get(named('view'))).metadata;
    const before = written();
    // A change that aggregation has nothing to do with wakes both.
    await two.client.create(place, plain('unrelated', {}, get('others')));
    await one.client.create(place, plain('last', toView, get('last')));
    await expect.poll(() => rulesOf(two, 'view')).toContainEqual(get('last'));
    expect((await two.client.get(named('view'))).metadata.resourceVersion).not.toBe(resourceVersion);
    expect(written() - before).toBeLessThanOrEqual(3);
  });
});

describe('a write of the controller that fails', () => {
  const source = plain('s', { to: 'x' }, get('a'));
  const target = { ...aggregated('x', [selector({ to: 'x' })]), metadata: { name: 'x', uid: 'u1' } };

  function controller(failure: Error) {
    const applied: ApiObject[] = [];
    const clock = drivenClock();
    const logged: string[] = [];
    const client: Pick<Client, 'list' | 'watch' | 'apply'> = {
      list: () => Promise.resolve({ metadata: { resourceVersion: '1' }, items: [source, target] as never[] }),
      watch: () => Promise.resolve({ close: () => {}, async *[Symbol.asyncIterator]() {} }),
      apply: (_, object) => {
        applied.push(object);
        return Promise.reject(failure);
      },
    };
    const log = { ...silentLog, error: (text: string) => logged.push(text) };
    const aggregation = new ClusterRoleAggregation({ client: client as Client, names: namesFor('k8s.io'), clock, log });
    return { applied, logged, clock, aggregation };
  }

  it('is logged and attempted again later', async () => {
    const { applied, logged, clock, aggregation } = controller(new Error('no'));
    await aggregation.start();
    expect([applied.length, logged.length]).toEqual([1, 1]);
    clock.advance(9_000);
    expect(applied).toHaveLength(1);
    clock.advance(1_000);
    await expect.poll(() => applied.length).toBe(2);
    await aggregation.stop();
    clock.advance(60_000);
    expect(applied).toHaveLength(2);
  });

  it('is none when the role has been deleted, which the uid makes sure of', async () => {
    const { applied, logged, aggregation } = controller(statusError.modified({ group: '', resource: 'x' }, 'x'));
    await aggregation.start();
    expect(applied.map(({ metadata }) => metadata)).toEqual([{ name: 'x', uid: 'u1' }]);
    expect(logged).toEqual([]);
    await aggregation.stop();
  });
});
