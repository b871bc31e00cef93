import { expect, it } from 'vitest';
import { handLoop, step } from '../../meta/testing/hand-loop.ts';
import { mostPerTurn, NextReads } from './next-reads.ts';

function start() {
  const loop = handLoop();
  const reads = new NextReads(loop.scheduler);
  const hold = (user: string) => reads.hold(user, () => void loop.log.push(`read of ${user}`));
  return { ...loop, hold, isIdle: () => loop.idle };
}

it('connections are read at once while no work of their user waits for its turn', async () => {
  const { hold, work, scheduler, turn, isIdle } = start();
  expect(hold('ann')).toBe(false);
  const working = work('list', scheduler.turns('mallory'), 30, step);
  expect([hold('ann'), hold('mallory')]).toEqual([false, true]);
  while (!isIdle()) await turn();
  await working;
  expect(hold('mallory')).toBe(false);
});

it('connections are read behind the work that their user has begun, and before later work', async () => {
  const { hold, work, scheduler, turn, isIdle, log } = start();
  const all = [work('before', scheduler.turns('mallory'), 30, step)];
  expect(hold('mallory')).toBe(true);
  all.push(work('after', scheduler.turns('mallory'), 30, step));
  while (!isIdle()) await turn();
  await Promise.all(all);
  const read = log.indexOf('read of mallory');
  expect([log.lastIndexOf('before') < read, read < log.indexOf('after')]).toEqual([true, true]);
});

it('a turn of the event loop reads a few connections of a user, in the order in which they came', async () => {
  const { work, scheduler, turn, isIdle, log } = start();
  const reads = new NextReads(scheduler);
  void work('list', scheduler.turns('mallory'), 9, step);
  const names = Array.from({ length: 3 * mostPerTurn + 1 }, (_, i) => `read ${i}`);
  for (const name of names) reads.hold('mallory', () => void log.push(name));
  const readSoFar = () => log.filter((name) => name !== 'list');
  while (!isIdle()) {
    const before = readSoFar().length;
    await turn();
    expect(readSoFar().length - before).toBeLessThanOrEqual(mostPerTurn);
  }
  expect(readSoFar()).toEqual(names);
});
