import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdPath } from '../../../test/support/requirements.ts';
import type { Store, StoreError } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { startEtcd, type TestEtcd } from '../testing/etcd.ts';
import { realClock, realRandom } from '../testing/real-time.ts';
import { put, Recorder, text } from '../testing/tools.ts';
import { openEtcdStore } from './etcd-store.ts';
import { Members } from './members.ts';
import { loadRpc } from './rpc.ts';

const program = etcdPath();

test('a short read is sent to another member when the first one is silent, which is avoided from then on', async () => {
  const clock = drivenClock();
  const asked: string[] = [];
  class SilentFirst {
    readonly #address: string;
    constructor(address: string) {
      this.#address = address;
    }
    makeUnaryRequest(...given: unknown[]) {
      const done = given[6] as (error: null, response: object) => void;
      asked.push(this.#address);
      if (this.#address !== 'dns:m0:1') setImmediate(done, null, { header: { revision: 7 }, kvs: [] });
      return { cancel: () => undefined };
    }
    getChannel = () => ({ getConnectivityState: () => 0 });
    close = () => undefined;
  }
  const real = await loadRpc();
  const grpc = { ...real.grpc, Client: SilentFirst as unknown as typeof real.grpc.Client };
  const members = await Members.open({
    endpoints: ['http://m0:1', 'http://m1:1', 'http://m2:1'],
    tls: () => Promise.reject(new Error('no TLS')),
    probe: Buffer.of(),
    clock,
    rpc: { ...real, grpc },
  });
  const read = members.revision();
  clock.advance(499);
  expect(asked).toEqual(['dns:m0:1']);
  clock.advance(1);
  expect(await read).toBe(7);
  expect(await members.revision()).toBe(7);
  expect(await members.revision()).toBe(7);
  expect(asked).toEqual(['dns:m0:1', 'dns:m1:1', 'dns:m2:1', 'dns:m1:1']);
  await members.close();
});

describe.skipIf(program === undefined)('three members of etcd', () => {
  let etcd: TestEtcd;
  let store: Store;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '', { members: 3, args: ['--heartbeat-interval=30', '--election-timeout=300'] });
    // It gives up on members and watches that are stuck after seconds of this clock.
    store = await openEtcdStore({ servers: etcd.servers, prefix: '/', clock: realClock(2), random: realRandom });
  });
  afterAll(async () => {
    await store.close();
    await etcd.stop();
  });

  /** Updates a key by compare and swap, each time after the last, and expects to read and to watch all of it. */
  async function works(): Promise<void> {
    const { revision: start } = await store.get('a');
    const watches = [{}, { previous: true }].map((options) => {
      const seen = new Recorder();
      return Object.assign(seen, store.watch('', start, seen, options));
    });
    let revision = (await store.get('a')).entry?.revision ?? 0;
    for (let i = 0; i < 20; i++) {
      const result = await store.commit([{ key: 'a', revision }], [put('a', `${i}`)]);
      expect(result.ok).toBe(true);
      ({ revision } = result);
      expect((await store.get('a')).entry).toMatchObject({ revision });
    }
    for (const seen of watches) {
      await seen.reached(revision);
      expect(seen.commits.flatMap(({ changes }) => changes.map(({ entry }) => text(entry)))).toEqual(
        Array.from({ length: 20 }, (_, i) => `${i}`),
      );
      seen.close();
    }
  }

  test.each([0, 1, 2])(
    'commits, reads and watches go on while member %i is paused, and when it runs again',
    async (i) => {
      const following = new Recorder();
      const watch = store.watch('', await store.revision(), following);
      etcd.members[i]?.pause();
      await works();
      etcd.members[i]?.resume();
      await works();
      await following.reached(await store.revision());
      expect(following.commits).toHaveLength(40);
      watch.close();
    },
  );

  test.each([0, 1, 2])(
    'commits, reads and watches go on after member %i was killed, and when it is back',
    async (i) => {
      await etcd.members[i]?.kill();
      await works();
      await etcd.members[i]?.start();
      await works();
    },
  );

  test('without a majority every call fails in bounded time, and works when it is back', async () => {
    for (const member of etcd.members.slice(1)) member.pause();
    // A signal takes effect a little later: until then a read may be answered.
    const read = () => store.revision().then(String, ({ code }: StoreError) => code);
    await expect.poll(read).toBe('unavailable');
    const results = await Promise.allSettled([store.commit([], [put('b')]), store.get('a'), store.revision()]);
    for (const member of etcd.members) member.resume();
    const [commit, ...reads] = results.map((result) => (result as { reason?: StoreError }).reason?.code);
    expect(reads).toEqual(['unavailable', 'unavailable']);
    expect(['unavailable', 'uncertain']).toContain(commit);
    await expect.poll(() => store.revision().catch(() => 0)).toBeGreaterThan(0);
    await works();
    if (commit === 'unavailable') expect((await store.get('b')).entry).toBeUndefined();
  });
});
