import { type Clock, parseDuration, type Random } from '../meta/index.ts';
import { loadSecretbox, type RandomBytes } from './cipher.ts';
import type { EncryptionConfiguration } from './configuration.ts';
import type { EncryptionCounts } from './counts.ts';
import { KmsProvider } from './kms/kms-provider.ts';
import { loadPluginApi } from './kms/plugin.ts';
import { EncryptionRules } from './rules.ts';

export interface EncryptionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly randomBytes: RandomBytes;
  readonly counts: EncryptionCounts;
  /** Called when values that could not be decrypted before may be decrypted now. */
  readonly onRecovery: () => void;
}

/** The rules of a configuration, with the KMS plugins that they use. */
export interface OpenedEncryption {
  readonly rules: EncryptionRules;
  /** The plugins, in the order of the configuration. */
  readonly plugins: readonly KmsProvider[];
  close(): void;
}

/** How long a call of a plugin may take (ms), unless the configuration says. */
const defaultTimeoutMs = 3_000;

/** The rules of a configuration that is valid. The plugins are not asked for anything before they are started. */
export async function openEncryption(
  configuration: EncryptionConfiguration,
  { onRecovery, ...options }: EncryptionOptions,
): Promise<OpenedEncryption> {
  const { counts } = options;
  const used = (configuration.resources ?? []).some(({ providers = [] }) => providers.some(({ kms }) => kms));
  const api = used ? await loadPluginApi() : undefined;
  const plugins: KmsProvider[] = [];
  const rules = new EncryptionRules(configuration, {
    ...options,
    secretbox: await loadSecretbox(),
    observer: (labels) => counts.transformations.add(labels),
    kms: ({ name = '', endpoint = '', timeout }) => {
      if (api === undefined) throw new Error('the messages of KMS plugins are not loaded');
      const timeoutMs = timeout === undefined ? defaultTimeoutMs : Number(parseDuration(timeout)) / 1e6;
      const plugin = api.connect(endpoint, timeoutMs);
      const provider = new KmsProvider({ ...options, name, api, plugin, onRecovery });
      plugins.push(provider);
      return provider;
    },
  });
  return {
    rules,
    plugins,
    close: () => {
      for (const plugin of plugins) plugin.close();
    },
  };
}
