import { spawnSync } from 'node:child_process';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { etcdProgram } from '../../../scripts/etcd.mjs';
import { etcdPath } from '../../../test/support/requirements.ts';
import type { Store } from '../store.ts';
import { startEtcd, type TestEtcd } from '../testing/etcd.ts';
import { realClock, realRandom } from '../testing/real-time.ts';
import { absent, put, Recorder, text } from '../testing/tools.ts';
import { type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts';
import { loadRpc } from './rpc.ts';

const program = etcdPath();

const pair = (file: string) => ({ certfile: file, keyfile: file });

describe.skipIf(program === undefined)('etcd', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '');
  });
  afterAll(() => etcd.stop());

  let prefix: string;
  let cases = 0;
  const opened: Store[] = [];
  async function open(options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
    const defaults = { servers: etcd.servers, prefix, clock: realClock(), random: realRandom };
    const store = await openEtcdStore({ ...defaults, ...options });
    opened.push(store);
    return store;
  }
  beforeEach(() => {
    prefix = `/case-${cases++}/`;
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });
  /** The output of etcdctl. */
  function etcdctl(...args: string[]): string {
    const { stdout } = spawnSync(etcdProgram('etcdctl') ?? 'etcdctl', [`--endpoints=${etcd.servers[0]}`, ...args], {
      env: { ...process.env, ETCDCTL_API: '3' },
      encoding: 'utf8',
    });
    return stdout;
  }
  const keysBelow = (start: string) => etcdctl('get', start, '--prefix', '--keys-only').split('\n').filter(Boolean);
  const leases = () => etcdctl('lease', 'list').trim().split('\n').slice(1);

  describe('keys', () => {
    test('are the prefix and the key of the store, with the value as it is', async () => {
      const store = await open({ prefix: '/registry' });
      await store.commit([], [put('/pods/default/a', '{"kind":"Pod"}')]);
      expect(etcdctl('get', '/registry/pods/default/a', '--print-value-only')).toBe('{"kind":"Pod"}\n');
    });
    test('of a store with another prefix are not seen, though it begins alike', async () => {
      const [one, two] = [await open({ prefix: '/a' }), await open({ prefix: '/a2' })];
      const seen = new Recorder();
      one.watch('', await one.revision(), seen);
      await two.commit([], [put('/key', 'two')]);
      const { revision } = await one.commit([], [put('/key', 'one')]);
      await seen.reached(revision);
      expect(seen.changes).toEqual([['/key', 'one', undefined]]);
      expect((await one.list({ prefix: '' })).entries.map(text)).toEqual(['one']);
      await expect(one.get('2/key')).rejects.toMatchObject({ code: 'invalid' });
    });
  });

  describe('options', () => {
    test.each([['localhost:2379'], ['ftp://localhost:2379'], ['http://localhost:2379/v3'], [undefined]])(
      'the server %s is invalid',
      async (server) => {
        const servers = server === undefined ? [] : [server];
        await expect(open({ servers })).rejects.toMatchObject({ name: 'StoreError', code: 'invalid' });
      },
    );
    test('a client certificate without its key is invalid', async () => {
      await expect(open({ certfile: 'client.crt' })).rejects.toMatchObject({ code: 'invalid' });
    });
    test('a file that is not a certificate is refused', async () => {
      const wrong = open({
        servers: ['https://127.0.0.1:1'],
        cafile: import.meta.filename,
        ...pair(import.meta.filename),
      });
      await expect(wrong).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
    });
    test('a file that does not exist is named', async () => {
      const missing = open({ servers: ['https://127.0.0.1:1'], cafile: '/missing/ca.crt' });
      await expect(missing).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('ca.crt') });
    });
  });

  test('a store with an older member among others is refused', async () => {
    const rpc = await loadRpc();
    const server = new Server();
    const answer = (_: unknown, callback: (error: null, response: object) => void) =>
      callback(null, { version: '3.5.7' });
    server.addService({ status: rpc.status } as never, { status: answer } as never);
    const port = await new Promise<number>((resolve) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_, bound) => resolve(bound));
    });
    await expect(open({ servers: [...etcd.servers, `http://127.0.0.1:${port}`] })).rejects.toMatchObject({
      code: 'invalid',
      message: `etcd at http://127.0.0.1:${port} has version 3.5.7; it must be 3.5.8 or newer`,
    });
    server.forceShutdown();
  });

  test('the size is that of the database of a member', async () => {
    const store = await open();
    await store.commit([], [put('a')]);
    const told = () => Number(/"dbSize":(\d+)/.exec(etcdctl('endpoint', 'status', '-w', 'json'))?.[1]);
    // Other work of the member may come in between.
    await expect.poll(async () => (await store.size()) === told()).toBe(true);
  });

  test('every five minutes one of all stores compacts to the revision of one interval before', async () => {
    const historyMs = 400;
    const stores = [await open({ historyMs }), await open({ historyMs }), await open({ historyMs })];
    const [store] = stores as [Store];
    const { revision } = await store.commit([absent('a')], [put('a')]);
    const before = await store.oldest();
    expect(before).toBeLessThanOrEqual(revision);
    // Each compaction writes its key once: the version counts them.
    const version = () => Number(/"version":(\d+)/.exec(etcdctl('get', 'compact_rev_key', '-w', 'json'))?.[1] ?? 0);
    const first = version();
    await expect.poll(() => store.oldest()).toBeGreaterThanOrEqual(revision);
    await expect.poll(version).toBeGreaterThanOrEqual(first + 3);
    expect(await stores[1]?.oldest()).toBeLessThanOrEqual(await store.revision());
    expect((await store.get('a')).entry?.revision).toBe(revision);
  });

  describe('leases', () => {
    test('are shared by keys with the same time to live, and gone when no key has got them', async () => {
      const store = await open();
      const before = leases().length;
      await store.commit([], [put('taken')]);
      const commits = Array.from({ length: 50 }, (_, i) => store.commit([], [{ ...put(`a/${i}`), ttl: 100 }]));
      const refused = store.commit([absent('taken')], [{ ...put('b'), ttl: 20 }]);
      await Promise.all(commits);
      expect((await refused).ok).toBe(false);
      expect(leases()).toHaveLength(before + 2);
      await expect.poll(leases).toHaveLength(before + 1);
    });
    test('a lease that is lost is replaced', async () => {
      const store = await open();
      const former = leases();
      await store.commit([], [{ ...put('a'), ttl: 10_000 }]);
      for (const lease of leases().filter((each) => !former.includes(each))) etcdctl('lease', 'revoke', lease);
      expect((await store.get('a')).entry).toBeUndefined();
      expect(await store.commit([], [{ ...put('a', 'again'), ttl: 10_000 }])).toMatchObject({ ok: true });
      expect(text((await store.get('a')).entry)).toBe('again');
    });
  });

  describe('slots of commits', () => {
    const slots = () => keysBelow('commit_slots/').filter((key) => key.includes(prefix));

    test('are as many as commits in flight, and removed when the store is closed', async () => {
      const store = await open();
      for (let i = 0; i < 5; i++) {
        await Promise.all(Array.from({ length: 8 }, (_, j) => store.commit([], [put(`a/${j}`)])));
      }
      expect(slots()).toHaveLength(8);
      await store.close();
      expect(slots()).toEqual([]);
    });
    test('that are removed while nothing is in flight are replaced', async () => {
      const store = await open();
      await store.commit([], [put('a', '1')]);
      etcdctl('del', 'commit_slots/', '--prefix');
      const { revision } = await store.commit([], [put('a', '2')]);
      expect((await store.get('a')).entry?.revision).toBe(revision);
    });
    test('that have not been used since the revision of a compaction are removed, those in use are not', async () => {
      const idle = await open();
      await idle.commit([], [put('a')]);
      const [left] = slots();
      const store = await open({ historyMs: 200 });
      await expect
        .poll(async () => {
          await store.commit([], [put('b')]);
          return slots();
        })
        .not.toContain(left);
      expect(slots()).toHaveLength(1);
      expect(await idle.commit([], [put('a')])).toMatchObject({ ok: true });
    });
  });
});
