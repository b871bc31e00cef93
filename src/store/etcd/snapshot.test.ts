import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdPath } from '../../../test/support/requirements.ts';
import type { Clock, Random } from '../../meta/index.ts';
import { type CopyObserver, copyStore } from '../copy.ts';
import { openLmdbImport } from '../lmdb/import.ts';
import { openLmdbStore } from '../lmdb/lmdb-store.ts';
import { openLmdbSnapshot } from '../lmdb/snapshot.ts';
import { openMigrated } from '../migration.ts';
import type { LeasedEntry, StoreSnapshot } from '../snapshot.ts';
import { startEtcd, type TestEtcd } from '../testing/etcd.ts';
import { put, Recorder, text } from '../testing/tools.ts';
import { openEtcdStore } from './etcd-store.ts';
import { openEtcdImport, openEtcdSnapshot } from './snapshot.ts';

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
const quiet: CopyObserver = { progress: () => undefined, resumed: () => undefined, restarted: () => undefined };

async function entriesOf(snapshot: StoreSnapshot): Promise<LeasedEntry[]> {
  const entries: LeasedEntry[] = [];
  for await (const page of snapshot.pages()) entries.push(...page);
  await snapshot.close();
  return entries.map((entry) => ({ ...entry, value: Buffer.from(entry.value) }));
}

describe.skipIf(program === undefined)('copies from and to etcd', () => {
  let etcd: TestEtcd;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'migration-'));
    etcd = await startEtcd(program ?? '');
  });
  afterAll(async () => {
    await etcd.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const optionsOf = (prefix: string) => ({ servers: etcd.servers, prefix, clock, random });

  test('from lmdb to etcd and back: entries, the rest of leases, versions that only grow', async () => {
    const [from, back] = [join(folder, 'from'), join(folder, 'back')];
    const options = optionsOf('/registry');
    const other = await openEtcdStore(optionsOf('/registry2'));
    await other.commit([], [put('/foreign')]);
    await other.close();
    const store = await openLmdbStore({ path: from, clock });
    for (let i = 0; i < 20; i++) {
      const writes = Array.from({ length: 100 }, (_, j) => put(`/pods/${i}/${j}`, 'x'.repeat(i * j)));
      await store.commit([], [...writes, { ...put(`/events/${i}`), ttl: 100 + i }]);
    }
    await store.commit([], [put('/ü/𝄞', 'ü'), { key: '/pods/3/3' }]);
    const latest = await store.revision();
    await store.close();
    const before = await entriesOf(await openLmdbSnapshot(from));

    const to = await openEtcdImport(options);
    await to.write([], { revision: latest, entries: 0, after: '', digest: '' });
    await expect(openMigrated(await openEtcdStore(options))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(openEtcdSnapshot(options)).rejects.toMatchObject({ code: 'unavailable' });
    const result = await copyStore((revision) => openLmdbSnapshot(from, revision), to, quiet);
    await to.close();
    expect(result).toMatchObject({ revision: latest, entries: 2020 });
    await expect(openEtcdImport(options)).rejects.toMatchObject({ message: expect.stringContaining('is not empty') });

    const migrated = await openMigrated(await openEtcdStore(options));
    const shown = (entries: readonly LeasedEntry[]) => entries.map((entry) => [entry.key, text(entry)]);
    const inEtcd = await entriesOf(await openEtcdSnapshot(options));
    expect(shown(inEtcd)).toEqual(shown(before));
    for (const [i, { expires, revision }] of inEtcd.entries()) {
      expect(revision).toBeGreaterThan(latest + 1_000_000_000);
      const left = before[i]?.expires;
      if (left === undefined) expect(expires).toBeUndefined();
      // Leases of etcd expire together in bands of a twentieth, and count whole seconds.
      else expect(Math.abs((expires ?? 0) - left - 3000)).toBeLessThan(9000);
    }
    const sink = new Recorder();
    migrated.watch('/pods/', latest, sink);
    expect(await sink.failed()).toMatchObject({ code: 'compacted', revision: await migrated.oldest() });
    const found = (await migrated.get('/pods/1/1')).entry?.revision ?? 0;
    await expect(migrated.commit([{ key: '/pods/1/1', revision: 3 }], [put('/pods/1/1')])).resolves.toMatchObject({
      ok: false,
    });
    const written = await migrated.commit([{ key: '/pods/1/1', revision: found }], [put('/pods/1/1', 'new')]);
    expect(written).toEqual({ ok: true, revision: await migrated.revision() });
    await migrated.close();

    const home = await openLmdbImport(back);
    const returned = await copyStore((revision) => openEtcdSnapshot(options, revision), home, quiet);
    await home.close();
    const atHome = await entriesOf(await openLmdbSnapshot(back, returned.advanced));
    const withoutLeases = (entries: readonly LeasedEntry[]) => entries.map((entry) => ({ ...entry, expires: 0 }));
    const inEtcdNow = await entriesOf(await openEtcdSnapshot(options));
    expect(withoutLeases(atHome)).toEqual(withoutLeases(inEtcdNow));
    expect(atHome.filter(({ expires }) => expires !== undefined)).toHaveLength(20);
  });

  test('a revision that etcd has compacted', async () => {
    const options = optionsOf('/compacted');
    const store = await openEtcdStore(options);
    const { revision } = await store.commit([], [put('/a/b')]);
    await store.commit([], [put('/a/c')]);
    const snapshot = await openEtcdSnapshot(options, revision);
    await store.compact(await store.revision());
    await expect(entriesOf(snapshot)).rejects.toMatchObject({ code: 'compacted' });
    await expect(openEtcdSnapshot(options, revision)).rejects.toMatchObject({ code: 'compacted' });
    await expect(openEtcdSnapshot(options, revision + 1_000_000)).rejects.toMatchObject({ code: 'future' });
    await snapshot.close();
    await store.close();
  });
});
