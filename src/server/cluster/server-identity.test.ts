import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { systemRandom } from '../random.ts';
import { createServerIdentity } from './server-identity.ts';

/** Base32 by arithmetic on the whole number. */
function base32(bytes: Uint8Array): string {
  const padding = (5n - (BigInt(bytes.length * 8) % 5n)) % 5n;
  const digits = (BigInt(`0x${Buffer.from(bytes).toString('hex')}`) << padding).toString(32);
  const text = digits.replace(
    /./g,
    (digit) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(digit, 32)] as string,
  );
  return text.padStart(Math.ceil((bytes.length * 8) / 5), 'a');
}
const of = (securePort: number) => createServerIdentity({ securePort }, systemRandom);

it('is the digest of the host name at the default port, as in the reference server', () => {
  const digest = createHash('sha256').update(hostname()).digest().subarray(0, 16);
  expect(of(6443)).toBe(`apiserver-${base32(digest)}`);
});

it('differs between servers of a host, and stays the same for a port', () => {
  expect(new Set([of(6443), of(7443), of(8443)]).size).toBe(3);
  expect(of(7443)).toBe(of(7443));
  expect(of(0)).not.toBe(of(0));
});
