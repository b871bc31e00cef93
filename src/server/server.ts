import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { repair } from '../allocation/index.ts';
import { type Client, createClient, inProcessTransport } from '../client/index.ts';
import type { Handler } from '../http/index.ts';
import { type Names, namesFor } from '../meta/index.ts';
import { createApiService, serviceRange } from './api-service.ts';
import { systemClock } from './clock.ts';
import { defaultSettings, type ServerSettings } from './flags.ts';
import { type Address, type Listening, openListener } from './listening.ts';
import { type Outside, silentLog } from './outside.ts';
import { createOwnObjects } from './own-objects.ts';
import { createParts, type Parts } from './parts.ts';
import { systemRandom } from './random.ts';
import { repeat } from './repeat.ts';
import { StartHooks } from './start-hooks.ts';

/** A server at work. */
export interface OrchServer {
  readonly names: Names;
  /** Has all rights, and needs no socket. */
  readonly client: Client;
  /** The server itself: every request comes through here. */
  readonly handler: Handler;
  /** Opens the TLS port of the settings; to be called once. @throws StartError */
  listen(): Promise<Address>;
  /**
   * Serves on for the shutdown delay when it listens; then lets requests under way finish, ends watches cleanly and
   * releases everything. Cuts what is left after the grace period. The same promise for every caller.
   */
  close(): Promise<void>;
}

/**
 * A server with the system's namespaces and priorities in it, over a store in memory unless the settings or `outside` say otherwise.
 * It opens no socket before `listen`, and writes no file without a `dataDir`. @throws StartError
 */
export async function createServer(
  given: Partial<ServerSettings> = {},
  outside: Partial<Outside> = {},
): Promise<OrchServer> {
  const settings: ServerSettings = { ...defaultSettings, store: 'memory', dataDir: undefined, ...given };
  const world = { clock: systemClock, random: systemRandom, log: silentLog, ...outside };
  const names = namesFor(settings.apiDomain);
  const hooks = new StartHooks();
  const state = { closing: false, address: '', hooks };
  let listening: Listening | undefined;
  const parts = await createParts(settings, names, world, state);
  const subject = { commonName: `${names.product}-admin`, organizations: ['system:masters'] };
  const client = createClient({ transport: inProcessTransport(parts.handler, { subject }) });
  const keepService = createApiService({
    client,
    names,
    settings,
    ...world,
    interfaces: networkInterfaces,
    port: () => listening?.address.port,
  });
  try {
    await createOwnObjects(client, names, [serviceRange(names, settings)]);
    hooks.done(
      'start-system-namespaces-controller',
      'scheduling/bootstrap-system-priority-classes',
      'priority-and-fairness-config-producer',
    );
    await keepService();
    hooks.done('bootstrap-controller');
  } catch (error) {
    parts.registry.close();
    await parts.store.close();
    throw error;
  }
  const stop = upkeep(parts, keepService, hooks, world);
  let closed: Promise<void> | undefined;
  return {
    names,
    client,
    handler: parts.handler,
    async listen() {
      listening = await openListener(settings, names, parts.handler, world);
      state.address = new URL(listening.address.url).host;
      await keepService();
      return listening.address;
    },
    close() {
      state.closing = true;
      closed ??= shutDown(parts, listening, settings, world, stop);
      return closed;
    },
  };
}

async function shutDown(
  { registry, store, inFlight, relay, yaml }: Parts,
  listening: Listening | undefined,
  settings: ServerSettings,
  { clock }: Pick<Outside, 'clock'>,
  stop: () => Promise<unknown>,
): Promise<void> {
  const stopped = stop();
  if (listening !== undefined) {
    await new Promise<void>((resolve) => {
      if (settings.shutdownDelayDuration === 0) resolve();
      else clock.after(settings.shutdownDelayDuration, resolve);
    });
  }
  const idle = listening?.close(settings.shutdownGracePeriod);
  // Watches, and what goes on to nodes, have no end of their own: they are ended once everything else is answered.
  const until = clock.now() + settings.shutdownGracePeriod;
  while (inFlight.counts.readOnly + inFlight.counts.mutating > 0 && clock.now() < until) {
    await pause(5);
  }
  await stopped;
  registry.close();
  relay.close();
  yaml.close();
  await idle;
  await store.close();
}

/** How long what the server keeps right may be wrong (ms): its own service, and whose addresses and ports are. */
const serviceMs = 10_000;
const repairMs = 3 * 60_000;

/** Keeps right what the server has of its own accord, until the result is called. */
function upkeep(
  { registry, store }: Parts,
  keepService: () => Promise<void>,
  hooks: StartHooks,
  { clock, log }: Pick<Outside, 'clock' | 'log'>,
): () => Promise<unknown> {
  const [services, addresses] = ['services', 'ipaddresses'].map((plural) =>
    registry.resources.find(({ definition }) => definition.plural === plural),
  );
  const set = async () => {
    try {
      if (services !== undefined && addresses !== undefined) {
        await repair({ store, registry, services, addresses, warn: log.warn });
      }
      hooks.done('start-service-ip-repair-controllers');
    } catch (error) {
      log.error('addresses and ports of services cannot be looked through', { error });
    }
  };
  const ends = [repeat(clock, serviceMs, keepService), repeat(clock, repairMs, set, 0)];
  return () => Promise.all(ends.map((end) => end()));
}
