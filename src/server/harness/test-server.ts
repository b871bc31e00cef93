import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AsyncClosing, asyncDispose } from '../../client/index.ts';
import { type Clock, VirtualClock } from '../../meta/index.ts';
import { systemClock } from '../clock.ts';
import type { Address } from '../listener.ts';
import { type OpenedServer, type OrchServer, openServer } from '../server.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { waitForAccounts } from './accounts.ts';
import { FaultInjector, type Faults } from './faults.ts';
import { loadConfigurations, loadDefinitions, loadObjects } from './load-objects.ts';
import { makesAccounts, readTestOptions, type TestServerOptions } from './options.ts';
import { type TestClock, testClock } from './test-clock.ts';
import { createUsers, type TestUser } from './users.ts';
import { localWebhooks, type WebhookPlace } from './webhooks.ts';

/** A server in a test. `await using` closes it. */
export interface TestServer extends OrchServer, AsyncClosing {
  readonly clock: TestClock;
  readonly faults: Faults;
  /** Where the webhooks of the option `webhooks` are to be served over TLS. Undefined: nowhere, or a handler answers. */
  readonly webhooks: WebhookPlace | undefined;
  /**
   * Resolves when the controllers of the server and whatever was added by `settlesWith` have nothing to do before the
   * clock moves on. @throws Error when they do not settle
   */
  settled(): Promise<void>;
  /**
   * `idle` resolves when something under test, such as a controller, has nothing to do; it is given some turns of the event
   * loop to take in what was written, and asked again as long as anything is. The result removes it.
   */
  settlesWith(idle: () => Promise<unknown>): () => void;
  /** A user by name and groups, to whom roles grant what they may do. */
  as(name: string, groups?: readonly string[]): TestUser;
  /**
   * Ends watches, waits for the requests in flight and closes the store; afterwards no timer, socket or handle is left. A
   * virtual clock moves on where requests would wait for it. Idempotent.
   */
  close(): Promise<void>;
  /** Compacts the store now: watches and lists from earlier resourceVersions fail with 410. */
  compact(): Promise<void>;
}

/**
 * A server for one test: in memory, without a socket before `listen`, and with what is needed to bring about what is rare
 * elsewhere. Any number of them may run in one process.
 * @throws StartError that names every invalid option, and every file with an invalid definition or object
 */
export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const settings = await readTestOptions(options);
  const { clock = systemClock, definitions, objects, webhooks: hooks } = options;
  const webhooks = hooks === undefined ? undefined : await localWebhooks(hooks);
  const faults = new FaultInjector(clock);
  const opened = await openServer(settings, { clock }, { handler: faults.intercept, webhooks: webhooks?.intercept });
  const { server } = opened;
  try {
    const prepared = async (namespaces: readonly string[]) => {
      if (makesAccounts(settings)) await waitForAccounts(server, clock, namespaces);
    };
    if (definitions !== undefined) await loadDefinitions(server.client, server.names, definitions);
    await loadObjects(server.client, objects ?? [], (namespaces) => prepared(['default', ...namespaces]));
    if (hooks?.configurations !== undefined)
      await loadConfigurations(server.client, server.names, hooks.configurations);
  } catch (error) {
    await server.close();
    throw error;
  }
  const work = new Set<() => Promise<unknown>>();
  const settled = () => settle(opened, work);
  let address: Address | undefined;
  const listening = () => {
    const tls = opened.tls();
    return tls === undefined || address === undefined ? undefined : { tls, url: address.url };
  };
  const close = () => {
    faults.close();
    return closeOn(clock, server, settings);
  };
  return {
    [asyncDispose as typeof Symbol.asyncDispose]: close,
    names: server.names,
    client: server.client,
    handler: server.handler,
    faults,
    settled,
    close,
    webhooks: webhooks?.place,
    clock: testClock(clock, settled),
    settlesWith(idle) {
      work.add(idle);
      return () => void work.delete(idle);
    },
    as: createUsers({ handler: server.handler, names: server.names, clock, listening }),
    async compact() {
      const revision = await opened.store.revision();
      await opened.registry.forget(revision);
      await opened.store.compact(revision);
    },
    async listen() {
      address = await server.listen();
      return address;
    },
  };
}

/** How long the requests in flight may take to finish before time passes on a clock that nobody moves (ms of real time). */
const closingMs = 1_000;

async function closeOn(
  clock: Clock,
  server: OrchServer,
  { shutdownDelayDuration, shutdownGracePeriod }: ServerSettings,
): Promise<void> {
  const pass = () => {
    if (clock instanceof VirtualClock) clock.set(clock.now() + shutdownDelayDuration + shutdownGracePeriod);
  };
  const passing = setInterval(pass, closingMs);
  await server.close().finally(() => clearInterval(passing));
}

/** Rounds before what runs counts as restless, and the turns of the event loop in each, in which watches deliver. */
const maxRounds = 1_000;
const turnsPerRound = 10;

async function settle({ server, store }: OpenedServer, work: ReadonlySet<() => Promise<unknown>>): Promise<void> {
  for (let round = 0; round < maxRounds; round++) {
    const before = await store.revision();
    await server.settled();
    if (work.size === 0) return;
    for (let turn = 0; turn < turnsPerRound; turn++) await nextTurn();
    await Promise.all([...work].map((idle) => idle()));
    if ((await store.revision()) === before) return;
  }
  throw new Error('the server does not settle: its controllers and what was added by settlesWith go on writing');
}
