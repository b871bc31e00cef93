import { expect, it } from 'vitest';
import { Lanes } from './lanes.ts';

it('runs a limited number of tasks at a time, and takes owners in turn', async () => {
  const lanes = new Lanes(2);
  const started: string[] = [];
  let running = 0;
  let most = 0;
  const task = (name: string) => async () => {
    started.push(name);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return name;
  };
  const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'];
  const outcomes = await Promise.all(names.map((name) => lanes.run(name[0] as string, task(name))));
  expect(outcomes).toEqual(names);
  expect(most).toBe(2);
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
});

it('goes on after a task that fails', async () => {
  const lanes = new Lanes(1);
  const failing = lanes.run('a', () => Promise.reject(new Error('no')));
  const next = lanes.run('a', async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});
