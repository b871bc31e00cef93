import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { etcdPath } from '../../test/support/requirements.ts';
import { openEtcdStore } from '../store/index.ts';
import { storeContract } from '../store/testing/contract.ts';
import { startEtcd, type TestEtcd } from '../store/testing/etcd.ts';
import { realClock, realRandom } from '../store/testing/real-time.ts';
import { bytes } from '../store/testing/tools.ts';
import { encryptedOver } from './testing/encrypted-over.ts';

const program = etcdPath();

describe.skipIf(program === undefined)('an encrypted store over etcd', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '');
  });
  afterAll(() => etcd.stop());

  let cases = 0;
  const openInner = () =>
    openEtcdStore({ servers: etcd.servers, prefix: `/case-${cases++}/`, clock: realClock(), random: realRandom });
  const open = async () => {
    const store = encryptedOver(await openInner());
    return { store, realTime: true as const, advance: (ms: number) => wait(ms), cleanup: () => store.close() };
  };
  // Leases expire in etcd, whatever the values are.
  storeContract('encrypted, over etcd', open, { leases: false });

  it('leaves nothing of a value in etcd', async () => {
    const inner = await openInner();
    const store = encryptedOver(inner);
    await store.commit([], [{ key: '/a', value: bytes('the text of a secret') }]);
    const stored = Buffer.from((await inner.get('/a')).entry?.value ?? []).toString('latin1');
    expect(stored).toMatch(/^k8s:enc:aesgcm:v1:k:/);
    expect(stored).not.toContain('secret');
    await store.close();
  });
});
