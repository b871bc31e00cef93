import { expect, it } from 'vitest';
import { loneTurns } from '../../meta/scheduler.ts';
import { handLoop, step } from '../../meta/testing/hand-loop.ts';
import { Arrivals, maxOfUser } from './arrivals.ts';
import { LoopTurns } from './loop-turns.ts';

/** Requests and reads are recorded by their names, in the order in which they begin. */
function start() {
  const loop = handLoop();
  const { scheduler } = loop;
  const arrivals = new Arrivals(scheduler, new LoopTurns());
  const record = (name: string) => () => {
    scheduler.turns(name.split(' ')[0] as string);
    loop.log.push(name);
  };
  const untilIdle = async (inTurn: () => void = () => {}) => {
    while (!loop.idle) {
      await loop.turn();
      inTurn();
    }
  };
  return {
    log: loop.log,
    turn: () => loop.turn(),
    untilIdle,
    work: (user: string, name: string, steps: number) => loop.work(name, scheduler.turns(user), steps, step),
    /** The same for a response that is ready. */
    send: (user: string, name: string, steps: number) => {
      const turns = scheduler.turns(user);
      turns.goBehind?.();
      return loop.work(name, turns, steps, step);
    },
    begin: (user: string, ...names: string[]) => {
      for (const name of names) arrivals.begin(user, record(name));
    },
    holdBack: (user: string, name: string) => arrivals.holdBack(user, record(name)),
  };
}

const many = (user: string, count: number) => Array.from({ length: count }, (_, i) => `${user} ${i}`);

it('a few requests of each user begin at once in each turn of the event loop', async () => {
  const { log, begin, turn } = start();
  const expected: string[] = [];
  for (const round of ['first', 'second']) {
    for (const user of ['ann', 'bob', 'carol']) {
      const names = many(`${user} ${round}`, maxOfUser);
      begin(user, ...names);
      expected.push(...names);
    }
    expect(log).toEqual(expected);
    await turn();
  }
});

it('the other requests of a burst begin in later turns, a few in each and in their order', async () => {
  const { log, begin, untilIdle } = start();
  const names = many('mallory', 10 * maxOfUser + 1);
  begin('mallory', ...names);
  expect(log).toHaveLength(maxOfUser);
  let before = log.length;
  await untilIdle(() => {
    expect(log.length - before).toBeLessThanOrEqual(maxOfUser);
    before = log.length;
  });
  expect(log).toEqual(names);
});

it('a request does not wait for the burst of another user', async () => {
  const { log, begin, turn, untilIdle } = start();
  begin('mallory', ...many('mallory', 200));
  for (let i = 0; i < 5; i++) await turn();
  begin('ann', 'ann');
  expect(log.at(-1)).toBe('ann');
  await untilIdle();
});

it('requests wait for a turn of their user when many users begin some in the same turn', async () => {
  const { log, begin, turn } = start();
  for (let i = 0; i < 100; i++) begin(`user${i}`, `user${i}`);
  const atOnce = log.length;
  expect(atOnce).toBeLessThan(30);
  await turn();
  expect(log.length).toBeGreaterThan(atOnce);
});

it('requests of a user begin behind those that arrived before them, also in a turn with room', async () => {
  const { log, begin, turn, untilIdle } = start();
  const names = many('mallory', 50);
  begin('mallory', ...names.slice(0, 40));
  await turn();
  begin('mallory', ...names.slice(40));
  await untilIdle();
  expect(log).toEqual(names);
});

it('many requests of a user who has been alone begin at once', async () => {
  const { log, begin, work, turn, untilIdle } = start();
  const working = work('mallory', 'work', 20 * loneTurns);
  for (let i = 0; i <= loneTurns; i++) await turn();
  const before = log.length;
  begin('mallory', ...many('mallory', 40));
  expect(log.slice(before)).toEqual(many('mallory', 40));
  await turn();
  begin('ann', 'ann');
  begin('mallory', 'mallory last');
  expect(log.at(-1)).toBe('ann');
  await untilIdle();
  await working;
});

it('connections are read at once while no work of their user waits for its turn', async () => {
  const { work, holdBack, untilIdle } = start();
  expect(holdBack('ann', 'read')).toBe(false);
  const listing = work('mallory', 'list', 30);
  expect([holdBack('ann', 'read'), holdBack('mallory', 'read')]).toEqual([false, true]);
  await untilIdle();
  await listing;
  expect(holdBack('mallory', 'read')).toBe(false);
});

it('connections are read behind the requests that their user has begun, and before later responses are sent', async () => {
  const { log, work, send, holdBack, untilIdle } = start();
  const working = [work('mallory', 'work', 30), send('mallory', 'before', 30)];
  expect(holdBack('mallory', 'mallory read')).toBe(true);
  working.push(send('mallory', 'after', 30));
  await untilIdle();
  await Promise.all(working);
  const read = log.indexOf('mallory read');
  const first = ['work', 'before'].every((name) => log.lastIndexOf(name) < read);
  expect([first, read < log.indexOf('after')]).toEqual([true, true]);
});

it('a connection waits to be read after a few requests of its user in the same turn', async () => {
  const { log, begin, holdBack, turn, untilIdle } = start();
  begin('mallory', ...many('mallory', maxOfUser));
  expect([holdBack('ann', 'ann'), holdBack('mallory', 'mallory read')]).toEqual([false, true]);
  await untilIdle();
  expect(log.at(-1)).toBe('mallory read');
  await turn();
  expect(holdBack('mallory', 'mallory read')).toBe(false);
});
