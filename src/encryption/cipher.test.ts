import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aesCbc, aesGcm, derivedAesGcm, expandKey, identity, loadSecretbox } from './cipher.ts';

const secretbox = await loadSecretbox();
const hex = (text: string) => Buffer.from(text, 'hex');
const fixed = (text: string) => () => hex(text);
const path = '/registry/secrets/default/a';
const value = fc.uint8Array({ maxLength: 200 });

describe.each([
  ['aescbc 128', 16, aesCbc],
  ['aescbc 256', 32, aesCbc],
  ['aesgcm 128', 16, aesGcm],
  ['aesgcm 192', 24, aesGcm],
  ['aesgcm 256', 32, aesGcm],
  ['secretbox', 32, secretbox],
  ['derived aesgcm', 32, derivedAesGcm],
] as const)('%s', (_, size, make) => {
  const key = randomBytes(size);
  const cipher = make(key, randomBytes);

  it('decrypts what it has encrypted, each time otherwise', () => {
    fc.assert(
      fc.property(value, (given) => {
        const [one, other] = [cipher.encrypt(given, path), cipher.encrypt(given, path)];
        expect(Buffer.compare(one, other)).not.toBe(0);
        expect(Buffer.from(cipher.decrypt(one, path)?.value ?? [0])).toEqual(Buffer.from(given));
        expect(cipher.decrypt(other, path)?.stale).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('returns nothing for data of any length that it has not encrypted, and never throws', () => {
    for (let length = 0; length < 120; length++) {
      const found = cipher.decrypt(randomBytes(length), path);
      // Without authentication, one padding in 256 happens to be valid.
      if (make !== aesCbc) expect(found).toBeUndefined();
    }
    for (const other of [randomBytes(size), Buffer.from(key).reverse()]) {
      const found = make(other, randomBytes).decrypt(cipher.encrypt(Buffer.from('secret'), path), path);
      expect(found === undefined || Buffer.from(found.value).toString() !== 'secret').toBe(true);
    }
  });
});

describe.each([
  ['aesgcm', aesGcm],
  ['secretbox', secretbox],
  ['derived aesgcm', derivedAesGcm],
] as const)('%s', (_, make) => {
  it('finds any changed, missing or additional bit', () => {
    const cipher = make(randomBytes(32), randomBytes);
    fc.assert(
      fc.property(value, fc.nat(), fc.integer({ min: 0, max: 7 }), (given, place, bit) => {
        const data = Buffer.from(cipher.encrypt(given, path));
        expect(cipher.decrypt(data.subarray(0, -1), path)).toBeUndefined();
        expect(cipher.decrypt(Buffer.concat([data, Buffer.of(0)]), path)).toBeUndefined();
        const at = place % data.length;
        data[at] = (data[at] as number) ^ (1 << bit);
        expect(cipher.decrypt(data, path)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });
});

describe('a value under another path', () => {
  it.each([
    ['aesgcm', aesGcm, false],
    ['derived aesgcm', derivedAesGcm, false],
    ['aescbc', aesCbc, true],
    ['secretbox', secretbox, true],
  ] as const)('of %s', (_, make, isRead) => {
    const cipher = make(randomBytes(32), randomBytes);
    const data = cipher.encrypt(Buffer.from('v'), path);
    expect(cipher.decrypt(data, '/registry/secrets/default/b') !== undefined).toBe(isRead);
  });
});

describe('published vectors', () => {
  it('of the reference server: AES-GCM', () => {
    const data = hex('9f27c8fcea8a58c467d8e437dbf2d85955f9b4bd912f4ef967d788a0cb07797dac0a3f0a0845605ca85ac8562b4ae1');
    const found = aesGcm(Buffer.from('snorlax_awesomes'), randomBytes).decrypt(data, 'bamboo');
    expect(Buffer.from(found?.value ?? []).toString()).toBe('pandas are the best');
  });

  it('of NIST SP 800-38A: AES-CBC, with its padding', () => {
    const cipher = aesCbc(hex('2b7e151628aed2a6abf7158809cf4f3c'), fixed('000102030405060708090a0b0c0d0e0f'));
    const text = '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51';
    const blocks = '7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2';
    const found = Buffer.from(cipher.encrypt(hex(text), path)).toString('hex');
    expect(found.slice(0, -32)).toBe(`000102030405060708090a0b0c0d0e0f${blocks}`);
    expect(found).toHaveLength(2 * (16 + 32 + 16));
  });

  it('of NaCl: secretbox', () => {
    const nonce = '69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37';
    const key = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
    const message =
      'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705';
    const box =
      'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5';
    const cipher = secretbox(key, fixed(nonce));
    expect(Buffer.from(cipher.encrypt(hex(message), path)).toString('hex')).toBe(nonce + box);
  });

  it('of RFC 5869: HKDF-Expand', () => {
    const seed = hex('077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5');
    const okm = '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf';
    expect(expandKey(seed, hex('f0f1f2f3f4f5f6f7f8f9')).toString('hex')).toBe(okm);
  });
});

it('identity reads what no provider has encrypted', () => {
  const text = (given: string) => identity.decrypt(Buffer.from(given), path);
  expect(text('{}')).toEqual({ value: Buffer.from('{}'), stale: false });
  expect(text('k8s:enc:aescbc:v1:key1:x')).toBeUndefined();
  expect(text('k8s:enc:')).toBeUndefined();
  expect(text('k8s')).toBeDefined();
});
