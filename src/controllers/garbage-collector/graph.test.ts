import { describe, expect, it } from 'vitest';
import type { ObjectMeta, OwnerReference } from '../../meta/index.ts';
import type { ServedResource } from '../metadata/discovery.ts';
import { Graph } from './graph.ts';

const configMaps: ServedResource = {
  group: '',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
  verbs: [],
};
const nests: ServedResource = { ...configMaps, group: 'example.com', apiVersion: 'example.com/v1', kind: 'Nest' };

const object = (uid: string, owners: OwnerReference[] = [], more: ObjectMeta = {}): ObjectMeta => ({
  namespace: 'ns',
  name: `name-${uid}`,
  uid,
  ...(owners.length === 0 ? {} : { ownerReferences: owners }),
  ...more,
});
const ref = (uid: string, more: { blockOwnerDeletion?: boolean; name?: string; kind?: string } = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: `name-${uid}`,
  uid,
  ...more,
});
const deleted = (...finalizers: string[]) => ({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers });

/** A graph with what it asked for; `take` returns that, and forgets it. */
function setUp() {
  const requests: string[] = [];
  const graph = new Graph({
    attemptToDelete: (uid) => requests.push(`delete ${uid}`),
    attemptToOrphan: (uid) => requests.push(`orphan ${uid}`),
    reportInvalidNamespace: ({ uid }, owner) => requests.push(`report ${uid} ${owner.uid}`),
  });
  return {
    graph,
    add: (metadata: ObjectMeta, resource = configMaps) => graph.apply(metadata, resource, true),
    remove: (metadata: ObjectMeta) => graph.remove(metadata, configMaps),
    take: () => requests.splice(0),
  };
}

describe('the nodes of the graph', () => {
  it('are there only while an object has owners or dependents', () => {
    const { graph, add, remove, take } = setUp();
    for (let i = 0; i < 1_000; i++) add(object(`plain${i}`));
    expect(graph.size).toBe(0);
    add(object('owner'));
    add(object('child', [ref('owner')]));
    expect(graph.size).toBe(2);
    // Whether the owner exists is unknown.
    expect(take()).toEqual(['delete owner']);
    add(object('child'));
    expect(graph.size).toBe(0);
    add(object('child', [ref('owner')]));
    remove(object('child', [ref('owner')]));
    expect(graph.size).toBe(0);
  });

  it('are there while the deletion of an object waits for the collector', () => {
    for (const [finalizer, action] of [
      ['foregroundDeletion', 'delete a'],
      ['orphan', 'orphan a'],
    ] as const) {
      const { graph, add, remove, take } = setUp();
      add(object('a', [], deleted(finalizer)));
      add(object('a', [], deleted(finalizer, 'example.com/hold')));
      expect([graph.size, take()]).toEqual([1, [action]]);
      add(object('a', [], deleted('example.com/hold')));
      expect(graph.size).toBe(0);
      add(object('a', [], deleted(finalizer)));
      remove(object('a', [], deleted(finalizer)));
      expect(graph.size).toBe(0);
    }
  });
});

describe('a deletion in the foreground', () => {
  it('checks each dependent once, and the owner when none blocks any more', () => {
    const { add, remove, take } = setUp();
    const blocking = ['a', 'b', 'c'].map((uid) => object(uid, [ref('owner', { blockOwnerDeletion: true })]));
    add(object('owner', [ref('top')]));
    for (const child of blocking) add(child);
    add(object('free', [ref('owner')]));
    take();
    add(object('owner', [ref('top')], deleted('foregroundDeletion')));
    expect(take()).toEqual(['delete a', 'delete b', 'delete c', 'delete free', 'delete owner']);
    const [a, b, c] = blocking;
    remove(a ?? {});
    add({ ...b, ownerReferences: [ref('owner', { blockOwnerDeletion: false })] });
    expect(take()).toEqual([]);
    add(object('late', [ref('owner', { blockOwnerDeletion: true })]));
    expect(take()).toEqual(['delete late']);
    add({ ...c, ownerReferences: [] });
    expect(take()).toEqual([]);
    remove(object('late', [ref('owner', { blockOwnerDeletion: true })]));
    expect(take()).toEqual(['delete owner']);
  });
});

describe('a list after missed changes', () => {
  it('requests a check of objects that it did not contain', () => {
    const { graph, add, take } = setUp();
    graph.listing(configMaps);
    add(object('owner', [ref('top')]));
    add(object('kept', [ref('owner')]));
    add(object('nest', [ref('owner')]), nests);
    graph.listed(configMaps);
    graph.confirmAbsent({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'name-top', uid: 'top' });
    take();
    graph.listing(configMaps);
    add(object('kept', [ref('owner')]));
    graph.listed(configMaps);
    expect(take()).toEqual(['delete owner']);
    expect(graph.get('owner')?.observed).toBe(false);
    graph.confirmAbsent({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'name-owner', uid: 'owner' });
    expect(take().sort()).toEqual(['delete kept', 'delete nest']);
  });
});

describe('owners under several names', () => {
  it('are looked for under each, until none is left', () => {
    const { graph, add, take } = setUp();
    const identity = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', uid: 'owner' };
    add(object('a', [ref('owner', { name: 'one' })]));
    add(object('b', [ref('owner', { name: 'two' })]));
    expect(take()).toEqual(['delete owner', 'delete b']);
    graph.confirmAbsent({ ...identity, name: 'one' });
    expect(graph.get('owner')?.identity.name).toBe('two');
    expect(take()).toEqual(['delete a', 'delete owner']);
    graph.confirmAbsent({ ...identity, name: 'two' });
    expect(graph.get('owner')).toBeUndefined();
    expect([...new Set(take())].sort()).toEqual(['delete a', 'delete b']);
  });

  it('are what is observed, and references that say otherwise are looked at', () => {
    const { graph, add, take } = setUp();
    add(object('bad', [ref('owner', { kind: 'Secret' })]));
    add(object('good', [ref('owner')]));
    take();
    add(object('owner', [ref('top')]));
    expect(graph.get('owner')?.identity.kind).toBe('ConfigMap');
    expect(take()).toEqual(['delete bad', 'delete top']);
    graph.confirmAbsent({ apiVersion: 'v1', kind: 'Secret', namespace: 'ns', name: 'name-owner', uid: 'owner' });
    expect(graph.get('owner')?.observed).toBe(true);
    expect(take()).toEqual(['delete bad']);
  });

  it('in another namespace are reported once, whoever is seen first', () => {
    const elsewhere = { namespace: 'other' };
    const first = setUp();
    first.add(object('owner', [ref('top')], elsewhere));
    first.take();
    first.add(object('child', [ref('owner')]));
    first.add(object('child', [ref('owner')]));
    expect(first.take()).toEqual(['report child owner', 'delete child']);
    const second = setUp();
    second.add(object('child', [ref('owner')]));
    second.take();
    second.add(object('owner', [], elsewhere));
    expect(second.take()).toEqual(['report child owner', 'delete child']);
  });
});

describe('a resource that is not served any more', () => {
  it('blocks nothing, and its objects are unknown as owners', () => {
    const { graph, add, take } = setUp();
    add(object('owner'));
    add(object('nest', [ref('owner', { blockOwnerDeletion: true })]), nests);
    add(object('owner', [], deleted('foregroundDeletion')));
    add(object('egg', [{ ...ref('nest'), apiVersion: 'example.com/v1', kind: 'Nest' }]));
    take();
    graph.drop(nests);
    expect(take()).toEqual(['delete owner', 'delete nest']);
    expect(graph.get('nest')?.observed).toBe(false);
    expect(graph.get('egg')?.owners).toHaveLength(1);
  });
});

describe('many owners', () => {
  /** How often references are looked at while an object gets and loses owners, none of which exists. */
  function looksFor(count: number): number {
    const { graph, add } = setUp();
    let looks = 0;
    const owners = Array.from({ length: count }, (_, i) => {
      const { uid, ...others } = ref(`owner${i}`);
      const counted = {
        ...others,
        get uid() {
          looks++;
          return uid;
        },
      };
      return counted;
    });
    add(object('child', owners));
    for (let i = 0; i < count; i++) {
      const owner = graph.get(`owner${i}`);
      if (owner !== undefined) graph.confirmAbsent(owner.identity);
    }
    add(object('child', []));
    expect(graph.size).toBe(0);
    return looks;
  }

  it('cost an object time in proportion to their number', () => {
    expect(looksFor(2_000)).toBeLessThan(2.5 * looksFor(1_000));
  });
});
