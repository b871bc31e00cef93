import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { etcdProgram } from '../../../scripts/etcd.mjs';
import { etcdPath } from '../../../test/support/requirements.ts';
import { pagesOf } from '../pages.ts';
import type { Entry, StoreError } from '../store.ts';
import { startEtcd } from '../testing/etcd.ts';
import { realClock, realRandom } from '../testing/real-time.ts';
import { absent } from '../testing/tools.ts';
import { openEtcdStore } from './etcd-store.ts';

const program = etcdPath();
const quotaBytes = 8 * 1024 * 1024;
const valueBytes = 128 * 1024;

describe.skipIf(program === undefined)('etcd without space', () => {
  test('answers every commit truly, and lets objects be deleted', async () => {
    const etcd = await startEtcd(program ?? '', { args: [`--quota-backend-bytes=${quotaBytes}`] });
    const store = await openEtcdStore({
      servers: etcd.servers,
      prefix: '/full/',
      clock: realClock(),
      random: realRandom,
    });
    try {
      const failures: string[] = [];
      let created = 0;
      // The request that crosses the quota is carried out and answered with an error: many cross it together.
      const write = async (key: string) => {
        const put = { key, value: Buffer.alloc(valueBytes, key) };
        const outcome = await store.commit([absent(key)], [put]).catch((error: StoreError) => error);
        const { entry } = await store.get(key);
        if (outcome instanceof Error) {
          failures.push(outcome.code);
          expect(outcome.message).toMatch(
            /^the etcd database is full \(NOSPACE alarm\): compact, defragment and disarm/,
          );
          expect(entry, `${key} was refused`).toBeUndefined();
        } else {
          expect(outcome).toEqual({ ok: true, revision: entry?.revision });
          created++;
        }
      };
      for (let round = 0; failures.length === 0 && round < 20; round++) {
        await Promise.all(Array.from({ length: 16 }, (_, i) => write(`${round}-${i}`)));
      }
      expect(new Set(failures)).toEqual(new Set(['full']));
      expect(created).toBeGreaterThan(16);

      const entries: Entry[] = [];
      for await (const page of pagesOf(store, { prefix: '' })) for (const entry of page.entries) entries.push(entry);
      expect(entries).toHaveLength(created);
      // The rest fits below the quota.
      const deleted = entries.slice(0, entries.length >> 1);
      for (const { key, revision } of deleted) {
        expect(await store.commit([{ key, revision }], [{ key }])).toMatchObject({ ok: true });
      }
      // A deletion of what is no longer there is a conflict, as ever.
      const [gone] = entries;
      const again = store.commit([{ key: gone?.key ?? '', revision: gone?.revision ?? 0 }], [{ key: gone?.key ?? '' }]);
      expect(await again).toMatchObject({ ok: false, found: [undefined] });
      for (const { key } of deleted) expect((await store.get(key)).entry).toBeUndefined();
      await expect(store.commit([], [{ key: 'more', value: Buffer.of(1) }])).rejects.toMatchObject({
        code: 'full',
      });
      // A commit without writes tells whether others succeed.
      await expect(store.commit([], [])).rejects.toMatchObject({ code: 'full' });
      await store.compact(await store.revision());
      const ctl = (...args: string[]) =>
        execFileSync(etcdProgram('etcdctl') ?? '', [`--endpoints=${etcd.servers.join(',')}`, ...args]);
      ctl('defrag');
      await expect(store.commit([], [])).rejects.toMatchObject({ code: 'full' });
      ctl('alarm', 'disarm');
      expect(await store.commit([], [])).toMatchObject({ ok: true });
      expect(await store.commit([], [{ key: 'more', value: Buffer.of(1) }])).toMatchObject({ ok: true });
    } finally {
      await store.close();
      await etcd.stop();
    }
  });
});
