import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { makePlugins } from '../admission/index.ts';
import { type AllocationOptions, createAllocations } from '../allocation/index.ts';
import { reviewHandlers } from '../auth/index.ts';
import {
  createHandler,
  createHealth,
  createInFlight,
  createMetrics,
  createNodeProxy,
  createNonResourceHandler,
  createProfiler,
  type Handler,
  type HealthCheck,
  type InFlight,
  type InFlightLimits,
  type Metrics,
  type NodeProxy,
  YamlThread,
} from '../http/index.ts';
import { expandNames, type Features, type Names } from '../meta/index.ts';
import { createRegistry, type Observer, type Registry, type RegistryOptions } from '../registry/index.ts';
import { builtinResources, findType } from '../resources/index.ts';
import { openLmdbStore, openMemoryStore, type Store, StoreError } from '../store/index.ts';
import { type ClusterIdentity, openIdentity } from './cluster-identity.ts';
import { checkStore, componentStatuses, probeLocal } from './component-status.ts';
import type { Dependencies, Log } from './dependencies.ts';
import { checkGate, gateWarnings, resolveFeatures } from './feature-gates.ts';
import { ensureFolder } from './files.ts';
import type { ServerSettings } from './flags.ts';
import { authenticatorOf, authorizerOf } from './identities.ts';
import { pluginInitializer } from './plugin-initializer.ts';
import { isServed, runtimeProblem } from './runtime-config.ts';
import { StartError, systemReason } from './start-error.ts';
import type { StartHooks } from './start-hooks.ts';
import { kubeletTrustOf } from './tls.ts';
import { apiVersion } from './version.ts';

/** The rooms of a server, put together. */
export interface ServerParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly inFlight: InFlight;
  readonly nodeProxy: NodeProxy;
  readonly yaml: YamlThread;
  readonly handler: Handler;
}

/** What the parts ask of the server that they are in. */
export interface ServerState {
  readonly closing: boolean;
  readonly hooks: StartHooks;
  /** `host:port` under which clients reach it; empty while it does not listen. */
  readonly address: string;
}

type World = Pick<Dependencies, 'clock' | 'random' | 'log'> & { readonly store?: Store };

/** Everything between a request and the disk. @throws StartError */
export async function compose(
  settings: ServerSettings,
  names: Names,
  { clock, random, log, store: given }: World,
  state: ServerState,
): Promise<ServerParts> {
  const serves = servedParts(settings.runtimeConfig, names);
  const features = featuresOf(settings.featureGates, log);
  const authenticate = await authenticatorOf(settings, names);
  const authorize = authorizerOf(names);
  const trust = await kubeletTrustOf(settings);
  const store = given ?? (await openStore(settings, clock));
  const { tokenKey } = await identityOf(store, settings, random);
  const inFlight = createInFlight(inFlightLimits(settings));
  const metrics = createMetrics(() => registry, inFlight, clock);
  const registry: Registry = createRegistry({
    store,
    names,
    clock,
    random,
    definitions: builtinResources,
    serves,
    features,
    tokenKey,
    observer: observerOf(metrics, log),
    ...registrySettings(settings),
    reviewHandlers: reviewHandlers({ authenticate, authorize, names, audiences: [] }),
    ...claimsOf(settings, { names, store, random, registry: () => registry }, serves),
    virtualLists: new Map([['componentstatuses', () => componentStatuses(store, names, probeLocal)]]),
    admission: makePlugins(
      pluginInitializer({ settings, names, random, store, authorize, registry: () => registry }),
      settings.enableAdmissionPlugins,
      settings.disableAdmissionPlugins,
    ),
  });
  const checks = [
    ...healthChecks(names, store),
    ...state.hooks.checks(clock, settings.livezGracePeriod),
    ...readinessChecks(names, store, registry, state),
  ];
  const nonResource = createNonResourceHandler({
    registry,
    names,
    health: createHealth(checks, (check, error) => log.error('health check failed', { check, error })),
    metrics,
    profiler: settings.profiling ? createProfiler(clock) : undefined,
    version: apiVersion(),
    serverAddress: () => state.address,
    findType,
    pause: turn,
  });
  const nodeProxy = createNodeProxy({ clock, trust, connectMs: settings.kubeletTimeout });
  const yaml = new YamlThread({ clock });
  const handler = createHandler({
    registry,
    names,
    findType,
    authenticate,
    authorize,
    clock,
    random,
    log,
    metrics,
    nonResource,
    nodeProxy,
    readYaml: (bytes) => yaml.parse(bytes),
  });
  return { store, registry, inFlight, nodeProxy, yaml, handler };
}

const registrySettings = (settings: ServerSettings) => ({
  garbageCollector: settings.enableGarbageCollector,
  watchSeconds: settings.minRequestTimeout,
  allowPrivileged: settings.allowPrivileged,
  historyMs: settings.etcdCompactionInterval,
  nodeAddresses: settings.kubeletPreferredAddressTypes,
});

/** Services without the kinds that say whose an address is have no addresses. */
function claimsOf(
  { serviceClusterIpRange: ranges, serviceNodePortRange: nodePorts }: ServerSettings,
  world: { readonly names: Names } & Pick<AllocationOptions, 'store' | 'random' | 'registry'>,
  serves: NonNullable<RegistryOptions['serves']>,
): Pick<RegistryOptions, 'openAllocations'> {
  const group = `networking.${world.names.domain}`;
  if (!['ipaddresses', 'servicecidrs'].every((plural) => serves(group, 'v1', plural))) return {};
  const families = ranges.map(({ address }) => (isIPv4(address) ? 'IPv4' : 'IPv6'));
  return { openAllocations: createAllocations({ ...world, group, families, nodePorts }) };
}

/** Watches wait more than they work: what bounds them is memory. */
const maxWatches = 100_000;
/** What goes on to nodes holds two connections each. */
const maxRelayed = 10_000;
/** Bytes of bodies that are on their way or worked on: some 80 of the largest. */
const maxReceiving = 256 * 1024 * 1024;
/** Bytes of answers that clients have not taken: a chunk for each of some hundred lists, which takes up thrice its size. */
const maxUnread = 128 * 1024 * 1024;

const limitOf = (setting: number) => (setting === 0 ? Number.POSITIVE_INFINITY : setting);

const inFlightLimits = (settings: ServerSettings): InFlightLimits => ({
  readOnly: limitOf(settings.maxRequestsInflight),
  mutating: limitOf(settings.maxMutatingRequestsInflight),
  longRunning: maxWatches,
  proxied: maxRelayed,
  receiving: maxReceiving,
  unread: maxUnread,
});

/** Counts what happens inside, and logs what should not happen. */
const observerOf = (metrics: Metrics, log: Log): Observer => ({
  admission: metrics.admission,
  mismatch: (difference) => {
    metrics.mismatched();
    log.warn('declared rules and those written by hand do not find the same', { ...difference });
  },
  ruleFailure: (kind, error) => {
    metrics.ruleFailed();
    log.error('a declared rule failed', { kind, error });
  },
  corrupt: (key, revision) => log.error('a stored object cannot be read', { key, revision }),
});

/** The state of every feature; advice on the switches is logged. @throws StartError */
function featuresOf(switched: ServerSettings['featureGates'], log: Log): Features {
  const [problem] = [...switched].flatMap(([name, on]) => checkGate(name, on) ?? []);
  if (problem !== undefined) throw new StartError(`--feature-gates ${problem}`);
  for (const warning of gateWarnings(switched)) log.warn(warning, {});
  return resolveFeatures(switched);
}

/** What of the built-in kinds is served. @throws StartError */
function servedParts(config: ReadonlyMap<string, boolean>, names: Names): NonNullable<RegistryOptions['serves']> {
  const known = builtinResources.map((definition) => ({
    ...definition,
    group: expandNames(definition.group, names),
  }));
  const problem = runtimeProblem(config, known);
  if (problem !== undefined) throw new StartError(`--runtime-config ${problem}`);
  return (group, version, plural) => isServed(config, group, version, plural);
}

async function openStore(settings: ServerSettings, clock: Dependencies['clock']): Promise<Store> {
  const historyMs = settings.etcdCompactionInterval;
  if (settings.store === 'memory') return openMemoryStore({ clock, historyMs });
  if (settings.dataDir === undefined) throw new StartError('the store "lmdb" needs a data directory');
  try {
    await ensureFolder(settings.dataDir);
    return await openLmdbStore({ path: join(settings.dataDir, 'store'), clock, historyMs });
  } catch (error) {
    // The store says itself what to do about it.
    if (error instanceof StoreError) throw new StartError(error.message, error);
    throw new StartError(`the folder ${settings.dataDir} cannot be used: ${systemReason(error)}`, error);
  }
}

/** The identity of the store; closes the store when it is not this server's. @throws StartError */
async function identityOf(
  store: Store,
  settings: ServerSettings,
  random: Dependencies['random'],
): Promise<ClusterIdentity> {
  const { dataDir, apiDomain } = settings;
  const place = settings.store === 'memory' || dataDir === undefined ? 'the store' : `the data directory ${dataDir}`;
  try {
    return await openIdentity(store, apiDomain, random, place);
  } catch (error) {
    await store.close();
    throw error instanceof StoreError ? new StartError(error.message, error) : error;
  }
}

function healthChecks(names: Names, store: Store): HealthCheck[] {
  const everywhere = ['healthz', 'livez', 'readyz'] as const;
  return [
    { name: 'ping', check: () => {}, endpoints: everywhere },
    { name: 'log', check: () => {}, endpoints: everywhere },
    { name: names.storeCheck, check: () => checkStore(store), endpoints: everywhere },
  ];
}

function readinessChecks(names: Names, store: Store, registry: Registry, state: ServerState): HealthCheck[] {
  // Admission asks for the namespace of every object that is written.
  const namespaces = registry.resources.find(({ definition }) => definition.plural === 'namespaces');
  const synced = () => {
    if (namespaces === undefined || namespaces.cache.revision > 0) return;
    namespaces.cache.ready().catch(() => {});
    throw new Error('the namespaces are not loaded yet');
  };
  const open = () => {
    if (state.closing) throw new Error('the server is shutting down');
  };
  return [
    { name: `${names.storeCheck}-readiness`, check: () => checkStore(store), endpoints: ['readyz'] },
    { name: 'informer-sync', check: synced, endpoints: ['readyz'] },
    { name: 'shutdown', check: open, endpoints: ['readyz'] },
  ];
}
