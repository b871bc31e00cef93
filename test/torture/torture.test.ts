import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { etcdPath } from '../support/requirements.ts';
import { startEtcdCluster } from './etcd-cluster.ts';
import { startLmdbCluster } from './lmdb-cluster.ts';
import { runTrial } from './trial.ts';

// A short run of `npm run torture`: three members of etcd and three replicas, some of them killed, paused or cut off.
const seed = 1;
const time = 3_000;

const program = etcdPath();
const folder = mkdtempSync(join(tmpdir(), 'orch-torture-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('clients of a server over the embedded store see one consistent history, and damage of its files is found', async () => {
  const own = join(folder, 'lmdb');
  mkdirSync(own);
  const { violations, history, deeds } = await runTrial(await startLmdbCluster(own, seed), seed, 2 * time);
  expect(violations).toEqual([]);
  expect(history.operations.filter(({ outcome }) => outcome.type === 'object').length).toBeGreaterThan(5);
  expect(deeds.length).toBeGreaterThan(1);
}, 120_000);

it.skipIf(program === undefined)(
  'clients of three replicas see one consistent history',
  async () => {
    const cluster = await startEtcdCluster(folder, program as string);
    const { violations, history, deeds } = await runTrial(cluster, seed, time);
    expect(violations).toEqual([]);
    // There was something to be wrong.
    const done = history.operations.filter(({ outcome }) => outcome.type === 'object');
    expect(done.length).toBeGreaterThan(5);
    expect(history.watches.flatMap(({ events }) => events).length).toBeGreaterThan(5);
    expect(deeds.length).toBeGreaterThan(1);
  },
  120_000,
);
