import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  EncryptedStore,
  type EncryptionConfiguration,
  type EncryptionCounts,
  encryptionFormat,
  type OpenedEncryption,
  openEncryption,
} from '../../encryption/index.ts';
import type { HealthCheck } from '../../http/index.ts';
import type { GroupResource, Names } from '../../meta/index.ts';
import { resourceFinder } from '../../registry/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { pagesOf, type Store, StoreError } from '../../store/index.ts';
import { secretsPrefix } from '../certificates/stored-keys.ts';
import type { Dependencies } from '../dependencies.ts';
import { repeat } from '../repeat.ts';
import { decodeDocument, parseDocument } from '../settings/configuration-file.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { fileHash } from '../settings/followed-file.ts';
import { readPrivateKey } from '../settings/read-file.ts';
import { StartError } from '../start-error.ts';

type EncryptionSettings = Pick<
  ServerSettings,
  'encryptionProviderConfig' | 'encryptionProviderConfigAutomaticReload' | 'etcdPrefix'
>;

interface EncryptionDependencies extends Pick<Dependencies, 'clock' | 'random' | 'log'> {
  readonly names: Names;
  readonly counts: { readonly encryption: EncryptionCounts };
}

export interface OpenedEncryptedStore {
  readonly store: Store;
  /** Health checks of KMS plugins. */
  readonly checks: readonly HealthCheck[];
}

const flagName = 'encryption-provider-config';
/** How often the file is read again (ms). */
const reloadMs = 60_000;
/** How long replaced plugins stay open for operations in flight (ms). */
const retirementMs = 10_000;
/** Maximum number of attempts to start an unhealthy KMS plugin, and the delay between them (ms). */
const startAttempts = 10;
const attemptMs = 1_000;

/**
 * Wraps the store with the encryption that the file configures; returns the store itself without a file. Closes the store on
 * failure.
 * @throws StartError
 */
export async function openEncryptedStore(
  store: Store,
  settings: EncryptionSettings,
  dependencies: EncryptionDependencies,
): Promise<OpenedEncryptedStore> {
  const path = settings.encryptionProviderConfig;
  if (path === undefined) return { store, checks: [] };
  const encryption = new Encryption(store, path, settings.etcdPrefix, dependencies);
  try {
    await encryption.start(settings.encryptionProviderConfigAutomaticReload);
    return encryption;
  } catch (error) {
    await encryption.store.close();
    throw error instanceof StoreError ? new StartError(error.message, error) : error;
  }
}

/** A parsed configuration. */
export interface LoadedEncryption {
  readonly configuration: EncryptionConfiguration;
  /** The hash of the text of the file. */
  readonly hash: string;
}

/** The configuration in a file. @throws StartError */
export async function loadEncryption(path: string, names: Names): Promise<LoadedEncryption> {
  const text = await readPrivateKey(flagName, path);
  const document = parseDocument(`--${flagName}`, path, text);
  const configuration = decodeDocument(encryptionFormat, document, names);
  return { configuration, hash: fileHash(text) };
}

/** Maps a key, or a prefix of keys, to the resource whose rule applies. Secrets of the server use the rule of secrets. */
export function encryptedResource(names: Names): (key: string) => GroupResource | undefined {
  const resourceOf = resourceFinder(builtinResources, names);
  const secrets = { group: '', resource: 'secrets' };
  return (key) => resourceOf(key) ?? (key.startsWith(secretsPrefix) ? secrets : undefined);
}

class Encryption implements OpenedEncryptedStore {
  readonly store: EncryptedStore;
  checks: readonly HealthCheck[] = [];
  readonly #path: string;
  readonly #dependencies: EncryptionDependencies;
  #opened: OpenedEncryption | undefined;
  #started = false;
  #hash = '';
  #failure = '';
  #retired = new Set<() => void>();
  #stopReloading: () => Promise<unknown> = () => Promise.resolve();

  constructor(store: Store, path: string, pathPrefix: string, dependencies: EncryptionDependencies) {
    this.#path = path;
    this.#dependencies = dependencies;
    this.store = new EncryptedStore({
      store,
      rules: () => {
        if (this.#opened === undefined) throw new StoreError('unavailable', 'the encryption is not configured yet');
        return this.#opened.rules;
      },
      resourceOf: encryptedResource(dependencies.names),
      pathPrefix,
      onClose: () => this.#stop(),
    });
  }

  async start(reloads: boolean): Promise<void> {
    const { clock } = this.#dependencies;
    const loaded = await loadEncryption(this.#path, this.#dependencies.names);
    const opened = await this.#open(loaded);
    this.#use(loaded, opened);
    await startPlugins(opened);
    await this.#rewriteOwnSecrets();
    this.#started = true;
    this.checks = reloads
      ? [this.#checkOfAll()]
      : opened.plugins.map((plugin, i) => checkOf(`kms-provider-${i}`, plugin));
    if (reloads) this.#stopReloading = repeat(clock, reloadMs, () => this.#reload());
  }

  #open({ configuration }: LoadedEncryption): Promise<OpenedEncryption> {
    return openEncryption(configuration, {
      ...this.#dependencies,
      counts: this.#dependencies.counts.encryption,
      randomBytes,
      onRecovery: () => void this.#refresh(),
    });
  }

  #use({ hash }: LoadedEncryption, opened: OpenedEncryption): void {
    this.#opened = opened;
    this.#hash = hash;
    const { encryption } = this.#dependencies.counts;
    encryption.configurationHash = hash;
    encryption.keySources = () => opened.plugins.map(({ name, sources }) => [name, sources]);
  }

  /** Reloads the file. A configuration is used once it is valid and its plugins are healthy. */
  async #reload(): Promise<void> {
    const { clock, log, counts } = this.#dependencies;
    const { reloads } = counts.encryption;
    let opened: OpenedEncryption | undefined;
    try {
      const loaded = await loadEncryption(this.#path, this.#dependencies.names);
      if (loaded.hash === this.#hash) return;
      opened = await this.#open(loaded);
      for (const plugin of opened.plugins) await plugin.start();
      this.#retire(this.#opened);
      this.#use(loaded, opened);
      reloads.add({ status: 'success' }, clock.now());
      log.info('the encryption configuration was reloaded', { hash: loaded.hash });
      this.#failure = '';
      await this.#refresh();
    } catch (error) {
      opened?.close();
      reloads.add({ status: 'failure' }, clock.now());
      // The same failure is logged once.
      if (messageOf(error) !== this.#failure) log.error('failed to reload the encryption configuration', { error });
      this.#failure = messageOf(error);
    }
  }

  /** Uses keys that have become available. */
  async #refresh(): Promise<void> {
    if (!this.#started) return;
    this.store.recheck();
    try {
      await this.#rewriteOwnSecrets();
    } catch (error) {
      this.#dependencies.log.error('failed to encrypt the secrets of the server with the current key', { error });
    }
  }

  #retire(opened: OpenedEncryption | undefined): void {
    if (opened === undefined) return;
    const close = () => {
      cancel();
      this.#retired.delete(close);
      opened.close();
    };
    const cancel = this.#dependencies.clock.after(retirementMs, close);
    this.#retired.add(close);
  }

  /** Encrypts the secrets of the server with the current key. @throws StoreError */
  async #rewriteOwnSecrets(): Promise<void> {
    for await (const { entries } of pagesOf(this.store, { prefix: secretsPrefix })) {
      for (const { key, value, revision, stale } of entries) {
        // Another server may have done the same. Values that cannot be decrypted are empty.
        if (stale === true && value.length > 0) await this.store.commit([{ key, revision }], [{ key, value }]);
      }
    }
  }

  #checkOfAll(): HealthCheck {
    const check = async () => {
      for (const plugin of this.#opened?.plugins ?? []) await plugin.check();
    };
    return checkOf('kms-providers', { check });
  }

  async #stop(): Promise<void> {
    await this.#stopReloading();
    for (const close of [...this.#retired]) close();
    this.#opened?.close();
  }
}

const checkOf = (name: string, plugin: { check(): Promise<void> }): HealthCheck => ({
  name,
  check: () => plugin.check(),
  endpoints: ['healthz', 'livez', 'readyz'],
});

/** Starts the plugins. @throws StartError when one stays unhealthy */
export async function startPlugins({ plugins }: OpenedEncryption): Promise<void> {
  for (const plugin of plugins) {
    for (let attempt = 1; !(await isStarted(plugin, attempt)); attempt++) await pause(attemptMs);
  }
}

/** @throws StartError at the last attempt */
async function isStarted(plugin: OpenedEncryption['plugins'][number], attempt: number): Promise<boolean> {
  try {
    await plugin.start();
    return true;
  } catch (error) {
    if (attempt === startAttempts) throw new StartError(messageOf(error), error);
    return false;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
