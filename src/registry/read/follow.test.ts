import { describe, expect, it } from 'vitest';
import type { Turns } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { heldStore } from '../../store/testing/held-store.ts';
import type { Resource } from '../resource/resource.ts';
import { type Bench, bench, failure, followedBench, note, notes, remove, update } from '../testing/fixtures.ts';
import type { ObjectFollower } from '../types.ts';
import { follow } from './follow.ts';

/** Follows the config maps of a registry; `state` is what it has been told. */
async function following(made: Bench, turns?: Turns) {
  const state = new Map<string, string | undefined>();
  let told = 0;
  const order: string[] = [];
  const follower: ObjectFollower = (namespace, name, object) => {
    told += 1;
    order.push(name);
    const key = `${namespace}/${name}`;
    if (object === undefined) state.delete(key);
    else state.set(key, JSON.stringify(object['data']));
  };
  await follow(made.registry.find('', 'v1', 'configmaps') as Resource, follower, {}, turns);
  return { state, told: () => told, order };
}

const revisionOf = async ({ registry, target }: Bench, name: string) =>
  (await registry.get(target('configmaps', { name }), {})).revision;

const createMany = ({ create }: Bench, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => create('configmaps', note(`n${i}`))));

describe('follow', () => {
  it('tells all objects, then each change before its write is answered', async () => {
    const made = followedBench();
    await createMany(made, 600);
    const { state, told } = await following(made);
    expect([state.size, told()]).toEqual([600, 600]);
    await made.create('configmaps', note('new', { a: '2' }));
    expect(state.get('ns/new')).toBe('{"a":"2"}');
    await made.write('configmaps', { name: 'new' }, update(note('new', { a: '3' })));
    expect(state.get('ns/new')).toBe('{"a":"3"}');
    await made.write('configmaps', { name: 'new' }, remove());
    expect([state.has('ns/new'), told()]).toEqual([false, 603]);
  });

  it('reads a large object in turns before its write is answered, and the changes behind it are reported later', async () => {
    const made = followedBench();
    const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'x'.repeat(25)]));
    const { length } = JSON.stringify(data);
    await made.create('configmaps', note('old', data));
    const turns = new EveryStep();
    const { state, order } = await following(made, turns);
    expect([state.get('ns/old')?.length, turns.count > 10]).toEqual([length, true]);
    turns.count = 0;
    const changes = [
      made.create('configmaps', note('large', data)),
      made.create('configmaps', note('small')),
      made.write('configmaps', { name: 'old' }, remove()),
    ];
    await Promise.all(changes);
    const revisions = await Promise.all(['large', 'small'].map((name) => revisionOf(made, name)));
    const inOrder = (revisions[0] as number) < (revisions[1] as number) ? ['large', 'small'] : ['small', 'large'];
    expect(order.filter((name) => name !== 'old')).toEqual(inOrder);
    expect([state.get('ns/large')?.length, state.has('ns/old')]).toEqual([length, false]);
    expect(turns.count).toBeGreaterThan(10);
  });

  it('misses no change during the first pass', async () => {
    const made = followedBench();
    await createMany(made, 600);
    const done = following(made, new EveryStep());
    for (let i = 0; i < 600; i += 7) await made.write('configmaps', { name: `n${i}` }, remove());
    for (let i = 0; i < 50; i++) await made.create('configmaps', note(`late${i}`));
    const { state } = await done;
    const { names } = await made.names('configmaps');
    expect([...state.keys()].sort()).toEqual(names.map((name) => `ns/${name}`).sort());
  });

  it.each(['{"kind":"Conf', '"n":', '"data":5'])('tells a corrupt object as deleted: %s', async (text) => {
    const made = followedBench();
    await made.create('configmaps', note('bad'));
    await made.create('configmaps', note('good'));
    const { state } = await following(made);
    const key = '/configmaps/ns/bad';
    const { entry } = await made.store.get(key);
    const whole = Buffer.from(entry?.value ?? []).toString();
    const value = Buffer.from(text.startsWith('{') ? text : whole.replace(/}$/, `,${text}}`));
    await made.store.commit([], [{ key, value }]);
    await made.create('configmaps', note('later'));
    expect([...state.keys()].sort()).toEqual(['ns/good', 'ns/later']);
  });

  it('fails when the registry is closed first, and for no resource of that name', async () => {
    const made = followedBench();
    const loading = made.registry.follow('configmaps', () => {});
    made.registry.close();
    expect(await failure(loading)).toMatchObject({ code: 503 });
    expect(await failure(made.registry.follow('absent', () => {}))).toMatchObject({ code: 404 });
  });

  it('is rejected for a resource whose writes do not wait for it', async () => {
    const { registry } = followedBench();
    const error = await failure(registry.follow('deployments.apps', () => {}));
    expect(error).toMatchObject({ code: 500, cause: new Error('deployments are not declared as followed') });
  });
});

describe('a write of a resource that is followed', () => {
  it('is answered after a second when the watch does not deliver it', async () => {
    const store = heldStore(openMemoryStore({ clock: drivenClock() }));
    const { clock, create, names, registry } = bench({ definitions: [{ ...notes, followed: true }], store });
    await names('configmaps');
    store.hold();
    let answered = false;
    void create('configmaps', note('a')).then(() => {
      answered = true;
    });
    await expect.poll(async () => (await store.under.list({ prefix: '/configmaps/' })).entries.length).toBe(1);
    clock.advance(999);
    expect(answered).toBe(false);
    await expect
      .poll(() => {
        clock.advance(1_000);
        return answered;
      })
      .toBe(true);
    registry.close();
  });
});
