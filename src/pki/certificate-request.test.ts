import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkRequestSignature } from './certificate-request.ts';
import { der } from './der.ts';

/** A request with this public key, whose signature does not fit. */
function unsigned(publicKey: Buffer, algorithm = '1.2.840.113549.1.1.11'): Buffer {
  const info = der.sequence(der.unsigned(Buffer.from([0])), der.sequence(), publicKey, der.explicit(0));
  return der.sequence(info, der.sequence(der.objectId(algorithm)), der.bitString(Buffer.alloc(256, 1)));
}

function rsaKey(bits: number, exponent: number[]): Buffer {
  const modulus = randomBytes(bits / 8);
  modulus[0] = (modulus[0] as number) | 0x80;
  modulus[modulus.length - 1] = (modulus.at(-1) as number) | 1;
  const key = der.sequence(der.unsigned(modulus), der.unsigned(Buffer.from(exponent)));
  return der.sequence(der.sequence(der.objectId('1.2.840.113549.1.1.1'), der.null()), der.bitString(key));
}

const common = [1, 0, 1];

describe('the signature of a request', () => {
  it('is checked with RSA keys of up to 8,192 bits', () => {
    const says = (bits: number) => checkRequestSignature(unsigned(rsaKey(bits, common)));
    expect(says(8_192)).toBe('x509: the signature does not fit the key');
    expect(says(8_200)).toBe('x509: RSA keys may have 8192 bits, this one has 8200');
    expect(says(16_384)).toBe('x509: RSA keys may have 8192 bits, this one has 16384');
  });

  // crypto/rsa of Go 1.23: `errPublicExponentLarge`.
  it('is checked with RSA exponents of up to 31 bits', () => {
    const says = (exponent: number[]) => checkRequestSignature(unsigned(rsaKey(2_048, exponent)));
    expect(says([0x7f, 0xff, 0xff, 0xff])).toBe('x509: the signature does not fit the key');
    expect(says([0x80, 0, 0, 1])).toBe('crypto/rsa: public exponent too large');
    expect(says(Array(255).fill(0xff))).toBe('crypto/rsa: public exponent too large');
  });

  it('is checked with RSA, ECDSA and Ed25519 keys only', () => {
    for (const { publicKey } of [
      generateKeyPairSync('ed448'),
      generateKeyPairSync('rsa-pss', { modulusLength: 1_024 }),
      generateKeyPairSync('dsa', { modulusLength: 1_024, divisorLength: 160 }),
    ]) {
      const key = publicKey.export({ type: 'spki', format: 'der' });
      expect(checkRequestSignature(unsigned(key))).toBe('x509: unsupported public key');
    }
  });
});
