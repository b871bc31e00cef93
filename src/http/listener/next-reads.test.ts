import { expect, it } from 'vitest';
import { handLoop, step } from '../../meta/testing/hand-loop.ts';
import { mostPerTurn, NextReads } from './next-reads.ts';

function start() {
  const loop = handLoop();
  const reads = new NextReads(loop.scheduler);
  return {
    loop,
    list: (user: string, name: string, steps: number) => loop.work(name, loop.scheduler.turns(user), steps, step),
    hold: (user: string, name: string) => reads.hold(user, () => void loop.log.push(name)),
  };
}

it('connections are read at once while no work of their user waits for its turn', async () => {
  const { loop, list, hold } = start();
  expect(hold('ann', 'read')).toBe(false);
  const listing = list('mallory', 'list', 30);
  expect([hold('ann', 'read'), hold('mallory', 'read')]).toEqual([false, true]);
  while (!loop.idle) await loop.turn();
  await listing;
  expect(hold('mallory', 'read')).toBe(false);
});

it('connections are read behind the work that their user has begun, and before later work', async () => {
  const { loop, list, hold } = start();
  const before = list('mallory', 'before', 30);
  expect(hold('mallory', 'read')).toBe(true);
  const after = list('mallory', 'after', 30);
  while (!loop.idle) await loop.turn();
  await Promise.all([before, after]);
  const read = loop.log.indexOf('read');
  expect([loop.log.lastIndexOf('before') < read, read < loop.log.indexOf('after')]).toEqual([true, true]);
});

it('a turn of the event loop reads a few connections of a user, in the order in which they came', async () => {
  const { loop, list, hold } = start();
  const listing = list('mallory', 'list', 9);
  const names = Array.from({ length: 3 * mostPerTurn + 1 }, (_, i) => `read ${i}`);
  for (const name of names) hold('mallory', name);
  const readSoFar = () => loop.log.filter((name) => name !== 'list');
  while (!loop.idle) {
    const before = readSoFar().length;
    await loop.turn();
    expect(readSoFar().length - before).toBeLessThanOrEqual(mostPerTurn);
  }
  await listing;
  expect(readSoFar()).toEqual(names);
});
