import { createHmac, createSign, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { issueCertificate } from '../../pki/index.ts';
import { isSignedBy, parseToken, signToken } from './jws.ts';
import { jsonWebKeySet, keySet, type SigningKey, signingKey, verificationKeys } from './keys.ts';

const pemOf = (key: KeyObject) =>
  key.export({ type: key.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' }).toString();
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const pairs = { RS256: rsa, ES256: ec('P-256'), ES384: ec('P-384'), ES512: ec('P-521') };
const signer = (key: KeyObject) => signingKey(pemOf(key)) as SigningKey;
const verifies = (token: string, pem: string) => {
  const parsed = parseToken(token);
  return parsed !== undefined && verificationKeys(pem).some((key) => isSignedBy(parsed, key));
};
const encode = (value: string) => Buffer.from(value).toString('base64url');

describe('keys', () => {
  it('are read from private keys, public keys and certificates in one file, each key once', () => {
    const certificate = issueCertificate({
      commonName: 'x',
      usage: 'server',
      notBefore: Date.now(),
      notAfter: Date.now() + 1e9,
    });
    const sec1 = pairs.ES384.privateKey.export({ type: 'sec1', format: 'pem' }).toString();
    const pkcs1 = rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const other = pemOf(generateKeyPairSync('ed25519').publicKey);
    const secp256k1 = pemOf(ec('secp256k1').publicKey);
    const text = `a comment\n${pemOf(rsa.privateKey)}${pkcs1}${sec1}${other}${secp256k1}${certificate.cert}`;
    expect(verificationKeys(text).map(({ algorithm }) => algorithm)).toEqual(['RS256', 'ES384', 'ES256']);
    expect(verificationKeys('nothing')).toEqual([]);
    expect(signingKey(pemOf(rsa.publicKey) + sec1)?.algorithm).toBe('ES384');
    expect(signingKey(pemOf(rsa.publicKey))).toBeUndefined();
  });

  it('have the SHA-256 digest of the SubjectPublicKeyInfo as id', () => {
    // openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | basenc --base64url
    const pem = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt
6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==
-----END PUBLIC KEY-----
`;
    const [key] = verificationKeys(pem);
    expect(key?.id).toBe('XNJS-wzokyQ2-vjM0QQJgbie5K1rn-niorfnGqyyfNM');
    expect(signer(rsa.privateKey).id).toBe(verificationKeys(pemOf(rsa.publicKey))[0]?.id);
  });

  it('are published without private parts', () => {
    const { signing, verification } = keySet(signer(rsa.privateKey), verificationKeys(pemOf(pairs.ES256.privateKey)));
    const { keys } = jsonWebKeySet(verification) as { keys: { [name: string]: string }[] };
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([
      ['alg', 'e', 'kid', 'kty', 'n', 'use'],
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    ]);
    expect(keys[0]?.['kid']).toBe(signing.id);
    expect(keySet(signing, verification).verification).toHaveLength(2);
  });
});

describe('a signed token', () => {
  it.each(Object.entries(pairs))(
    'of %s is verified by its key and no other',
    async (algorithm, { privateKey, publicKey }) => {
      const token = await signToken(signer(privateKey), { iss: 'me' });
      expect(parseToken(token)).toMatchObject({ algorithm, keyId: signer(privateKey).id, claims: { iss: 'me' } });
      for (const other of Object.values(pairs)) {
        expect(verifies(token, pemOf(other.publicKey))).toBe(other.publicKey === publicKey);
      }
      expect(verifies(token, pemOf(ec('P-256').publicKey))).toBe(false);
    },
  );

  it('is not verified once a part is changed', async () => {
    const [header, claims, signature] = (await signToken(signer(rsa.privateKey), { iss: 'me' })).split('.');
    const pem = pemOf(rsa.publicKey);
    expect(verifies(`${header}.${claims}.${signature}`, pem)).toBe(true);
    expect(verifies(`${header}.${encode('{"iss":"you"}')}.${signature}`, pem)).toBe(false);
    expect(verifies(`${header}.${claims}.${signature?.slice(0, -4)}`, pem)).toBe(false);
    expect(verifies(`${header}.${claims}.`, pem)).toBe(false);
  });
});

describe('the algorithm', () => {
  const input = (header: object) => `${encode(JSON.stringify(header))}.${encode('{"iss":"me"}')}`;

  it('none is never verified', () => {
    for (const alg of ['none', 'None', 'NONE', ''])
      expect(verifies(`${input({ alg })}.`, pemOf(rsa.publicKey))).toBe(false);
  });

  it('HS256 with the public key as secret is never verified', () => {
    for (const secret of [pemOf(rsa.publicKey), rsa.publicKey.export({ type: 'spki', format: 'der' })]) {
      const signed = input({ alg: 'HS256' });
      const mac = createHmac('sha256', secret).update(signed).digest('base64url');
      expect(verifies(`${signed}.${mac}`, pemOf(rsa.publicKey))).toBe(false);
    }
  });

  it('is that of the key: neither another digest nor another curve nor PSS nor a DER signature', () => {
    const signed = input({ alg: 'RS512' });
    const rs512 = createSign('sha512').update(signed).sign(rsa.privateKey, 'base64url');
    expect(verifies(`${signed}.${rs512}`, pemOf(rsa.publicKey))).toBe(false);
    const lying = input({ alg: 'RS256' });
    expect(
      verifies(
        `${lying}.${createSign('sha512').update(lying).sign(rsa.privateKey, 'base64url')}`,
        pemOf(rsa.publicKey),
      ),
    ).toBe(false);
    const pss = sign('sha256', Buffer.from(lying), { key: rsa.privateKey, padding: 6 }).toString('base64url');
    expect(verifies(`${lying}.${pss}`, pemOf(rsa.publicKey))).toBe(false);
    const es256 = input({ alg: 'ES256' });
    const p384 = sign('sha256', Buffer.from(es256), { key: pairs.ES384.privateKey, dsaEncoding: 'ieee-p1363' });
    expect(verifies(`${es256}.${p384.toString('base64url')}`, pemOf(pairs.ES384.publicKey))).toBe(false);
    const der = sign('sha256', Buffer.from(es256), pairs.ES256.privateKey).toString('base64url');
    expect(verifies(`${es256}.${der}`, pemOf(pairs.ES256.publicKey))).toBe(false);
  });
});

describe('parseToken', () => {
  const of = (header: string, claims: string) => parseToken(`${encode(header)}.${encode(claims)}.AAAA`);
  const header = '{"alg":"RS256"}';

  it('takes a header and claims in JSON', () => {
    expect(of(header, '{"a":{"__proto__":1,"b:":["\\"c\\":"]},"d":"x\\\\"}')?.claims).toMatchObject({ d: 'x\\' });
  });

  it.each([
    ['duplicate claims', header, '{"iss":"a","iss":"b"}'],
    ['duplicate claims in an object', header, '{"a":{"b":1,"b":1}}'],
    ['duplicate claims, one escaped', header, '{"iss":"a","\\u0069ss":"b"}'],
    ['duplicate header names', '{"alg":"RS256","alg":"none"}', '{}'],
    ['claims that are not an object', header, '[]'],
    ['claims that are not JSON', header, '{'],
    ['deep nesting', header, `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['a key id that is not a string', '{"alg":"RS256","kid":1}', '{}'],
    ['no algorithm', '{}', '{}'],
    ['a critical extension', '{"alg":"RS256","crit":["b64"],"b64":false}', '{}'],
  ])('refuses %s', (_, head, claims) => {
    expect(of(head, claims)).toBeUndefined();
  });

  it('refuses invalid UTF-8', () => {
    const claims = Buffer.from('{"?":1}').fill(0xff, 2, 3).toString('base64url');
    expect(parseToken(`${encode(header)}.${claims}.AAAA`)).toBeUndefined();
  });

  it('refuses what is not canonical base64url', () => {
    const [head, claims] = [encode(header), encode('{"a":1}')];
    expect(parseToken(`${head}.${claims}.AA`)).toBeDefined();
    for (const signature of ['AB', 'AA==', 'A+/A', 'A A', '']) {
      expect(parseToken(`${head}.${claims}.${signature}`)?.signature).toHaveLength(0);
    }
    for (const token of [
      `${head}.${claims}\n.AA`,
      `${head}=.${claims}.AA`,
      `${head}.${claims}`,
      `${head}.${claims}.AA.AA`,
      `${head}..AA`,
      '..',
      '',
    ]) {
      expect(parseToken(token)).toBeUndefined();
    }
  });

  it('refuses tokens longer than 16 KiB', () => {
    const long = (length: number) => `${encode(header)}.${encode('{}')}.${'A'.repeat(length)}`;
    expect(parseToken(long(16_000))).toBeDefined();
    expect(parseToken(long(16_384))).toBeUndefined();
  });
});
