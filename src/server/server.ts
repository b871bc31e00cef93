import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { repair } from '../allocation/index.ts';
import { type Client, createClient, type InProcessHandler, inProcessTransport } from '../client/index.ts';
import { type Names, namesFor } from '../meta/index.ts';
import { createBootstrapObjects } from './bootstrap-objects.ts';
import { systemClock } from './clock.ts';
import { compose, type ServerParts } from './compose.ts';
import { createDefaultService, serviceRange } from './default-service.ts';
import { type Dependencies, silentLog } from './dependencies.ts';
import type { ServerSettings } from './flags.ts';
import { type Address, type Listening, openListener } from './listening.ts';
import { createLog } from './log.ts';
import { createPresence } from './presence.ts';
import { systemRandom } from './random.ts';
import { readConfig } from './read-file.ts';
import { repeat } from './repeat.ts';
import type { ServerOptions } from './server-options.ts';
import { readOptions } from './settings.ts';
import { StartError } from './start-error.ts';
import { StartHooks } from './start-hooks.ts';

/** A server at work. */
export interface OrchServer {
  readonly names: Names;
  /** Has all rights, and needs no socket. */
  readonly client: Client;
  /** The server itself: every request comes through here. */
  readonly handler: InProcessHandler;
  /** Opens the TLS port of the settings, once. @throws StartError also when it listens already or was closed */
  listen(): Promise<Address>;
  /**
   * Serves on for the shutdown delay when it listens; then lets requests under way finish, ends watches cleanly and
   * releases everything. Cuts what is left after the grace period. The same promise for every caller.
   */
  close(): Promise<void>;
}

/**
 * A server with the objects that every server has, over a store in memory unless the options or `outside` say otherwise.
 * It opens no socket before `listen`, and writes no file without a `dataDir`.
 * @throws StartError that names every option that is wrong
 */
export async function createServer(
  options: ServerOptions = {},
  outside: Partial<Dependencies> = {},
): Promise<OrchServer> {
  return startServer(await readOptions(options, readConfig), outside);
}

/** The same for settings that have been read. @throws StartError */
export async function startServer(settings: ServerSettings, outside: Partial<Dependencies> = {}): Promise<OrchServer> {
  const { log = settings.logLevel === undefined ? silentLog : await createLog(settings.logLevel) } = outside;
  const world = { clock: systemClock, random: systemRandom, ...outside, log };
  const names = namesFor(settings.apiDomain);
  const hooks = new StartHooks();
  const state = { closing: false, address: '', hooks };
  let opening: Promise<Listening> | undefined;
  let port: number | undefined;
  const parts = await compose(settings, names, world, state);
  const subject = { commonName: `${names.product}-admin`, organizations: ['system:masters'] };
  const client = createClient({ transport: inProcessTransport(parts.handler, { subject }) });
  let trusted: (() => string) | undefined;
  const writer = { ...world, ...parts, client, names };
  const keepPresence = createPresence({ ...writer, clientCa: () => trusted?.(), closing: () => state.closing });
  const keepService = createDefaultService({ ...writer, settings, interfaces: networkInterfaces, port: () => port });
  try {
    await createBootstrapObjects(client, names, [serviceRange(names, settings)]);
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
  const stop = upkeep(parts, { keepService, keepPresence, hooks }, world);
  let closed: Promise<void> | undefined;
  return {
    names,
    client,
    handler: parts.handler,
    async listen() {
      if (closed !== undefined) throw new StartError('the server is closed: a new one must be made to listen');
      if (opening !== undefined) throw new StartError('the server listens already: listen() is called once');
      opening = openListener(settings, names, parts.handler, world);
      try {
        const { address, clientCa } = await opening;
        port = address.port;
        trusted = clientCa;
        state.address = new URL(address.url).host;
        await keepService();
        void keepPresence();
        return address;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    close() {
      state.closing = true;
      closed ??= shutDown(parts, opening, settings, world, stop);
      return closed;
    },
  };
}

async function shutDown(
  { registry, store, inFlight, nodeProxy, yaml }: ServerParts,
  opening: Promise<Listening> | undefined,
  settings: ServerSettings,
  { clock }: Pick<Dependencies, 'clock'>,
  stop: () => Promise<unknown>,
): Promise<void> {
  const stopped = stop();
  // Who called `listen` is told why it failed.
  const listening = await opening?.catch(() => undefined);
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
  nodeProxy.close();
  yaml.close();
  await idle;
  await store.close();
}

/** How long what the server keeps right may be wrong (ms): its own service, and whose addresses and ports are. */
const serviceMs = 10_000;
const repairMs = 3 * 60_000;
/** How often the lease of the server is renewed (ms), and when first: after the start, which it must not slow down. */
const presenceMs = 10_000;
const firstPresenceMs = 1_000;

interface Upkeep {
  readonly keepService: () => Promise<void>;
  readonly keepPresence: () => Promise<void>;
  readonly hooks: StartHooks;
}

/** Keeps right what the server has of its own accord, until the result is called. */
function upkeep(
  { registry, store }: ServerParts,
  { keepService, keepPresence, hooks }: Upkeep,
  { clock, log }: Pick<Dependencies, 'clock' | 'log'>,
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
  const ends = [
    repeat(clock, serviceMs, keepService),
    repeat(clock, presenceMs, keepPresence, firstPresenceMs),
    repeat(clock, repairMs, set, 0),
  ];
  // By now the server is closing: the last call waits for those under way.
  return () => Promise.all([...ends.map((end) => end()), keepPresence()]);
}
