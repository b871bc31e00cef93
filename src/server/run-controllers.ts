import { hostname } from 'node:os';
import { type Client, createClient, type InProcessHandler, inProcessTransport } from '../client/index.ts';
import {
  allControllers,
  componentName,
  defaultSettings,
  LeaderElection,
  startControllers,
  whileHeld,
} from '../controllers/index.ts';
import type { Metrics } from '../http/index.ts';
import type { Names } from '../meta/index.ts';
import type { Dependencies } from './dependencies.ts';
import type { ServerSettings } from './flags.ts';
import { version } from './version.ts';

type Options = Pick<Dependencies, 'clock' | 'random' | 'log'> & {
  readonly settings: ServerSettings;
  readonly names: Names;
  readonly handler: InProcessHandler;
  readonly metrics: Metrics;
  /** Of an administrator. */
  readonly client: Client;
  /** Whether no other server can have the same store open. */
  readonly exclusive: boolean;
  /** Resolves when the port is open, if it is being opened: controllers start after that. */
  readonly opened: () => Promise<unknown>;
  /** The CA bundle of the serving certificate, in PEM; undefined while the server does not listen. */
  readonly authority: () => string | undefined;
};

/** When the controllers start (ms): after the start of the server, which they must not delay. */
const firstMs = 50;

/** Runs the controllers that are on in the process of the server. The result stops them, and resolves when nothing runs. */
export function runControllers(options: Options): () => Promise<void> {
  const { settings, names, handler, metrics, clock, random, log, opened, authority } = options;
  const controllers = allControllers.filter(({ name }) => settings.controllers.has(name));
  if (controllers.length === 0) return () => Promise.resolve();
  const as = (holds: () => boolean, commonName: string, organizations: readonly string[] = []) => {
    const transport = inProcessTransport(handler, { subject: { commonName, organizations }, background: true });
    return createClient({
      transport: whileHeld(holds, transport),
      baseHeaders: { 'user-agent': `${componentName}/${version}` },
    });
  };
  const user = `system:${componentName}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${names.systemNamespace}`];
  const lead = (holds: () => boolean) =>
    startControllers({
      ...{ controllers, names, clock, random, log },
      settings: { ...defaultSettings, rootCertificates: authority },
      reader: as(holds, user),
      clientOf: (account) => as(holds, `system:serviceaccount:${names.systemNamespace}:${account}`, groups),
      clientAs: ({ name, groups: of }) => as(holds, name, of),
      observe: (queue) => metrics.queue(queue),
    });
  const always = () => true;
  const start = async () => {
    await opened();
    if (stopped) return;
    if (!settings.leaderElect) return lead(always);
    const election: LeaderElection = new LeaderElection({
      ...{ names, clock, random, log, settings: leaseSettings(settings) },
      identity: await identityOf(options),
      client: as(always, user),
      lead: () => lead(() => election.holds),
    });
    metrics.lease(componentName, () => ({ held: election.holds, slowpath: election.slowpath }));
    return election;
  };
  let stopped = false;
  let starting: ReturnType<typeof start> = Promise.resolve(undefined);
  const cancel = clock.after(firstMs, () => {
    starting = start();
  });
  return async () => {
    stopped = true;
    cancel();
    const running = await starting;
    await running?.stop();
  };
}

/** The durations of the flags of leader election. */
export const leaseSettings = (
  settings: Pick<ServerSettings, 'leaderElectLeaseDuration' | 'leaderElectRenewDeadline' | 'leaderElectRetryPeriod'>,
) => ({
  leaseMs: settings.leaderElectLeaseDuration,
  renewMs: settings.leaderElectRenewDeadline,
  retryMs: settings.leaderElectRetryPeriod,
});

/**
 * The identity under which a server holds the lease. That of a store which no other server can have open stays the same:
 * a server that is started again after it was killed knows the lease of its last process as its own.
 */
async function identityOf({ exclusive, client, names, random }: Options): Promise<string> {
  const place = { apiVersion: 'v1', resource: 'namespaces', name: names.systemNamespace };
  const namespace = exclusive ? await client.get(place).catch(() => undefined) : undefined;
  const uid = namespace?.metadata.uid;
  return uid === undefined ? `${hostname()}_${random.uuid()}` : `${names.server}_${uid}`;
}
