import { setTimeout as pause } from 'node:timers/promises';
import { systemPriorities } from '../admission/index.ts';
import { type Client, createClient, inProcessTransport } from '../client/index.ts';
import type { Handler } from '../http/index.ts';
import { type ApiObject, type Names, namesFor, StatusError } from '../meta/index.ts';
import { standardFlowObjects } from '../resources/index.ts';
import { systemClock } from './clock.ts';
import { defaultSettings, type ServerSettings } from './flags.ts';
import { type Address, type Listening, openListener } from './listening.ts';
import { type Outside, silentLog } from './outside.ts';
import { createParts, type Parts } from './parts.ts';
import { systemRandom } from './random.ts';

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
 * A server with the system's namespaces, priorities and flows in it, over a store in memory unless the settings or `outside` say otherwise.
 * It opens no socket before `listen`, and writes no file without a `dataDir`. @throws StartError
 */
export async function createServer(
  given: Partial<ServerSettings> = {},
  outside: Partial<Outside> = {},
): Promise<OrchServer> {
  const settings: ServerSettings = { ...defaultSettings, store: 'memory', dataDir: undefined, ...given };
  const world = { clock: systemClock, random: systemRandom, log: silentLog, ...outside };
  const names = namesFor(settings.apiDomain);
  const state = { closing: false, address: '' };
  const parts = await createParts(settings, names, world, state);
  const subject = { commonName: `${names.product}-admin`, organizations: ['system:masters'] };
  const client = createClient({ transport: inProcessTransport(parts.handler, { subject }) });
  try {
    await createOwnObjects(client, names);
  } catch (error) {
    parts.registry.close();
    await parts.store.close();
    throw error;
  }
  let listening: Listening | undefined;
  let closed: Promise<void> | undefined;
  return {
    names,
    client,
    handler: parts.handler,
    async listen() {
      listening = await openListener(settings, names, parts.handler, world);
      state.address = new URL(listening.address.url).host;
      return listening.address;
    },
    close() {
      state.closing = true;
      closed ??= shutDown(parts, listening, settings, world);
      return closed;
    },
  };
}

async function shutDown(
  { registry, store, inFlight }: Parts,
  listening: Listening | undefined,
  settings: ServerSettings,
  { clock }: Pick<Outside, 'clock'>,
): Promise<void> {
  if (listening !== undefined) {
    await new Promise<void>((resolve) => {
      if (settings.shutdownDelayDuration === 0) resolve();
      else clock.after(settings.shutdownDelayDuration, resolve);
    });
  }
  const idle = listening?.close(settings.shutdownGracePeriod);
  // Watches have no end of their own: they are ended once everything else is answered.
  const until = clock.now() + settings.shutdownGracePeriod;
  while (inFlight.counts.readOnly + inFlight.counts.mutating > 0 && clock.now() < until) {
    await pause(5);
  }
  registry.close();
  await idle;
  await store.close();
}

/** Who owns what the server makes itself. */
const ownManager = 'apiserver';
const flowManager = 'api-priority-and-fairness-config-producer-v1';

/** What every server has, whatever was deleted before: its namespaces, the priorities of what it cannot do without, its flows. */
async function createOwnObjects(client: Client, names: Names): Promise<void> {
  const namespaces = ['default', names.systemNamespace, names.publicNamespace, names.nodeLeaseNamespace];
  const namespace = (name: string) => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name } });
  const priority = ({ name, ...fields }: (typeof systemPriorities)[number]) => ({
    kind: 'PriorityClass',
    apiVersion: `scheduling.${names.domain}/v1`,
    ...fields,
    metadata: { name },
  });
  const make = (resource: string, fieldManager: string) => async (object: ApiObject) => {
    try {
      await client.create({ apiVersion: object.apiVersion, resource }, object, { fieldManager });
    } catch (error) {
      // There already, or not served at all.
      if (!(error instanceof StatusError && (error.code === 409 || error.code === 404))) throw error;
    }
  };
  const { levels, flows } = standardFlowObjects(names);
  await Promise.all([
    ...namespaces.map(namespace).map(make('namespaces', ownManager)),
    ...systemPriorities.map(priority).map(make('priorityclasses', ownManager)),
    ...levels.map(make('prioritylevelconfigurations', flowManager)),
    ...flows.map(make('flowschemas', flowManager)),
  ]);
}
