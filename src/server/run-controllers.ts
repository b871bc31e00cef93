import { createClient, type InProcessHandler, inProcessTransport } from '../client/index.ts';
import {
  allControllers,
  type ControllerSettings,
  componentName,
  defaultSettings,
  type RunningControllers,
  startControllers,
} from '../controllers/index.ts';
import type { Names } from '../meta/index.ts';
import type { Dependencies } from './dependencies.ts';
import type { ServerSettings } from './flags.ts';
import type { Tls } from './tls.ts';
import type { Tokens } from './tokens.ts';
import { version } from './version.ts';

type Options = Pick<Dependencies, 'clock' | 'random' | 'log'> & {
  readonly settings: Pick<ServerSettings, 'controllers' | 'clusterSigningDuration'>;
  readonly names: Names;
  readonly handler: InProcessHandler;
  /** Resolves when the port is open, if it is being opened: controllers start after that. */
  readonly opened: () => Promise<unknown>;
  readonly signSecretToken: Tokens['signSecretToken'];
  /** The certificates that are in use; undefined while the server does not listen. */
  readonly tls: () => Tls | undefined;
};

/** When the controllers start (ms): after the start of the server, which they must not delay. */
const firstMs = 50;

/** Runs the controllers that are on in the process of the server. The result stops them, and resolves when nothing runs. */
export function runControllers(options: Options): () => Promise<void> {
  const { settings, names, handler, clock, random, log, opened } = options;
  const controllers = allControllers.filter(({ name }) => settings.controllers.has(name));
  if (controllers.length === 0) return () => Promise.resolve();
  const as = (commonName: string, organizations: readonly string[]) =>
    createClient({
      transport: inProcessTransport(handler, { subject: { commonName, organizations }, background: true }),
      baseHeaders: { 'user-agent': `${componentName}/${version}` },
    });
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${names.systemNamespace}`];
  let stopped = false;
  let running: RunningControllers | undefined;
  const start = async () => {
    await opened();
    if (stopped) return;
    running = startControllers({
      ...{ controllers, names, clock, random, log },
      settings: controllerSettings(options),
      reader: as(`system:${componentName}`, []),
      clientOf: (account) => as(`system:serviceaccount:${names.systemNamespace}:${account}`, groups),
      observe: () => ({ added: () => {}, started: () => {}, ended: () => {}, retried: () => {} }),
    });
  };
  let starting = Promise.resolve();
  const cancel = clock.after(firstMs, () => {
    starting = start();
  });
  return async () => {
    stopped = true;
    cancel();
    await starting;
    await running?.stop();
  };
}

const controllerSettings = ({ settings, signSecretToken, tls }: Options): ControllerSettings => ({
  ...defaultSettings,
  rootCertificates: () => tls()?.rootCa,
  signSecretToken,
  signingAuthority: () => tls()?.signing,
  signingMs: settings.clusterSigningDuration,
});
