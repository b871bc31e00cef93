import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Arrivals } from './arrivals.ts';
import { LoopTurns } from './loop-turns.ts';

/** Adds requests by their names, and records in which order they begin. */
function start() {
  const arrivals = new Arrivals(new LoopTurns());
  const begun: string[] = [];
  const add = (connection: object, name: string) => arrivals.add(connection, () => void begun.push(name));
  return { begun, add };
}

const many = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`);

it('the first 64 requests of a turn begin at once, all others in later turns', async () => {
  const { begun, add } = start();
  const names = many('a', 100);
  const connection = {};
  for (const name of names) add(connection, name);
  expect(begun).toEqual(names.slice(0, 64));
  await expect.poll(() => begun).toEqual(names);
});

it('the requests that wait begin one of each connection after the other', async () => {
  const { begun, add } = start();
  const [first, second, third] = [{}, {}, {}];
  for (const name of many('a', 66)) add(first, name);
  for (const name of many('b', 3)) add(second, name);
  add(third, 'c0');
  expect(begun).toHaveLength(64);
  await expect.poll(() => begun.slice(64)).toEqual(['a64', 'b0', 'c0', 'a65', 'b1', 'b2']);
});

it('each turn of the event loop begins some at once', async () => {
  const { begun, add } = start();
  for (const name of many('a', 64)) add({}, name);
  await turn();
  await turn();
  for (const name of many('b', 65)) add({}, name);
  expect(begun).toEqual([...many('a', 64), ...many('b', 64)]);
});
