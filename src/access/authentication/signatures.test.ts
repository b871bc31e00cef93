import { generateKeyPairSync } from 'node:crypto';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { parseToken } from '../../auth/index.ts';
import type { JsonObject } from '../../meta/index.ts';
import { isKeyOf, isSignedWith, publicKeyOf, signingAlgorithms } from './signatures.ts';

describe.each(signingAlgorithms)('%s', (algorithm) => {
  it('is verified with the key that has signed, and no other', async () => {
    const [own, other] = [await generateKeyPair(algorithm), await generateKeyPair(algorithm)];
    const sign = async (text: string) =>
      await new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: algorithm }).sign(own.privateKey);
    const token = parseToken(await sign('{}'));
    const key = publicKeyOf((await exportJWK(own.publicKey)) as JsonObject);
    const another = publicKeyOf((await exportJWK(other.publicKey)) as JsonObject);
    if (token === undefined || key === undefined || another === undefined) throw new Error('there is no key');
    expect(signingAlgorithms.filter((one) => isKeyOf(one, key))).toContain(algorithm);
    expect(isSignedWith(token, key)).toBe(true);
    expect(isSignedWith(token, another)).toBe(false);
    expect(isSignedWith({ ...token, input: `${token.input}x` }, key)).toBe(false);
    for (const length of [0, 1, token.signature.length - 1, token.signature.length + 1])
      expect(isSignedWith({ ...token, signature: Buffer.alloc(length, 1) }, key)).toBe(false);
  });
});

describe('a key', () => {
  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey.export({ format: 'jwk' }) as JsonObject;
  const curve = (namedCurve: string) =>
    generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' }) as JsonObject;
  /** A number of this size in the form of RFC 7518. */
  const big = (bytes: number) => Buffer.alloc(bytes, 0xff).toString('base64url');

  it.each([
    ['P-256', curve('P-256'), ['ES256']],
    ['P-384', curve('P-384'), ['ES384']],
    ['P-521', curve('P-521'), ['ES512']],
    ['RSA', rsa(2_048), ['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512']],
  ])('of %s is one of its algorithms only', (_, jwk, algorithms) => {
    const key = publicKeyOf(jwk);
    expect(signingAlgorithms.filter((one) => key && isKeyOf(one, key))).toEqual(algorithms);
  });

  it.each<[string, JsonObject]>([
    ['that is too short', rsa(1_024)],
    ['that is too long', { kty: 'RSA', n: big(1_025), e: 'AQAB' }],
    ['of a megabyte', { kty: 'RSA', n: big(1_000_000), e: 'AQAB' }],
    ['with a large exponent', { kty: 'RSA', n: big(256), e: big(5) }],
    ['without a modulus', { kty: 'RSA', e: 'AQAB' }],
    ['of another curve', curve('secp256k1')],
    ['with a point that is not on its curve', { ...curve('P-256'), y: big(32) }],
    ['that is secret', { kty: 'oct', k: big(32) }],
  ])('%s verifies no token', (_, jwk) => {
    const key = publicKeyOf(jwk);
    expect(signingAlgorithms.filter((one) => key && isKeyOf(one, key))).toEqual([]);
  });
});
