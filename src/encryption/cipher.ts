/** How one key encrypts values. The formats are those of the reference server. */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';

/** Cryptographically strong random bytes. */
export type RandomBytes = (length: number) => Buffer;

export interface Cipher {
  /** `path` is where the value is stored; a cipher that authenticates it decrypts the value nowhere else. */
  encrypt(value: Uint8Array, path: string): Uint8Array;
  /** Undefined when the data has not been encrypted with this key, for this path, or has been altered. */
  decrypt(data: Uint8Array, path: string): Decrypted | undefined | Promise<Decrypted | undefined>;
}

/** A cipher whose key is at hand. */
export interface LocalCipher extends Cipher {
  decrypt(data: Uint8Array, path: string): Decrypted | undefined;
}

export type MakeCipher = (key: Uint8Array, randomBytes: RandomBytes) => LocalCipher;

export interface Decrypted {
  readonly value: Uint8Array;
  /** Whether the cipher would no longer encrypt it in this way. */
  readonly stale: boolean;
}

const blockBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const boxNonceBytes = 24;
/** The size of a seed, of what a key is derived with, and of a derived key. */
export const seedBytes = 32;

/** AES-CBC: a random initialization vector, then the blocks, padded by PKCS #7. Authenticates nothing. */
export function aesCbc(key: Uint8Array, randomBytes: RandomBytes): LocalCipher {
  const algorithm = `aes-${key.length * 8}-cbc`;
  return {
    encrypt(value) {
      const vector = randomBytes(blockBytes);
      const cipher = createCipheriv(algorithm, key, vector);
      return Buffer.concat([vector, cipher.update(value), cipher.final()]);
    },
    decrypt: (data) =>
      attempt(() => {
        const cipher = createDecipheriv(algorithm, key, data.subarray(0, blockBytes));
        return Buffer.concat([cipher.update(data.subarray(blockBytes)), cipher.final()]);
      }),
  };
}

/** AES-GCM: a random nonce, then the ciphertext and its tag. Authenticates the path. */
export function aesGcm(key: Uint8Array, randomBytes: RandomBytes): LocalCipher {
  const algorithm = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  const options = { authTagLength: tagBytes };
  return {
    encrypt(value, path) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce, options).setAAD(Buffer.from(path));
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt: (data, path) =>
      attempt(() => {
        const end = data.length - tagBytes;
        const cipher = createDecipheriv(algorithm, key, data.subarray(0, nonceBytes), options)
          .setAAD(Buffer.from(path))
          .setAuthTag(data.subarray(Math.max(end, nonceBytes)));
        return Buffer.concat([cipher.update(data.subarray(nonceBytes, end)), cipher.final()]);
      }),
  };
}

/**
 * XSalsa20 and Poly1305: a random nonce, then the box. Authenticates the value, and not the path. Imported on demand, so
 * that a server without encryption does not load it.
 */
export async function loadSecretbox(): Promise<MakeCipher> {
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js');
  return (key, randomBytes) => ({
    encrypt(value) {
      const nonce = randomBytes(boxNonceBytes);
      return Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(value)]);
    },
    decrypt: (data) =>
      attempt(() => xsalsa20poly1305(key, data.subarray(0, boxNonceBytes)).decrypt(data.subarray(boxNonceBytes))),
  });
}

/** AES-GCM with a key of its own for each value: random bytes, by which it is derived from the seed, come first. */
export function derivedAesGcm(seed: Uint8Array, randomBytes: RandomBytes): LocalCipher {
  const derived = (info: Uint8Array) => aesGcm(expandKey(seed, info), randomBytes);
  return {
    encrypt(value, path) {
      const info = randomBytes(seedBytes);
      return Buffer.concat([info, derived(info).encrypt(value, path)]);
    },
    decrypt: (data, path) => derived(data.subarray(0, seedBytes)).decrypt(data.subarray(seedBytes), path),
  };
}

/** The first block of HKDF-Expand with SHA-256 (RFC 5869). */
export const expandKey = (seed: Uint8Array, info: Uint8Array): Buffer =>
  createHmac('sha256', seed).update(info).update(Uint8Array.of(1)).digest();

/** The first bytes of every encrypted value. */
export const encryptedMark = 'k8s:enc:';

/** Values as they are; those that a provider has encrypted are not read. */
export const identity: LocalCipher = {
  encrypt: (value) => value,
  decrypt: (data) => (beginsWith(data, Buffer.from(encryptedMark)) ? undefined : { value: data, stale: false }),
};

export const beginsWith = (data: Uint8Array, prefix: Uint8Array): boolean =>
  data.length >= prefix.length && Buffer.compare(data.subarray(0, prefix.length), prefix) === 0;

function attempt(decrypt: () => Uint8Array): Decrypted | undefined {
  try {
    return { value: decrypt(), stale: false };
  } catch {
    return undefined;
  }
}
