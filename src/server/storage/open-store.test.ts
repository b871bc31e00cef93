import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { etcdPath } from '../../../test/support/requirements.ts';
import type { Clock, Random } from '../../meta/index.ts';
import { startEtcd, type TestEtcd } from '../../store/testing/etcd.ts';
import { defaultSettings } from '../settings/flags.ts';
import { describeStore, openStore } from './open-store.ts';

const random: Random = { uuid: randomUUID, integer: (below) => Math.floor(Math.random() * below) };
/** Timers run fifty times as fast. */
const fast: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * 50,
  after: (ms, task) => {
    const timer = setTimeout(task, ms / 50);
    return () => clearTimeout(timer);
  },
};

const program = etcdPath();

describe.skipIf(program === undefined)('a store over etcd', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program as string);
  });
  afterAll(() => etcd?.stop());

  it('is tried again until etcd answers, and each failure is logged with its reason', async () => {
    const [member] = etcd.members;
    await member?.kill();
    const warnings: unknown[] = [];
    const log = {
      error: () => undefined,
      info: () => undefined,
      warn: (text: string, fields: { readonly [name: string]: unknown }) => warnings.push([text, fields]),
    };
    const settings = { ...defaultSettings, store: 'etcd', etcdServers: etcd.servers } as const;
    const opening = openStore(settings, { clock: fast, random, log });
    await expect.poll(() => warnings.length).toBeGreaterThan(2);
    const reason = expect.stringContaining('ECONNREFUSED') as string;
    expect(warnings[0]).toEqual([
      'etcd does not answer yet: check --etcd-servers',
      { servers: { [member?.url ?? '']: reason } },
    ]);
    expect(warnings[1]).toEqual([
      'the store is not available: it is tried again until it is',
      { servers: etcd.servers, error: reason },
    ]);
    await member?.start();
    const store = await opening;
    expect((await store.commit([], [{ key: '/a', value: Buffer.from('{}') }])).ok).toBe(true);
    await store.close();
    expect(describeStore(settings)).toBe(`etcd at ${etcd.servers[0]} below /registry`);
  });
});
