/** The signatures of ID tokens (RFC 7518). */
import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import type { ParsedToken } from '../../auth/index.ts';
import type { JsonObject } from '../../meta/index.ts';

interface Signing {
  readonly digest: string;
  /** The curve of its keys; undefined: they are RSA keys. */
  readonly curve?: string;
  /** How RSA pads what is signed. */
  readonly padding?: number;
}

const { RSA_PKCS1_PADDING: pkcs1, RSA_PKCS1_PSS_PADDING: pss, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;

/** The algorithms that may sign a token. */
const algorithms: ReadonlyMap<string, Signing> = new Map<string, Signing>([
  ['ES256', { digest: 'sha256', curve: 'prime256v1' }],
  ['ES384', { digest: 'sha384', curve: 'secp384r1' }],
  ['ES512', { digest: 'sha512', curve: 'secp521r1' }],
  ['PS256', { digest: 'sha256', padding: pss }],
  ['PS384', { digest: 'sha384', padding: pss }],
  ['PS512', { digest: 'sha512', padding: pss }],
  ['RS256', { digest: 'sha256', padding: pkcs1 }],
  ['RS384', { digest: 'sha384', padding: pkcs1 }],
  ['RS512', { digest: 'sha512', padding: pkcs1 }],
]);

export const signingAlgorithms: readonly string[] = [...algorithms.keys()];

/** The sizes of RSA keys (bits), and the largest exponent: a signature must not take long to verify. */
const [leastBits, mostBits] = [2_048, 8_192];
const mostExponent = 2n ** 31n - 1n;

/** The key of a JSON Web Key (RFC 7517); undefined for one that must not verify tokens. */
export function publicKeyOf(key: JsonObject): KeyObject | undefined {
  try {
    const found = createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
    if (found.asymmetricKeyType !== 'rsa') return found;
    const { modulusLength = 0, publicExponent = 0n } = found.asymmetricKeyDetails ?? {};
    return modulusLength >= leastBits && modulusLength <= mostBits && publicExponent <= mostExponent
      ? found
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an algorithm signs with keys such as this one. */
export function isKeyOf(algorithm: string, { asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const signing = algorithms.get(algorithm);
  if (signing === undefined) return false;
  return signing.curve === undefined
    ? asymmetricKeyType === 'rsa'
    : asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === signing.curve;
}

/** Whether a key, which is one of the algorithm of the token, has signed it. */
export function isSignedWith({ algorithm, input, signature }: ParsedToken, key: KeyObject): boolean {
  const signing = algorithms.get(algorithm);
  if (signing === undefined) return false;
  const { digest, padding } = signing;
  const how = padding === undefined ? { dsaEncoding: 'ieee-p1363' as const } : { padding, saltLength };
  return verify(digest, Buffer.from(input), { key, ...how }, signature);
}
