import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Client,
  createClient,
  type InProcessHandler,
  inProcessTransport,
  type KindPlace,
  LeaderElection,
  type Transport,
  whileHeld,
} from '../../client/index.ts';
import {
  allControllers,
  bindUsers,
  type Controller,
  type ControllerSettings,
  componentName,
  defaultSettings,
  fakeNodeControllers,
  settle,
  startControllers,
} from '../../controllers/index.ts';
import type { Metrics } from '../../http/index.ts';
import { expandNames, formatGroupResource, type Names, parseGroupVersion } from '../../meta/index.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Tls } from '../certificates/tls.ts';
import { ControllerThread } from '../controller-thread/controller-thread.ts';
import type { Dependencies } from '../dependencies.ts';
import { leaseSettings, requestRate } from '../settings/controller-flags.ts';
import { fakeNodeCount } from '../settings/fake-nodes.ts';
import { resolveFeatures } from '../settings/feature-gates.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { servedResources } from '../settings/served-resources.ts';
import { gitVersion, version } from '../version.ts';

type Options = Pick<Dependencies, 'clock' | 'random' | 'log'> & {
  readonly settings: ServerSettings;
  readonly names: Names;
  readonly handler: InProcessHandler;
  readonly metrics: Metrics;
  /** The client of an administrator. */
  readonly client: Client;
  /** Whether no other server can have the same store open. */
  readonly exclusive: boolean;
  /** Resolves once a pending `listen` is done: controllers start after that. */
  readonly opened: () => Promise<unknown>;
  readonly signSecretToken: Tokens['signSecretToken'];
  /** The certificates that are in use; undefined while the server does not listen. */
  readonly tls: () => Tls | undefined;
};

/** Delay of the controllers after the start of the server, which they must not slow down (ms). */
const firstMs = 50;

/** Turns of the event loop within which controllers start after a won election. */
const electionTurns = 10;

/** The controllers of a server. */
interface ServerControllers {
  /** Resolves once they are idle until the clock moves. Starts them if they have not started. */
  readonly settled: () => Promise<void>;
  /** Resolves when nothing runs any more. */
  readonly stop: () => Promise<void>;
}

/** The enabled controllers that need a resource for which `isServed` is false, such as `deployments.apps`. */
export function idleControllers(
  { controllers }: ServerSettings,
  names: Names,
  isServed: (resource: string) => boolean,
): Controller[] {
  const idOf = ({ apiVersion, resource }: KindPlace) => {
    const { group = '' } = parseGroupVersion(expandNames(apiVersion, names)) ?? {};
    return formatGroupResource({ group, resource });
  };
  return allControllers.filter(
    ({ name, needs = [] }) => controllers.has(name) && !needs.every((kind) => isServed(idOf(kind))),
  );
}

/** The enabled controllers that have something to do. */
function controllersOf(settings: ServerSettings, names: Names): Controller[] {
  const served = servedResources(settings, names);
  const idle = new Set(idleControllers(settings, names, (resource) => served.has(resource)));
  const on = allControllers.filter((one) => settings.controllers.has(one.name) && !idle.has(one));
  const count = fakeNodeCount(settings);
  return count === 0 ? on : [...on, ...fakeNodeControllers({ count, version: gitVersion })];
}

/** The components of the control plane that run in the process of the server; fake nodes have a scheduler. */
export const localComponents = (settings: ServerSettings): ReadonlySet<string> =>
  new Set([
    ...(settings.controllers.size > 0 ? ['controller-manager'] : []),
    ...(fakeNodeCount(settings) > 0 ? ['scheduler'] : []),
  ]);

/** Creates in-process clients of users, which send requests only while `holds` returns true. */
const clientsOf =
  (handler: InProcessHandler, { domain }: Names) =>
  (
    holds: () => boolean,
    commonName: string,
    organizations: readonly string[] = [],
    agent: string = componentName,
    limit = (transport: Transport) => transport,
  ) => {
    const transport = inProcessTransport(handler, { subject: { commonName, organizations }, background: true });
    return createClient({
      transport: limit(whileHeld(holds, transport)),
      baseHeaders: { 'user-agent': `${agent}/${version}` },
      apiDomain: domain,
    });
  };

const managerUser = `system:${componentName}`;

/** Starts the controllers in the thread of the server. */
function inProcess(options: Options, controllers: readonly Controller[], holds: () => boolean): ServerControllers {
  const { settings, names, handler, metrics, clock, random, log } = options;
  const clientAs = clientsOf(handler, names);
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${names.systemNamespace}`];
  const running = startControllers({
    controllers,
    names,
    clock,
    random,
    log,
    settings: controllerSettings(options),
    reader: clientAs(holds, managerUser),
    rate: requestRate(settings),
    clientOf: (account, other, limit) =>
      other === undefined
        ? clientAs(holds, `system:serviceaccount:${names.systemNamespace}:${account}`, groups, componentName, limit)
        : clientAs(holds, other.name, other.groups, other.agent, limit),
    observe: (queue) => metrics.queue(queue),
  });
  return { settled: () => settle(running), stop: running.stop };
}

/** Starts the controllers in a separate thread. */
function inThread(options: Options, controllers: readonly Controller[], holds: () => boolean): ServerControllers {
  const { settings, names, handler, metrics, clock, log, signSecretToken, tls } = options;
  const { features, signingMs, legacyTokenMs } = controllerSettings(options);
  const thread = new ControllerThread({
    handler,
    holds,
    clock,
    log,
    signSecretToken,
    start: {
      gitVersion,
      version,
      apiDomain: names.domain,
      controllers: controllers.map(({ name }) => name),
      fakeNodes: fakeNodeCount(settings),
      rate: requestRate(settings),
      settings: { features, signingMs, legacyTokenMs },
    },
    certificates: () => ({ rootCa: tls()?.rootCa, signing: tls()?.signing }),
    observe: (queue) => metrics.queue(queue),
  });
  return { settled: () => thread.settled(), stop: () => thread.stop() };
}

/** Runs the enabled controllers, in the thread of the server or in a separate one. */
export function runControllers(options: Options): ServerControllers {
  const { settings, names, handler, metrics, client, clock, random, log, opened } = options;
  const controllers = controllersOf(settings, names);
  if (controllers.length === 0) return { settled: () => Promise.resolve(), stop: () => Promise.resolve() };
  let current: ServerControllers | undefined;
  const lead = (holds: () => boolean) => {
    current = settings.controllersThread
      ? inThread(options, controllers, holds)
      : inProcess(options, controllers, holds);
    return current;
  };
  const always = () => true;
  const start = async () => {
    await opened();
    if (stopped) return;
    await bindUsers(client, controllers, names).catch((error: unknown) => {
      log.error('failed to bind the users of controllers to their roles', { error });
    });
    if (!settings.leaderElect) return lead(always);
    const election: LeaderElection = new LeaderElection({
      clock,
      random,
      log,
      settings: leaseSettings(settings),
      lease: { namespace: names.systemNamespace, name: componentName },
      identity: await identityOf(options),
      client: clientsOf(handler, names)(always, managerUser),
      lead: () => lead(() => election.holds),
    });
    metrics.lease(componentName, () => ({ held: election.holds, slowpath: election.slowpath }));
    return election;
  };
  let stopped = false;
  let starting: ReturnType<typeof start> | undefined;
  const begin = () => {
    starting ??= start();
    return starting;
  };
  const cancel = clock.after(firstMs, () => void begin());
  return {
    settled: async () => {
      if (stopped) return;
      cancel();
      const running = await begin();
      if (running instanceof LeaderElection) await running.attempted();
      // Another process may have been elected, which runs its own controllers.
      for (let turn = 0; current === undefined && turn < electionTurns; turn++) await nextTurn();
      await current?.settled();
    },
    stop: async () => {
      stopped = true;
      cancel();
      const running = await starting;
      await running?.stop();
    },
  };
}

const controllerSettings = ({ settings, signSecretToken, tls }: Options): ControllerSettings => ({
  ...defaultSettings,
  features: resolveFeatures(settings),
  rootCertificates: () => tls()?.rootCa,
  signSecretToken,
  signingAuthority: () => tls()?.signing,
  signingMs: settings.clusterSigningDuration,
  legacyTokenMs: settings.legacyServiceAccountTokenCleanUpPeriod,
});

/**
 * The identity with which a server holds the lease. It is constant for a store that no other server can open: a server that
 * restarts after a crash then recognizes its own lease.
 */
async function identityOf({ exclusive, client, names, random }: Options): Promise<string> {
  const place = { apiVersion: 'v1', resource: 'namespaces', name: names.systemNamespace };
  const namespace = exclusive ? await client.get(place).catch(() => undefined) : undefined;
  const uid = namespace?.metadata.uid;
  return uid === undefined ? `${hostname()}_${random.uuid()}` : `${names.server}_${uid}`;
}
