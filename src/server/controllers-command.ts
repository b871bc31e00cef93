import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  createClient,
  type HttpsOptions,
  httpsTransport,
  LeaderElection,
  type Transport,
  whileHeld,
} from '../client/index.ts';
import { allControllers, componentName, defaultSettings, startControllers } from '../controllers/index.ts';
import { isJsonObject, type Json, type Names, namesFor } from '../meta/index.ts';
import { accountTokens } from './account-tokens.ts';
import { systemClock } from './clock.ts';
import { leaseSettings } from './controller-flags.ts';
import type { Log } from './dependencies.ts';
import { createLog } from './log.ts';
import { type ManagerSettings, managerTable } from './manager-flags.ts';
import { firstSignal, logFailures, runToEnd, settingsOf } from './process.ts';
import { systemRandom } from './random.ts';
import { readSettingFile } from './read-file.ts';
import { StartError, systemReason } from './start-error.ts';
import { version } from './version.ts';
import { readWebhookConfig } from './webhook-kubeconfig.ts';

/**
 * Runs `orch controllers` until SIGINT or SIGTERM: the first one stops the controllers and releases the lease, a second
 * one exits at once. Exit status 2 for invalid settings, 1 for any other failure, such as the loss of the lease.
 */
export async function controllers(args: readonly string[]): Promise<void> {
  const settings = await settingsOf('controllers', managerTable, args);
  if (settings === undefined) return;
  const signal = firstSignal();
  await runToEnd(async () => {
    const log = await createLog(settings.logLevel);
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

/** Starts the controllers. The result stops them, and releases the lease. @throws StartError */
async function start(settings: ManagerSettings, log: Log, lost: () => void): Promise<() => Promise<void>> {
  const server = await serverOf(settings);
  const transport = httpsTransport(server);
  const own = clientOver(transport);
  const names = namesFor(await domainOf(settings, server.server, own));
  const over = (through: Transport) => clientOver(through, names.domain);
  const [clock, random] = [systemClock, systemRandom];
  const ca = settings.rootCaFile && (await readSettingFile('root-ca-file', settings.rootCaFile));
  const transportOf = settings.useServiceAccountCredentials ? accountTransports(server, own, names) : () => transport;
  const lead = (holds: () => boolean) =>
    startControllers({
      ...{ names, clock, random, log },
      controllers: allControllers.filter(({ name }) => settings.controllers.has(name)),
      settings: { ...defaultSettings, rootCertificates: () => ca ?? server.ca },
      reader: over(whileHeld(holds, transport)),
      clientOf: (account) => over(whileHeld(holds, transportOf(account))),
      observe: () => ({ added: () => {}, started: () => {}, ended: () => {}, retried: () => {} }),
    });
  process.stdout.write(`orch ${version} runs controllers for ${server.server}\n`);
  if (!settings.leaderElect) return lead(() => true).stop;
  const election: LeaderElection = new LeaderElection({
    ...{ client: over(transport), clock, random, log, lost, settings: leaseSettings(settings) },
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

/** The transports of service accounts, each with a token of its own. */
function accountTransports(server: HttpsOptions, client: Client, names: Names): (account: string) => Transport {
  const { certificate: _, authorization: __, ...anonymous } = server;
  const transports = new Map<string, Transport>();
  return (account) => {
    const found = transports.get(account);
    if (found !== undefined) return found;
    const token = accountTokens({ client, names, clock: systemClock }, account);
    const transport = httpsTransport({ ...anonymous, authorization: async () => `Bearer ${await token()}` });
    transports.set(account, transport);
    return transport;
  };
}

/** The server of the kubeconfig, and the credentials for it. @throws StartError */
async function serverOf({ kubeconfig = '' }: ManagerSettings): Promise<HttpsOptions> {
  const { url, ca, serverName, skipVerify, cert, key, authorization } = await readWebhookConfig(
    '--kubeconfig',
    kubeconfig,
  );
  if (url.pathname !== '/') {
    throw new StartError(`--kubeconfig=${JSON.stringify(kubeconfig)}: the server must be a URL without a path`);
  }
  return {
    server: url.origin,
    skipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** For how many seconds a server is waited for. */
const waitSeconds = 10;

/** The API domain of the setting, or of the server: what follows `coordination.` among its groups. @throws StartError */
async function domainOf({ apiDomain }: ManagerSettings, url: string, client: Client): Promise<string> {
  const groups = await groupsOf(client, url);
  const found = groups.find((group) => group.startsWith('coordination.'))?.slice('coordination.'.length);
  if (apiDomain === undefined && found === undefined) {
    throw new StartError(`the API domain of ${url} cannot be found out: give it as --api-domain`);
  }
  if (apiDomain !== undefined && found !== undefined && apiDomain !== found) {
    throw new StartError(`--api-domain=${apiDomain} is not that of ${url}, which is ${found}`);
  }
  return apiDomain ?? found ?? '';
}

/** The names of the API groups. A server that cannot be reached is waited for. @throws StartError */
async function groupsOf(client: Client, url: string): Promise<string[]> {
  for (let second = 0; ; second++) {
    try {
      const { status, body } = await client.request({ method: 'GET', url: '/apis', headers: {} });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      if (status !== 200) throw new StartError(`${url}/apis cannot be read: HTTP status ${status}`);
      const list = JSON.parse(Buffer.concat(chunks).toString()) as Json;
      const groups = isJsonObject(list) ? list['groups'] : [];
      const names = (Array.isArray(groups) ? groups : []).map((group) => (isJsonObject(group) ? group['name'] : ''));
      return names.filter((name) => typeof name === 'string');
    } catch (error) {
      if (error instanceof StartError) throw error;
      if (second === waitSeconds) throw new StartError(`${url} cannot be used: ${systemReason(error)}`, error);
      await pause(1_000);
    }
  }
}
