import { networkInterfaces } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { repair } from '../allocation/index.ts';
import { type Client, createClient, type InProcessHandler, inProcessTransport } from '../client/index.ts';
import type { CustomResources } from '../extensions/index.ts';
import type { ConnectionCounts, Handler } from '../http/index.ts';
import { type Names, namesFor } from '../meta/index.ts';
import { createPolicyBootstrap } from './access/bootstrap-policy.ts';
import type { Tls } from './certificates/tls.ts';
import { TrustedAuthorities } from './certificates/trusted-authorities.ts';
import { systemClock } from './clock.ts';
import { createBootstrapObjects } from './cluster/bootstrap-objects.ts';
import { createServiceReconciler, defaultServiceCidr, type ServiceReconciler } from './cluster/default-service.ts';
import { createFlowTasks, type FlowTasks } from './cluster/flow-tasks.ts';
import { PostStartHooks } from './cluster/post-start-hooks.ts';
import { runControllers } from './cluster/run-controllers.ts';
import {
  createSelfRegistration,
  type SelfRegistration,
  type SelfRegistrationOptions,
} from './cluster/self-registration.ts';
import { createServerIdentity } from './cluster/server-identity.ts';
import { applyDemo } from './commands/demo.ts';
import { compose, type ServerComponents } from './compose.ts';
import { createCustomResources } from './custom-resources.ts';
import { type Dependencies, logOf, silentLog } from './dependencies.ts';
import { type Address, type Listening, openListener } from './listener.ts';
import { createLog } from './observability/log.ts';
import { systemRandom } from './random.ts';
import { repeat } from './repeat.ts';
import type { ServerSettings } from './settings/flags.ts';
import { readConfig } from './settings/read-file.ts';
import type { ServerOptions } from './settings/server-options.ts';
import { readOptions } from './settings/settings.ts';
import { discard, shutDown } from './shut-down.ts';
import { StartError } from './start-error.ts';
import type { RegisteredWebhooks } from './webhooks/registered-webhooks.ts';
import { createWorkers } from './workers/create-workers.ts';
import type { Workers } from './workers/workers.ts';

/** A running API server. */
export interface OrchServer {
  readonly names: Names;
  /** An in-process client with the rights of `system:masters`. */
  readonly client: Client;
  /** Handles every request, independent of sockets. */
  readonly handler: InProcessHandler;
  /**
   * Resolves once the controllers of this server have read the store and are idle until the clock moves. For tests with a
   * virtual clock: on the system clock the server may never settle. @throws Error when they do not settle
   */
  settled(): Promise<void>;
  /** Opens the TLS port of the settings. @throws StartError also when the server already listens or is closed */
  listen(): Promise<Address>;
  /**
   * Shuts down: when listening, keeps serving for the shutdown delay, then waits for requests in flight, ends watches
   * cleanly and closes the store. Connections left after the grace period are cut. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Creates a server with its bootstrap objects, with a memory store by default. It opens no socket before `listen`, and
 * writes no file without a `dataDir`. @throws StartError that names every invalid option
 */
export async function createServer(
  options: ServerOptions = {},
  dependencies: Partial<Dependencies> = {},
): Promise<OrchServer> {
  return startServer(await readOptions(options, readConfig), dependencies);
}

/** Like `createServer`, for parsed settings. @throws StartError */
export const startServer = async (
  settings: ServerSettings,
  dependencies: Partial<Dependencies> = {},
): Promise<OrchServer> => (await openServer(settings, dependencies)).server;

/** A server with the components that tests access. */
export interface OpenedServer extends Pick<ServerComponents, 'store' | 'registry'> {
  readonly server: OrchServer;
  /** The current certificates; undefined while the server does not listen. */
  readonly tls: () => Tls | undefined;
}

/** Intercepts the requests to a server, and its calls of the webhooks that objects register. */
export interface Interception {
  /** Wraps the handler of all requests except those of the server's own controllers. */
  readonly handler?: (handler: Handler) => Handler;
  readonly webhooks?: ((webhooks: RegisteredWebhooks) => RegisteredWebhooks) | undefined;
}

/** Like `startServer`, with interception and access to components. @throws StartError */
export async function openServer(
  settings: ServerSettings,
  dependencies: Partial<Dependencies> = {},
  intercept: Interception = {},
): Promise<OpenedServer> {
  const { random = systemRandom, identity = createServerIdentity(settings, random) } = dependencies;
  const { logLevel: levels, logFormat: format } = settings;
  const { log = levels === undefined ? silentLog : await createLog({ levels, format, identity }) } = dependencies;
  const own = { clock: systemClock, trusted: new TrustedAuthorities() };
  const injected = { ...own, ...dependencies, random, identity, log };
  const names = namesFor(settings.apiDomain);
  const state = createState();
  let opening: Promise<Listening> | undefined;
  let listened: Promise<Address> | undefined;
  const composition = { ...injected, settings, names, state, interceptWebhooks: intercept.webhooks };
  const components = await compose(composition);
  const client = createAdminClient(components.handler, names);
  const handler = intercept.handler?.(components.handler) ?? components.handler;
  const shared = { ...injected, ...components, client, names, settings };
  const tasks = createTasks(shared, state);
  try {
    await bootstrap(shared, tasks);
  } catch (error) {
    await tasks.customResources.stop();
    await discard(components);
    throw error;
  }
  const controllers = runControllers({
    ...shared,
    log: logOf(log, 'controllers'),
    exclusive: dependencies.store === undefined && settings.store === 'lmdb',
    opened: async () => {
      await listened?.catch(() => undefined);
      // Callers of `listen` continue first.
      await nextTurn();
    },
    tls: () => state.tls(),
  });
  const stopTasks = startTasks(shared, tasks, injected);
  let closed: Promise<void> | undefined;
  const server: OrchServer = {
    names,
    client: createAdminClient(handler, names),
    handler,
    settled: controllers.settled,
    async listen() {
      if (closed !== undefined) throw new StartError('the server is closed: create a new one to listen');
      if (opening !== undefined) throw new StartError('the server listens already: listen() is called once');
      const hasOthers = isShared(settings, dependencies);
      const sharedBy = hasOthers ? components.store : undefined;
      const workers = createWorkers({ ...injected, settings, components, isShared: hasOthers });
      state.workers = workers;
      opening = openWith(workers, () =>
        openListener(settings, names, handler, { ...injected, log: logOf(log, 'http'), sharedBy, workers }),
      );
      listened = opening.then((listening) => opened(listening, state, tasks));
      try {
        return await listened;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    close() {
      state.closing = true;
      closed ??= shutDown(components, opening, settings, injected, [controllers.stop, stopTasks]);
      return closed;
    },
  };
  return { server, store: components.store, registry: components.registry, tls: () => state.tls() };
}

/** A client that calls a handler as the administrator. */
const createAdminClient = (handler: Handler, { product, domain: apiDomain }: Names): Client => {
  const subject = { commonName: `${product}-admin`, organizations: ['system:masters'] };
  return createClient({ transport: inProcessTransport(handler, { subject }), apiDomain });
};

/** The mutable state of a server. */
interface State {
  closing: boolean;
  /** `host:port` of the listener; empty while the server does not listen. */
  address: string;
  port: number | undefined;
  tls: () => Tls | undefined;
  connections: () => ConnectionCounts | undefined;
  /** Undefined while there are no other processes. */
  workers: Workers | undefined;
  readonly others: () => Workers | undefined;
  readonly hooks: PostStartHooks;
}

/** Starts the workers before the listener, so that the first connections are spread too, and stops them with it. */
async function openWith(workers: Workers | undefined, open: () => Promise<Listening>): Promise<Listening> {
  if (workers === undefined) return open();
  try {
    await workers.start();
    const listening = await open();
    return {
      ...listening,
      close: async (graceMs) => void (await Promise.all([listening.close(graceMs), workers.stop()])),
    };
  } catch (error) {
    await workers.stop();
    throw error;
  }
}

/** The kinds of stores that no other server can use. */
const embedded: ReadonlySet<string> = new Set(['lmdb', 'memory']);

/** Whether other servers may use the store. */
const isShared = ({ store }: ServerSettings, injected: Partial<Dependencies>): boolean =>
  injected.store !== undefined || !embedded.has(store);

function createState(): State {
  const state: State = {
    closing: false,
    address: '',
    port: undefined,
    tls: () => undefined,
    hooks: new PostStartHooks(),
    connections: () => undefined,
    workers: undefined,
    others: () => state.workers,
  };
  return state;
}

/** Publishes where the server listens. */
async function opened(
  { address, tls, connections }: Listening,
  state: State,
  { service, registration }: Tasks,
): Promise<Address> {
  Object.assign(state, { port: address.port, tls, connections, address: new URL(address.url).host });
  await service.reconcile();
  void registration.reconcile();
  return address;
}

/** Creates the objects that every cluster has, and waits until requests can be authorized by roles. */
async function bootstrap(
  shared: ServerComponents &
    Pick<Dependencies, 'clock' | 'log'> &
    Partial<Pick<Dependencies, 'starting'>> & {
      readonly names: Names;
      readonly settings: ServerSettings;
      readonly client: Client;
    },
  { service, ensurePolicy, customResources, flows, hooks }: Tasks,
): Promise<void> {
  const { names, settings, client, log, rightsLoaded, starting } = shared;
  await shared.noteRevision();
  starting?.begin('objects');
  await Promise.all([
    createBootstrapObjects(shared, [defaultServiceCidr(names, settings)]),
    ensurePolicy(),
    customResources.start(),
  ]);
  await Promise.all([rightsLoaded, flows.load()]);
  hooks.done(
    'start-system-namespaces-controller',
    'scheduling/bootstrap-system-priority-classes',
    'priority-and-fairness-config-producer',
  );
  await service.reconcile();
  hooks.done('bootstrap-controller');
  if (settings.demo) await applyDemo(client, names, log);
}

/** Intervals of the service reconciler, and of the repair loop of cluster IPs and node ports (ms). */
const reconcileMs = 10_000;
const repairMs = 3 * 60_000;
/** Delay before a failed first repair is retried (ms): the server is not ready until it succeeds. */
const repairRetryMs = 1_000;
/** Delay before the default policy is retried when it could not be ensured at startup (ms). */
const policyRetryMs = 10_000;
/** Interval at which the latest revision of the store is recorded (ms). */
const noteRevisionMs = 10_000;
/** Interval at which the bootstrap objects of flow control are reconciled (ms). */
const flowObjectsMs = 60_000;
const firstFlowObjectsMs = 2_000;
/** Interval at which priority levels lend and borrow seats (ms). */
export const adjustSeatsMs = 10_000;
/** Interval of the self-registration (ms), and delay of its first run, which must not slow the startup. */
const registrationMs = 5_000;
const firstRegistrationMs = 1_000;

interface Tasks {
  readonly service: ServiceReconciler;
  readonly registration: SelfRegistration;
  readonly ensurePolicy: () => Promise<void>;
  readonly customResources: CustomResources;
  readonly flows: FlowTasks;
  readonly hooks: PostStartHooks;
}

/** Creates the background tasks of the server. */
function createTasks(shared: TaskOptions, state: State): Tasks {
  const { hooks } = state;
  return {
    hooks,
    service: createServiceReconciler({ ...shared, interfaces: networkInterfaces, port: () => state.port }),
    registration: createSelfRegistration({
      ...shared,
      closing: () => state.closing,
      onRegistered: () => hooks.done('autoregister-completion'),
    }),
    ensurePolicy: createPolicyBootstrap(shared, () => hooks.done('rbac/bootstrap-roles')),
    customResources: createCustomResources(shared),
    flows: createFlowTasks(shared, () => state.closing),
  };
}

type TaskOptions = Pick<ServerComponents, 'flowControl'> &
  Omit<SelfRegistrationOptions, 'closing' | 'onRegistered'> &
  Omit<Parameters<typeof createServiceReconciler>[0], 'interfaces' | 'port'> &
  Parameters<typeof createPolicyBootstrap>[0] &
  Parameters<typeof createCustomResources>[0];

/** Starts the periodic tasks of the server. Returns a function that stops them. */
function startTasks(
  { registry, store, names, noteRevision }: ServerComponents & { readonly names: Names },
  { service, registration, ensurePolicy, customResources, flows, hooks }: Tasks,
  { clock, log }: Pick<Dependencies, 'clock' | 'log'>,
): () => Promise<unknown> {
  const services = registry.find('', 'v1', 'services');
  const addresses = registry.find(`networking.${names.domain}`, 'v1', 'ipaddresses');
  const repairOnce = async () => {
    try {
      if (services !== undefined && addresses !== undefined) {
        await repair({ store, registry, services, addresses, warn: log.warn });
      }
      hooks.done('start-service-ip-repair-controllers');
      return true;
    } catch (error) {
      log.error('failed to repair the allocation of cluster IPs and node ports', { error });
      return false;
    }
  };
  registration.follow();
  const firstRepair = repeat(
    clock,
    repairRetryMs,
    async () => {
      if (await repairOnce()) void firstRepair();
    },
    0,
  );
  const stops = [
    repeat(clock, reconcileMs, service.reconcile),
    repeat(clock, registrationMs, registration.reconcile, firstRegistrationMs),
    firstRepair,
    repeat(clock, repairMs, async () => void (await repairOnce())),
    repeat(clock, policyRetryMs, ensurePolicy),
    // A reconciliation in progress is not waited for at the end: the store may never respond.
    repeat(clock, flowObjectsMs, async () => void flows.reconcile(), firstFlowObjectsMs),
    repeat(clock, adjustSeatsMs, flows.adjust),
    repeat(clock, noteRevisionMs, noteRevision),
  ];
  // `closing` is set by now: the last call of `reconcile` only waits for those in progress.
  return () =>
    Promise.all([...stops.map((stop) => stop()), customResources.stop(), registration.reconcile(), service.withdraw()]);
}
