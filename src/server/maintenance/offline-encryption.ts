/** Encryption for commands that read or write a store without a server. */
import { randomBytes } from 'node:crypto';
import { emptyEncryptionCounts, openEncryption } from '../../encryption/index.ts';
import type { Names } from '../../meta/index.ts';
import { systemClock } from '../clock.ts';
import { systemRandom } from '../random.ts';
import { encryptedResource, loadEncryption, startPlugins } from '../storage/encryption.ts';

export interface Decrypted {
  readonly value: Uint8Array;
  /** Whether the value is not encrypted with the first provider and its current key. */
  readonly stale: boolean;
}

/** Decrypts and encrypts values by the rules of the resources that their keys belong to. */
export interface OfflineEncryption {
  /** Undefined when no key of the configuration decrypts it. @throws StoreError when a KMS plugin does not answer */
  decrypt(key: string, value: Uint8Array): Promise<Decrypted | undefined>;
  /** With the first provider. @throws StoreError when a KMS plugin does not answer */
  encrypt(key: string, value: Uint8Array): Uint8Array;
  close(): void;
}

/**
 * Opens the encryption of a configuration file. `pathPrefix` precedes keys in the authenticated paths of encrypted values.
 * @throws StartError, also when a KMS plugin does not become healthy
 */
export async function openOfflineEncryption(
  file: string,
  pathPrefix: string,
  names: Names,
): Promise<OfflineEncryption> {
  const { configuration } = await loadEncryption(file, names);
  const dependencies = { clock: systemClock, random: systemRandom, randomBytes, counts: emptyEncryptionCounts() };
  const opened = await openEncryption(configuration, { ...dependencies, onRecovery: () => {} });
  try {
    await startPlugins(opened);
  } catch (error) {
    opened.close();
    throw error;
  }
  const resourceOf = encryptedResource(names);
  const transformerOf = (key: string) => {
    const resource = resourceOf(key);
    return resource && opened.rules.transformerOf(resource);
  };
  return {
    decrypt: async (key, value) => {
      const transformer = transformerOf(key);
      return transformer === undefined ? { value, stale: false } : transformer.decrypt(value, pathPrefix + key);
    },
    encrypt: (key, value) => transformerOf(key)?.encrypt(value, pathPrefix + key) ?? value,
    close: () => opened.close(),
  };
}
