import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BTree, type BTreeSnapshot } from '../btree/index.ts';
import { encodeText, type LabelRequirement, type LabelSelector, parseLabelSelector } from '../meta/index.ts';
import { candidatesOf, type IndexedLabels, LabelIndexes, type LabelIndexLimits } from './label-indexes.ts';
import { unknownLabels } from './selection.ts';
import { put, settle, setup } from './testing/objects.ts';
import type { CachedObject } from './types.ts';

type Labels = CachedObject['labels'];

const objectOf = (key: string, labels: Labels): CachedObject => ({
  key,
  namespace: '',
  name: key,
  revision: 1,
  bytes: encodeText('{}'),
  labels,
  fields: {},
});

/** A state of objects with indexes of their labels. */
class World {
  readonly tree = new BTree<CachedObject>();
  readonly indexes: LabelIndexes;

  constructor(limits: Partial<LabelIndexLimits> = {}) {
    this.indexes = new LabelIndexes(
      () => this.tree,
      () => {},
      { minObjects: 0, minScans: 1, ...limits },
    );
  }

  put(key: string, labels: Labels): void {
    const object = objectOf(key, labels);
    this.indexes.change(this.tree.set(object), object);
  }

  remove(key: string): void {
    const previous = this.tree.delete(key);
    if (previous !== undefined) this.indexes.change(previous, undefined);
  }

  state(): State {
    return { tree: this.tree.snapshot(), indexed: this.indexes.snapshot() };
  }
}

interface State {
  readonly tree: BTreeSnapshot<CachedObject>;
  readonly indexed: IndexedLabels;
}

interface Query {
  readonly selector: LabelSelector;
  readonly prefix: string;
  readonly after: string | undefined;
}

function matching({ selector }: Query, objects: Iterable<CachedObject>): string[] {
  return [...objects].filter(({ labels }) => selector.matches(labels)).map(({ key }) => key);
}

const scan = ({ tree }: State, query: Query): string[] => matching(query, tree.range(query.prefix, query.after));

/** Undefined: no index was used. */
function lookUp({ tree, indexed }: State, query: Query): string[] | undefined {
  const found = candidatesOf(indexed, query.selector.requirements, query.prefix, query.after, Number.POSITIVE_INFINITY);
  return (
    found &&
    matching(
      query,
      [...found.keys].flatMap((key) => tree.get(key) ?? []),
    )
  );
}

const label = fc.constantFrom('app', 'tier', 'constructor');
const value = fc.constantFrom('', 'a', 'b', 'ab', 'c');
const key = fc
  .tuple(fc.constantFrom('n', 'm', 'nn'), fc.constantFrom('a', 'b', 'c', 'é', '😀', '\uFFFD'))
  .map(([namespace, name]) => `/things/${namespace}/${name}`);
const change = fc.record({ key, labels: fc.option(fc.dictionary(label, value), { freq: 3 }) });
const requirement = fc.oneof(
  fc.tuple(label, fc.constantFrom('=', '=='), value).map((parts) => parts.join('')),
  fc
    .tuple(label, fc.constantFrom('in', 'notin'), fc.uniqueArray(value, { minLength: 1 }))
    .map(([name, operator, values]) => `${name} ${operator} (${values.join(',')})`),
  fc.tuple(fc.constantFrom('', '!'), label).map((parts) => parts.join('')),
);
const query: fc.Arbitrary<Query> = fc.record({
  selector: fc.array(requirement, { minLength: 1, maxLength: 3 }).map((parts) => parseLabelSelector(parts.join(','))),
  prefix: fc.constantFrom('/things/', '/things/n/', '/things/m/', '/things/x/'),
  after: fc.option(key, { nil: undefined }),
});

describe('the indexes of labels', () => {
  it('select what a search of all objects selects, at every state of any history', async () => {
    const step = fc.oneof({ weight: 4, arbitrary: change }, { weight: 1, arbitrary: query });
    let lookUps = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.array(query, { maxLength: 10 }), async (steps, later) => {
        const world = new World();
        const states: State[] = [];
        for (const [i, one] of steps.entries()) {
          if ('selector' in one) {
            states.push(world.state());
            world.indexes.searched(one.selector.requirements);
            if (i % 2 === 0) await settle(1);
          } else if (one.labels === null) world.remove(one.key);
          else world.put(one.key, one.labels);
        }
        await settle();
        for (const state of [...states, world.state()]) {
          for (const one of later) {
            const found = lookUp(state, one);
            if (found === undefined) continue;
            lookUps++;
            expect(found).toEqual(scan(state, one));
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(lookUps).toBeGreaterThan(100);
  });

  const byApp: Query = {
    selector: parseLabelSelector('app=a'),
    prefix: '/',
    after: undefined,
  };
  const filled = (limits: Partial<LabelIndexLimits> = {}) => {
    const world = new World(limits);
    for (let i = 0; i < 1_000; i++) world.put(`/${String(i).padStart(4, '0')}`, { app: i % 100 === 0 ? 'a' : 'b' });
    return world;
  };

  it('are made after several searches, and then used', async () => {
    const world = filled({ minScans: 3 });
    for (let i = 0; i < 2; i++) world.indexes.searched(byApp.selector.requirements);
    await settle();
    expect(world.indexes.size).toBe(0);
    world.indexes.searched(byApp.selector.requirements);
    await settle(10);
    expect(lookUp(world.state(), byApp)).toHaveLength(10);
  });

  it('are not used for a value that many objects have', async () => {
    const world = filled();
    world.indexes.searched(byApp.selector.requirements);
    await settle(10);
    const { indexed, tree } = world.state();
    const often: LabelRequirement = { key: 'app', operator: '=', values: ['b'] };
    expect(candidatesOf(indexed, [often], '/', undefined, tree.count('/'))).toBeUndefined();
    expect(candidatesOf(indexed, byApp.selector.requirements, '/', undefined, tree.count('/'))?.label).toBe('app');
  });

  it('are not used while an object cannot be read, because its labels are unknown', async () => {
    const world = filled();
    world.indexes.searched(byApp.selector.requirements);
    await settle(10);
    world.put('/0500', unknownLabels);
    expect(lookUp(world.state(), byApp)).toBeUndefined();
    world.put('/0500', { app: 'b' });
    expect(lookUp(world.state(), byApp)).toHaveLength(9);
  });

  it('have a limit of labels, beyond which the least recently used one goes', async () => {
    const world = filled({ maxLabels: 2 });
    for (const name of ['app', 'tier', 'app']) {
      world.indexes.searched([{ key: name, operator: 'exists', values: [] }]);
      await settle(10);
      world.indexes.used(name);
    }
    world.indexes.searched([{ key: 'zone', operator: 'exists', values: [] }]);
    await settle(10);
    expect([...world.state().indexed.keys()]).toEqual(['app', 'zone']);
  });

  it('have a limit of bytes, and give back all of them', async () => {
    const world = filled({ maxBytes: 50_000 });
    world.indexes.searched(byApp.selector.requirements);
    await settle(10);
    expect([world.indexes.size, world.indexes.bytes]).toEqual([0, 0]);
    const roomy = filled();
    roomy.indexes.searched(byApp.selector.requirements);
    await settle(10);
    expect(roomy.indexes.bytes).toBeGreaterThan(50_000);
    for (const { key } of [...roomy.state().tree.range('/')]) roomy.remove(key);
    expect(roomy.indexes.bytes).toBe(0);
  });
});

describe('a snapshot of the cache', () => {
  it('selects from an index what it had at its revision', async () => {
    const { store, cache } = setup();
    const writes = Array.from({ length: 1_200 }, (_, i) => put(`a/${i}`, { labels: { part: `p${i % 100}` } }));
    for (const write of writes) store.write([write]);
    await cache.ready();
    const requirements: LabelRequirement[] = [{ key: 'part', operator: '=', values: ['p7'] }];
    for (let i = 0; i < 16; i++) expect(cache.snapshot().select(requirements, '/things/')).toBeUndefined();
    await settle(20);
    // Nothing has changed since.
    const names = (objects: Iterable<CachedObject> | undefined) => objects && [...objects].map(({ name }) => name);
    expect(names(cache.snapshot().select(requirements, '/things/'))).toHaveLength(12);
    store.write([put('b/late', { labels: { part: 'p7' } })]);
    await settle();
    const before = cache.snapshot();
    expect(names(before.select(requirements, '/things/'))).toHaveLength(13);
    store.write([put('a/7'), put('a/107', { labels: { part: 'p8' } })]);
    await settle();
    expect(names(cache.snapshot().select(requirements, '/things/'))).toHaveLength(11);
    expect(names(before.select(requirements, '/things/'))).toHaveLength(13);
    expect(names(before.select(requirements, '/things/a/'))).toHaveLength(12);
    expect(names(before.select(requirements, '/things/', '/things/a/907'))).toEqual(['late']);
    expect(cache.counts).toMatchObject({ labelIndexes: 1 });
  });
});
