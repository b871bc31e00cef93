import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTurns, loneSliceMs, loneTurns, maxAhead, serverTurns, sliceMs, type Turns } from './scheduler.ts';
import { atOnce, type WaitingSteps } from './steps.ts';
import { handLoop, step, stepsInSlice } from './testing/hand-loop.ts';

describe('the scheduler', () => {
  it('lets work start at once when no other work waits', async () => {
    const loop = handLoop();
    void loop.work('a', loop.scheduler.turns('ann'), 3, step);
    expect(loop.log).toEqual(['a', 'a', 'a']);
  });

  it('runs work for one slice in each turn of the event loop, however many pieces there are', async () => {
    const loop = handLoop();
    const all = Array.from({ length: 200 }, (_, i) =>
      loop.work(`${i}`, loop.scheduler.turns(`user${i % 7}`), 9, 2 * step),
    );
    let turns = 0;
    while (!loop.idle) {
      expect(await loop.turn()).toBeLessThanOrEqual(sliceMs);
      turns++;
    }
    await Promise.all(all);
    expect(loop.log).toHaveLength(1_800);
    // No turn is wasted either.
    expect(turns).toBeLessThanOrEqual((2 * 1_800) / stepsInSlice + 2);
  });

  it('gives as much time to a user with one piece of work as to a user with a hundred', async () => {
    const loop = handLoop();
    for (let i = 0; i < 100; i++) void loop.work('many', loop.scheduler.turns('mallory'), 100, step);
    void loop.work('one', loop.scheduler.turns('ann'), 50, step);
    while (loop.log.filter((name) => name === 'one').length < 50) await loop.turn();
    // A slice each before both wait, and then one slice for each in turn.
    expect(loop.log.filter((name) => name === 'many').length).toBeLessThanOrEqual(50 + 3 * stepsInSlice);
  });

  it('gives as much time to many short pieces as to few long ones', async () => {
    const loop = handLoop();
    loop.spend(0);
    void loop.work('long', loop.scheduler.turns('mallory'), 1_000, step);
    for (let i = 0; i < 100; i++) void loop.work('short', loop.scheduler.turns('ann'), 1, step);
    for (let turn = 0; turn < 24; turn++) await loop.turn();
    const shorts = loop.log.filter((name) => name === 'short').length;
    expect(shorts).toBeGreaterThanOrEqual(90);
  });

  it('finishes the oldest work of a user first', async () => {
    const loop = handLoop();
    for (const name of ['first', 'second', 'third']) void loop.work(name, loop.scheduler.turns('ann'), 30, step);
    while (!loop.idle) await loop.turn();
    expect([...new Set(loop.log)]).toEqual(['first', 'second', 'third']);
    expect(loop.log.lastIndexOf('first')).toBeLessThan(loop.log.indexOf('second'));
    expect(loop.log.lastIndexOf('second')).toBeLessThan(loop.log.indexOf('third'));
  });

  it('lets work of a user go behind all other work of the user, also what begins later', async () => {
    const loop = handLoop();
    const [first, second, third] = [1, 2, 3].map(() => loop.scheduler.turns('ann')) as [Turns, Turns, Turns];
    third.goBehind?.();
    first.goBehind?.();
    const fourth = loop.scheduler.turns('ann');
    const order: string[] = [];
    const waits = async (name: string, turns: Turns) => {
      await turns.next();
      order.push(name);
    };
    void waits('fourth', fourth);
    void waits('first', first);
    void waits('third', third);
    void waits('second', second);
    while (!loop.idle) await loop.turn();
    expect(order).toEqual(['second', 'fourth', 'third', 'first']);
  });

  it('gives work that has gone behind a turn after four turns of other work of the user', async () => {
    const loop = handLoop();
    const { scheduler } = loop;
    const log: string[] = [];
    const goOn = async (name: string, turns: Turns, count: number) => {
      for (let i = 0; i < count; i++) {
        await turns.next();
        log.push(name);
      }
    };
    const [busy, behind] = [scheduler.turns('ann'), scheduler.turns('ann')];
    behind.goBehind?.();
    const all = [goOn('busy', busy, 6 * maxAhead), goOn('busy', busy, 6 * maxAhead), goOn('behind', behind, 5)];
    while (log.length < 12 * maxAhead + 5) await loop.turn();
    await Promise.all(all);
    const places = log.flatMap((name, i) => (name === 'behind' ? [i] : []));
    expect(places).toEqual([1, 2, 3, 4, 5].map((nth) => nth * (maxAhead + 1) - 1));
  });

  it('lets new work wait behind what waits already', async () => {
    const loop = handLoop();
    void loop.work('old', loop.scheduler.turns('ann'), 25, step);
    await loop.turn();
    void loop.work('new', loop.scheduler.turns('bob'), 1, step);
    expect(loop.log).not.toContain('new');
    while (!loop.idle) await loop.turn();
    expect(loop.log).toContain('new');
  });

  it('does not make up for the time in which a user asked for nothing', async () => {
    const loop = handLoop();
    void loop.work('busy', loop.scheduler.turns('mallory'), 500, step);
    for (let turn = 0; turn < 20; turn++) await loop.turn();
    const before = loop.log.length;
    void loop.work('late', loop.scheduler.turns('ann'), 200, step);
    for (let turn = 0; turn < 10; turn++) await loop.turn();
    const since = loop.log.slice(before);
    // Half of the time each, give or take a slice.
    expect(Math.abs(since.filter((name) => name === 'busy').length - since.length / 2)).toBeLessThanOrEqual(
      stepsInSlice,
    );
  });

  it('runs long work of a lone user for longer, until another one comes', async () => {
    const loop = handLoop();
    const { scheduler } = loop;
    const all = loop.work('mallory', scheduler.turns('mallory'), 2_000, 0.25);
    const times: number[] = [];
    for (let i = 0; i <= loneTurns; i++) times.push(await loop.turn());
    expect([times[10], times[loneTurns]]).toEqual([sliceMs, loneSliceMs]);
    void loop.work('ann', scheduler.turns('ann'), 1, 0.25);
    await loop.turn();
    expect(await loop.turn()).toBe(sliceMs);
    while (!loop.idle) await loop.turn();
    await all;
  });

  it('knows whose work waits, but for a user who has been alone for long', async () => {
    const loop = handLoop();
    const { scheduler } = loop;
    const holdBack = () => ['mallory', 'ann'].filter((owner) => scheduler.holdsBack(owner));
    expect(holdBack()).toEqual([]);
    const all = loop.work('mallory', scheduler.turns('mallory'), 20 * loneTurns, step);
    expect(holdBack()).toEqual(['mallory']);
    for (let i = 0; i <= loneTurns; i++) await loop.turn();
    expect(holdBack()).toEqual([]);
    scheduler.turns('ann');
    expect(holdBack()).toEqual(['mallory']);
    while (!loop.idle) await loop.turn();
    await all;
    expect(holdBack()).toEqual([]);
  });

  it('counts all that a turn starts, behind however many promises and ticks it is', async () => {
    const loop = handLoop();
    const works = Array.from({ length: 40 }, async () => {
      await loop.scheduler.turns('mallory').next();
      for (let i = 0; i < 10; i++) await Promise.resolve();
      loop.spend(2 * step);
      await new Promise<void>((resolve) => process.nextTick(resolve));
      loop.spend(2 * step);
    });
    for (let turn = 0; turn < 20; turn++) expect(await loop.turn()).toBe(sliceMs);
    await Promise.all(works);
    expect(loop.scheduler.waiting).toBe(0);
  });

  it('serves owners that have used as much as each other in the order in which they began to wait', async () => {
    const loop = handLoop();
    for (let i = 0; i < 100; i++) void loop.work(`user${i}`, loop.scheduler.turns(`user${i}`), 1, step);
    while (!loop.idle) await loop.turn();
    expect(loop.log).toEqual(Array.from({ length: 100 }, (_, i) => `user${i}`));
  });

  it('gives all users with work the same time, give or take a slice, so that nobody starves', async () => {
    const user = fc.record({
      pieces: fc.integer({ min: 1, max: 20 }),
      steps: fc.integer({ min: 1, max: 40 }),
      ms: fc.integer({ min: 1, max: 2 * stepsInSlice }).map((length) => length * step),
      /** The turn of the event loop in which the work arrives. */
      arrives: fc.integer({ min: 0, max: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(user, { minLength: 2, maxLength: 6 }), async (users) => {
        const loop = handLoop();
        const longest = Math.max(...users.map(({ ms }) => ms));
        const left = users.map(({ pieces, steps }) => pieces * steps);
        const used = users.map(() => 0);
        // Which users have had work ever since a turn, and what they had used then.
        let common = { busy: '', before: [...used] };
        for (let turn = 0; turn <= 20 || !loop.idle; turn++) {
          for (const [i, { pieces, steps, ms, arrives }] of users.entries()) {
            if (arrives !== turn) continue;
            for (let n = 0; n < pieces; n++) void loop.work(`${i}`, loop.scheduler.turns(`user${i}`), steps, ms);
          }
          await loop.turn();
          for (const name of loop.log.splice(0)) {
            const i = Number(name);
            used[i] = (used[i] as number) + (users[i]?.ms ?? 0);
            left[i] = (left[i] as number) - 1;
          }
          const busy = users.flatMap(({ arrives }, i) => (arrives < turn && (left[i] as number) > 0 ? [i] : []));
          if (busy.join() !== common.busy) common = { busy: busy.join(), before: [...used] };
          const since = busy.map((i) => (used[i] as number) - (common.before[i] as number));
          const difference = Math.max(0, ...since) - Math.min(...since, Number.POSITIVE_INFINITY);
          if (busy.length > 1) expect(difference).toBeLessThanOrEqual(2 * (sliceMs + longest));
        }
        expect(left).toEqual(users.map(() => 0));
      }),
      { numRuns: 30 },
    );
  });

  it('holds nothing once all work is done', async () => {
    const loop = handLoop();
    for (let i = 0; i < 20; i++) void loop.work('a', loop.scheduler.turns(`user${i}`), 3, 4 * step);
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
    const after = loop.work('after', loop.scheduler.turns('ann'), 1, step);
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
    const until = Promise.reject(new Error('no answer'));
    // The first step may wait for its turn before it is rejected.
    until.catch(() => {});
    await expect(inTurns(steps(until, log), serverTurns())).rejects.toThrow('no answer');
    expect(log).toEqual(['before']);
  });

  it('cannot run at once', () => {
    expect(() => atOnce(steps(Promise.resolve(), []))).toThrow('a computation that waits cannot run at once');
  });
});
