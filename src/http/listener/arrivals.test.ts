import { expect, it } from 'vitest';
import { handLoop, step, stepsInSlice } from '../../meta/testing/hand-loop.ts';
import { Arrivals } from './arrivals.ts';

/** Adds requests by their names, each of which takes a step, and records in which order they begin. */
function start() {
  const loop = handLoop();
  const arrivals = new Arrivals(loop.scheduler);
  const begun: string[] = [];
  const add = (connection: { readonly owner: string }, name: string) =>
    arrivals.add(connection, () => {
      begun.push(name);
      loop.spend(step);
    });
  return { loop, begun, add };
}

const many = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`);

it('requests begin at once for the time of a slice, and all others in later turns', async () => {
  const { loop, begun, add } = start();
  const names = many('a', 4 * stepsInSlice);
  for (const name of names) add({ owner: 'ann' }, name);
  expect(begun).toEqual(names.slice(0, stepsInSlice));
  for (let turn = 2; turn <= 4; turn++) {
    expect(await loop.turn()).toBe(stepsInSlice * step);
    expect(begun).toEqual(names.slice(0, turn * stepsInSlice));
  }
});

it('a request of one user begins before the many of another that have arrived earlier', async () => {
  const { loop, begun, add } = start();
  for (const name of many('a', 100)) add({ owner: 'mallory' }, name);
  await loop.turn();
  const before = begun.length;
  add({ owner: 'ann' }, 'b');
  await loop.turn();
  expect(begun.slice(before, before + 2)).toContain('b');
});

it('a request begins before the many of another connection of its owner that have arrived earlier', async () => {
  const { loop, begun, add } = start();
  const busy = { owner: 'mallory' };
  for (const name of many('a', 100)) add(busy, name);
  await loop.turn();
  const before = begun.length;
  add({ owner: 'mallory' }, 'b');
  await loop.turn();
  expect(begun.slice(before, before + 2)).toContain('b');
});

it('the requests of a connection begin in their order, whoever its owner becomes', async () => {
  const { loop, begun, add } = start();
  loop.spend(0);
  const connection = { owner: '192.0.2.1' };
  for (const name of many('first', stepsInSlice)) add({ owner: 'mallory' }, name);
  add(connection, 'a');
  connection.owner = 'ann';
  add(connection, 'b');
  add(connection, 'c');
  while (!loop.idle) await loop.turn();
  expect(begun.slice(stepsInSlice)).toEqual(['a', 'b', 'c']);
});

it('requests that arrive while others wait for a turn do not overtake them', async () => {
  const { loop, begun, add } = start();
  for (const name of many('a', stepsInSlice + 1)) add({ owner: 'ann' }, name);
  add({ owner: 'ann' }, 'b');
  while (!loop.idle) await loop.turn();
  expect(begun.slice(-2)).toEqual([`a${stepsInSlice}`, 'b']);
});
