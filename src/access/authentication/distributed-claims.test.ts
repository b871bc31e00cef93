import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { type JsonObject, namesFor } from '../../meta/index.ts';
import { compileClaims } from './claim-expressions.ts';
import { DistributedClaims } from './distributed-claims.ts';
import { openIdAuthenticator } from './openid.ts';
import { type GetDocument, ProviderKeys, type ProviderResponse } from './provider-keys.ts';
import type { UserMapping } from './user-mapping.ts';

const issuer = 'https://login.example.com';
const directory = 'https://directory.example.com';
const endpoint = `${directory}/groups`;
/** An issuer that never answers. */
const silent = 'https://silent.example.com';
const now = 1_800_000_000;
const own = await generateKeyPair('ES256', { extractable: true });
const far = await generateKeyPair('ES256', { extractable: true });
const keysOf = async ({ publicKey }: typeof own) => ({ keys: [await exportJWK(publicKey)] });

const published: { readonly [url: string]: object } = {
  [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
  [`${issuer}/keys`]: await keysOf(own),
  [`${directory}/.well-known/openid-configuration`]: { issuer: directory, jwks_uri: `${directory}/keys` },
  [`${directory}/keys`]: await keysOf(far),
};

const sign = (claims: JsonObject, { privateKey } = own) =>
  new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);

const farClaims = { iss: directory, aud: 'orch', exp: now + 60, groups: ['far', 'away'] };
const source = { endpoint, access_token: 'secret' };
const claims = {
  iss: issuer,
  aud: 'orch',
  sub: 'jane',
  exp: now + 60,
  _claim_names: { groups: 'src' },
  _claim_sources: { src: source },
};

const ok = (text: string): ProviderResponse => ({ status: 200, statusText: 'OK', text });

/** A server whose provider names a source that answers with `answer`; `requests` has the URLs and access tokens. */
function serve(answer: () => Promise<ProviderResponse>, changes: Partial<UserMapping> = {}) {
  const requests: (readonly [url: string, accessToken: string | undefined])[] = [];
  const get: GetDocument = async (url, accessToken) => {
    requests.push([url, accessToken]);
    if (url === endpoint) return answer();
    if (url.startsWith(silent)) return new Promise(() => {});
    const document = published[url];
    return document === undefined ? { status: 404, statusText: 'Not Found', text: '' } : ok(JSON.stringify(document));
  };
  const clock = { now: () => now * 1_000, monotonic: () => 0, after: () => () => {} };
  const keys = new ProviderKeys({ issuer, get, clock, failed: () => {} });
  const distributedClaims = new DistributedClaims(get, clock);
  const authenticate = openIdAuthenticator([
    {
      provider: {
        issuer,
        audiences: ['orch'],
        algorithms: ['ES256'],
        mapping: {
          username: { claim: 'sub', prefix: '' },
          groups: { claim: 'groups', prefix: 'g:' },
          uid: undefined,
          extra: [],
          requiredClaims: new Map(),
          claimRules: [],
          userRules: [],
          ...changes,
        },
      },
      keys,
      distributedClaims,
      names: namesFor('k8s.io'),
      clock,
      audiences: ['server'],
    },
  ]);
  const userOf = async (own: JsonObject) => {
    await keys.discovered;
    return (await authenticate(await sign(own), ['server']))?.user;
  };
  return { userOf, requests, distributedClaims };
}

const answerWith =
  (changes: JsonObject = {}, pair = far) =>
  async () =>
    ok(await sign({ ...farClaims, ...changes }, pair));

describe('groups of another source', () => {
  it('are fetched with its access token and verified by the keys of its issuer', async () => {
    const { userOf, requests } = serve(answerWith());
    expect(await userOf(claims)).toMatchObject({ name: 'jane', groups: ['g:far', 'g:away'] });
    expect(requests).toContainEqual([endpoint, 'secret']);
    for (const [url, accessToken = ''] of requests) if (url !== endpoint) expect(accessToken).toBe('');
  });

  it('are fetched for each token, and the keys of their issuer once', async () => {
    const { userOf, requests } = serve(answerWith());
    await userOf(claims);
    await userOf({ ...claims, sub: 'joe' });
    const urls = requests.map(([url]) => url).filter((url) => url.startsWith(directory));
    expect(urls.sort()).toEqual([
      `${directory}/.well-known/openid-configuration`,
      endpoint,
      endpoint,
      `${directory}/keys`,
    ]);
  });

  it('may be many: the token of a source may be longer than that of a request', async () => {
    const groups = Array.from({ length: 2_000 }, (_, i) => `00000000-0000-0000-0000-${String(i).padStart(12, '0')}`);
    const { userOf } = serve(answerWith({ groups }));
    expect((await userOf(claims))?.groups).toHaveLength(2_000);
  });

  it.each<[string, JsonObject]>([
    ['the token has groups of its own', { groups: ['near'] }],
    ['the token names a source of another claim', { _claim_names: { roles: 'src' }, groups: ['near'] }],
    ['the source holds its token itself', { _claim_sources: { src: { JWT: 'x' } }, groups: ['near'] }],
  ])('are not fetched when %s', async (_, changes) => {
    const { userOf, requests } = serve(answerWith());
    expect(await userOf({ ...claims, ...changes })).toMatchObject({ groups: ['g:near'] });
    expect(requests.map(([url]) => url)).not.toContain(endpoint);
  });

  it('are not fetched when the groups are mapped by an expression', async () => {
    const compiled = compileClaims("has(claims.groups) ? 'seen' : 'absent'");
    if (typeof compiled === 'string') throw new Error(compiled);
    const { userOf, requests } = serve(answerWith(), { groups: compiled });
    expect(await userOf(claims)).toMatchObject({ groups: ['absent'] });
    expect(requests.map(([url]) => url)).not.toContain(endpoint);
  });

  it('are not visible to expressions', async () => {
    const compiled = compileClaims("has(claims.groups) ? 'seen' : 'absent'");
    if (typeof compiled === 'string') throw new Error(compiled);
    const { userOf } = serve(answerWith(), { username: compiled });
    expect(await userOf(claims)).toMatchObject({ name: 'absent', groups: ['g:far', 'g:away'] });
  });
});

const expanding = 'oidc: could not expand distributed claims: ';

describe('a token with groups of another source is refused', () => {
  it.each<[string, () => Promise<ProviderResponse>, string]>([
    [
      'when the source refuses the access token',
      async () => ({ status: 401, statusText: 'Unauthorized', text: '' }),
      `${expanding}while getting distributed claim "groups": error while getting distributed claim JWT: 401 Unauthorized`,
    ],
    [
      'when the source redirects',
      async () => ({ status: 302, statusText: 'Found', text: '' }),
      `${expanding}while getting distributed claim "groups": error while getting distributed claim JWT: 302 Found`,
    ],
    [
      'when the source cannot be reached',
      () => Promise.reject(new Error('connection refused')),
      `${expanding}while getting distributed claim "groups": connection refused`,
    ],
    ['when the source answers no token', async () => ok('{"groups":["far"]}'), 'it is not a token with an issuer'],
    ['when the answer has no issuer', answerWith({ iss: null }), 'it is not a token with an issuer'],
    ['when the answer is too long', answerWith({ x: 'x'.repeat(130_000) }), 'it is not a token with an issuer'],
    [
      'when the issuer of the answer has no https URL',
      answerWith({ iss: 'http://directory.example.com' }),
      'failed: the issuer must be a URL with https',
    ],
    [
      'when the issuer of the answer cannot be discovered',
      answerWith({ iss: 'https://elsewhere.example.com' }),
      'verifier for untrusted issuer "https://elsewhere.example.com" failed: 404 Not Found',
    ],
    [
      'when a key that its issuer does not publish signed the answer',
      answerWith({}, own),
      'verify distributed claim token: failed to verify signature',
    ],
    ['when the answer has expired', answerWith({ exp: now }), 'verify distributed claim token: oidc: token is expired'],
    [
      'when the answer is for another audience',
      answerWith({ aud: 'other' }),
      'verify distributed claim token: oidc: expected audience "orch" got ["other"]',
    ],
    [
      'when the answer does not have the claim',
      async () => ok(await sign({ iss: directory, aud: 'orch', exp: now + 60 }, far)),
      `jwt returned by distributed claim endpoint "${endpoint}" did not contain claim: groups`,
    ],
  ])('%s', async (_, answer, message) => {
    await expect(serve(answer).userOf(claims)).rejects.toMatchObject({
      code: 401,
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, JsonObject, string]>([
    ['that the token does not have', { _claim_sources: {} }, 'oidc: verify token: oidc: source does not exist'],
    ['without a name', { _claim_names: { groups: '' } }, 'failed to obtain source from claim name'],
    ['that is inherited', { _claim_names: { groups: 'constructor' } }, 'source does not exist'],
    ['that is a text', { _claim_sources: { src: 'x' } }, 'failed to unmarshal claims'],
    ['without https', { _claim_sources: { src: { endpoint: 'http://a.example.com' } } }, 'must be a URL with https'],
  ])('when it names a source %s', async (_, changes, message) => {
    const { userOf, requests } = serve(answerWith());
    await expect(userOf({ ...claims, ...changes })).rejects.toThrow(message);
    expect(requests.map(([url]) => url)).toEqual(requests.map(([url]) => url).filter((url) => url.startsWith(issuer)));
  });

  it('while a hundred claims are being fetched', async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { userOf } = serve(() => answered.then(answerWith()));
    const users = Array.from({ length: 101 }, (_, i) => userOf({ ...claims, sub: `user-${i}` }));
    await expect(Promise.race(users)).rejects.toThrow('100 claims are being fetched already');
    answer();
    const outcomes = await Promise.allSettled(users);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
  });

  it('when the provider is closed before the issuer of the source is discovered', async () => {
    const { userOf, distributedClaims } = serve(async () => {
      const token = await sign({ ...farClaims, iss: silent }, far);
      setImmediate(() => distributedClaims.close());
      return ok(token);
    });
    await expect(userOf(claims)).rejects.toThrow(
      `verifier for untrusted issuer "${silent}" failed: the identity provider is no longer in use`,
    );
  });
});
