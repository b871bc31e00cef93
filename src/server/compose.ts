import { isIPv4 } from 'node:net';
import { makePlugins } from '../admission/index.ts';
import { type AllocationOptions, createAllocations } from '../allocation/index.ts';
import type { Auditor } from '../audit/index.ts';
import { identityHeaders, NodeGraph, RbacIndex, reviewHandlers } from '../auth/index.ts';
import { garbageCollector } from '../controllers/index.ts';
import {
  authorizationObserver,
  type ConnectionCounts,
  commitObserver,
  countReloads,
  createHandler,
  createInFlight,
  createMetrics,
  createNodeProxy,
  createNonResourceHandler,
  createProfiler,
  emptyCounts,
  type Handler,
  type HandlerOptions,
  type HealthCheck,
  type InFlight,
  type Metrics,
  type NodeProxy,
  YamlThread,
} from '../http/index.ts';
import { expandNames, type Names } from '../meta/index.ts';
import {
  createRegistry,
  type Observer,
  type Registry,
  type RegistryOptions,
  resourceFinder,
} from '../registry/index.ts';
import { builtinResources, metricsResources } from '../resources/index.ts';
import { observedStore, type Store, StoreError } from '../store/index.ts';
import type { Tracer } from '../tracing/index.ts';
import { describe } from '../types/descriptions.ts';
import { findType } from '../types/find-type.ts';
import { type Authentication, authenticationOf, requestHeaderNames } from './access/access.ts';
import { type Authorization, openAuthorization, resourceAuthorizer } from './access/authorization.ts';
import { followNodes } from './access/node-graph.ts';
import { parameterChecks } from './access/parameter-checks.ts';
import { followRoles, roleChecks } from './access/rbac.ts';
import type { Tokens } from './access/tokens.ts';
import { expiriesOf, kubeletTrustOf, type Tls } from './certificates/tls.ts';
import type { TrustedAuthorities } from './certificates/trusted-authorities.ts';
import { type ClusterIdentity, openIdentity } from './cluster/cluster-identity.ts';
import { componentStatuses, probeOthers } from './cluster/component-status.ts';
import type { PostStartHooks } from './cluster/post-start-hooks.ts';
import { componentsOf } from './cluster/run-controllers.ts';
import { allowsPrivileged, fakeNodesOf } from './commands/demo.ts';
import { type Dependencies, type Log, logOf, type Starting } from './dependencies.ts';
import { withFakeKubelets } from './fake-kubelet/fake-kubelet.ts';
import { usageLists } from './fake-kubelet/usage.ts';
import { serverHealth } from './observability/health.ts';
import { createUsageReader, type UsageReader } from './observability/process-usage.ts';
import { openTracer } from './observability/tracing.ts';
import { readAdmission } from './settings/admission-configuration.ts';
import { gateWarnings, resolveFeatures } from './settings/feature-gates.ts';
import type { ServerSettings } from './settings/flags.ts';
import { inFlightLimits } from './settings/in-flight-limits.ts';
import { isServed, runtimeProblem } from './settings/runtime-config.ts';
import { StartError } from './start-error.ts';
import { encrypted, type MaybeEncrypted } from './storage/encryption.ts';
import { openStore, placeOf } from './storage/open-store.ts';
import { createRevisionMemory } from './storage/revision-memory.ts';
import { type StoreChecks, storeChecks } from './storage/store-checks.ts';
import { apiVersion, buildInfo } from './version.ts';
import { openAuditor } from './webhooks/audit.ts';
import { kindFinder } from './webhooks/kind-finder.ts';
import { pluginInitializer } from './webhooks/plugin-initializer.ts';
import { type RegisteredWebhooks, registeredWebhooks } from './webhooks/registered-webhooks.ts';
import { webhookServices } from './webhooks/webhook-services.ts';

/** The components of a server. */
export interface ServerComponents {
  readonly store: Store;
  readonly registry: Registry;
  readonly inFlight: InFlight;
  readonly nodeProxy: NodeProxy;
  readonly yaml: YamlThread;
  readonly webhooks: RegisteredWebhooks;
  readonly authorization: Authorization;
  readonly metrics: Metrics;
  readonly usage: UsageReader;
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** Undefined: nothing is audited. */
  readonly auditor: Auditor | undefined;
  readonly handler: Handler;
  readonly signSecretToken: Tokens['signSecretToken'];
  /** See {@link Tokens}. */
  readonly closeAuthentication: () => Promise<void>;
  /** See {@link createRevisionMemory}. */
  readonly noteRevision: () => Promise<void>;
  /** Resolves when requests can be authorized by roles and for nodes. */
  readonly rightsLoaded: Promise<unknown>;
}

/** The state of the server that its components read. */
export interface ServerState {
  readonly closing: boolean;
  readonly hooks: PostStartHooks;
  /** `host:port` of the listener; empty while the server does not listen. */
  readonly address: string;
  /** Undefined while the server does not listen. */
  readonly tls: () => Tls | undefined;
  readonly connections: () => ConnectionCounts | undefined;
}

type ComposeDependencies = Pick<Dependencies, 'clock' | 'random' | 'log' | 'identity'> & {
  readonly store?: Store;
  readonly starting?: Starting;
  readonly trusted: TrustedAuthorities;
  readonly interceptWebhooks?: ((webhooks: RegisteredWebhooks) => RegisteredWebhooks) | undefined;
};

/** Creates the components between a request and the store. @throws StartError */
export async function compose(
  settings: ServerSettings,
  names: Names,
  { clock, random, log, identity, store: given, trusted, starting, interceptWebhooks }: ComposeDependencies,
  state: ServerState,
): Promise<ServerComponents> {
  const serves = resourceFilter(settings.runtimeConfig, names);
  const usage = createUsageReader();
  const counts = serverCounts(state, usage, identity, () => ({ store, usable }));
  const later = { store: () => store, registry: () => registry, address: () => state.address };
  const expiring = (secondsLeft: number) => metrics.certificateUsed(secondsLeft);
  const findKind = kindFinder(later.registry);
  const places = { names, clock, random, ...later };
  const webhooks = webhooksOf(settings, places, interceptWebhooks);
  const auth = { clock, random, log: logOf(log, 'auth'), trusted, expiring, webhooks, ...later };
  const reloaded = countReloads(counts.authenticationReloads, clock);
  const access = await authenticationOf(settings, names, { ...auth, reloaded, tokenCounts: counts.tokens });
  const roles = new RbacIndex();
  const nodes = new NodeGraph();
  const observer = authorizationObserver(counts.authorizers, clock);
  const authorization = await openAuthorization(settings, { ...auth, names, index: roles, nodes, observer });
  const { authorize } = authorization;
  const nodeProxy = await nodeProxyOf(settings, places);
  const fakeNodes = fakeNodesOf(settings);
  const admissionLog = logOf(log, 'admission');
  const configured = await readAdmission(settings, names, admissionLog);
  const auditor = await openAuditor(settings, { names, clock, random, log: logOf(log, 'audit'), counts: counts.audit });
  const tracer = await openTracer(settings, names, { clock, random, identity, log: logOf(log, 'tracing') });
  const inFlight = createInFlight(inFlightLimits(settings));
  const metrics = createMetrics(() => registry, inFlight, clock, counts);
  const opening = { names, clock, random, log, counts, metrics };
  starting?.begin('store', given === undefined ? placeOf(settings) : '');
  const { store, checks, tokenKey, usable, noteRevision } = await openStores(settings, given, opening);
  const checking = { authorize, names, registry: later.registry };
  const plugins = { ...configured, ...checking, settings, clock, random, log: admissionLog, findKind };
  const registry: Registry = createRegistry({
    ...{ store, names, clock, random, serves, tokenKey },
    definitions: fakeNodes > 0 ? [...builtinResources, ...metricsResources] : builtinResources,
    authorize: resourceAuthorizer(authorize),
    observer: createObserver(metrics, logOf(log, 'registry'), starting),
    ...registrySettings(settings, log),
    reviewHandlers: reviewHandlers({ ...access, authorize, names }),
    writeChecks: roleChecks({ index: roles, store, ...checking }),
    referenceChecks: parameterChecks({ findKind, ...checking }),
    ...allocationOptions(settings, { names, store, random, registry: () => registry }, serves),
    virtualLists: new Map([
      ['componentstatuses', () => componentStatuses(store, names, probeOthers(componentsOf(settings)))],
      ...usageLists({ ...places, count: fakeNodes }),
    ]),
    admission: pluginsOf({ ...plugins, webhooks, metrics }),
  });
  const handling = { registry, names, clock, random, log, metrics, access, authorize, auditor, nodeProxy, tracer };
  const { yaml, handler } = createHandlers(settings, state, { ...handling, store: usable, checks });
  const opened = { store, registry, inFlight, nodeProxy, yaml, webhooks, metrics, auditor, tracer, handler, usage };
  const { signSecretToken, close: closeAuthentication } = access;
  const rightsLoaded = Promise.all([
    followRoles(registry, roles, names),
    authorization.usesNodes ? followNodes(registry, nodes, names) : undefined,
  ]);
  // Also when nobody waits for it.
  rightsLoaded.catch(() => {});
  return { ...opened, authorization, rightsLoaded, signSecretToken, closeAuthentication, noteRevision };
}

/** What requests are handled with. */
interface Handling
  extends Pick<HandlerOptions, 'registry' | 'names' | 'clock' | 'random' | 'metrics' | 'authorize' | 'auditor'>,
    Pick<HandlerOptions, 'nodeProxy' | 'tracer'> {
  readonly log: Log;
  readonly access: Authentication;
  readonly store: StoreChecks;
  /** The health checks of the store's encryption. */
  readonly checks: readonly HealthCheck[];
}

/** The handler of all requests, and the thread that reads YAML for it. */
function createHandlers(
  settings: ServerSettings,
  state: ServerState,
  { log, access, store, checks, ...handling }: Handling,
): { readonly yaml: YamlThread; readonly handler: Handler } {
  const { registry, names, clock, metrics } = handling;
  const others = [...checks, ...state.hooks.checks(clock, settings.livezGracePeriod)];
  const nonResource = createNonResourceHandler({
    ...{ registry, names, metrics, findType, describe },
    health: serverHealth({ names, store, registry, others, log, isClosing: () => state.closing }),
    ...debugging(settings, clock, log),
    version: apiVersion(),
    serverAddress: () => state.address,
    openId: access.openId,
  });
  const yaml = new YamlThread({ clock });
  const handler = createHandler({
    ...handling,
    ...{ findType, nonResource },
    authenticate: access.authenticate,
    log: logOf(log, 'http'),
    isStarting: state.hooks.starting(clock),
    readYaml: (bytes, user, turns) => yaml.parse(bytes, user, turns),
  });
  return { yaml, handler };
}

/** The counters of a server, and what its metrics show of its state. */
const serverCounts = (
  state: ServerState,
  usage: UsageReader,
  identity: string,
  opened: () => Pick<OpenedStore, 'store' | 'usable'>,
) => {
  const empty = emptyCounts();
  return {
    ...empty,
    ...{ identity, build: buildInfo(), readUsage: usage.read },
    certificates: () => expiriesOf(state.tls()),
    connections: () => state.connections() ?? empty.connections(),
    storeSize: async () => opened().store.size(),
    checkWritable: async () => opened().usable.writable(),
  };
};

/** What administrators may look into, and change, while the server runs. */
const debugging = ({ profiling }: ServerSettings, clock: Dependencies['clock'], { levels }: Log) => ({
  profiler: profiling ? createProfiler(clock) : undefined,
  flags: profiling && levels !== undefined ? new Map([['v', levels]]) : undefined,
});

const pluginsOf = (
  options: Omit<Parameters<typeof pluginInitializer>[0], 'features'> & { readonly settings: ServerSettings },
) => {
  const { enableAdmissionPlugins: on, disableAdmissionPlugins: off } = options.settings;
  const features = resolveFeatures(options.settings.featureGates);
  return makePlugins(pluginInitializer({ ...options, features }), on, off);
};

type Places = Pick<Dependencies, 'clock' | 'random'> & { readonly names: Names; readonly registry: () => Registry };

async function nodeProxyOf(settings: ServerSettings, places: Places): Promise<NodeProxy> {
  const proxy = createNodeProxy({
    clock: places.clock,
    trust: await kubeletTrustOf(settings),
    connectMs: settings.kubeletTimeout,
    isIdentity: identityHeaders(requestHeaderNames(settings)),
  });
  const count = fakeNodesOf(settings);
  return count === 0 ? proxy : withFakeKubelets(proxy, { ...places, count });
}

function webhooksOf(
  settings: ServerSettings,
  places: Places,
  intercept: ComposeDependencies['interceptWebhooks'],
): RegisteredWebhooks {
  const webhooks = registeredWebhooks(webhookServices({ ...places, fakeNodes: fakeNodesOf(settings) }));
  return intercept?.(webhooks) ?? webhooks;
}

/** Warns of feature gates. */
function registrySettings(settings: ServerSettings, log: Log) {
  for (const warning of gateWarnings(settings.featureGates)) log.warn(warning, {});
  return {
    features: resolveFeatures(settings.featureGates),
    garbageCollector: settings.enableGarbageCollector || settings.controllers.has(garbageCollector.name),
    watchSeconds: settings.minRequestTimeout,
    allowPrivileged: allowsPrivileged(settings),
    historyMs: settings.etcdCompactionInterval,
    nodeAddresses: settings.kubeletPreferredAddressTypes,
  };
}

/** Without the resources `ipaddresses` and `servicecidrs` no addresses are allocated. */
function allocationOptions(
  { serviceClusterIpRange: ranges, serviceNodePortRange: nodePorts }: ServerSettings,
  dependencies: { readonly names: Names } & Pick<AllocationOptions, 'store' | 'random' | 'registry'>,
  serves: NonNullable<RegistryOptions['serves']>,
): Pick<RegistryOptions, 'openAllocations'> {
  const group = `networking.${dependencies.names.domain}`;
  if (!['ipaddresses', 'servicecidrs'].every((plural) => serves(group, 'v1', plural))) return {};
  const families = ranges.map(({ address }) => (isIPv4(address) ? 'IPv4' : 'IPv6'));
  return { openAllocations: createAllocations({ ...dependencies, group, families, nodePorts }) };
}

/** Updates metrics, and logs internal errors. */
const createObserver = (metrics: Metrics, log: Log, starting: Starting | undefined): Observer => ({
  read: starting && ((objects) => starting.loaded(objects)),
  admission: metrics.admission,
  mismatch: (difference) => {
    metrics.mismatched();
    log.warn('declarative and handwritten validation disagree', { ...difference });
  },
  ruleFailure: (kind, error) => {
    metrics.ruleFailed();
    log.error('declarative validation failed', { kind, error });
  },
  damaged: ({ message, cause }) =>
    log.error(`${message}: run orch check, and restore a backup (docs/backup.md)`, { error: cause }),
  corrupt: (key, revision) => log.error('a stored object cannot be decoded', { key, revision }),
});

/** The filter of served resources of `--runtime-config`. @throws StartError */
function resourceFilter(config: ReadonlyMap<string, boolean>, names: Names): NonNullable<RegistryOptions['serves']> {
  const known = builtinResources.map((definition) => ({
    ...definition,
    group: expandNames(definition.group, names),
  }));
  const problem = runtimeProblem(config, known);
  if (problem !== undefined) throw new StartError(`--runtime-config ${problem}`);
  // There with fake nodes, whose usage it is.
  const usage = `metrics.${names.domain}`;
  return (group, version, plural) => group === usage || isServed(config, group, version, plural);
}

interface OpenedStore
  extends MaybeEncrypted,
    Pick<ClusterIdentity, 'tokenKey'>,
    Pick<ServerComponents, 'noteRevision'> {
  readonly usable: StoreChecks;
}

/**
 * The given store or that of the settings, its requests counted, encrypted as the settings say, with the health checks and
 * the key of tokens that belong to it. @throws StartError
 */
async function openStores(
  settings: ServerSettings,
  given: Store | undefined,
  dependencies: Parameters<typeof encrypted>[2] & {
    readonly metrics: Metrics;
    readonly counts: ReturnType<typeof emptyCounts>;
  },
): Promise<OpenedStore> {
  const { metrics, names, clock, counts, log } = dependencies;
  const resourceOf = resourceFinder(builtinResources, names);
  const observer = {
    ...commitObserver(counts.commits),
    damaged: (error: StoreError) => log.error('part of the store is damaged and is passed over', { error }),
  };
  const bare = given ?? (await openStore(settings, { ...dependencies, log: logOf(log, 'store'), observer }));
  const counted = observedStore(bare, clock, (operation, key, seconds, failed) =>
    metrics.storeRequest(operation, resourceOf(key), seconds, failed),
  );
  const { store, checks } = await encrypted(counted, settings, { ...dependencies, log: logOf(log, 'encryption') });
  const place = given === undefined ? placeOf(settings) : 'the store';
  try {
    const { tokenKey } = await openIdentity(store, settings.apiDomain, dependencies.random, place);
    const dataDir = given === undefined && settings.store === 'memory' ? undefined : settings.dataDir;
    const noteRevision = createRevisionMemory({ store, tokenKey, dataDir, log: logOf(log, 'store') });
    return { store, checks, tokenKey, usable: storeChecks(store, clock), noteRevision };
  } catch (error) {
    await store.close();
    throw error instanceof StoreError ? new StartError(error.message, error) : error;
  }
}
