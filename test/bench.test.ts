import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { etcdPath } from './support/requirements.ts';

const program = etcdPath();
const root = join(import.meta.dirname, '..');

it('the benchmark reports a figure for each row', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-smoke-'));
  const results = join(folder, 'results.json');
  const flags = [
    '--only=get,roles,create,patch,etcdCreate',
    '--seconds=0.1',
    '--rounds=1',
    '--bindings=200',
    `--results=${results}`,
  ];
  const { stderr } = spawnSync(process.execPath, [join(root, 'bench/run.mjs'), ...flags], {
    encoding: 'utf8',
    timeout: 290_000,
  });
  try {
    // Budgets are not checked here: a measurement this short, during other tests, has no meaning.
    const rows = JSON.parse(readFileSync(results, 'utf8')) as { figure: string; value: number }[];
    expect(
      rows.map(({ figure, value }) => [figure, value > 0]),
      stderr,
    ).toEqual([
      ['GET 2.5 KB', true],
      ['GET by a user with roles among 200 bindings, against an administrator', true],
      ['CREATE 2.5 KB, durable, 64 clients', true],
      ['merge PATCH of one field of 2.5 KB, durable, 64 clients', true],
      ['apply PATCH of one field of 2.5 KB, durable, 64 clients', true],
      ...(program === undefined ? [] : [['CREATE 2.5 KB over etcd, 64 clients, against a bare client of etcd', true]]),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
