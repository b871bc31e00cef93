import { dirname, resolve } from 'node:path';
import {
  admissionConfigurationFormat,
  type CallingPlugin,
  configurationFormats,
  enabledPlugins,
  type PluginConfigurations,
  type PluginFormat,
  pluginNames,
} from '../../admission/index.ts';
import { isJsonObject, type Json, type Names } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';
import { StartError } from '../start-error.ts';
import {
  readWebhookConfig,
  readWebhookCredentials,
  type WebhookConfig,
  type WebhookCredentials,
} from '../webhooks/webhook-kubeconfig.ts';
import { type ConfigurationDocument, decodeDocument, readYaml } from './configuration-file.ts';
import type { ServerSettings } from './flags.ts';
import { didYouMean } from './suggest.ts';

type PluginSettings = Pick<
  ServerSettings,
  'admissionControlConfigFile' | 'enableAdmissionPlugins' | 'disableAdmissionPlugins'
>;

const flagName = '--admission-control-config-file';
const formats = new Map<string, PluginFormat>(Object.entries<PluginFormat>(configurationFormats));

/** The parsed files of the admission configuration. */
export interface AdmissionFiles {
  readonly configurations: PluginConfigurations;
  readonly credentials: { readonly [plugin in CallingPlugin]: WebhookCredentials | undefined };
  /** The webhook of ImagePolicyWebhook, and the delay before the first retry (ms). */
  readonly imagePolicy: { readonly webhook: WebhookConfig; readonly backoffMs: number } | undefined;
}

/** Reads the file of `--admission-control-config-file`, and those that it names. @throws StartError */
export async function readAdmission(
  settings: PluginSettings,
  names: Names,
  log: Pick<Log, 'warn'>,
): Promise<AdmissionFiles> {
  const configurations = await readPluginConfigurations(settings, names, log);
  return {
    configurations,
    credentials: await readCredentials(configurations),
    imagePolicy: await readImagePolicy(configurations),
  };
}

/** @throws StartError */
async function readImagePolicy({ ImagePolicyWebhook }: PluginConfigurations): Promise<AdmissionFiles['imagePolicy']> {
  if (ImagePolicyWebhook === undefined) return undefined;
  const { kubeConfigFile = '', retryBackoff } = ImagePolicyWebhook.imagePolicy ?? {};
  const webhook = await readWebhookConfig('imagePolicy.kubeConfigFile of ImagePolicyWebhook', kubeConfigFile);
  return { webhook, backoffMs: retryBackoff === -1 ? 0 : retryBackoff || 500 };
}

/**
 * Reads the configurations of the enabled plugins. Warns of configurations of other plugins.
 * @throws StartError
 */
async function readPluginConfigurations(
  settings: PluginSettings,
  names: Names,
  log: Pick<Log, 'warn'>,
): Promise<PluginConfigurations> {
  const { admissionControlConfigFile: path } = settings;
  const readers =
    path === undefined ? new Map<string, () => Promise<ConfigurationDocument>>() : await readFile(path, names);
  const enabled = enabledPlugins(settings.enableAdmissionPlugins, settings.disableAdmissionPlugins);
  const out: { [name: string]: unknown } = {};
  for (const name of enabled) {
    const format = formats.get(name);
    const read = readers.get(name);
    readers.delete(name);
    if (read !== undefined && format !== undefined) out[name] = decodeDocument(format, await read(), names);
    else if (format?.required === true) {
      throw new StartError(`the admission plugin ${name} needs a configuration in the file of ${flagName}`);
    }
  }
  for (const name of readers.keys()) {
    log.warn(`the configuration of the admission plugin ${name} has no effect: the plugin is off`, {});
  }
  return out;
}

/** Returns a reader for the configuration of each plugin in the file. @throws StartError */
async function readFile(path: string, names: Names): Promise<Map<string, () => Promise<ConfigurationDocument>>> {
  const file = await readYaml(flagName, path);
  const unversioned = unversionedPlugins(file.value);
  if (unversioned.length > 0) return new Map(unversioned.map((name) => [name, () => Promise.resolve(file)]));
  const { plugins = [] } = decodeDocument(admissionConfigurationFormat, file, names);
  const known: readonly string[] = pluginNames;
  const out = new Map<string, () => Promise<ConfigurationDocument>>();
  for (const [i, { name = '', path: other = '', configuration }] of plugins.entries()) {
    const at = `${file.where}: plugins[${i}]`;
    if (!known.includes(name)) {
      throw new StartError(`${at}.name: ${JSON.stringify(name)} is not an admission plugin${didYouMean(name, known)}`);
    }
    if (out.has(name)) throw new StartError(`${at}.name: ${name} has a configuration already`);
    if (configuration === undefined && other === '') continue;
    if (!formats.has(name)) throw new StartError(`${at}: the admission plugin ${name} has no configuration`);
    const nested = { value: configuration ?? null, where: `${at}.configuration` };
    out.set(name, async () =>
      configuration === undefined ? readYaml(`${at}.path`, resolve(dirname(path), other)) : nested,
    );
  }
  return out;
}

/** The plugins that the file configures itself, as in old releases. */
const unversionedPlugins = (value: Json): string[] =>
  isJsonObject(value) && !Object.hasOwn(value, 'kind')
    ? [
        ...(Object.hasOwn(value, 'imagePolicy') ? ['ImagePolicyWebhook'] : []),
        ...(Object.hasOwn(value, 'podNodeSelectorPluginConfig') ? ['PodNodeSelector'] : []),
      ]
    : [];

/** Reads the webhook credentials of each plugin that calls registered webhooks. @throws StartError */
async function readCredentials(configurations: PluginConfigurations): Promise<AdmissionFiles['credentials']> {
  const read = (plugin: CallingPlugin) => {
    const path = configurations[plugin]?.kubeConfigFile;
    return path === undefined ? undefined : readWebhookCredentials(`kubeConfigFile of ${plugin}`, path);
  };
  return {
    MutatingAdmissionWebhook: await read('MutatingAdmissionWebhook'),
    ValidatingAdmissionWebhook: await read('ValidatingAdmissionWebhook'),
  };
}
