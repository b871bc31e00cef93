import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWorld } from '../../src/server/harness/simulation/simulate.ts';
import type { OwnWorld, SimulationRun } from '../../src/server/harness/simulation/world.ts';
import { plants } from '../torture/plants.ts';
import { soakWorld } from './soak-world.ts';
import { worldOf } from './worlds.ts';

const root = join(import.meta.dirname, '../..');

it('Everything holds in both worlds, and a seed gives the same run byte for byte, whatever ran before it', async () => {
  const seeds = [1, 2, 3, 4];
  const runs = new Map<number, SimulationRun>();
  for (const seed of seeds) runs.set(seed, await runWorld(seed, worldOf(seed)));
  expect([...runs.values()].flatMap(({ failures }) => failures)).toEqual([]);
  for (const seed of seeds.reverse()) {
    const again = await runWorld(seed, worldOf(seed));
    expect(again.trace).toEqual(runs.get(seed)?.trace);
    expect(again.digest).toBe(runs.get(seed)?.digest);
  }
  expect(new Set([...runs.values()].map(({ digest }) => digest)).size).toBe(seeds.length);
});

it.each(['lost-update', 'missing-event'])('A store with the defect %s is found', async (name) => {
  const plant = plants[name];
  const defect: OwnWorld['defect'] = (store, random) =>
    plant?.(store, {
      integer: (below) => random.integer(below),
      pick: (items) => random.pick(items),
      chance: (of) => random.integer(of) === 0,
      shuffled: (items) => [...items],
    }) ?? store;
  const rules = new Set<string>();
  for (let seed = 1; seed <= 20 && rules.size === 0; seed++) {
    const { failures } = await runWorld(seed, soakWorld({ defect }));
    for (const { rule } of failures) rules.add(rule);
  }
  expect([...rules]).not.toEqual([]);
});

it('Every defect of defects.json is in one place of the sources', () => {
  const defects = JSON.parse(readFileSync(join(root, 'test/simulation/defects.json'), 'utf8')) as {
    readonly [name: string]: { readonly file: string; readonly correct: string };
  };
  const misplaced = Object.entries(defects).filter(
    ([, { file, correct }]) => readFileSync(join(root, file), 'utf8').split(correct).length !== 2,
  );
  expect(misplaced.map(([name]) => name)).toEqual([]);
  expect(Object.keys(defects).length).toBeGreaterThanOrEqual(12);
});
