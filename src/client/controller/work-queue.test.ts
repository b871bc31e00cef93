import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StatusError, VirtualClock } from '../../meta/index.ts';
import { type Reconcile, WorkQueue } from './work-queue.ts';

function makeQueue(reconcile: Reconcile, workers = 5, groupOf = (_: string) => '') {
  const clock = new VirtualClock();
  const logged: string[] = [];
  const counts = { added: 0, started: 0, ended: 0, retried: 0 };
  const count = (what: keyof typeof counts) => () => void counts[what]++;
  const queue = new WorkQueue({
    name: 'q',
    reconcile,
    workers,
    groupOf,
    clock,
    log: { info: () => {}, warn: (text) => void logged.push(text), error: () => {} },
    observe: () => ({
      added: count('added'),
      started: count('started'),
      ended: count('ended'),
      retried: count('retried'),
    }),
  });
  queue.start();
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await nextTurn();
  };
  const pass = async (ms: number) => {
    clock.set(clock.now() + ms);
    await settle();
  };
  return { queue, logged, counts, settle, pass };
}

/** A reconcile that ends when the test says so. */
function controlledQueue() {
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const reconcile: Reconcile = (key) => {
    running.push(key);
    return new Promise((resolve) => ends.push(() => resolve()));
  };
  return { running, end: () => ends.shift()?.(), reconcile };
}

describe('a work queue', () => {
  it('reconciles a key once however often it is added, and again when it is added during the reconcile', async () => {
    const { running, end, reconcile } = controlledQueue();
    const { queue, settle, counts } = makeQueue(reconcile);
    for (let i = 0; i < 3; i++) queue.add('a');
    await settle();
    expect(running).toEqual(['a']);
    for (let i = 0; i < 3; i++) queue.add('a');
    await settle();
    expect(running).toEqual(['a']);
    end();
    await settle();
    expect(running).toEqual(['a', 'a']);
    end();
    await settle();
    expect([running.length, queue.isIdle, counts]).toEqual([2, true, { added: 2, started: 2, ended: 2, retried: 0 }]);
  });

  it('reconciles at most one key per worker concurrently', async () => {
    const { running, end, reconcile } = controlledQueue();
    const { queue, settle } = makeQueue(reconcile, 2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await settle();
    expect(running).toEqual(['a', 'b']);
    end();
    await settle();
    expect(running).toEqual(['a', 'b', 'c']);
  });

  it('gives groups turns, and each as many workers as remain free', async () => {
    const { running, end, reconcile } = controlledQueue();
    const { queue, settle } = makeQueue(reconcile, 4, (key) => key.slice(0, 1));
    for (const key of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']) queue.add(key);
    await settle();
    expect(running).toEqual(['a1', 'a2', 'b1', 'c1']);
    for (let i = 0; i < 8; i++) {
      end();
      await settle();
    }
    expect(running.length).toBe(8);
    expect(running.indexOf('b2')).toBeLessThan(running.indexOf('a4'));
    const alone = controlledQueue();
    const other = makeQueue(alone.reconcile, 4, (key) => key.slice(0, 1));
    for (const key of ['a1', 'a2', 'a3', 'a4']) other.queue.add(key);
    await other.settle();
    expect(alone.running).toEqual(['a1', 'a2']);
    other.queue.add('b1');
    await other.settle();
    expect(alone.running).toEqual(['a1', 'a2', 'b1']);
  });

  it('retries failures with a delay that doubles, and resets the delay after a success', async () => {
    let fails = true;
    const times: number[] = [];
    let now = 0;
    const { queue, pass, settle, logged } = makeQueue(async () => {
      times.push(now);
      if (fails) throw new Error('no');
    });
    queue.add('a');
    await settle();
    for (now = 1; now <= 40; now++) await pass(1);
    expect([times, logged.length, queue.failuresOf('a')]).toEqual([[0, 5, 15, 35], 4, 4]);
    fails = false;
    for (; now <= 80; now++) await pass(1);
    expect([times.at(-1), queue.failuresOf('a')]).toEqual([75, 0]);
  });

  it('does not log conflicts', async () => {
    const { queue, settle, logged, counts } = makeQueue(async () => {
      throw new StatusError(409, 'Conflict', 'changed');
    });
    queue.add('a');
    await settle();
    expect([logged, counts.retried]).toEqual([[], 1]);
  });

  it('uses the earliest of several delays', async () => {
    let runs = 0;
    const { queue, pass, settle } = makeQueue(async () => {
      runs++;
      return runs === 1 ? { requeueAfterMs: 100 } : undefined;
    });
    queue.add('a');
    await settle();
    queue.addAfter('a', 50);
    queue.addAfter('a', 70);
    await pass(49);
    expect(runs).toBe(1);
    await pass(1);
    expect(runs).toBe(2);
    await pass(200);
    expect(runs).toBe(2);
  });

  it('stops once running reconciles have ended, and accepts no more keys', async () => {
    const { running, end, reconcile } = controlledQueue();
    const { queue, settle, pass } = makeQueue(reconcile, 1);
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    await settle();
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    queue.add('d');
    await pass(20);
    expect(stopped).toBe(false);
    end();
    await stopping;
    await settle();
    expect(running).toEqual(['a']);
  });
});
