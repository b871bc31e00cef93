import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWorld } from '../../src/server/harness/simulation/simulate.ts';
import type { OwnWorld } from '../../src/server/harness/simulation/world.ts';
import { plants } from '../torture/plants.ts';
import { soakWorld } from './soak-world.ts';

const root = join(import.meta.dirname, '../..');

it('Everything holds in a run, another run of its seed is the same byte for byte, and that of another seed differs', async () => {
  const [run, again, other] = [
    await runWorld(1, soakWorld()),
    await runWorld(1, soakWorld()),
    await runWorld(2, soakWorld()),
  ];
  expect([...run.failures, ...other.failures]).toEqual([]);
  expect(again.trace).toEqual(run.trace);
  expect(again.digest).toBe(run.digest);
  expect(other.digest).not.toBe(run.digest);
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
