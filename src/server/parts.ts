import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { makePlugins } from '../admission/index.ts';
import { reviewAnswers } from '../auth/index.ts';
import {
  createHandler,
  createHealth,
  createInFlight,
  createMetrics,
  createSurface,
  type Handler,
  type HealthCheck,
  type InFlight,
} from '../http/index.ts';
import { expandNames, type Names } from '../meta/index.ts';
import { createRegistry, type Registry, type ResourceDefinition } from '../registry/index.ts';
import { builtinResources, findType } from '../resources/index.ts';
import { openLmdbStore, openMemoryStore, type Store, StoreError } from '../store/index.ts';
import { admissionWorld } from './admission-world.ts';
import { storeStatus } from './component-status.ts';
import { resolveFeatures } from './feature-gates.ts';
import { ensureFolder } from './files.ts';
import type { ServerSettings } from './flags.ts';
import { authenticatorOf, authorizerOf } from './identities.ts';
import type { Outside } from './outside.ts';
import { isServed, unknownRuntimeKeys } from './runtime-config.ts';
import { StartError, systemReason } from './start-error.ts';
import { apiVersion } from './version.ts';

/** The rooms of a server, put together. */
export interface Parts {
  readonly store: Store;
  readonly registry: Registry;
  readonly inFlight: InFlight;
  readonly handler: Handler;
}

/** What the parts ask of the server that they are in. */
export interface ServerState {
  readonly closing: boolean;
  /** `host:port` under which clients reach it; empty while it does not listen. */
  readonly address: string;
}

type World = Pick<Outside, 'clock' | 'random' | 'log'> & { readonly store?: Store };

/** Everything between a request and the disk. @throws StartError */
export async function createParts(
  settings: ServerSettings,
  names: Names,
  { clock, random, log, store: given }: World,
  state: ServerState,
): Promise<Parts> {
  const definitions = servedResources(settings.runtimeConfig, names);
  const authenticate = await authenticatorOf(settings, names);
  const authorize = authorizerOf(names);
  const store = given ?? (await openStore(settings, clock));
  const features = resolveFeatures(settings.featureGates);
  const registry: Registry = createRegistry({
    store,
    names,
    clock,
    random,
    definitions,
    watchSeconds: settings.minRequestTimeout,
    unsafeDeletion: features.AllowUnsafeMalformedObjectDeletion,
    answers: reviewAnswers({ authenticate, authorize, names, audiences: [] }),
    listings: new Map([['componentstatuses', async () => [await storeStatus(store, names)]]]),
    admission: makePlugins(
      admissionWorld({ settings, names, random, store, authorize, registry: () => registry }),
      settings.enableAdmissionPlugins,
      settings.disableAdmissionPlugins,
    ),
  });
  const inFlight = createInFlight({
    readOnly: limitOf(settings.maxRequestsInflight),
    mutating: limitOf(settings.maxMutatingRequestsInflight),
    longRunning: maxWatches,
  });
  const metrics = createMetrics(registry, inFlight, clock);
  const health = createHealth(healthChecks(names, store, state), (check, error) => {
    log.error('health check failed', { check, error });
  });
  const surface = createSurface({
    registry,
    names,
    health,
    metrics,
    version: apiVersion(),
    serverAddress: () => state.address,
    findType,
    pause: turn,
  });
  const compress = features.APIResponseCompression;
  const handler = createHandler({
    registry,
    names,
    findType,
    authenticate,
    authorize,
    clock,
    log,
    metrics,
    surface,
    compress,
  });
  return { store, registry, inFlight, handler };
}

/** Watches wait more than they work: what bounds them is memory. */
const maxWatches = 100_000;

const limitOf = (setting: number) => (setting === 0 ? Number.POSITIVE_INFINITY : setting);

/** The built-in kinds, less what is switched off. @throws StartError */
function servedResources(config: ReadonlyMap<string, boolean>, names: Names): ResourceDefinition[] {
  const spelled = (definition: ResourceDefinition) => expandNames(definition.group, names);
  const known = builtinResources.map((definition) => ({ ...definition, group: spelled(definition) }));
  const [problem] = unknownRuntimeKeys(config, known);
  if (problem !== undefined) throw new StartError(`--runtime-config ${problem}`);
  return builtinResources.flatMap((definition) => {
    const versions = definition.versions.filter(({ version }) =>
      isServed(config, spelled(definition), version, definition.plural),
    );
    return versions.length === 0 ? [] : [{ ...definition, versions }];
  });
}

async function openStore(settings: ServerSettings, clock: Outside['clock']): Promise<Store> {
  if (settings.store === 'memory') return openMemoryStore({ clock });
  if (settings.dataDir === undefined) throw new StartError('the store "lmdb" needs a data directory');
  try {
    await ensureFolder(settings.dataDir);
    return await openLmdbStore({ path: join(settings.dataDir, 'store'), clock });
  } catch (error) {
    // The store says itself what to do about it.
    if (error instanceof StoreError) throw new StartError(error.message, error);
    throw new StartError(`the folder ${settings.dataDir} cannot be used: ${systemReason(error)}`, error);
  }
}

function healthChecks(names: Names, store: Store, state: ServerState): HealthCheck[] {
  const everywhere = ['healthz', 'livez', 'readyz'] as const;
  const revision = async () => {
    await store.revision();
  };
  return [
    { name: 'ping', check: () => {}, endpoints: everywhere },
    { name: 'log', check: () => {}, endpoints: everywhere },
    { name: names.storeCheck, check: revision, endpoints: everywhere },
    {
      name: 'shutdown',
      check: () => {
        if (state.closing) throw new Error('the server is shutting down');
      },
      endpoints: ['readyz'],
    },
  ];
}
