import { describe, expect, it } from 'vitest';
import { inTurns, Scheduler, serverTurns, sliceMs, type Turns } from './scheduler.ts';
import { atOnce, type WaitingSteps } from './steps.ts';

/** An event loop by hand: time passes only while work runs, and a turn begins only when it is told to. */
function handLoop() {
  let now = 0;
  let deferred: (() => void)[] = [];
  const scheduler = new Scheduler({ now: () => now, defer: (callback) => void deferred.push(callback) });
  const log: string[] = [];
  return {
    scheduler,
    log,
    spend: (ms: number) => {
      now += ms;
    },
    /** One turn of the event loop; returns how long the work of it took (ms). */
    async turn(): Promise<number> {
      const due = deferred;
      deferred = [];
      const began = now;
      for (const callback of due) callback();
      // Lets everything run that waits for promises only.
      for (let i = 0; i < 200; i++) await Promise.resolve();
      return now - began;
    },
    /** Work of `steps` steps, which starts in this turn. */
    work(name: string, turns: Turns, steps: number, ms: number): Promise<void> {
      const run = function* () {
        for (let i = 0; i < steps; i++) {
          now += ms;
          log.push(name);
          yield undefined;
        }
      };
      return inTurns(run(), turns);
    },
    get idle(): boolean {
      return deferred.length === 0;
    },
  };
}

describe('the scheduler', () => {
  it('lets work start at once when no other work waits', async () => {
    const loop = handLoop();
    void loop.work('a', loop.scheduler.turns('ann'), 3, 1);
    expect(loop.log).toEqual(['a', 'a', 'a']);
  });

  it('runs work for one slice in each turn of the event loop, however many pieces there are', async () => {
    const loop = handLoop();
    const all = Array.from({ length: 200 }, (_, i) => loop.work(`${i}`, loop.scheduler.turns(`user${i % 7}`), 9, 2));
    let turns = 0;
    while (!loop.idle) {
      expect(await loop.turn()).toBeLessThanOrEqual(sliceMs);
      turns++;
    }
    await Promise.all(all);
    expect(loop.log).toHaveLength(1_800);
    // 3,600 ms of work in slices of 10 ms: no turn is wasted either.
    expect(turns).toBeLessThanOrEqual(362);
  });

  it('gives as much time to a user with one piece of work as to a user with a hundred', async () => {
    const loop = handLoop();
    for (let i = 0; i < 100; i++) void loop.work('many', loop.scheduler.turns('mallory'), 100, 1);
    void loop.work('one', loop.scheduler.turns('ann'), 50, 1);
    while (loop.log.filter((name) => name === 'one').length < 50) await loop.turn();
    // A slice each before both wait, and then one slice for each in turn.
    expect(loop.log.filter((name) => name === 'many').length).toBeLessThanOrEqual(50 + 3 * sliceMs);
  });

  it('gives as much time to many short pieces as to few long ones', async () => {
    const loop = handLoop();
    loop.spend(0);
    void loop.work('long', loop.scheduler.turns('mallory'), 1_000, 1);
    for (let i = 0; i < 100; i++) void loop.work('short', loop.scheduler.turns('ann'), 1, 1);
    for (let turn = 0; turn < 20; turn++) await loop.turn();
    const shorts = loop.log.filter((name) => name === 'short').length;
    expect(shorts).toBeGreaterThanOrEqual(90);
  });

  it('finishes the oldest work of a user first', async () => {
    const loop = handLoop();
    for (const name of ['first', 'second', 'third']) void loop.work(name, loop.scheduler.turns('ann'), 30, 1);
    while (!loop.idle) await loop.turn();
    expect([...new Set(loop.log)]).toEqual(['first', 'second', 'third']);
    expect(loop.log.lastIndexOf('first')).toBeLessThan(loop.log.indexOf('second'));
    expect(loop.log.lastIndexOf('second')).toBeLessThan(loop.log.indexOf('third'));
  });

  it('lets new work wait behind what waits already', async () => {
    const loop = handLoop();
    void loop.work('old', loop.scheduler.turns('ann'), 25, 1);
    await loop.turn();
    void loop.work('new', loop.scheduler.turns('bob'), 1, 1);
    expect(loop.log).not.toContain('new');
    while (!loop.idle) await loop.turn();
    expect(loop.log).toContain('new');
  });

  it('does not make up for the time in which a user asked for nothing', async () => {
    const loop = handLoop();
    void loop.work('busy', loop.scheduler.turns('mallory'), 500, 1);
    for (let turn = 0; turn < 20; turn++) await loop.turn();
    const before = loop.log.length;
    void loop.work('late', loop.scheduler.turns('ann'), 200, 1);
    for (let turn = 0; turn < 10; turn++) await loop.turn();
    const since = loop.log.slice(before);
    // Half of the time each, give or take a slice.
    expect(Math.abs(since.filter((name) => name === 'busy').length - since.length / 2)).toBeLessThanOrEqual(sliceMs);
  });

  it('holds nothing once all work is done', async () => {
    const loop = handLoop();
    for (let i = 0; i < 20; i++) void loop.work('a', loop.scheduler.turns(`user${i}`), 3, 4);
    while (!loop.idle) await loop.turn();
    expect(loop.scheduler.waiting).toBe(0);
  });

  it('goes on when work fails', async () => {
    const loop = handLoop();
    const fails = async () => {
      const turns = loop.scheduler.turns('mallory');
      await turns.next();
      throw new Error('failed');
    };
    const failing = fails().catch((error: Error) => error.message);
    const after = loop.work('after', loop.scheduler.turns('ann'), 1, 1);
    while (!loop.idle) await loop.turn();
    expect(await failing).toBe('failed');
    await after;
    expect(loop.log).toEqual(['after']);
  });
});

describe('a computation in steps that waits', () => {
  function* steps(until: Promise<void>, log: string[]): WaitingSteps<string> {
    log.push('before');
    yield until;
    log.push('after');
    return 'done';
  }

  it('continues once the promise that a step yields has resolved', async () => {
    const log: string[] = [];
    let resolve = () => {};
    const until = new Promise<void>((done) => {
      resolve = done;
    });
    const result = inTurns(steps(until, log), serverTurns());
    await new Promise(setImmediate);
    expect(log).toEqual(['before']);
    resolve();
    expect([await result, log]).toEqual(['done', ['before', 'after']]);
  });

  it('fails with the error of that promise', async () => {
    const log: string[] = [];
    await expect(inTurns(steps(Promise.reject(new Error('no answer')), log), serverTurns())).rejects.toThrow(
      'no answer',
    );
    expect(log).toEqual(['before']);
  });

  it('cannot run at once', () => {
    expect(() => atOnce(steps(Promise.resolve(), []))).toThrow('a computation that waits cannot run at once');
  });
});
