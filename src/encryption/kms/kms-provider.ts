import { createHash } from 'node:crypto';
import { type Clock, dns1123Subdomain, type Random } from '../../meta/index.ts';
import { StoreError } from '../../store/index.ts';
import {
  aesGcm,
  type Cipher,
  type Decrypted,
  derivedAesGcm,
  type LocalCipher,
  type RandomBytes,
  seedBytes,
} from '../cipher.ts';
import type { EncryptionCounts } from '../counts.ts';
import { type EncryptedKey, type EncryptedObject, type Plugin, type PluginApi, PluginError } from './plugin.ts';

export interface KmsProviderOptions {
  /** Of the provider. */
  readonly name: string;
  readonly api: Pick<PluginApi, 'encode' | 'decode'>;
  readonly plugin: Plugin;
  readonly clock: Clock;
  readonly random: Random;
  readonly randomBytes: RandomBytes;
  readonly counts: EncryptionCounts;
  /** Called when keys that the plugin did not decrypt before may be decrypted now. */
  readonly onRecovery: () => void;
}

/** The status is asked for so often (ms): while the plugin is healthy, and while it is not. */
const healthyPollMs = 60_000;
const failingPollMs = 10_000;
/** For how long health checks are answered with the last outcome (ms). */
const healthyCheckMs = 20_000;
const failingCheckMs = 3_000;
/** For how long values are encrypted with a key whose key ID the plugin has not confirmed (ms). */
const maxUnconfirmedMs = 3 * 60_000;

const maxKeyBytes = 1024;
const maxKeyIdBytes = 1024;
const maxAnnotationBytes = 32 * 1024;
/** So many decrypted keys are kept. */
const maxSources = 1_000;
/** How many keys the plugin decrypts at a time. */
const maxDecryptions = 100;

/** Values of `EncryptedObject.encryptedDEKSourceType`: a key of AES-GCM, or a seed of such keys. */
const keyType = 0;
const seedType = 1;

/** A key in use: the seed in a cipher, and the same encrypted by the plugin. */
interface CurrentKey {
  readonly cipher: LocalCipher;
  readonly encrypted: EncryptedKey;
  /** Until when it encrypts, unless it is confirmed again (monotonic ms). */
  readonly expires: number;
}

/**
 * Envelope encryption with a KMS plugin, version 2. The plugin encrypts one seed for as long as its key ID stays the
 * same; a key for each value is derived from the seed. What was encrypted with a seed of another process is decrypted
 * with the help of the plugin once.
 */
export class KmsProvider implements Cipher {
  readonly name: string;
  readonly #options: KmsProviderOptions;
  #current: CurrentKey | undefined;
  /** Decrypted keys by what identifies them, the least recently used first. */
  readonly #sources = new Map<string, LocalCipher>();
  readonly #decryptions = new Map<string, Promise<LocalCipher | undefined>>();
  /** The outcome of the last probe. */
  #failure: Error | undefined = new Error('the plugin has not been asked for its status yet');
  #probed = Number.NEGATIVE_INFINITY;
  #probing: Promise<void> | undefined;
  #cancelPoll = () => {};
  #closed = false;

  constructor(options: KmsProviderOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** How many keys that the plugin has decrypted are in memory. */
  get sources(): number {
    return this.#sources.size;
  }

  encrypt(value: Uint8Array, path: string): Uint8Array {
    const { api, clock } = this.#options;
    const current = this.#current;
    if (current === undefined) throw this.#unavailable('it has encrypted no key yet');
    if (clock.monotonic() > current.expires) throw this.#unavailable('it has not confirmed its key ID for too long');
    const { ciphertext, keyId, annotations } = current.encrypted;
    this.#count('to_storage', keyId);
    return api.encode({
      encryptedData: current.cipher.encrypt(value, path),
      keyID: keyId,
      encryptedDEKSource: ciphertext,
      annotations,
      encryptedDEKSourceType: seedType,
    });
  }

  decrypt(data: Uint8Array, path: string): Decrypted | undefined | Promise<Decrypted | undefined> {
    const object = this.#decode(data);
    if (object === undefined) return undefined;
    const source = sourceOf(object);
    const known = this.#sources.get(source);
    if (known === undefined) {
      return this.#sourceCipher(source, object).then((cipher) => {
        const found = this.#decryptWith(cipher, object, path);
        // A key that decrypts nothing is not kept: the plugin may have been wrong, and is asked again.
        if (cipher !== undefined && found !== undefined) this.#keep(source, cipher);
        return found;
      });
    }
    this.#keep(source, known);
    return this.#decryptWith(known, object, path);
  }

  /** Asks for the status of the plugin now and from then on. @throws Error when the plugin cannot be used yet */
  async start(): Promise<void> {
    try {
      await this.#probe();
    } finally {
      this.#pollLater();
    }
  }

  /** The health check. @throws Error that says why the plugin is not healthy */
  async check(): Promise<void> {
    const age = this.#options.clock.monotonic() - this.#probed;
    if (age > (this.#failure === undefined ? healthyCheckMs : failingCheckMs)) await this.#probe().catch(() => {});
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    this.#closed = true;
    this.#cancelPoll();
    this.#options.plugin.close();
  }

  #pollLater(): void {
    this.#cancelPoll();
    if (this.#closed) return;
    const ms = this.#failure === undefined ? healthyPollMs : failingPollMs;
    this.#cancelPoll = this.#options.clock.after(ms, () => {
      void this.#probe()
        .catch(() => {})
        .then(() => this.#pollLater());
    });
  }

  #probe(): Promise<void> {
    this.#probing ??= this.#probeOnce().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  async #probeOnce(): Promise<void> {
    const { clock, name } = this.#options;
    const failed = this.#failure !== undefined;
    const before = this.#current?.encrypted.keyId;
    try {
      await this.#confirmKey();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = new Error(
        `the KMS plugin ${name} is not healthy: ${error instanceof Error ? error.message : ''}`,
      );
      throw this.#failure;
    } finally {
      this.#probed = clock.monotonic();
    }
    if (failed || before !== this.#current?.encrypted.keyId) this.#options.onRecovery();
  }

  /** Confirms the current key, or replaces it when the plugin tells of another key ID. */
  async #confirmKey(): Promise<void> {
    const { plugin, clock, counts, name } = this.#options;
    // The time counts from before the answer.
    const expires = clock.monotonic() + maxUnconfirmedMs;
    const { version, healthz, keyId } = await plugin.status();
    if (healthz !== 'ok') throw new Error(`its status is ${JSON.stringify(healthz.slice(0, 500))}`);
    // Plugins made before version 2 was final say v2beta1.
    if (version !== 'v2' && version !== 'v2beta1') throw new Error('its status is of another version than v2');
    if (!isKeyId(keyId)) throw new Error(`its status has no key ID of 1 to ${maxKeyIdBytes} bytes`);
    counts.statuses.add({ provider_name: name, key_id_hash: hashOf(keyId) }, clock.now());
    if (this.#current?.encrypted.keyId === keyId) this.#current = { ...this.#current, expires };
    else this.#current = await this.#newKey(keyId, expires);
  }

  async #newKey(keyId: string, expires: number): Promise<CurrentKey> {
    const { plugin, random, randomBytes } = this.#options;
    const seed = randomBytes(seedBytes);
    const encrypted = await plugin.encrypt(seed, random.uuid());
    if (!isValidKey(encrypted)) throw new Error('what it made of a key is empty or too large, or its annotations are');
    if (encrypted.keyId !== keyId) throw new Error('it encrypts with another key ID than that of its status');
    const cipher = localCipher(seedType, seed, randomBytes);
    if (cipher === undefined) throw new Error('no key');
    const { ciphertext: encryptedDEKSource, annotations } = encrypted;
    const type = { encryptedDEKSourceType: seedType };
    this.#keep(sourceOf({ keyID: keyId, encryptedDEKSource, annotations, ...type }), cipher);
    return { cipher, encrypted, expires };
  }

  #decode(data: Uint8Array): EncryptedObject | undefined {
    try {
      const object = this.#options.api.decode(data);
      const { keyID: keyId, encryptedDEKSource: ciphertext, annotations } = object;
      return object.encryptedData.length > 0 && isValidKey({ keyId, ciphertext, annotations }) ? object : undefined;
    } catch {
      return undefined;
    }
  }

  #decryptWith(cipher: LocalCipher | undefined, object: EncryptedObject, path: string): Decrypted | undefined {
    const { encryptedData, keyID, encryptedDEKSourceType: type } = object;
    const found = cipher?.decrypt(encryptedData, path);
    if (found === undefined) return undefined;
    this.#count('from_storage', keyID);
    const current = this.#current?.encrypted.keyId;
    return { value: found.value, stale: current !== undefined && (keyID !== current || type !== seedType) };
  }

  /** The cipher of a key that the plugin decrypts; undefined when it is none. Those who need it share the call. */
  #sourceCipher(source: string, object: EncryptedObject): Promise<LocalCipher | undefined> {
    let decryption = this.#decryptions.get(source);
    if (decryption === undefined) {
      if (this.#decryptions.size >= maxDecryptions) return Promise.reject(this.#unavailable('it is busy'));
      decryption = this.#decryptSource(object).finally(() => this.#decryptions.delete(source));
      this.#decryptions.set(source, decryption);
    }
    return decryption;
  }

  async #decryptSource(object: EncryptedObject): Promise<LocalCipher | undefined> {
    const { plugin, random, randomBytes } = this.#options;
    const { keyID: keyId, encryptedDEKSource: ciphertext, annotations, encryptedDEKSourceType: type } = object;
    try {
      const key = await plugin.decrypt({ ciphertext, keyId, annotations }, random.uuid());
      return localCipher(type, key, randomBytes);
    } catch (error) {
      if (error instanceof PluginError && !error.transient) return undefined;
      throw this.#unavailable(error instanceof Error ? error.message : '');
    }
  }

  /** Keeps a cipher as the most recently used one. */
  #keep(source: string, cipher: LocalCipher): void {
    this.#sources.delete(source);
    this.#sources.set(source, cipher);
    const [oldest] = this.#sources.keys();
    if (this.#sources.size > maxSources && oldest !== undefined) this.#sources.delete(oldest);
  }

  #count(direction: string, keyId: string): void {
    const { counts, name, clock } = this.#options;
    counts.keyIds.add({ transformation_type: direction, provider_name: name, key_id_hash: hashOf(keyId) }, clock.now());
  }

  #unavailable(why: string): StoreError {
    return new StoreError('unavailable', `the KMS plugin ${this.name} is not available: ${why}`);
  }
}

/** Undefined for a key of another type or size. */
function localCipher(type: number, key: Uint8Array, randomBytes: RandomBytes): LocalCipher | undefined {
  if (type === seedType && key.length >= seedBytes) return derivedAesGcm(key, randomBytes);
  if (type === keyType && [16, 24, 32].includes(key.length)) return aesGcm(key, randomBytes);
  return undefined;
}

const hashOf = (keyId: string): string => `sha256:${createHash('sha256').update(keyId).digest('hex')}`;

const isKeyId = (keyId: string): boolean => keyId !== '' && Buffer.byteLength(keyId) <= maxKeyIdBytes;

function isValidKey({ keyId, ciphertext, annotations }: EncryptedKey): boolean {
  let bytes = 0;
  for (const [name, value] of Object.entries(annotations)) {
    if (!name.includes('.') || dns1123Subdomain(name).length > 0) return false;
    bytes += name.length + value.length;
  }
  return isKeyId(keyId) && ciphertext.length > 0 && ciphertext.length <= maxKeyBytes && bytes <= maxAnnotationBytes;
}

/** The identity of an encrypted key. */
function sourceOf(object: Omit<EncryptedObject, 'encryptedData'>): string {
  const { encryptedDEKSourceType: type, encryptedDEKSource, keyID, annotations } = object;
  const texts = Object.entries(annotations).map(([name, value]) => `${name}=${Buffer.from(value).toString('base64')}`);
  return JSON.stringify([type, Buffer.from(encryptedDEKSource).toString('base64'), keyID, texts.sort(compareText)]);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : 1);
