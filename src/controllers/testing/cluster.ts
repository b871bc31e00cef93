/** A server without sockets, with controllers, on a clock that the test advances. */
import { type Client, createClient, inProcessTransport, type Log } from '../../client/index.ts';
import { type Names, namesFor, VirtualClock } from '../../meta/index.ts';
import { createServer, type Store } from '../../server/index.ts';
import type { ServerOptions } from '../../server/settings/server-options.ts';
import { garbageCollector } from '../garbage-collector/garbage-collector.ts';
import { componentName } from '../manager/component.ts';
import { type RunningControllers, startControllers } from '../manager/manager.ts';
import { type ControllerSettings, defaultSettings } from '../manager/settings.ts';
import { settle } from '../manager/settle.ts';
import { bindUsers } from '../manager/user-bindings.ts';
import type { Controller } from '../types.ts';

export interface TestCluster {
  /** Of an administrator. */
  readonly client: Client;
  /** Of another user. */
  readonly as: (name: string, groups: readonly string[]) => Client;
  readonly names: Names;
  readonly clock: VirtualClock;
  readonly controllers: RunningControllers;
  /** Warnings and errors that the controllers logged. */
  readonly logged: readonly { readonly text: string; readonly fields: { readonly [name: string]: unknown } }[];
  /** Stops the controllers, and starts them again after `meanwhile`. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** Resolves when the controllers have seen everything that is stored and have nothing to do. */
  readonly settle: () => Promise<void>;
  /** Moves the clock from timer to timer, and settles after each. */
  readonly advance: (ms: number) => Promise<void>;
  close(): Promise<void>;
}

export interface TestClusterOptions {
  readonly settings?: Partial<ControllerSettings>;
  readonly server?: ServerOptions;
  /** A memory store by default. */
  readonly store?: Store;
}

/** Starts the controllers over a server with the API domain `k8s.io` and a memory store; resolves when they are settled. */
export async function testCluster(
  controllers: readonly Controller[],
  { settings = {}, server: options = {}, store }: TestClusterOptions = {},
): Promise<TestCluster> {
  const clock = new VirtualClock();
  const names = namesFor('k8s.io');
  const server = await createServer(
    {
      apiDomain: 'k8s.io',
      controllers: '-*',
      enableGarbageCollector: controllers.includes(garbageCollector),
      ...options,
    },
    { clock, ...(store === undefined ? {} : { store }) },
  );
  const logged: { readonly text: string; readonly fields: { readonly [name: string]: unknown } }[] = [];
  const keep: Log['warn'] = (text, fields) => void logged.push({ text, fields });
  const log: Log = { info: () => {}, warn: keep, error: keep };
  const as = (commonName: string, organizations: readonly string[], agent: string = componentName) =>
    createClient({
      transport: inProcessTransport(server.handler, { subject: { commonName, organizations }, background: true }),
      baseHeaders: { 'user-agent': agent },
      apiDomain: 'k8s.io',
    });
  await bindUsers(server.client, controllers, names);
  const start = () =>
    startControllers({
      controllers,
      names,
      clock,
      log,
      settings: { ...defaultSettings, ...settings },
      random: { uuid: () => crypto.randomUUID(), integer: (below) => Math.floor(Math.random() * below) },
      reader: as(`system:${componentName}`, []),
      clientOf: (account, user) =>
        user === undefined
          ? as(`system:serviceaccount:${names.systemNamespace}:${account}`, [
              'system:serviceaccounts',
              `system:serviceaccounts:${names.systemNamespace}`,
            ])
          : as(user.name, user.groups, user.agent),
      observe: () => ({ added: () => {}, started: () => {}, ended: () => {}, retried: () => {} }),
    });
  let running = start();
  const cluster: TestCluster = {
    client: server.client,
    as: (name, groups) => as(name, groups),
    names,
    clock,
    get controllers() {
      return running;
    },
    logged,
    async restart(meanwhile) {
      await running.stop();
      await meanwhile();
      running = start();
      await running.started;
      await cluster.settle();
    },
    settle: () => settle(running),
    advance: (ms) => clock.advance(ms, cluster.settle),
    async close() {
      await running.stop();
      await server.close();
    },
  };
  await running.started;
  await cluster.settle();
  return cluster;
}
