/** A server without sockets, with controllers, on a clock that the test advances. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Client, createClient, inProcessTransport } from '../../client/index.ts';
import { type ApiObject, type Names, namesFor } from '../../meta/index.ts';
import { createServer } from '../../server/index.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import { componentName } from '../component.ts';
import { Informers } from '../informer.ts';
import { type Named, placeOf } from '../kind.ts';
import type { Log } from '../log.ts';
import { type RunningControllers, startControllers } from '../manager.ts';
import { createObjectClient, type ObjectClient } from '../object-client.ts';
import { type ControllerSettings, defaultSettings } from '../settings.ts';
import type { Controller } from '../types.ts';
import { bindUsers } from '../user-bindings.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface TestCluster {
  /** Of an administrator. */
  readonly client: ObjectClient;
  readonly api: Client;
  readonly names: Names;
  readonly clock: VirtualClock;
  readonly controllers: RunningControllers;
  /** What the controllers logged as warnings and errors. */
  readonly logged: readonly { readonly text: string; readonly fields: { readonly [name: string]: unknown } }[];
  /** Resolves when the controllers have seen everything that is stored and have nothing to do. */
  settle(): Promise<void>;
  /** Moves the clock from timer to timer, and settles after each. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface TestClusterOptions {
  readonly settings?: Partial<ControllerSettings>;
  readonly server?: ServerOptions;
}

/** Rounds of settling before a cluster counts as restless. */
const maxRounds = 2_000;

/** Starts the controllers over a server with the API domain `k8s.io` and a memory store; resolves when they are settled. */
export async function testCluster(
  controllers: readonly Controller[],
  { settings = {}, server: options = {} }: TestClusterOptions = {},
): Promise<TestCluster> {
  const clock = new VirtualClock();
  const names = namesFor('k8s.io');
  const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*', ...options }, { clock });
  const logged: { readonly text: string; readonly fields: { readonly [name: string]: unknown } }[] = [];
  const keep: Log['warn'] = (text, fields) => void logged.push({ text, fields });
  const log: Log = { info: () => {}, warn: keep, error: keep };
  const as = (commonName: string, organizations: readonly string[]) =>
    createClient({
      transport: inProcessTransport(server.handler, { subject: { commonName, organizations }, background: true }),
      baseHeaders: { 'user-agent': componentName },
    });
  await bindUsers(server.client, controllers, names);
  const running = startControllers({
    ...{ controllers, names, clock, log },
    settings: { ...defaultSettings, ...settings },
    random: { uuid: () => crypto.randomUUID(), integer: (below) => Math.floor(Math.random() * below) },
    reader: as(`system:${componentName}`, []),
    clientOf: (account) =>
      as(`system:serviceaccount:${names.systemNamespace}:${account}`, [
        'system:serviceaccounts',
        `system:serviceaccounts:${names.systemNamespace}`,
      ]),
    clientAs: ({ name, groups }) => as(name, groups),
    observe: () => ({ added: () => {}, started: () => {}, ended: () => {}, retried: () => {} }),
  });
  const nothing = { client: server.client, names, clock, log, signal: new AbortController().signal };
  const cluster: TestCluster = {
    client: createObjectClient(server.client, new Informers(nothing), names),
    api: server.client,
    names,
    clock,
    controllers: running,
    logged,
    async settle() {
      for (let quiet = 0, round = 0; quiet < 3; round++) {
        if (round === maxRounds) throw new Error(`the controllers do not settle: ${JSON.stringify(logged.slice(-5))}`);
        for (let turn = 0; turn < 5; turn++) await nextTurn();
        quiet = running.isIdle() && (await hasSeenAll(running, server.client, names)) ? quiet + 1 : 0;
      }
    },
    async advance(ms) {
      const end = clock.now() + ms;
      for (let next = clock.next; next !== undefined && next <= end; next = clock.next) {
        clock.set(next);
        await cluster.settle();
      }
      clock.set(end);
      await cluster.settle();
    },
    async close() {
      await running.stop();
      await server.close();
    },
  };
  await running.started;
  await cluster.settle();
  return cluster;
}

/** Whether every informer holds what the server lists. */
async function hasSeenAll({ informers }: RunningControllers, api: Client, names: Names): Promise<boolean> {
  for (const informer of informers.all) {
    const { items } = await api.list<ApiObject>(placeOf(informer.kind, names), informer.selection).catch(() => ({
      items: [],
    }));
    const state = (objects: readonly Named[]) =>
      objects.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`).sort();
    if (JSON.stringify(state(items)) !== JSON.stringify(state(informer.list()))) return false;
  }
  return true;
}
