import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { etcdPath } from '../../test/support/requirements.ts';
import { openEtcdStore } from '../store/index.ts';
import { startEtcd, type TestEtcd } from '../store/testing/etcd.ts';
import { realClock, realRandom } from '../store/testing/real-time.ts';
import { absent, bytes, put, Recorder, text } from '../store/testing/tools.ts';
import { encryptedOver } from './testing/encrypted-over.ts';

const program = etcdPath();

// An encrypted store over one in memory, and a store in etcd, pass the whole contract of stores. This is where they meet.
describe.skipIf(program === undefined)('an encrypted store over etcd', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '');
  });
  afterAll(() => etcd.stop());

  let cases = 0;
  const openInner = () =>
    openEtcdStore({ servers: etcd.servers, prefix: `/case-${cases++}/`, clock: realClock(), random: realRandom });

  it('reads, lists at earlier revisions, compares and watches the values as they were written', async () => {
    const store = encryptedOver(await openInner());
    const start = await store.revision();
    const all = new Recorder();
    store.watch('/', start, all, { previous: true });
    for (const key of ['/a', '/b', '/c']) await store.commit([absent(key)], [put(key, `value of ${key}`)]);
    const full = await store.revision();
    expect(text((await store.get('/b')).entry)).toBe('value of /b');
    const refused = await store.commit([absent('/b')], [put('/b', 'other')]);
    expect(refused.ok ? [] : refused.found.map(text)).toEqual(['value of /b']);
    await store.commit([], [put('/a', 'changed'), { key: '/b' }]);
    const values = async (revision: number) =>
      (await store.list({ prefix: '/', revision })).entries.map((entry) => text(entry));
    expect(await values(full)).toEqual(['value of /a', 'value of /b', 'value of /c']);
    expect(await values(full + 1)).toEqual(['changed', 'value of /c']);
    const page = await store.list({ prefix: '/', limit: 1 });
    expect([page.entries.map(text), page.more]).toEqual([['changed'], true]);
    await all.reached(full + 1);
    expect(all.changes.slice(2)).toEqual([
      ['/c', 'value of /c', undefined],
      ['/a', 'changed', 'value of /a'],
      ['/b', undefined, 'value of /b'],
    ]);
    const late = new Recorder();
    store.watch('/', full, late, { previous: true });
    await late.reached(full + 1);
    expect(late.changes).toEqual(all.changes.slice(3));
    await store.close();
  });

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
