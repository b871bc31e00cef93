import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { JsonObject } from '../../meta/index.ts';
import { pemBlocks } from '../../pki/index.ts';

/** The signature algorithms (RFC 7518) of service account tokens. The key alone decides which one it is used with. */
export type Algorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

/** A public key that verifies tokens. */
export interface VerificationKey {
  /** SHA-256 of the SubjectPublicKeyInfo in DER, in base64url. */
  readonly id: string;
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
}

/** A private key that signs tokens. */
export interface SigningKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
}

/** The keys of a service account issuer. */
export interface KeySet {
  readonly signing: SigningKey;
  /** Each key once; includes the public key of `signing`. */
  readonly verification: readonly VerificationKey[];
}

const curveAlgorithms: { readonly [curve: string]: Algorithm } = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** Undefined for a key of another type or on another curve. */
function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): Algorithm | undefined {
  if (type === 'rsa') return 'RS256';
  return type === 'ec' ? curveAlgorithms[details?.namedCurve ?? ''] : undefined;
}

const keyId = (key: KeyObject): string => hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64url');

/**
 * The RSA and ECDSA keys of a PEM text, each once: public keys, the public keys of private keys, and those of
 * certificates. Blocks of other types are skipped.
 */
export function verificationKeys(pem: string): VerificationKey[] {
  const found = new Map<string, VerificationKey>();
  for (const { text } of pemBlocks(pem)) {
    const key = orUndefined(() => createPublicKey(text));
    const algorithm = key && algorithmOf(key);
    if (key !== undefined && algorithm !== undefined) found.set(keyId(key), { id: keyId(key), algorithm, key });
  }
  return [...found.values()];
}

/** The first RSA or ECDSA private key of a PEM text; undefined when there is none. */
export function signingKey(pem: string): SigningKey | undefined {
  for (const { text } of pemBlocks(pem)) {
    const key = orUndefined(() => createPrivateKey(text));
    const algorithm = key && algorithmOf(key);
    if (key !== undefined && algorithm !== undefined) return { id: keyId(createPublicKey(text)), algorithm, key };
  }
  return undefined;
}

/** A signing key with all keys that verify. */
export function keySet(signing: SigningKey, others: readonly VerificationKey[]): KeySet {
  const own: VerificationKey = { ...signing, key: createPublicKey(signing.key) };
  return { signing, verification: [own, ...others.filter(({ id }) => id !== own.id)] };
}

/** The JSON Web Key Set (RFC 7517) of the keys. */
export function jsonWebKeySet(keys: readonly VerificationKey[]): JsonObject {
  return {
    keys: keys.map(({ id, algorithm, key }) => ({
      use: 'sig',
      ...(key.export({ format: 'jwk' }) as JsonObject),
      kid: id,
      alg: algorithm,
    })),
  };
}

/** Undefined when `read` throws, as node:crypto does for what it cannot parse. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
