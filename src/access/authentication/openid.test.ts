import { CompactSign, exportJWK, exportSPKI, generateKeyPair, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { type JsonObject, namesFor } from '../../meta/index.ts';
import { DistributedClaims } from './distributed-claims.ts';
import { type OpenIdProvider, openIdAuthenticator } from './openid.ts';
import { type GetDocument, ProviderKeys } from './provider-keys.ts';
import type { UserMapping } from './user-mapping.ts';

const issuer = 'https://a.example.com';
const now = 1_800_000_000;
const pairs = {
  one: await generateKeyPair('RS256', { extractable: true }),
  other: await generateKeyPair('RS256', { extractable: true }),
  curve: await generateKeyPair('ES256', { extractable: true }),
};
const published = [
  { ...(await exportJWK(pairs.one.publicKey)), kid: 'one' },
  { ...(await exportJWK(pairs.curve.publicKey)), kid: 'curve' },
];
const publicText = await exportSPKI(pairs.one.publicKey);

const documents: { readonly [url: string]: object } = {
  [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
  [`${issuer}/keys`]: { keys: published },
};
const get: GetDocument = async (url) => ({ status: 200, statusText: 'OK', text: JSON.stringify(documents[url]) });
const clock = { now: () => now * 1_000, monotonic: () => 0, after: () => () => {} };
const keys = new ProviderKeys({ issuer, get, clock, failed: () => {} });
const distributedClaims = new DistributedClaims(get, clock);

const mapping: UserMapping = {
  username: { claim: 'sub', prefix: 'oidc:' },
  groups: { claim: 'groups', prefix: '' },
  uid: undefined,
  extra: [],
  requiredClaims: new Map(),
  claimRules: [],
  userRules: [],
};
const provider: OpenIdProvider = {
  issuer,
  audiences: ['orch'],
  algorithms: ['RS256'],
  mapping,
};

const server = ['https://server'];
const authenticatorOf = (changes: Partial<UserMapping> = {}) =>
  openIdAuthenticator([
    {
      provider: { ...provider, mapping: { ...mapping, ...changes } },
      keys,
      distributedClaims,
      names: namesFor('k8s.io'),
      clock,
      audiences: server,
    },
  ]);

const claims = { iss: issuer, aud: 'orch', sub: 'jane', exp: now + 60 };
const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const base64 = (value: unknown) => Buffer.from(text(value)).toString('base64url');

type SigningKey = (typeof pairs.one)['privateKey'];

interface How {
  readonly key?: SigningKey | Uint8Array;
  readonly header?: JsonObject & { alg?: string };
}

/** A signed token with these claims; a text stands for itself. */
async function sign(payload: object | string = claims, { key = pairs.one.privateKey, header = {} }: How = {}) {
  const signer = new CompactSign(Buffer.from(text(payload)));
  return signer.setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key);
}

const nobody = undefined;

describe('a token that stands for nobody', () => {
  const tricks: readonly (readonly [string, () => string | Promise<string>, string | undefined])[] = [
    ['without a signature (alg none)', () => new UnsecuredJWT(claims).encode(), 'unsupported algorithm'],
    [
      'with alg none and the signature of another',
      async () => `${base64({ alg: 'none', kid: 'one' })}.${(await sign()).split('.').slice(1).join('.')}`,
      'unsupported algorithm',
    ],
    [
      'signed by HMAC with the public key',
      () => sign(claims, { key: Buffer.from(publicText), header: { alg: 'HS256' } }),
      'unsupported algorithm',
    ],
    [
      'of an algorithm that is not allowed',
      () => sign(claims, { key: pairs.curve.privateKey, header: { alg: 'ES256', kid: 'curve' } }),
      'unsupported algorithm',
    ],
    [
      'with the id of a key of another type',
      async () => sign(claims, { header: { kid: 'curve' } }),
      'failed to verify id token signature',
    ],
    [
      'signed by a key that is not published',
      () => sign(claims, { key: pairs.other.privateKey }),
      'failed to verify id token signature',
    ],
    [
      'with a key of its own (jwk)',
      async () =>
        sign(claims, {
          key: pairs.other.privateKey,
          header: { jwk: (await exportJWK(pairs.other.publicKey)) as JsonObject },
        }),
      'failed to verify id token signature',
    ],
    [
      'with the address of its key (jku)',
      () => sign(claims, { key: pairs.other.privateKey, header: { jku: 'https://evil.example.com' } }),
      'failed to verify id token signature',
    ],
    [
      'with an unknown key id',
      () => sign(claims, { header: { kid: 'nobody' } }),
      'failed to verify id token signature',
    ],
    [
      'with a critical extension',
      async () => `${base64({ alg: 'RS256', crit: ['x'], x: 1 })}.${(await sign()).split('.').slice(1).join('.')}`,
      nobody,
    ],
    [
      'with changed claims',
      async () => {
        const [head, , signature] = (await sign()).split('.');
        return `${head}.${base64({ ...claims, sub: 'root' })}.${signature}`;
      },
      'failed to verify id token signature',
    ],
    ['without its signature', async () => (await sign()).replace(/[^.]+$/, ''), 'failed to verify id token signature'],
    ['with two parts', async () => (await sign()).split('.').slice(0, 2).join('.'), nobody],
    ['with four parts', async () => `${await sign()}.x`, nobody],
    [
      'with a claim twice',
      () => sign(`{"iss":"${issuer}","aud":"orch","sub":"jane","sub":"root","exp":${now + 60}}`),
      nobody,
    ],
    ['with claims in a list', () => sign(JSON.stringify([claims])), nobody],
    ['with nested claims', () => sign(`{"iss":"${issuer}","x":${'['.repeat(100)}${']'.repeat(100)}}`), nobody],
    ['of 20 KB', () => sign({ ...claims, x: 'x'.repeat(20_000) }), nobody],
    ['of another issuer', () => sign({ ...claims, iss: 'https://b.example.com' }), nobody],
    ['of an issuer with a slash', () => sign({ ...claims, iss: `${issuer}/` }), nobody],
    ['of several issuers', () => sign({ ...claims, iss: [issuer] }), nobody],
    ['for another audience', () => sign({ ...claims, aud: 'other' }), 'expected audience "orch" got ["other"]'],
    ['for an audience in capitals', () => sign({ ...claims, aud: 'ORCH' }), 'expected audience'],
    ['for no audience', () => sign({ ...claims, aud: [] }), 'expected audience "orch" got []'],
    ['with an audience in an object', () => sign({ ...claims, aud: { orch: true } }), 'expected audience'],
    ['that expired a second ago', () => sign({ ...claims, exp: now - 1 }), 'token is expired'],
    ['that expires now', () => sign({ ...claims, exp: now }), 'token is expired'],
    ['without an expiry', () => sign({ ...claims, exp: undefined }), 'token is expired (Token Expiry: 0001-01-01'],
    ['with an expiry that is not a time', () => sign({ ...claims, exp: 'never' }), 'token is expired'],
    [
      'with an endless expiry',
      () => sign(`{"iss":"${issuer}","aud":"orch","sub":"jane","exp":1e400}`),
      'token is expired',
    ],
    ['that is not yet valid', () => sign({ ...claims, nbf: now + 301 }), 'before the nbf (not before) time'],
    [
      'with a time of validity that is none',
      () => sign({ ...claims, nbf: 'later' }),
      'before the nbf (not before) time',
    ],
    ['without a user', () => sign({ ...claims, sub: undefined }), 'parse username claims "sub": claim not present'],
    ['with a number as user', () => sign({ ...claims, sub: 7 }), 'failed to unmarshal claims'],
    ['with groups that are a number', () => sign({ ...claims, groups: 5 }), 'parse groups claim "groups"'],
    ['with a group that is a number', () => sign({ ...claims, groups: ['a', 5] }), 'parse groups claim "groups"'],
  ];
  it.each(tricks)('%s', async (_, make, error) => {
    const authenticate = authenticatorOf();
    const token = await make();
    if (error === nobody) expect(authenticate(token, server)).toBeUndefined();
    else
      await expect(authenticate(token, server)).rejects.toMatchObject({
        code: 401,
        message: expect.stringContaining(error),
      });
  });

  it.each<[string, JsonObject, string]>([
    ['an address that is not verified', { email: 'a@b.c', email_verified: false }, 'oidc: email not verified'],
    [
      'an address that is verified as a text',
      { email: 'a@b.c', email_verified: 'true' },
      "parse 'email_verified' claim",
    ],
    ['no address', {}, 'parse username claims "email": claim not present'],
  ])('by %s', async (_, more, error) => {
    const authenticate = authenticatorOf({ username: { claim: 'email', prefix: '' } });
    await expect(authenticate(await sign({ ...claims, ...more }), server)).rejects.toThrow(error);
  });

  it.each<[string, JsonObject, string]>([
    ['missing', {}, 'oidc: required claim hd not present in ID token'],
    ['another', { hd: 'x' }, 'oidc: required claim hd value does not match. Got = x, want = here'],
    ['in a list', { hd: ['here'] }, 'oidc: parse claim hd: json: cannot unmarshal array'],
  ])('by a required claim that is %s', async (_, more, error) => {
    const authenticate = authenticatorOf({ requiredClaims: new Map([['hd', 'here']]) });
    await expect(authenticate(await sign({ ...claims, ...more }), server)).rejects.toThrow(error);
  });

  it('while the provider is not known', async () => {
    const authenticate = openIdAuthenticator([
      {
        provider,
        keys: { ready: false, known: [], fetch: () => Promise.resolve([]) },
        distributedClaims,
        names: namesFor('k8s.io'),
        clock,
        audiences: server,
      },
    ]);
    await expect(authenticate(await sign(), server)).rejects.toThrow('oidc: authenticator not initialized');
  });

  it('without trying each key a second time when the provider has no others', async () => {
    let tried = 0;
    const forAlgorithm = () => {
      tried++;
      return undefined;
    };
    const known = Array.from({ length: 100 }, () => ({ id: '', forAlgorithm }));
    const authenticate = openIdAuthenticator([
      {
        provider,
        keys: { ready: true, known, fetch: async () => known },
        distributedClaims,
        names: namesFor('k8s.io'),
        clock,
        audiences: server,
      },
    ]);
    await expect(authenticate(await sign(claims, { header: { kid: '' } }), server)).rejects.toThrow(
      'failed to verify id token signature',
    );
    expect(tried).toBe(100);
  });

  it.each([
    [10, true],
    [11, false],
  ])('when it names no key and only the key in place %i of its algorithm has signed it: %s', async (place, isFound) => {
    const signer = await exportJWK(pairs.one.publicKey);
    const other = await exportJWK(pairs.other.publicKey);
    const curve = await exportJWK(pairs.curve.publicKey);
    const published: object[] = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? curve : other));
    published[2 * place - 1] = signer;
    const documents: { readonly [url: string]: object } = {
      [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
      [`${issuer}/keys`]: { keys: published },
    };
    const getAll: GetDocument = async (url) => ({
      status: 200,
      statusText: 'OK',
      text: JSON.stringify(documents[url]),
    });
    const all = new ProviderKeys({ issuer, get: getAll, clock, failed: () => {} });
    await all.discovered;
    const options = { provider, keys: all, distributedClaims, names: namesFor('k8s.io'), clock, audiences: server };
    const found = openIdAuthenticator([options])(await sign(claims, { header: { kid: '' } }), server);
    if (isFound) expect(await found).toMatchObject({ user: { name: 'oidc:jane' } });
    else await expect(found).rejects.toThrow('failed to verify id token signature');
  });

  it('without verifying the signatures of many tokens in one turn of the event loop', async () => {
    const jwk = await exportJWK(pairs.curve.publicKey);
    const documents: { readonly [url: string]: object } = {
      [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
      [`${issuer}/keys`]: { keys: Array.from({ length: 10 }, () => jwk) },
    };
    const getAll: GetDocument = async (url) => ({
      status: 200,
      statusText: 'OK',
      text: JSON.stringify(documents[url]),
    });
    const all = new ProviderKeys({ issuer, get: getAll, clock, failed: () => {} });
    await all.discovered;
    await all.fetch();
    const curves = { ...provider, algorithms: ['ES256'] };
    const options = {
      provider: curves,
      keys: all,
      distributedClaims,
      names: namesFor('k8s.io'),
      clock,
      audiences: server,
    };
    const authenticate = openIdAuthenticator([options]);
    const header = base64({ alg: 'ES256' });
    let refused = 0;
    const tokens = Array.from({ length: 300 }, async (_, i) => {
      const forged = `${header}.${base64({ ...claims, jti: `${i}` })}.${Buffer.alloc(64, 1).toString('base64url')}`;
      await expect(authenticate(forged, server, 'address')).rejects.toThrow('failed to verify id token signature');
      refused++;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(refused).toBeLessThan(300);
    await Promise.all(tokens);
  });

  it('for other audiences than those of the server', async () => {
    expect(await authenticatorOf()(await sign(), ['orch'])).toBeUndefined();
  });
});

describe('a token stands for', () => {
  it.each<[string, JsonObject, object]>([
    ['its subject', {}, { name: 'oidc:jane', groups: [] }],
    ['its groups', { groups: ['a', '', 'a'] }, { name: 'oidc:jane', groups: ['a', '', 'a'] }],
    ['one group', { groups: 'a' }, { name: 'oidc:jane', groups: ['a'] }],
    [
      'its id',
      { jti: 'i' },
      { name: 'oidc:jane', groups: [], extra: { 'authentication.kubernetes.io/credential-id': ['JTI=i'] } },
    ],
    ['a subject that is empty', { sub: '' }, { name: 'oidc:', groups: [] }],
    ['one of several audiences', { aud: ['x', 'orch'] }, { name: 'oidc:jane', groups: [] }],
    ['a time as a text', { exp: String(now + 60) }, { name: 'oidc:jane', groups: [] }],
    ['a clock that is a little behind', { nbf: now + 299 }, { name: 'oidc:jane', groups: [] }],
  ])('%s', async (_, more, user) => {
    expect(await authenticatorOf()(await sign({ ...claims, ...more }), server)).toEqual({ user, audiences: server });
  });

  it('its user without the id of a key', async () => {
    const token = await sign(claims, { header: { kid: '' } });
    expect(await authenticatorOf()(token, server)).toMatchObject({ user: { name: 'oidc:jane' } });
  });
});
