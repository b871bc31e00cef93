import { expect, it } from 'vitest';
import { openMemoryStore } from '../../../store/index.ts';
import { systemClock } from '../../clock.ts';
import { readTestOptions } from '../options.ts';
import { standardChecks } from './standard-checks.ts';
import type { RestInvariant } from './world.ts';
import type { WholeState, WorldObject } from './world-state.ts';

type Objects = { readonly [resource: string]: readonly object[] };

/** A state with these objects; their uids are their names. */
function stateOf(objects: Objects): WholeState {
  const all = Object.entries(objects).flatMap(([resource, list]) =>
    list.map((part) => {
      const object = part as WorldObject;
      return { resource, object: { ...object, metadata: { uid: object.metadata.name ?? '', ...object.metadata } } };
    }),
  );
  const list: WholeState['list'] = (resource, namespace) =>
    all
      .filter((one) => one.resource === resource && [undefined, one.object.metadata.namespace].includes(namespace))
      .map(({ object }) => object);
  const get: WholeState['get'] = (resource, name, namespace) =>
    list(resource, namespace).find(({ metadata }) => metadata.name === name);
  return { revision: 1, list, get, all: () => all };
}

/** The problems that the checks report at rest. */
async function problemsOf(objects: Objects, ports: { readonly [block: string]: string } = {}): Promise<unknown[]> {
  const store = openMemoryStore({ clock: systemClock });
  for (const [block, bits] of Object.entries(ports)) {
    await store.commit([], [{ key: `/ranges/servicenodeports/${block}`, value: Buffer.from(bits) }]);
  }
  const state = stateOf(objects);
  const { atRest } = standardChecks(await readTestOptions({ controllers: '*' }), store, state);
  const problems = Object.entries(atRest).map(async ([name, holds]) => {
    const problem = await holds(state, {} as Parameters<RestInvariant>[1]);
    return typeof problem === 'string' ? [`${name}: ${problem}`] : [];
  });
  return (await Promise.all(problems)).flat();
}

/** The problems that the checks report of the last change, after each object of a resource was created in turn. */
async function problemsOfCreations(resource: string, created: readonly object[], others: Objects): Promise<unknown[]> {
  const store = openMemoryStore({ clock: systemClock });
  const { invariants } = standardChecks(await readTestOptions({}), store, stateOf({}));
  let problems: unknown[] = [];
  for (let count = 1; count <= created.length; count++) {
    const state = stateOf({ ...others, [resource]: created.slice(0, count) });
    const after = state.list(resource)[count - 1];
    problems = Object.entries(invariants).flatMap(([name, holds]) => {
      const problem = holds(state, { resource, before: undefined, after });
      return typeof problem === 'string' ? [`${name}: ${problem}`] : [];
    });
  }
  return problems;
}

const namespaces = [{ metadata: { name: 'n' } }];
const named = (name: string, more: object = {}) => ({ metadata: { namespace: 'n', name, ...more } });
const quota = (hard: string, used: string) => ({
  ...named('q'),
  spec: { hard: { pods: hard } },
  status: { used: { pods: used } },
});
const pod = (name: string, phase = 'Running') => ({ ...named(name), spec: {}, status: { phase } });
const service = (name: string, clusterIP: string, nodePort?: number) => ({
  ...named(name),
  spec: { clusterIPs: [clusterIP], ports: [{ nodePort }] },
});
const address = (name: string, parent: string) => ({
  metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
  spec: { parentRef: { resource: 'services', namespace: 'n', name: parent } },
});

it('A quota at rest counts the objects that are stored', async () => {
  const pods = [pod('a'), pod('b'), pod('ended', 'Succeeded')];
  expect(await problemsOf({ namespaces, resourcequotas: [quota('5', '2')], pods })).toEqual([]);
  expect(await problemsOf({ namespaces, resourcequotas: [quota('5', '3')], pods })).toEqual([
    'quotas count what is stored: n/q: pods are 3, but 2 are stored',
  ]);
});

it('An address and a node port have one service', async () => {
  const first = service('a', '10.0.0.1', 30_001);
  const creating = (second: object) => problemsOfCreations('services', [first, second], {});
  expect(await creating(service('b', '10.0.0.2', 30_002))).toEqual([]);
  expect(await creating(service('b', '10.0.0.1'))).toEqual([
    'an address has one service: 10.0.0.1 is that of n/a and of n/b',
  ]);
  expect(await creating(service('b', 'None', 30_001))).toEqual([
    'an address has one service: 30001 is that of n/a and of n/b',
  ]);
});

it('The allocations at rest are those of the services', async () => {
  const services = [service('a', '10.0.0.1', 30_001)];
  const addresses = 'ipaddresses.networking.k8s.io';
  const block = { '00937': (1 << (30_001 % 32)).toString(16) };
  const rule = 'allocations are those of services';
  expect(await problemsOf({ namespaces, services, [addresses]: [address('10.0.0.1', 'a')] }, block)).toEqual([]);
  expect(await problemsOf({ namespaces, services }, block)).toEqual([`${rule}: 10.0.0.1 of n/a is not allocated`]);
  expect(await problemsOf({ namespaces, services, [addresses]: [address('10.0.0.1', 'a')] })).toEqual([
    `${rule}: 30001 of n/a is not allocated`,
  ]);
  expect(await problemsOf({ [addresses]: [address('10.0.0.2', 'b')] })).toEqual([
    `${rule}: 10.0.0.2 is allocated to n/b, but is that of no service`,
  ]);
  expect(await problemsOf({}, block)).toEqual([`${rule}: the node port 30001 is allocated, but that of no service`]);
});

it('At rest no dependent of absent owners remains, and no deletion waits for the garbage collector', async () => {
  const owned = (uid: string) => named('dependent', { ownerReferences: [{ uid, blockOwnerDeletion: true }] });
  const deleted = (name: string, ...finalizers: string[]) => named(name, { deletionTimestamp: 'now', finalizers });
  expect(await problemsOf({ namespaces, secrets: [named('owner')], configmaps: [owned('owner')] })).toEqual([]);
  expect(await problemsOf({ namespaces, secrets: [named('owner')], configmaps: [owned('other')] })).toEqual([
    'garbage is collected: configmaps n/dependent remains, but its owners are gone',
  ]);
  expect(
    await problemsOf({ namespaces, secrets: [deleted('owner', 'foregroundDeletion')], configmaps: [owned('owner')] }),
  ).toEqual([]);
  for (const finalizer of ['foregroundDeletion', 'orphan']) {
    expect(await problemsOf({ namespaces, secrets: [deleted('owner', finalizer)] })).toEqual([
      `garbage is collected: secrets n/owner still has the finalizer ${finalizer}`,
    ]);
  }
});

it('At rest deleted namespaces are gone, and so are their objects', async () => {
  const ending = [{ metadata: { name: 'n', deletionTimestamp: 'now' } }];
  const rule = 'namespaces end';
  expect(await problemsOf({ namespaces: ending })).toEqual([`${rule}: namespaces n is deleted, but remains`]);
  expect(
    await problemsOf({ namespaces: ending, secrets: [named('held', { finalizers: ['example.com/held'] })] }),
  ).toEqual([]);
  expect(await problemsOf({ secrets: [named('lost')] })).toEqual([
    `${rule}: secrets n/lost is in a namespace that does not exist`,
  ]);
});
