import { checkPrimeSync, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Choices, choicesOf } from './seeded-random.ts';

/** An RSA key pair. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const pairs = new Map<number, KeyPair>();

/**
 * The RSA key pair of a simulation for a length (bits): the same in every run and process, so that tokens are too. It protects
 * nothing, because anybody can compute it. Computed once for each length in a process.
 */
export function fixedRsaKeys(bits: number): KeyPair {
  const pair = pairs.get(bits) ?? computeKeys(bits);
  pairs.set(bits, pair);
  return pair;
}

/** The public exponent. */
const exponent = 65_537n;

function computeKeys(bits: number): KeyPair {
  const random = choicesOf(0, `RSA key of ${bits} bits`);
  const [p, q] = [primeOf(random, bits / 2), primeOf(random, bits / 2)];
  const d = inverse(exponent, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: exponent, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const jwk = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, base64Of(value)]));
  const privateKey = createPrivateKey({ key: { ...jwk, kty: 'RSA' }, format: 'jwk' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** The first prime after a random number of this length whose two highest bits are set. */
function primeOf(random: Choices, bits: number): bigint {
  const highest = 3n << BigInt(bits - 2);
  let candidate = BigInt(`0x${Buffer.from(random.bytes(bits / 8)).toString('hex')}`) | highest | 1n;
  while (candidate % exponent === 1n || !checkPrimeSync(candidate)) candidate += 2n;
  return candidate;
}

/** The inverse of a number modulo another one, by the extended Euclidean algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n];
  while (a > 1n) [a, b, x, y] = [b % a, a, y - (b / a) * x, x];
  return x < 0n ? x + modulus : x;
}

function base64Of(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url');
}
