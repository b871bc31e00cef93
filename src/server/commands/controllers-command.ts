import { hostname } from 'node:os';
import {
  type Client,
  type Connection,
  connect,
  createClient,
  LeaderElection,
  type Transport,
  whileHeld,
} from '../../client/index.ts';
import { allControllers, componentName, defaultSettings, startControllers } from '../../controllers/index.ts';
import { type Names, namesFor } from '../../meta/index.ts';
import { accountTokens } from '../access/account-tokens.ts';
import { systemClock } from '../clock.ts';
import { type Log, logOf } from '../dependencies.ts';
import { createLog } from '../observability/log.ts';
import { systemRandom } from '../random.ts';
import { leaseSettings, requestRate } from '../settings/controller-flags.ts';
import { type ManagerSettings, managerTable } from '../settings/manager-flags.ts';
import { readSettingFile } from '../settings/read-file.ts';
import { StartError } from '../start-error.ts';
import { version } from '../version.ts';
import { connectionOfKubeconfig, groupsOf } from './remote-server.ts';
import { firstSignal, logFailures, parseSettings, runToEnd } from './run-until-signal.ts';

/**
 * Runs `orch controllers` until SIGINT or SIGTERM: the first signal stops the controllers and releases the lease, a second
 * one exits at once. Exit status 2 for invalid settings, 1 for any other failure, such as the loss of the lease.
 */
export async function controllers(args: readonly string[]): Promise<void> {
  const settings = await parseSettings('controllers', managerTable, args);
  if (settings === undefined) return;
  const signal = firstSignal();
  await runToEnd(async () => {
    const log = logOf(await createLog({ levels: settings.logLevel, format: settings.logFormat }), 'controllers');
    logFailures(log);
    let lose = () => {};
    const lost = new Promise<never>((_, reject) => {
      lose = () => reject(new StartError('leaderelection lost'));
    });
    const stop = await start(settings, log, lose);
    await Promise.race([signal, lost]);
    await stop();
  });
}

/** Starts the controllers. Returns a function that stops them and releases the lease. @throws StartError */
async function start(settings: ManagerSettings, log: Log, lost: () => void): Promise<() => Promise<void>> {
  const server = await connectionOfKubeconfig('--kubeconfig', settings.kubeconfig ?? '');
  const transport = connect(server);
  const own = clientOver(transport);
  const names = namesFor(await domainOf(settings, server.server, own));
  const over = (through: Transport) => clientOver(through, names.domain);
  const [clock, random] = [systemClock, systemRandom];
  const ca = settings.rootCaFile && (await readSettingFile('root-ca-file', settings.rootCaFile));
  const transportOf = settings.useServiceAccountCredentials
    ? accountTransports(server, own, names, log)
    : () => transport;
  const lead = (holds: () => boolean) =>
    startControllers({
      names,
      clock,
      random,
      log,
      controllers: allControllers.filter(({ name }) => settings.controllers.has(name)),
      settings: { ...defaultSettings, rootCertificates: () => ca ?? server.ca },
      reader: over(whileHeld(holds, transport)),
      clientOf: (account, _, limit = (unlimited) => unlimited) => over(limit(whileHeld(holds, transportOf(account)))),
      rate: requestRate(settings),
      observe: () => ({ added: () => {}, started: () => {}, ended: () => {}, retried: () => {} }),
    });
  process.stdout.write(`orch ${version} runs controllers for ${server.server}\n`);
  if (!settings.leaderElect) return lead(() => true).stop;
  const election: LeaderElection = new LeaderElection({
    client: over(transport),
    clock,
    random,
    log,
    lost,
    settings: leaseSettings(settings),
    lease: { namespace: names.systemNamespace, name: componentName },
    identity: `${hostname()}_${random.uuid()}`,
    lead: () => lead(() => election.holds),
  });
  return () => election.stop();
}

const clientOver = (transport: Transport, apiDomain?: string): Client =>
  createClient({
    transport,
    baseHeaders: { 'user-agent': `${componentName}/${version}` },
    ...(apiDomain === undefined ? {} : { apiDomain }),
  });

/**
 * Creates the transports of service accounts, each with its own token. Tokens are requested at the start, one after the
 * other, so that accounts exist even when their controllers are idle.
 */
function accountTransports(server: Connection, client: Client, names: Names, log: Log): (account: string) => Transport {
  const transports = new Map<string, Transport>();
  let requested: Promise<unknown> = Promise.resolve();
  return (account) => {
    const existing = transports.get(account);
    if (existing !== undefined) return existing;
    const token = accountTokens({ client, names, clock: systemClock }, account);
    // After a failure the first request of the controller tries again.
    requested = requested
      .then(token)
      .catch((error: unknown) => log.warn('failed to request the token of a service account', { account, error }));
    const credentials = {
      current: async () => ({ authorization: `Bearer ${await token()}` }),
      reject: () => false,
    };
    const transport = connect({ ...server, credentials, impersonation: undefined });
    transports.set(account, transport);
    return transport;
  };
}

/** How long to wait for the server (seconds). */
const waitSeconds = 10;

/** The configured API domain, or that of the server: the suffix of its group `coordination.…`. @throws StartError */
async function domainOf({ apiDomain }: ManagerSettings, url: string, client: Client): Promise<string> {
  const groups = await groupsOf(client, url, waitSeconds);
  const serverDomain = groups.find((group) => group.startsWith('coordination.'))?.slice('coordination.'.length);
  if (apiDomain === undefined && serverDomain === undefined) {
    throw new StartError(`the API domain of ${url} cannot be discovered: set --api-domain`);
  }
  if (apiDomain !== undefined && serverDomain !== undefined && apiDomain !== serverDomain) {
    throw new StartError(`--api-domain=${apiDomain} is not that of ${url}, which is ${serverDomain}`);
  }
  return apiDomain ?? serverDomain ?? '';
}
