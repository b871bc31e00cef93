import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** Runs a Node program in the root of the project. */
const node = (args: readonly string[], environment: { readonly [name: string]: string } = {}) =>
  spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...environment } });

/** Bundles the worlds with a defect of the sources. Returns the folder, which the caller removes. */
function bundle(defect: string): string {
  const args = ['node_modules/rolldown/bin/cli.mjs', '--config', 'test/simulation/rolldown.config.mjs'];
  expect(node([...args, '--logLevel', 'warn'], { DEFECT: defect }).status).toBe(0);
  return join(root, `dist/simulation-${defect}`);
}

it('A defect of the sources is found by its seed', { timeout: 120_000 }, () => {
  const name = 'collector-keeps-the-finalizer-of-orphans';
  const { seed, world = 'store' } = defects[name] as Defect;
  const folder = bundle(name);
  const run = node([`${folder}/main.js`, '--find', `--first=${seed}`, '--seeds=1', `--world=${world}`]);
  rmSync(folder, { recursive: true });
  expect(run.stdout).toMatch(new RegExp(`^${seed} `));
  expect(run.status).toBe(1);
});

it('A failing seed ends the command with 1, and the program that it prints fails again', { timeout: 240_000 }, () => {
  const name = 'cache-reads-are-one-behind';
  const { seed } = defects[name] as Defect;
  const folder = bundle(name);
  const run = node([`${folder}/main.js`, `--first=${seed}`, '--seeds=1', '--world=store']);
  expect(run.status, run.stderr).toBe(1);
  const [, rule = '', program = ''] =
    /after \d+ ms: ([^:]+): .*?To repeat it:\s+(await simulate\(.*?^\}\);$)/ms.exec(run.stdout) ?? [];
  expect(program).toContain('operations:');
  // Pasted into a program of its own.
  const imports = `import { simulate } from './testing.js';\nimport { worldOf } from './worlds.js';\n`;
  writeFileSync(join(folder, 'pasted.mjs'), `${imports}const world = worldOf(${seed}, 'store');\n${program}\n`);
  const again = node([join(folder, 'pasted.mjs')]);
  rmSync(folder, { recursive: true });
  expect(again.status).toBe(1);
  expect(again.stderr).toContain(`SimulationError: seed ${seed}, after`);
  expect(again.stderr).toContain(`: ${rule}: `);
});

it('Every defect of defects.json is in one place of the sources', () => {
  const misplaced = Object.entries(defects).filter(
    ([, { file, correct }]) => readFileSync(join(root, file), 'utf8').split(correct).length !== 2,
  );
  expect(misplaced.map(([name]) => name)).toEqual([]);
  expect(Object.keys(defects).length).toBeGreaterThanOrEqual(12);
});
