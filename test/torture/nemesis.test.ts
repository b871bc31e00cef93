import { expect, it } from 'vitest';
import type { Lane } from './cluster.ts';
import { Nemesis, scheduleOf } from './nemesis.ts';
import { randomOf } from './random.ts';

const cure = () => {};
const lane: Lane = { faults: { kill: () => cure, pause: () => cure, cut: () => cure }, rest: 500, length: 2_000 };

it('makes the same schedule of a seed, and another one of another', () => {
  const of = (seed: number) => scheduleOf(lane, randomOf(seed, 0), 20_000);
  expect(of(1)).toEqual(of(1));
  expect(of(1)).not.toEqual(of(2));
});

it('begins early with the leader, uses every fault, and has cured all in time, one after the other', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const steps = scheduleOf(lane, randomOf(seed, 0), 20_000);
    expect(steps[0]?.at).toBeLessThan(300);
    expect((steps[0]?.choice ?? 1) % 2).toBe(0);
    expect(new Set(steps.map(({ fault }) => fault))).toEqual(new Set(['kill', 'pause', 'cut']));
    const times = steps.flatMap(({ at, length }) => [at, at + length]);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.at(-1)).toBeLessThanOrEqual(20_000);
  }
});

it('cures every fault before it ends', async () => {
  let ill = 0;
  const fault = () => {
    ill++;
    return () => void ill--;
  };
  const nemesis = new Nemesis(1, [{ faults: { fault }, rest: 10, length: 20 }], 100);
  await nemesis.run();
  expect(nemesis.deeds.length).toBeGreaterThan(0);
  expect(ill).toBe(0);
});
