import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SignInBrowser } from './issuer-document.ts';
import { beginSignIn, completeSignIn } from './sign-in-flow.ts';

const url = 'https://login.example.com/realms/main';
const issuer = {
  url,
  clientId: 'orch',
  discoveryUrl: `${url}/.well-known/openid-configuration`,
  origins: ['https://login.example.com', 'https://tokens.example.com'],
};
const redirectUri = 'https://cluster.example.com:6443/console/';
const address = '#/list/v1/pods';
const start = Date.parse('2026-01-01T00:00:00Z');
const hour = 3600;

interface TestIssuer {
  /** The discovery document without its issuer. */
  document: { [name: string]: unknown };
  /** The claims of the next ID token, besides those that every one has. */
  claims: { [name: string]: unknown };
  /** The response of the token endpoint in place of tokens. */
  refusal: { readonly status: number; readonly body: object } | undefined;
  refreshToken: string | undefined;
  /** The bodies that the token endpoint has got. */
  readonly grants: URLSearchParams[];
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A browser with an issuer, as its pages see them. */
function setUp() {
  const at: TestIssuer = {
    document: {
      issuer: url,
      authorization_endpoint: `${url}/auth?realm=main`,
      token_endpoint: `${url}/token`,
    },
    claims: {},
    refusal: undefined,
    refreshToken: undefined,
    grants: [],
  };
  const stored = new Map<string, string>();
  let time = start;
  const answer = (input: string, { body }: RequestInit): Response => {
    if (input === issuer.discoveryUrl) return Response.json(at.document);
    at.grants.push(body as URLSearchParams);
    if (at.refusal !== undefined) return Response.json(at.refusal.body, { status: at.refusal.status });
    const claims = { iss: url, aud: 'orch', sub: 'jane', iat: time / 1000, exp: time / 1000 + hour, ...at.claims };
    return Response.json({
      id_token: `e30.${part(claims)}.signature${at.grants.length}`,
      refresh_token: at.refreshToken,
    });
  };
  const browser: SignInBrowser = {
    fetch: async (input, request) => answer(input, request),
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
      removeItem: (key) => void stored.delete(key),
    },
    redirectUri,
    now: () => time,
  };
  const begin = async (scopes = ['openid']) =>
    new URL(await beginSignIn(issuer, scopes, address, browser)).searchParams;
  const complete = (response: { readonly [name: string]: string }) =>
    completeSignIn(new URLSearchParams(response), { issuers: [issuer] }, browser);
  /** Signs in as the issuer intends it. */
  const signIn = async () => {
    const asked = await begin();
    at.claims = { ...at.claims, nonce: asked.get('nonce') };
    const completed = await complete({ code: 'c', state: asked.get('state') ?? '' });
    at.claims = {};
    return completed;
  };
  const pass = (seconds: number) => {
    time += seconds * 1000;
  };
  return { at, stored, begin, complete, signIn, pass };
}

describe('a sign-in with an issuer', () => {
  it('asks for a code with a challenge of the verifier that the exchange reveals (RFC 7636)', async () => {
    const { at, begin, complete } = setUp();
    const asked = await begin(['openid', 'email']);
    expect(Object.fromEntries(asked)).toMatchObject({
      realm: 'main',
      response_type: 'code',
      client_id: 'orch',
      redirect_uri: redirectUri,
      scope: 'openid email',
      code_challenge_method: 'S256',
    });
    at.claims = { nonce: asked.get('nonce') };
    const { token, address: back } = await complete({ code: 'c', state: asked.get('state') ?? '', iss: url });
    expect(await token()).toMatch(/^e30\..*\.signature1$/);
    expect(back).toBe(address);
    const [grant = new URLSearchParams()] = at.grants;
    const { code_verifier: verifier = '', ...others } = Object.fromEntries(grant);
    expect(others).toEqual({
      grant_type: 'authorization_code',
      code: 'c',
      redirect_uri: redirectUri,
      client_id: 'orch',
    });
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(asked.get('code_challenge'));
  });

  it('asks for the consent of the user where it asks for a refresh token (OpenID Connect Core 1.0, 11)', async () => {
    const { begin } = setUp();
    expect((await begin()).get('prompt')).toBeNull();
    expect((await begin(['openid', 'offline_access'])).get('prompt')).toBe('consent');
  });

  it('exchanges the code at another origin, where the policy of the page allows that one', async () => {
    const { at, signIn } = setUp();
    at.document['token_endpoint'] = 'https://tokens.example.com/token';
    await signIn();
    expect(at.grants).toHaveLength(1);
  });

  it('has a state, a nonce and a verifier of its own each time, 256 bits each', async () => {
    const { begin } = setUp();
    const values = [await begin(), await begin()].flatMap((asked) =>
      ['state', 'nonce', 'code_challenge'].map((name) => asked.get(name) ?? ''),
    );
    expect(new Set(values).size).toBe(6);
    for (const value of values) expect(value).toMatch(/^[\w-]{43}$/);
  });

  it('leaves nothing in the storage, and accepts a response once', async () => {
    const { at, stored, begin, complete } = setUp();
    const asked = await begin();
    at.claims = { nonce: asked.get('nonce') };
    expect(stored.size).toBe(1);
    const response = { code: 'c', state: asked.get('state') ?? '' };
    await complete(response);
    expect(stored.size).toBe(0);
    await expect(complete(response)).rejects.toThrow('did not begin in this tab');
    expect(at.grants).toHaveLength(1);
  });

  it('refuses a response with another state, and does not show what it says', async () => {
    const { at, begin, complete, stored } = setUp();
    await begin();
    const error = complete({ error: 'access_denied', error_description: 'Call this number', state: 'other' });
    await expect(error).rejects.toThrow(/^This sign-in did not begin in this tab/);
    expect([at.grants.length, stored.size]).toEqual([0, 0]);
  });

  it('shows the error of the issuer, 500 characters at most', async () => {
    const { begin, complete } = setUp();
    const denied = { error: 'access_denied', error_description: '<b>no</b>' };
    const error = complete({ ...denied, state: (await begin()).get('state') ?? '' });
    await expect(error).rejects.toThrow('The identity provider refuses: access_denied: <b>no</b>');
    const long = complete({ error: 'x'.repeat(9_999), state: (await begin()).get('state') ?? '' });
    await expect(long).rejects.toThrow(/: x{500}$/);
  });

  it('refuses a response that names another issuer, or none where the issuer always names itself (RFC 9207)', async () => {
    const { at, begin, complete } = setUp();
    const respond = async (more: object) => complete({ code: 'c', state: (await begin()).get('state') ?? '', ...more });
    await expect(respond({ iss: 'https://evil.example.com' })).rejects.toThrow('not from https://login.example.com');
    at.document['authorization_response_iss_parameter_supported'] = true;
    await expect(respond({})).rejects.toThrow('not from https://login.example.com');
    expect(at.grants).toEqual([]);
  });

  it.each([
    ['another nonce', { nonce: 'other' }, 'did not begin in this tab'],
    ['another issuer', { iss: 'https://evil.example.com' }, 'not from https://login.example.com'],
    ['another audience', { aud: ['other'] }, 'not from https://login.example.com'],
  ])('refuses an ID token with %s', async (_, claims, why) => {
    const { at, begin, complete } = setUp();
    const asked = await begin();
    at.claims = { nonce: asked.get('nonce'), ...claims };
    await expect(complete({ code: 'c', state: asked.get('state') ?? '' })).rejects.toThrow(why);
  });

  it.each([
    ['of another issuer', { issuer: 'https://evil.example.com' }, 'not from https://login.example.com'],
    ['without an endpoint', { authorization_endpoint: undefined }, 'has no authorization endpoint'],
    ['with credentials in an endpoint', { token_endpoint: 'https://a:b@login.example.com/' }, 'has no authorization'],
    ['that is too long', { padding: 'x'.repeat(1024 * 1024) }, 'is too long'],
    ['with an endpoint that is a script', { authorization_endpoint: 'javascript:alert(1)' }, 'has no authorization'],
    [
      'with a token endpoint elsewhere',
      { token_endpoint: 'https://else.example.com/' },
      'at https://else.example.com,',
    ],
  ])('does not begin with a discovery document %s', async (_, change, why) => {
    const { at, begin, stored } = setUp();
    Object.assign(at.document, change);
    await expect(begin()).rejects.toThrow(why);
    expect(stored.size).toBe(0);
  });

  it('says that the token endpoint refuses the code, or sends no ID token', async () => {
    const { at, begin, complete } = setUp();
    const respond = async () => complete({ code: 'c', state: (await begin()).get('state') ?? '' });
    at.refusal = { status: 400, body: { error: 'invalid_grant' } };
    await expect(respond()).rejects.toThrow('refuses: invalid_grant');
    at.refusal = { status: 502, body: [] };
    await expect(respond()).rejects.toThrow('refuses: HTTP 502');
    at.refusal = { status: 200, body: { access_token: 'a', id_token: 'a' } };
    await expect(respond()).rejects.toThrow('has sent no ID token');
  });
});

describe('a sign-out', () => {
  it('ends the session at the issuer with the latest ID token, and returns to the page', async () => {
    const { at, signIn, pass } = setUp();
    at.document['end_session_endpoint'] = `${url}/logout?realm=main`;
    at.refreshToken = 'first';
    const { token, signOutAddress } = await signIn();
    pass(hour);
    const latest = await token();
    const address = new URL(signOutAddress() ?? '');
    expect(`${address.origin}${address.pathname}`).toBe(`${url}/logout`);
    expect(Object.fromEntries(address.searchParams)).toEqual({
      realm: 'main',
      id_token_hint: latest,
      client_id: 'orch',
      post_logout_redirect_uri: redirectUri,
    });
  });

  it('names no ID token that makes the address too long', async () => {
    const { at, signIn } = setUp();
    at.document['end_session_endpoint'] = `${url}/logout`;
    at.claims = { groups: 'x'.repeat(6_000) };
    const { signOutAddress } = await signIn();
    expect([...new URL(signOutAddress() ?? '').searchParams.keys()]).toEqual(['client_id', 'post_logout_redirect_uri']);
  });

  it.each([undefined, 'javascript:alert(1)', 'http://login.example.com/logout'])(
    'leaves the session at the issuer where its document names the endpoint %s',
    async (endpoint) => {
      const { at, signIn } = setUp();
      at.document['end_session_endpoint'] = endpoint;
      expect((await signIn()).signOutAddress()).toBeUndefined();
    },
  );
});

describe('the tokens of a sign-in', () => {
  it('are renewed once by the first requests of their last minute, with the latest refresh token', async () => {
    const { at, signIn, pass } = setUp();
    at.refreshToken = 'first';
    const { token } = await signIn();
    pass(hour - 61);
    expect(await token()).toMatch(/1$/);
    pass(2);
    at.refreshToken = 'second';
    expect(await Promise.all([token(), token()])).toEqual([expect.stringMatching(/2$/), expect.stringMatching(/2$/)]);
    pass(hour);
    expect(await token()).toMatch(/3$/);
    expect(at.grants.slice(1).map((grant) => Object.fromEntries(grant))).toEqual([
      { grant_type: 'refresh_token', refresh_token: 'first', client_id: 'orch' },
      { grant_type: 'refresh_token', refresh_token: 'second', client_id: 'orch' },
    ]);
  });

  it('stay where the issuer gives no refresh token', async () => {
    const { at, signIn, pass } = setUp();
    const { token } = await signIn();
    pass(2 * hour);
    expect(await token()).toMatch(/1$/);
    expect(at.grants).toHaveLength(1);
  });

  it('stay where the issuer refuses to renew them, or for another user, and are not renewed again', async () => {
    for (const change of [{ refusal: { status: 400, body: { error: 'invalid_grant' } } }, { claims: { sub: 'tom' } }]) {
      const { at, signIn, pass } = setUp();
      at.refreshToken = 'first';
      const { token } = await signIn();
      Object.assign(at, change);
      pass(hour);
      expect([await token(), await token()]).toEqual([expect.stringMatching(/1$/), expect.stringMatching(/1$/)]);
      expect(at.grants).toHaveLength(2);
    }
  });

  it('are renewed by a later request where the issuer fails', async () => {
    const { at, signIn, pass } = setUp();
    at.refreshToken = 'first';
    const { token } = await signIn();
    at.refusal = { status: 503, body: {} };
    pass(hour);
    expect(await token()).toMatch(/1$/);
    at.refusal = undefined;
    expect(await token()).toMatch(/3$/);
  });
});
