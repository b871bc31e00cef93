import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { etcdPath } from '../../../test/support/requirements.ts';
import type { Clock, Random } from '../../meta/index.ts';
import { storeContract } from '../testing/contract.ts';
import { startEtcd, type TestEtcd } from '../testing/etcd.ts';
import { openEtcdStore } from './etcd-store.ts';

const program = etcdPath();
const random: Random = { uuid: randomUUID, integer: (below) => Math.floor(Math.random() * below) };
const clock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms).unref();
    return () => clearTimeout(timer);
  },
};

describe.skipIf(program === undefined)('etcd', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '');
  });
  afterAll(() => etcd.stop());

  let cases = 0;
  storeContract('etcd', async () => {
    const store = await openEtcdStore({ servers: etcd.servers, prefix: `/case-${cases++}/`, clock, random });
    return { store, realTime: true, advance: (ms) => wait(ms), cleanup: () => store.close() };
  });
});
