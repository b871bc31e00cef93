import { enabledPlugins, idlePlugins } from '../../admission/index.ts';
import type { Names } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { idleControllers } from './run-controllers.ts';

interface IdleOptions {
  readonly settings: ServerSettings;
  readonly names: Names;
  readonly log: Log;
}

/** Logs the controllers and plugins that are enabled and do not run, as resources that they need are not served. */
export function logIdle({ settings, names, log }: IdleOptions, absent: ReadonlySet<string>): void {
  const { enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled } = settings;
  const idle = new Set(idlePlugins(absent, names));
  const plugins = enabledPlugins(enabled, disabled).filter((name) => idle.has(name));
  const controllers = idleControllers(settings, names, (resource) => !absent.has(resource)).map(({ name }) => name);
  if (plugins.length + controllers.length === 0) return;
  log.info('resources are not served: what needs them does not run', { resources: [...absent], controllers, plugins });
}
