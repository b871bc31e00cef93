import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatedFault } from '../../src/server/harness/simulation/plan.ts';
import { runWorld } from '../../src/server/harness/simulation/simulate.ts';
import type { OwnWorld } from '../../src/server/harness/simulation/world.ts';
import { type ApiObject, type Client, createClient, httpsTransport } from '../../src/server/index.ts';
import { startEtcd, type TestEtcd } from '../../src/store/testing/etcd.ts';
import { etcdPath } from '../support/requirements.ts';
import { type RunningServer, startServer } from '../support/server.ts';

// The same work and the same faults over servers of the built command with etcd, and in a simulated world.

const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** A cluster of two servers. */
interface Cluster {
  readonly clients: readonly [Client, Client];
  readonly pause: (ms: number) => Promise<unknown>;
  /** Carries out the fault of the scenario. Resolves when it has ended. */
  readonly strike: () => Promise<unknown>;
}

type Scenario<T> = (cluster: Cluster) => Promise<T>;

/** The result of a request: `succeeds`, the code and reason of the API, or the code of the connection. */
async function resultOf(request: Promise<unknown>): Promise<string> {
  try {
    await request;
    return 'succeeds';
  } catch (error) {
    const { code, reason = '', cause } = error as { code?: number; reason?: string; cause?: { code?: string } };
    return `${code ?? cause?.code ?? 'an error'} ${reason}`.trim();
  }
}

/** The first event of a watch that is no bookmark. @throws what ends it */
async function firstEvent(client: Client, resourceVersion: string): Promise<ApiObject> {
  for await (const { type, object } of await client.watch<ApiObject>(place, { resourceVersion })) {
    if (type !== 'BOOKMARK') return object;
  }
  throw new Error('the watch has ended');
}

/** The history is compacted while watches and a continue token are behind. */
const compaction: Scenario<object> = async ({ clients: [first, second], strike }) => {
  const { metadata: begin } = await first.get<ApiObject>({ apiVersion: 'v1', resource: 'namespaces', name: 'default' });
  for (const name of ['a', 'b', 'c']) await first.create(place, configMap(name));
  const page = (await first.list<ApiObject>(place, { limit: 1 })).metadata;
  const { resourceVersion } = page;
  const live = await second.watch<ApiObject>(place, { resourceVersion });
  // The second server has read its objects after this version: it takes the events from the history of the store.
  const early = () => firstEvent(second, begin.resourceVersion ?? '');
  const requests = async () => ({
    'an early watch': await resultOf(early()),
    'watches from the page': [
      await resultOf(firstEvent(first, resourceVersion)),
      await resultOf(firstEvent(second, resourceVersion)),
    ],
    'the continue token': [
      await resultOf(first.list(place, { limit: 1, continue: page.continue ?? '' })),
      await resultOf(second.list(place, { limit: 1, continue: page.continue ?? '' })),
    ],
    'a list of the version': await resultOf(second.list(place, { resourceVersion, resourceVersionMatch: 'Exact' })),
  });
  await first.create(place, configMap('d'));
  const before = await requests();
  await strike();
  const after = await requests();
  await first.create(place, configMap('e'));
  const seen: string[] = [];
  for await (const { type, object } of live) {
    seen.push(`${type} ${object.metadata.name}`);
    if (seen.length === 2) break;
  }
  const { items } = await second.list<ApiObject>(place);
  return { before, after, seen, listed: items.map((item) => item.metadata.name) };
};

/** The number of clients that write at the same time, and the time between two writes of one (ms). */
const writers = 8;
const everyMs = 5;
/** Distinguishes the objects of one run of a scenario from those of another one. */
let runs = 0;

/** A fault strikes while clients write: what becomes of each write, and whether it is stored in the end. */
const faultDuringWrites: Scenario<ReadonlySet<string>> = async ({ clients, pause, strike }) => {
  const results = new Map<string, string>();
  const run = ++runs;
  let done = false;
  const write = async (writer: number) => {
    for (let i = 0; !done; i++) {
      const name = `write-${run}-${writer}-${i}`;
      results.set(name, await resultOf((clients[writer % 2] as Client).create(place, configMap(name))));
      await pause(everyMs);
    }
  };
  const writing = Array.from({ length: writers }, (_, writer) => write(writer));
  await pause(500);
  await strike();
  await pause(500);
  done = true;
  await Promise.all(writing);
  const { items } = await clients[1].list<ApiObject>(place);
  const stored = new Set(items.map(({ metadata }) => metadata.name));
  return new Set([...results].map(([name, result]) => `${result}, ${stored.has(name) ? 'stored' : 'not stored'}`));
};

/** Runs a scenario in a simulated world in which the fault begins after three seconds. */
async function simulated<T>(scenario: Scenario<T>, fault: Omit<SimulatedFault, 'at'>): Promise<T> {
  const faultAt = 3_000;
  let outcome: T | undefined;
  const clients: Client[] = [];
  const world: OwnWorld = {
    servers: 2,
    clients: 2,
    options: { disableAdmissionPlugins: ['ServiceAccount'] },
    operations: {
      join: async ({ client }) => void clients.push(client),
      work: async ({ clock, client }) => {
        const began = clock.monotonic();
        const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
        const strike = () => pause(faultAt + (fault.for ?? 0) + 500 - (clock.monotonic() - began));
        outcome = await scenario({ clients: [clients[0] as Client, client], pause, strike });
      },
    },
    duration: '20s',
    plan: {
      operations: [
        { at: 0, client: 'client-1', run: 'join', seed: 1 },
        { at: 1, client: 'client-2', run: 'work', seed: 1 },
      ],
      faults: [{ at: faultAt, ...fault }],
    },
  };
  const { failures } = await runWorld(1, world);
  expect(failures).toEqual([]);
  return outcome as T;
}

/** An outage (ms) that is longer than servers wait for an answer of the store. */
const outageMs = 12_000;

/**
 * A write that succeeds is stored, and one that was refused before it was sent is not. Of one with the other result nobody
 * knows, and some writes have it.
 */
function expectKinds(outcomes: ReadonlySet<string>, unknown: string): void {
  const known = ['succeeds, stored', '503 ServiceUnavailable, not stored'];
  const allowed = new Set([...known, `${unknown}, stored`, `${unknown}, not stored`]);
  expect([...outcomes].filter((outcome) => !allowed.has(outcome))).toEqual([]);
  expect(outcomes).toContain('succeeds, stored');
  expect(outcomes.size).toBeGreaterThan(1);
}

const program = etcdPath();

describe.skipIf(program === undefined)('A simulated store fails like etcd', { timeout: 120_000 }, () => {
  let etcd: TestEtcd;
  let servers: RunningServer[] = [];
  let clients: readonly [Client, Client];
  beforeAll(async () => {
    etcd = await startEtcd(program as string);
    const flags = ['--store=etcd', `--etcd-servers=${etcd.servers.join(',')}`, '--api-domain=k8s.io'];
    servers = [await startServer(flags), await startServer(flags)];
    clients = servers.map(({ url, token, folder }) => {
      const ca = readFileSync(join(folder, 'ca.crt'), 'utf8');
      return createClient({ transport: httpsTransport({ server: url, ca, token }), apiDomain: 'k8s.io' });
    }) as unknown as readonly [Client, Client];
  }, 120_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    await etcd?.stop();
  });

  it('when the history is compacted', async () => {
    const ask = async (path: string, body: object) => {
      const response = await fetch(`${etcd.servers[0]}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
      expect(response.status).toBe(200);
      return (await response.json()) as { header: { revision: string } };
    };
    const strike = async () => {
      const { header } = await ask('range', { key: 'AA==' });
      await ask('compaction', { revision: header.revision });
    };
    const ofEtcd = await compaction({ clients, pause: sleep, strike });
    expect(ofEtcd).toMatchObject({
      before: { 'an early watch': 'succeeds', 'the continue token': ['succeeds', 'succeeds'] },
      after: { 'an early watch': '410 Expired', 'the continue token': ['410 Expired', '410 Expired'] },
    });
    expect(await simulated(compaction, { fault: 'compaction', by: 0 })).toEqual(ofEtcd);
  });

  it('when it is killed while clients write', async () => {
    const [member] = etcd.members;
    const strike = async () => {
      await member?.kill();
      await sleep(outageMs);
      await member?.start();
    };
    const ofEtcd = await faultDuringWrites({ clients, pause: sleep, strike });
    const ofSimulation = await simulated(faultDuringWrites, { fault: 'no leader', for: outageMs });
    for (const outcomes of [ofEtcd, ofSimulation]) expectKinds(outcomes, '504 Timeout');
  });

  it('when a server is killed while clients write', async () => {
    const strike = async () => servers[0]?.stop('SIGKILL');
    const ofEtcd = await faultDuringWrites({ clients, pause: sleep, strike });
    const ofSimulation = await simulated(faultDuringWrites, { fault: 'crash', of: 'server-1', for: 1_000 });
    for (const outcomes of [ofEtcd, ofSimulation]) expectKinds(outcomes, '503 ServiceUnavailable');
  });
});
