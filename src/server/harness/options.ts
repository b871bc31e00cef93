import { type Clock, compatibleDomain } from '../../meta/index.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { readConfig } from '../settings/read-file.ts';
import type { ServerOptions } from '../settings/server-options.ts';
import { readOptions } from '../settings/settings.ts';
import { StartError } from '../start-error.ts';
import type { Source } from './sources.ts';
import type { WebhookOptions } from './webhooks.ts';

/**
 * The settings of a server in a test: those of `createServer`, with other defaults. The API domain is that of
 * kubectl, no controllers run, none is elected, the port is a free one, containers may be privileged; the admission plugin
 * `ServiceAccount` is off unless the controller runs that makes the accounts it asks for.
 */
export interface TestServerOptions extends ServerOptions {
  /** Default: the system clock. A `VirtualClock` stands still until `server.clock.advance` moves it. */
  readonly clock?: Clock | undefined;
  /**
   * Custom resource definitions: objects, files, and folders, of which only the definitions are read. They are established
   * when the server is ready.
   */
  readonly definitions?: Source | readonly Source[] | undefined;
  /** Objects that are there when the server is ready: as they are, of files and of folders. Namespaces come first. */
  readonly objects?: Source | readonly Source[] | undefined;
  /**
   * Where webhooks are that `clientConfig.service` of a webhook configuration, or of the conversion of a definition, names.
   * Configurations are created after the objects, for which they are not called.
   */
  readonly webhooks?: WebhookOptions | undefined;
}

const harnessOptions = ['clock', 'definitions', 'objects', 'webhooks'] as const;

const defaults: ServerOptions = {
  apiDomain: compatibleDomain,
  allowPrivileged: true,
  controllers: '-*',
  leaderElect: false,
  securePort: 0,
};

const accounts = { plugin: 'ServiceAccount', controller: 'serviceaccount-controller' };

/** @throws StartError that names every option that is unknown or makes no sense */
export async function readTestOptions(options: TestServerOptions): Promise<ServerSettings> {
  const definedOptions = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings = await readOptions({ ...defaults, ...definedOptions }, readConfig, harnessOptions);
  const { clock } = options;
  if (clock !== undefined && !isClock(clock)) {
    throw new StartError('clock must be a clock, such as new VirtualClock()');
  }
  const { enableAdmissionPlugins: on, disableAdmissionPlugins: off } = settings;
  if (makesAccounts(settings) || [...on, ...off].includes(accounts.plugin)) return settings;
  return { ...settings, disableAdmissionPlugins: [...off, accounts.plugin] };
}

/** Whether the accounts are made by the controllers of the server that pods ask for. */
export const makesAccounts = ({ controllers }: ServerSettings): boolean => controllers.has(accounts.controller);

const isClock = (value: Clock): boolean =>
  (['now', 'monotonic', 'after'] as const).every((name) => typeof value?.[name] === 'function');
