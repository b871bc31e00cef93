import { isIPv4 } from 'node:net';
import { makePlugins } from '../admission/index.ts';
import { type AllocationOptions, createAllocations } from '../allocation/index.ts';
import { NodeGraph, RbacIndex, reviewHandlers } from '../auth/index.ts';
import { garbageCollector } from '../controllers/index.ts';
import type { FlowControl } from '../fairness/index.ts';
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
  type Health,
  type HealthCheck,
  type InFlight,
  type Metrics,
  type NodeProxy,
  YamlThread,
} from '../http/index.ts';
import type { Names } from '../meta/index.ts';
import {
  createRegistry,
  type Observer,
  type Registry,
  type RegistryOptions,
  resourceFinder,
} from '../registry/index.ts';
import { builtinResources, metricsResources } from '../resources/index.ts';
import { limitHistory, observedStore, type Store, StoreError } from '../store/index.ts';
import type { Tracer } from '../tracing/index.ts';
import { describe } from '../types/descriptions.ts';
import { adminAccessChecks } from './access/admin-access-checks.ts';
import { openAuthentication } from './access/authentication.ts';
import { type Authorization, openAuthorization, resourceAuthorizer } from './access/authorization.ts';
import { admitToConsole, allowConsole, openConsole } from './access/console-access.ts';
import { followNodes } from './access/node-graph.ts';
import { parameterChecks } from './access/parameter-checks.ts';
import { followRoles, roleChecks } from './access/rbac.ts';
import type { Tokens } from './access/tokens.ts';
import { openAggregation, type ServerAggregation } from './aggregation/aggregation.ts';
import { Backend } from './backend.ts';
import { certificateExpiries, readKubeletTrust, type Tls } from './certificates/tls.ts';
import type { TrustedAuthorities } from './certificates/trusted-authorities.ts';
import { type ClusterIdentity, openIdentity } from './cluster/cluster-identity.ts';
import { componentStatuses, probeOthers } from './cluster/component-status.ts';
import { openFlowControl } from './cluster/flow-control.ts';
import { logIdle } from './cluster/log-idle.ts';
import type { PostStartHooks } from './cluster/post-start-hooks.ts';
import { localComponents } from './cluster/run-controllers.ts';
import { type Dependencies, type Log, logOf, type StartObserver } from './dependencies.ts';
import { withFakeKubelets } from './fake-kubelet/fake-kubelet.ts';
import { usageLists } from './fake-kubelet/usage.ts';
import { serverHealth } from './observability/health.ts';
import { createUsageReader, readFileLimit, type UsageReader } from './observability/process-usage.ts';
import { openTracer } from './observability/tracing.ts';
import { readAdmission } from './settings/admission-configuration.ts';
import { allowsPrivileged, fakeNodeCount } from './settings/fake-nodes.ts';
import { gateWarnings, resolveFeatures } from './settings/feature-gates.ts';
import type { ServerSettings } from './settings/flags.ts';
import { inFlightLimits } from './settings/in-flight-limits.ts';
import { metricSettings } from './settings/metric-flags.ts';
import { servedReleases } from './settings/release-flags.ts';
import { selectDefinitions } from './settings/select-definitions.ts';
import { absentResources } from './settings/served-resources.ts';
import { StartError } from './start-error.ts';
import { type OpenedEncryptedStore, openEncryptedStore } from './storage/encryption.ts';
import { describeStore, openStore } from './storage/open-store.ts';
import { createRevisionMemory } from './storage/revision-memory.ts';
import { type StoreChecks, storeChecks } from './storage/store-checks.ts';
import { apiVersion, buildInfo } from './version.ts';
import { type OpenedAuditor, openAuditor } from './webhooks/audit.ts';
import { kindFinder } from './webhooks/kind-finder.ts';
import { pluginInitializer } from './webhooks/plugin-initializer.ts';
import { type RegisteredWebhooks, registeredWebhooks } from './webhooks/registered-webhooks.ts';
import { webhookServices } from './webhooks/webhook-services.ts';
import { type OtherProcesses, observedFlag, wholeMetrics } from './workers/other-processes.ts';
import { type Owner, ownersHealth, ownersMetrics } from './workers/owner.ts';

/** The components of a server. */
export interface ServerComponents {
  readonly store: Store;
  /** The store as it was opened: its values are encrypted. */
  readonly bareStore: Store;
  readonly registry: Registry;
  /** See {@link absentResources}. */
  readonly absent: ReadonlySet<string>;
  readonly inFlight: InFlight;
  /** Undefined: requests have no seats. */
  readonly flowControl: FlowControl | undefined;
  readonly nodeProxy: NodeProxy;
  readonly aggregation: ServerAggregation;
  readonly yaml: YamlThread;
  readonly webhooks: RegisteredWebhooks;
  readonly authorization: Authorization;
  readonly metrics: Metrics;
  readonly usage: UsageReader;
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** Undefined: nothing is audited. */
  readonly auditor: OpenedAuditor | undefined;
  readonly health: Health;
  readonly handler: Handler;
  readonly signSecretToken: Tokens['signSecretToken'];
  /** See {@link Authentication}. */
  readonly closeAuthentication: () => Promise<void>;
  /** See {@link createRevisionMemory}. */
  readonly noteRevision: () => Promise<void>;
  /** Resolves once roles and the graph of nodes, by which requests are authorized, and the APIServices are loaded. */
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
  /** Undefined: this process is the whole server. */
  readonly others: () => OtherProcesses | undefined;
}

/** The dependencies of the parts of a server. */
interface Composition extends Pick<Dependencies, 'clock' | 'random' | 'log' | 'identity'> {
  readonly settings: ServerSettings;
  readonly names: Names;
  readonly state: ServerState;
  readonly trusted: TrustedAuthorities;
  /** Default: the store of the settings. */
  readonly store?: Store;
  readonly starting?: StartObserver;
  /** Undefined: this process is the server. Otherwise it is a worker of a server. */
  readonly owner?: Owner;
  readonly interceptWebhooks?: ((webhooks: RegisteredWebhooks) => RegisteredWebhooks) | undefined;
}

/**
 * Creates the components between a request and the store, in two phases: the first one constructs parts from the settings and
 * their files, so that invalid settings are reported before the store is touched; the second one opens the store, and over it
 * the registry and the handler. @throws StartError
 */
export async function compose(composition: Composition): Promise<ServerComponents> {
  const backend = new Backend();
  const parts = await constructParts(composition, backend);
  return openParts(composition, parts, backend);
}

type Parts = Awaited<ReturnType<typeof constructParts>>;

/** The first phase. Each part lists what it is constructed from; all of them use the backend in requests only. */
async function constructParts(composition: Composition, backend: Backend) {
  const { settings, names, clock, random, log, identity, state, trusted, interceptWebhooks, owner } = composition;
  const { definitions, serves, findType } = await selectDefinitions(settings, names);
  const absent = absentResources(settings, names);
  const features = resolveFeatures(settings);
  const fakeNodes = fakeNodeCount(settings);

  const usage = createUsageReader();
  const counts = {
    ...serverCounts(state, usage, identity, names, backend),
    build: buildInfo(servedReleases(settings)),
    flowControl: () => flowControl,
    aggregation: () => aggregation,
  };
  const inFlight = createInFlight(inFlightLimits(settings, await readFileLimit()));
  const metrics = createMetrics(() => backend.registry, inFlight, clock, counts, await metricSettings(settings));
  const flowControl = openFlowControl(settings, clock, metrics);

  const ownWebhooks = registeredWebhooks(webhookServices({ backend, names, clock, random, fakeNodes }));
  const webhooks = interceptWebhooks?.(ownWebhooks) ?? ownWebhooks;

  const authLog = logOf(log, 'auth');
  const access = await openAuthentication(settings, names, {
    backend,
    clock,
    random,
    log: authLog,
    trusted,
    webhooks,
    address: () => state.address,
    expiring: (secondsLeft) => metrics.certificateUsed(secondsLeft),
    tokenCounts: counts.tokens,
    reloaded: countReloads(counts.authenticationReloads, clock),
  });
  const roles = new RbacIndex();
  const nodes = new NodeGraph();
  const observer = authorizationObserver(counts.authorizers, clock);
  const authorization = await openAuthorization(settings, {
    names,
    clock,
    random,
    log: authLog,
    index: roles,
    nodes,
    observer,
  });

  const { isIdentity } = access;
  const nodeProxy = await openNodeProxy(composition, backend, fakeNodes, isIdentity);
  const relayed = { settings, backend, definitions, names, clock, random, isIdentity, log: logOf(log, 'http') };
  const aggregation = await openAggregation(relayed);
  const findKind = kindFinder(backend);
  const admissionLog = logOf(log, 'admission');
  const initializer = pluginInitializer({
    ...(await readAdmission(settings, names, admissionLog)),
    backend,
    names,
    clock,
    random,
    log: admissionLog,
    features,
    authorize: authorization.authorize,
    webhooks,
    metrics,
    findKind,
    settings,
  });
  const { enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled } = settings;
  const admission: RegistryOptions['admission'] = (objects) =>
    makePlugins({ ...initializer, objects, namespace: objects.namespace }, enabled, disabled, absent);
  if (owner === undefined) logIdle(composition, absent);

  const auditor = await openAuditor(settings, {
    names,
    clock,
    random,
    log: logOf(log, 'audit'),
    counts: counts.audit,
    appendAudit: owner?.appendAudit,
  });
  const tracer = await openTracer(settings, names, { clock, random, identity, log: logOf(log, 'tracing') });
  return {
    definitions,
    serves,
    findType,
    absent,
    features,
    fakeNodes,
    usage,
    counts,
    inFlight,
    metrics,
    flowControl,
    webhooks,
    access,
    roles,
    nodes,
    authorization,
    nodeProxy,
    aggregation,
    findKind,
    admission,
    auditor,
    tracer,
  };
}

/** The second phase: opens the store, the registry over it, the handler, and then follows roles and nodes. */
async function openParts(composition: Composition, parts: Parts, backend: Backend): Promise<ServerComponents> {
  const { names } = composition;
  const { roles, nodes, authorization, access } = parts;
  const opened = await openStores(composition, parts);
  backend.open(opened.store, opened.usable);
  const registry = openRegistry(composition, parts, backend, opened.tokenKey);
  backend.serve(registry);
  const { yaml, handler, health } = createHandlers(composition, parts, backend, opened.checks);
  const rightsLoaded = Promise.all([
    followRoles(registry, roles, names),
    authorization.usesNodes ? followNodes(registry, nodes, names) : undefined,
    parts.aggregation.follow(),
  ]);
  // A failure is reported to those who wait for it.
  rightsLoaded.catch(() => {});
  return {
    store: opened.store,
    bareStore: opened.bare,
    registry,
    absent: parts.absent,
    inFlight: parts.inFlight,
    flowControl: parts.flowControl,
    nodeProxy: parts.nodeProxy,
    aggregation: parts.aggregation,
    yaml,
    webhooks: parts.webhooks,
    authorization,
    metrics: parts.metrics,
    usage: parts.usage,
    tracer: parts.tracer,
    auditor: parts.auditor,
    health,
    handler,
    signSecretToken: access.signSecretToken,
    closeAuthentication: access.close,
    noteRevision: opened.noteRevision,
    rightsLoaded,
  };
}

function openRegistry(composition: Composition, parts: Parts, backend: Backend, tokenKey: string): Registry {
  const { settings, names, clock, random, log, starting, owner } = composition;
  const { definitions, serves, features, fakeNodes, metrics, access, roles, authorization, findKind, admission } =
    parts;
  const { authorize } = authorization;
  const { store } = backend;
  const releases = servedReleases(settings);
  if (owner === undefined) for (const warning of gateWarnings(settings)) log.warn(warning, {});
  return createRegistry({
    store,
    names,
    clock,
    random,
    serves,
    tokenKey,
    features,
    release: releases.emulated,
    compatible: releases.compatible,
    definitions: fakeNodes > 0 ? [...definitions, ...metricsResources] : definitions,
    authorize: resourceAuthorizer(authorize),
    observer: createObserver(metrics, logOf(log, 'registry'), starting),
    garbageCollector: settings.enableGarbageCollector || settings.controllers.has(garbageCollector.name),
    watchSeconds: settings.minRequestTimeout,
    allowPrivileged: allowsPrivileged(settings),
    historyMs: settings.etcdCompactionInterval,
    objectHistory: settings.objectHistory,
    nodeAddresses: settings.kubeletPreferredAddressTypes,
    reviewHandlers: reviewHandlers({ ...access, authorize, names }),
    writeChecks: roleChecks({ index: roles, backend, authorize, names }),
    referenceChecks: new Map([
      ...parameterChecks({ backend, authorize, names, findKind }),
      ...adminAccessChecks({ backend, names }),
    ]),
    ...allocationOptions(settings, { names, store, random, registry: () => backend.registry }, serves),
    virtualLists: new Map([
      ['componentstatuses', () => componentStatuses(store, names, probeOthers(localComponents(settings)))],
      ...usageLists({ backend, names, clock, count: fakeNodes }),
    ]),
    admission,
  });
}

/** The handler of all requests, and the thread that reads YAML for it. */
function createHandlers(
  { settings, state, names, clock, random, log, owner }: Composition,
  { findType, metrics, flowControl, access, aggregation, authorization, auditor, nodeProxy, tracer }: Parts,
  { registry, checks: store }: Backend,
  encryptionChecks: readonly HealthCheck[],
): Pick<ServerComponents, 'yaml' | 'handler' | 'health'> {
  const others = [...encryptionChecks, ...state.hooks.checks(clock, settings.livezGracePeriod)];
  const { levels } = log;
  const own = serverHealth({ names, store, registry, others, log, isClosing: () => state.closing });
  const health = owner === undefined ? own : ownersHealth(own, owner);
  const hasConsole = settings.console ?? settings.demo;
  const nonResource = createNonResourceHandler({
    registry,
    names,
    clock,
    metrics: owner === undefined ? wholeMetrics(metrics, state.others) : ownersMetrics(metrics, owner),
    aggregation,
    findType,
    describe,
    health,
    profiler: settings.profiling ? createProfiler(clock) : undefined,
    flowControl,
    flags:
      settings.profiling && levels !== undefined
        ? new Map([['v', observedFlag(levels, (text) => state.others()?.setLogLevels(text))]])
        : undefined,
    console: hasConsole ? openConsole(settings, names, access.providers) : undefined,
    version: apiVersion(servedReleases(settings)),
    serverAddress: () => state.address,
    openId: access.openId,
  });
  const yaml = new YamlThread({ clock });
  const handler = createHandler({
    registry,
    names,
    clock,
    random,
    metrics,
    flowControl,
    authorize: hasConsole ? allowConsole(authorization.authorize) : authorization.authorize,
    authenticate: hasConsole ? admitToConsole(access.authenticate) : access.authenticate,
    auditor,
    nodeProxy,
    aggregation,
    tracer,
    findType,
    nonResource,
    log: logOf(log, 'http'),
    isStarting: state.hooks.starting(clock),
    readYaml: (bytes, user, turns) => yaml.parse(bytes, user, turns),
  });
  return { yaml, handler, health };
}

/** The counters of a server, and the state of it that its metrics show. */
const serverCounts = (state: ServerState, usage: UsageReader, identity: string, names: Names, backend: Backend) => {
  const empty = emptyCounts();
  return {
    ...empty,
    identity,
    readUsage: usage.read,
    certificates: () => certificateExpiries(state.tls()),
    connections: () => state.connections() ?? empty.connections(),
    resourceOf: resourceFinder(builtinResources, names),
    storeSize: async () => backend.store.size(),
    checkWritable: async () => backend.checks.writable(),
    others: async () => (await state.others()?.metricLines()) ?? [],
  };
};

/** The proxy to kubelets; fake nodes have kubelets in this process. @throws StartError */
async function openNodeProxy(
  { settings, names, clock }: Composition,
  backend: Backend,
  fakeNodes: number,
  isIdentity: (name: string) => boolean,
): Promise<NodeProxy> {
  const proxy = createNodeProxy({
    clock,
    trust: await readKubeletTrust(settings),
    connectMs: settings.kubeletTimeout,
    isIdentity,
  });
  return fakeNodes === 0 ? proxy : withFakeKubelets(proxy, { backend, names, clock, count: fakeNodes });
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
const createObserver = (metrics: Metrics, log: Log, starting: StartObserver | undefined): Observer => ({
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

interface OpenedStore
  extends OpenedEncryptedStore,
    Pick<ClusterIdentity, 'tokenKey'>,
    Pick<ServerComponents, 'noteRevision'> {
  readonly usable: StoreChecks;
  readonly bare: Store;
}

/**
 * Opens the injected store or that of the settings: its requests are counted, and its values encrypted by the settings.
 * Returns it with its health checks and the key of its tokens. @throws StartError
 */
async function openStores(
  { settings, names, clock, random, log, store: injected, starting }: Composition,
  { metrics, counts }: Parts,
): Promise<OpenedStore> {
  starting?.begin('store', injected === undefined ? describeStore(settings) : '');
  const storeLog = logOf(log, 'store');
  const observer = {
    ...commitObserver(counts.commits),
    damaged: (error: StoreError) => log.error('part of the store is damaged and is skipped', { error }),
  };
  const bare = injected ?? (await openStore(settings, { clock, random, log: storeLog, observer }));
  if (settings.historyMaxSize > 0) {
    const failed = (error: unknown) => storeLog.warn('the history of the store has not been compacted', { error });
    limitHistory(bare, { clock, maxBytes: settings.historyMaxSize, failed });
  }
  const counted = observedStore(bare, clock, metrics.storeRequest);
  const encryptionLog = logOf(log, 'encryption');
  const { store, checks } = await openEncryptedStore(counted, settings, {
    names,
    clock,
    random,
    log: encryptionLog,
    counts,
  });
  const place = injected === undefined ? describeStore(settings) : 'the store';
  try {
    const { tokenKey } = await openIdentity(store, settings.apiDomain, random, place);
    const dataDir = injected === undefined && settings.store === 'memory' ? undefined : settings.dataDir;
    const noteRevision = createRevisionMemory({ store, tokenKey, dataDir, log: storeLog });
    return { store, bare, checks, tokenKey, usable: storeChecks(store, clock), noteRevision };
  } catch (error) {
    await store.close();
    throw error instanceof StoreError ? new StartError(error.message, error) : error;
  }
}
