import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWorld } from '../../src/server/harness/simulation/simulate.ts';
import type { OwnWorld, SimulationRun } from '../../src/server/harness/simulation/world.ts';
import { plants } from '../torture/plants.ts';
import { soakWorld } from './soak-world.ts';
import { worldOf } from './worlds.ts';

const root = join(import.meta.dirname, '../..');

it('Everything holds in both worlds, and a seed gives the same run byte for byte, whatever ran before it', async () => {
  const seeds = [1, 2];
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

interface Defect {
  readonly file: string;
  readonly correct: string;
  readonly world?: string;
  /** A seed that finds it. */
  readonly seed: number;
}

const defects = JSON.parse(readFileSync(join(root, 'test/simulation/defects.json'), 'utf8')) as {
  readonly [name: string]: Defect;
};

it.each(['cache-reads-are-one-behind', 'collector-keeps-the-finalizer-of-orphans'])(
  'The defect %s of the sources is found by its seed',
  { timeout: 120_000 },
  (name) => {
    const { seed, world = 'store' } = defects[name] as Defect;
    const node = (args: readonly string[]) =>
      spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: { ...process.env, DEFECT: name } });
    const config = 'test/simulation/rolldown.config.mjs';
    expect(node(['node_modules/rolldown/bin/cli.mjs', '--config', config, '--logLevel', 'warn']).status).toBe(0);
    const folder = `dist/simulation-${name}`;
    const run = node([`${folder}/main.js`, '--find', `--first=${seed}`, '--seeds=1', `--world=${world}`]);
    rmSync(join(root, folder), { recursive: true });
    expect(run.stdout).toMatch(new RegExp(`^${seed} `));
    expect(run.status).toBe(1);
  },
);

it('Every defect of defects.json is in one place of the sources', () => {
  const misplaced = Object.entries(defects).filter(
    ([, { file, correct }]) => readFileSync(join(root, file), 'utf8').split(correct).length !== 2,
  );
  expect(misplaced.map(([name]) => name)).toEqual([]);
  expect(Object.keys(defects).length).toBeGreaterThanOrEqual(12);
});
