import { describe, expect, it } from 'vitest';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { bench, failure, merge, note, notes } from '../testing/fixtures.ts';
import { WriteQueue } from './write-queue.ts';

function queueWith() {
  const clock = drivenClock();
  const queue = new WriteQueue(clock);
  const had: string[] = [];
  const enter = async (name: string, place = queue.place('a')) => {
    await queue.enter(place);
    had.push(name);
    return place;
  };
  return { clock, queue, had, enter };
}

/** Lets everything run that waits for nothing else. */
const settled = () => new Promise((resume) => setImmediate(resume));

describe('the queue of a key', () => {
  it('gives one write after the other its turn, the oldest first', async () => {
    const { queue, had, enter } = queueWith();
    const places = ['first', 'second', 'third'].map((name) => ({ name, place: queue.place('a') }));
    const holder = await enter('holder');
    for (const { name, place } of places.toReversed()) void enter(name, place);
    await settled();
    expect(had).toEqual(['holder']);
    for (const leaving of [holder, ...places.map(({ place }) => place)]) {
      expect(queue.has('a')).toBe(true);
      queue.leave(leaving);
      await settled();
    }
    expect(had).toEqual(['holder', 'first', 'second', 'third']);
    expect(queue.has('a')).toBe(false);
  });

  it('keeps writes of other keys waiting for nothing', () => {
    const { queue } = queueWith();
    expect(queue.enter(queue.place('a'))).toBeUndefined();
    expect(queue.has('b')).toBe(false);
    expect(queue.enter(queue.place('b'))).toBeUndefined();
  });

  it('lets a write that has its turn go on', () => {
    const { queue } = queueWith();
    const place = queue.place('a');
    expect([queue.enter(place), queue.enter(place)]).toEqual([undefined, undefined]);
  });

  it('ends a turn that takes too long, and gives the same write a longer one the next time', async () => {
    const { clock, queue, had, enter } = queueWith();
    const slow = await enter('slow');
    void enter('second').then(queue.leave.bind(queue));
    clock.advance(999);
    await settled();
    expect(had).toEqual(['slow']);
    clock.advance(1);
    await settled();
    expect(had).toEqual(['slow', 'second']);
    await enter('slow again', slow);
    void enter('third');
    clock.advance(1_999);
    await settled();
    expect(had).toHaveLength(3);
    clock.advance(1);
    await settled();
    expect(had.at(-1)).toBe('third');
  });

  it('is bounded', async () => {
    const { queue, enter } = queueWith();
    for (let i = 0; i <= 1_000; i++) void enter('');
    await settled();
    expect(() => queue.enter(queue.place('a'))).toThrow(/too many writes of this object wait/);
  });
});

/** A registry that counts the attempts to write its config maps. */
function counted() {
  const attempts = { count: 0 };
  const strategy = {
    validate: () => {
      attempts.count++;
      return [];
    },
  };
  return { ...bench({ definitions: [{ ...notes, strategy }] }), attempts };
}

const label = (name: string, value = 'yes') => merge({ metadata: { labels: { [name]: value } } });
const large = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, 'x'.repeat(20)]));

describe('writes of one object', () => {
  it('conflict once each, however many they are', async () => {
    const { change, create, read, attempts } = counted();
    await create('configmaps', note('one'));
    const names = Array.from({ length: 100 }, (_, i) => `l${i}`);
    attempts.count = 0;
    await Promise.all(names.map((name) => change('configmaps', 'one', label(name))));
    expect(Object.keys((await read('configmaps', 'one')).metadata.labels ?? {})).toHaveLength(100);
    expect(attempts.count).toBeLessThanOrEqual(200);
  });

  it('let a large one through that gives turns after each step', async () => {
    const { change, create, attempts } = counted();
    await create('configmaps', note('one', large));
    let written = 0;
    let over = false;
    const overtake = async (name: string) => {
      for (; !over; written++)
        await change('configmaps', 'one', label(name, `v${written}`), { turns: new EveryStep() });
    };
    const overtaking = ['a', 'b', 'c'].map(overtake);
    while (written < 5) await settled();
    [attempts.count, written] = [0, 0];
    const made = await change('configmaps', 'one', label('mine'), { turns: new EveryStep() });
    over = true;
    await Promise.all(overtaking);
    expect(made.metadata.labels?.['mine']).toBe('yes');
    // Three are under way before it, and each of them writes once.
    expect(written).toBeLessThanOrEqual(6);
    expect(attempts.count).toBeLessThanOrEqual(14);
  });

  it('of the server itself wait for their turn as well', async () => {
    const { change, create, read, registry, attempts } = counted();
    await create('configmaps', note('one', large));
    attempts.count = 0;
    let changes = 0;
    const slow = change('configmaps', 'one', label('slow'), { turns: new EveryStep() });
    const own = Array.from({ length: 20 }, (_, i) =>
      registry.objects.guaranteedUpdate('configmaps', 'ns', 'one', ({ metadata }) => {
        changes++;
        metadata.labels = { ...metadata.labels, [`l${i}`]: 'yes' };
      }),
    );
    await Promise.all([slow, ...own]);
    expect(Object.keys((await read('configmaps', 'one')).metadata.labels ?? {})).toHaveLength(21);
    expect(changes).toBeLessThanOrEqual(40);
    expect(attempts.count).toBe(2);
  });

  it('end with a conflict where another process is always first', async () => {
    const { change, create, store } = counted();
    await create('configmaps', note('one', { text: 'x'.repeat(20_000) }));
    const prefix = '/configmaps/';
    let over = false;
    const overtaking = (async () => {
      while (!over) {
        await settled();
        const [entry] = (await store.list({ prefix })).entries;
        if (entry !== undefined) await store.commit([], [{ key: entry.key, value: entry.value }]);
      }
    })();
    const refused = await failure(change('configmaps', 'one', label('mine'), { turns: new EveryStep() }));
    over = true;
    await overtaking;
    expect(refused).toMatchObject({ code: 409, reason: 'Conflict' });
  });
});
