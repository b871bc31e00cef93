import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { etcdPath } from '../../../test/support/requirements.ts';
import { storeContract } from '../testing/contract.ts';
import { startEtcd, type TestEtcd } from '../testing/etcd.ts';
import { realClock, realRandom } from '../testing/real-time.ts';
import { openEtcdStore } from './etcd-store.ts';

const program = etcdPath();

describe.skipIf(program === undefined)('etcd', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '');
  });
  afterAll(() => etcd.stop());

  let cases = 0;
  storeContract('etcd', async () => {
    const store = await openEtcdStore({
      servers: etcd.servers,
      prefix: `/case-${cases++}/`,
      clock: realClock(),
      random: realRandom,
    });
    return { store, realTime: true, advance: (ms) => wait(ms), cleanup: () => store.close() };
  });
});
