import { expect, it } from 'vitest';
import { Lanes } from './lanes.ts';

it('runs at most so many tasks at a time, and one of each key', async () => {
  const lanes = new Lanes(2);
  const running: string[] = [];
  const seen: string[][] = [];
  const task = (name: string) => async () => {
    running.push(name);
    seen.push([...running]);
    await new Promise(setImmediate);
    running.splice(running.indexOf(name), 1);
    if (name === 'a2') throw new Error('failed');
  };
  const tasks = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => lanes.run(name.slice(0, 1), task(name)));
  const ends = await Promise.allSettled(tasks);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(seen.map((names) => names.at(-1))).toEqual(['a1', 'b1', 'a2', 'c1', 'a3']);
  expect(Math.max(...seen.map(({ length }) => length))).toBe(2);
  expect(seen.every((names) => new Set(names.map((name) => name.slice(0, 1))).size === names.length)).toBe(true);
});
