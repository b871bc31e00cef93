import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { compatibleDomain } from '../../meta/index.ts';
import { firstSignal, logFailures, parseSettings, runToEnd } from '../commands/run-until-signal.ts';
import { createLog } from '../observability/log.ts';
import { startServer } from '../server.ts';
import { defaultSettings, programSettings, programTable, type ServerSettings } from '../settings/flags.ts';
import { serverArguments } from './arguments.ts';

/** The defaults that envtest expects: no controllers, memory store. */
const table: typeof programTable = {
  ...programTable,
  defaults: {
    ...programSettings,
    apiDomain: compatibleDomain,
    controllers: new Set(),
    leaderElect: false,
    allowPrivileged: true,
    logLevel: defaultSettings.logLevel,
  },
};

/** Runs in place of kube-apiserver, with its arguments, until SIGINT or SIGTERM. Objects are kept in memory. */
export async function runApiServer(args: readonly string[], started: () => void): Promise<void> {
  const { flags, certificates, inert } = serverArguments(args, new Set(table.list.map(({ name }) => name)));
  const settings = await parseSettings(
    'serve',
    table,
    ['--store=memory', ...certificateFlags(certificates), ...flags],
    1,
  );
  if (settings === undefined) return;
  const signal = firstSignal();
  await runToEnd(async () => {
    const starting = start({ ...settings, dataDir: undefined }, inert, started);
    const server = await Promise.race([starting, signal]);
    if (server === undefined) return;
    await signal;
    await server.close();
  });
}

/** The flags of a serving certificate in the folder, if it exists, like kube-apiserver. */
function certificateFlags(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  const [cert, key] = [join(folder, 'apiserver.crt'), join(folder, 'apiserver.key')];
  return existsSync(cert) && existsSync(key) ? [`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`] : [];
}

async function start(settings: ServerSettings, inert: readonly string[], started: () => void) {
  const { logLevel: levels = defaultSettings.logLevel, logFormat: format } = settings;
  const log = await createLog({ levels, format });
  logFailures(log);
  if (inert.length > 0) log.info('these flags have no effect', { flags: inert });
  const server = await startServer(settings, { log });
  const { url } = await server.listen();
  started();
  log.info('ready', { url });
  return server;
}
