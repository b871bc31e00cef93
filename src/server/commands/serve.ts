import { join, resolve } from 'node:path';
import { compatibleDomain } from '../../meta/index.ts';
import { systemClock } from '../clock.ts';
import { createServerIdentity } from '../cluster/server-identity.ts';
import { collectWhenIdle } from '../idle-collection.ts';
import { createLog } from '../observability/log.ts';
import { systemRandom } from '../random.ts';
import { type OrchServer, startServer } from '../server.ts';
import type { FlagTable } from '../settings/flag.ts';
import type { Settings } from '../settings/flags.ts';
import { dataDirOf, temporaryDataDir } from '../storage/data-folder.ts';
import { describeStore } from '../storage/open-store.ts';
import { version } from '../version.ts';
import { demoCommands } from './demo.ts';
import { exposureNotice } from './exposure-notice.ts';
import { firstSignal, logFailures, parseSettings, runToEnd } from './run-until-signal.ts';
import { shellWord } from './shell-word.ts';
import { StartProgress } from './start-progress.ts';

/** The settings of a process, with its data directory. */
export type ProcessSettings = Settings & { readonly dataDir: string };

/**
 * Serves until SIGINT or SIGTERM: the first signal shuts down gracefully, a second one exits at once. Exit status 1 for
 * invalid settings and any other failure, as with the reference server. Calls `started` once the server listens.
 */
export const serveWith =
  (command: string, table: FlagTable<Settings>) =>
  async (args: readonly string[], started: () => void): Promise<void> => {
    const settings = await parseSettings(command, table, args, 1);
    if (settings === undefined) return;
    const signal = firstSignal();
    await runToEnd(async () => {
      const { store, apiDomain } = settings;
      const dataDir = settings.dataDir ?? (store === 'memory' ? await temporaryDataDir() : dataDirOf(apiDomain));
      const server = await Promise.race([start({ ...settings, dataDir }, started), signal]);
      // A server that is not ready, such as one that waits for its store, exits at once.
      if (server === undefined) return;
      await signal;
      await server.close();
    });
  };

async function start(settings: ProcessSettings, started: () => void): Promise<OrchServer> {
  const identity = createServerIdentity(settings, systemRandom);
  const log = await createLog({ levels: settings.logLevel, format: settings.logFormat, identity });
  logFailures(log);
  const starting = new StartProgress(process.stderr, systemClock, log);
  try {
    const server = await startServer(settings, { log, identity, starting });
    starting.begin('port');
    const { url, kubeconfigPath } = await server.listen();
    started();
    starting.end();
    collectWhenIdle(systemClock);
    process.stdout.write(`orch ${version} is ready at ${url} with ${namesServed(settings.apiDomain)}
objects: ${describeStore(settings)}; administrator's kubeconfig: ${shellWord(kubeconfigPath ?? '')}
${[...firstSteps(settings, url, kubeconfigPath ?? ''), ...exposureNotice(settings)].join('\n')}
`);
    return server;
  } finally {
    starting.end();
  }
}

/** Describes the API domain. */
const namesServed = (domain: string): string =>
  domain === compatibleDomain
    ? `the names of ${domain}, which kubectl uses (--api-domain changes them)`
    : `the names of ${domain} (kubectl uses those of ${compatibleDomain}: --api-domain=${compatibleDomain})`;

/** Commands to try next: kubectl supports only the compatible domain. */
function firstSteps(
  { apiDomain, console: hasConsole, dataDir, tlsCertFile, demo }: ProcessSettings,
  url: string,
  kubeconfigPath: string,
): string[] {
  if (apiDomain === compatibleDomain) {
    const use = `export KUBECONFIG=${shellWord(resolve(kubeconfigPath))}`;
    if (!demo) return [`try: ${use} && kubectl get namespaces`];
    const token = `kubectl create token visitor --namespace demo  # signs in at ${url}/console/`;
    return ['try:', ...[use, ...demoCommands, ...(hasConsole === false ? [] : [token])].map((line) => `  ${line}`)];
  }
  const files = [tlsCertFile ?? join(dataDir, 'ca.crt'), join(dataDir, 'admin.crt'), join(dataDir, 'admin.key')];
  const [authority, cert, key] = files.map(shellWord);
  const path = demo ? '/apis/apps/v1/namespaces/demo/deployments' : '/api/v1/namespaces';
  const get = demo ? 'get all --namespace demo' : 'get namespaces';
  return [
    `try: orch ctl --kubeconfig=${shellWord(resolve(kubeconfigPath))} ${get}`,
    `or:  curl --cacert ${authority} --cert ${cert} --key ${key} ${shellWord(`${url}${path}`)}`,
  ];
}
