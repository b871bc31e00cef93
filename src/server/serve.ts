import { constants } from 'node:os';
import { join } from 'node:path';
import { compatibleDomain } from '../meta/index.ts';
import { exposureNotice } from './exposure.ts';
import type { Settings } from './flags.ts';
import { createLog } from './log.ts';
import { readConfig } from './read-file.ts';
import { type OrchServer, startServer } from './server.ts';
import { readSettings } from './settings.ts';
import { shellWord } from './shell-word.ts';
import { StartError } from './start-error.ts';
import { version } from './version.ts';

/**
 * Runs `orch serve` until SIGINT or SIGTERM: the first one shuts down gracefully, a second one exits at once.
 * Exit status 2 for invalid settings, 1 for any other failure.
 */
export async function serve(args: readonly string[]): Promise<void> {
  const settings = await settingsOf(args);
  if (settings === undefined) return;
  const signal = firstSignal();
  try {
    const server = await start(settings);
    await signal;
    await server.close();
    process.exit(0);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`orch: ${error.message}\n`);
    process.exit(1);
  }
}

async function settingsOf(args: readonly string[]): Promise<Settings | undefined> {
  let problems: readonly string[];
  try {
    const result = await readSettings({ argv: args, env: process.env, readConfig });
    if ('settings' in result) return result.settings;
    problems = result.problems;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    problems = [error.message];
  }
  process.stderr.write(`${problems.map((p) => `orch: ${p}\n`).join('')}"orch serve --help" lists the flags.\n`);
  process.exitCode = 2;
  return undefined;
}

async function start(settings: Settings): Promise<OrchServer> {
  const log = await createLog(settings.logLevel);
  process.on('uncaughtException', (error) => {
    log.error('ended by an unexpected failure', { error });
    process.exit(1);
  });
  // The reader of standard output may be gone (EPIPE).
  process.stdout.on('error', () => {});
  const server = await startServer(settings, { log });
  const { url, kubeconfigPath } = await server.listen();
  const where = settings.store === 'memory' ? 'objects in memory' : `objects in ${settings.dataDir}`;
  process.stdout.write(`orch ${version} is ready at ${url} (${where})
administrator's kubeconfig: ${shellWord(kubeconfigPath ?? '')}
${[firstStep(settings, url, kubeconfigPath ?? ''), ...exposureNotice(settings)].join('\n')}
`);
  return server;
}

/** A command to try next: kubectl supports the compatible domain only. */
function firstStep({ apiDomain, dataDir, tlsCertFile }: Settings, url: string, kubeconfigPath: string): string {
  if (apiDomain === compatibleDomain) return `try: kubectl --kubeconfig ${shellWord(kubeconfigPath)} get ns`;
  const files = [tlsCertFile ?? join(dataDir, 'ca.crt'), join(dataDir, 'admin.crt'), join(dataDir, 'admin.key')];
  const [authority, cert, key] = files.map(shellWord);
  return `try: curl --cacert ${authority} --cert ${cert} --key ${key} ${shellWord(`${url}/api/v1/namespaces`)}
kubectl: start with --api-domain=${compatibleDomain}`;
}

/** Resolves at the first signal; the second one exits the process. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (stopping) process.exit(128 + constants.signals[name]);
        stopping = true;
        resolve();
      });
    }
  });
}
