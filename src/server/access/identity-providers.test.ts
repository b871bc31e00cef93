import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { inProcessTransport, readJson } from '../../client/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { makeCertificates } from '../../http/testing/fixture.ts';
import { VirtualClock } from '../../meta/index.ts';
import { until } from '../../meta/testing/until.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';

const folder = mkdtempSync(join(tmpdir(), 'identity-providers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const { ca, cert, key } = makeCertificates();
const pair = await generateKeyPair('RS256');
const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };

/** A provider with several issuers, one for each path, all with the same key. */
async function startProvider() {
  const asked: string[] = [];
  const away = new Set<string>();
  const server = https.createServer({ cert, key }, ({ url = '' }, response) => {
    asked.push(url);
    const [, name = ''] = url.split('/');
    if (away.has(name)) {
      response.writeHead(503).end();
      return;
    }
    const issuer = `${base}/${name}`;
    const found = url.endsWith('/keys') ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` };
    response.end(JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base, asked, away };
}

/** A busy machine takes its time. */

const username = { claim: 'sub', prefix: '' };
const jwt = (url: string, more: object = {}) => ({
  issuer: { url, audiences: ['orch'], certificateAuthority: ca },
  claimMappings: { username },
  ...more,
});
const header = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' };
const configuration = (...list: readonly object[]) => JSON.stringify({ ...header, jwt: list });
const written = (text: string): string => {
  const path = join(folder, 'authentication.json');
  writeFileSync(path, text);
  return path;
};

async function serverOf(settings: object, dependencies: object = {}): Promise<OrchServer> {
  const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*', ...settings }, dependencies);
  open.push(() => server.close());
  return server;
}
const serverOfFile = (text: string, settings: object = {}, dependencies: object = {}) =>
  serverOf({ authenticationConfig: written(text), ...settings }, dependencies);

/** A token of an issuer; its times are far from those of any clock of a test. */
const tokenOf = (iss: string, claims: object = {}) =>
  new SignJWT({ iss, aud: 'orch', sub: 'jane', exp: 9_000_000_000, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .sign(pair.privateKey);

async function get({ handler }: OrchServer, url: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, body } = await inProcessTransport(handler)({ method: 'GET', url, headers });
  for await (const _ of body);
  return status;
}
async function post(server: OrchServer, url: string, sent: object, token?: string): Promise<unknown> {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const request = { method: 'POST', url, headers, body: Buffer.from(JSON.stringify(sent)) };
  const { body } =
    token === undefined ? await server.client.request(request) : await inProcessTransport(server.handler)(request);
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return (JSON.parse(text) as { status: unknown }).status;
}
const own = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
/** The user of a token; undefined: it is refused. */
const whoIs = async (server: OrchServer, token: string) =>
  (
    (await post(server, own, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }, token)) as {
      userInfo?: object;
    }
  ).userInfo;
const review = (server: OrchServer, token: string) =>
  post(server, '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
const isKnown = async (server: OrchServer, token: string) => (await whoIs(server, token)) !== undefined;

describe('a file of identity providers', () => {
  it('names several, whose tokens become users by claims and by expressions', async () => {
    const { base } = await startProvider();
    const server = await serverOfFile(
      configuration(
        jwt(`${base}/one`),
        jwt(`${base}/two`, {
          claimMappings: {
            username: { expression: "claims.sub + '@two'" },
            groups: { expression: 'claims.groups' },
            uid: { claim: 'id' },
            extra: [{ key: 'example.com/tenant', valueExpression: 'claims.tenant' }],
          },
          claimValidationRules: [{ expression: "claims.tenant != 'bad'", message: 'this tenant is closed' }],
        }),
      ),
    );
    const two = { groups: ['a'], id: 'u', tenant: 't' };
    await until(async () => {
      expect(await whoIs(server, await tokenOf(`${base}/one`))).toEqual({
        username: 'jane',
        groups: ['system:authenticated'],
      });
      expect(await whoIs(server, await tokenOf(`${base}/two`, two))).toEqual({
        username: 'jane@two',
        uid: 'u',
        groups: ['a', 'system:authenticated'],
        extra: { 'example.com/tenant': ['t'] },
      });
    });
    const bad = await tokenOf(`${base}/two`, { ...two, tenant: 'bad' });
    expect(await whoIs(server, bad)).toBeUndefined();
    expect(await review(server, bad)).toMatchObject({ error: expect.stringContaining('this tenant is closed') });
    expect(await review(server, await tokenOf(`${base}/three`))).toMatchObject({ error: 'invalid bearer token' });
  });

  it('may say where a provider is discovered, which must name its issuer', async () => {
    const { base, asked } = await startProvider();
    const discoveryURL = `${base}/one/.well-known/openid-configuration`;
    const elsewhere = { url: 'https://one.example.com', discoveryURL, audiences: ['orch'], certificateAuthority: ca };
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (...line: readonly unknown[]) => void warnings.push(line) };
    const server = await serverOfFile(configuration(jwt('', { issuer: elsewhere })), {}, { log });
    await expect.poll(() => JSON.stringify(warnings)).toContain(`it names itself \\"${base}/one\\"`);
    expect(asked).toContain('/one/.well-known/openid-configuration');
    expect(await isKnown(server, await tokenOf('https://one.example.com'))).toBe(false);
  });

  it('says at which paths requests without credentials are served', async () => {
    const anonymous = { enabled: true, conditions: [{ path: '/version' }, { path: '/api/v1/pods' }] };
    const server = await serverOfFile(JSON.stringify({ ...header, anonymous }));
    const paths = ['/version', '/version?x=y', '/api/v1/pods', '/version/', '/VERSION', '/api', '/readyz'];
    expect(await Promise.all(paths.map((path) => get(server, path)))).toEqual([200, 200, 403, 401, 401, 401, 401]);
    expect(await get(server, '/version', 'a-bad-token')).toBe(401);
    const closed = await serverOfFile(JSON.stringify({ ...header, anonymous: { enabled: false } }));
    expect(await get(closed, '/version')).toBe(401);
    const silent = await serverOfFile(configuration());
    expect(await get(silent, '/version')).toBe(200);
  });

  it('serves nobody without credentials where everything is allowed', async () => {
    const text = JSON.stringify({ ...header, anonymous: { enabled: true } });
    expect(await get(await serverOfFile(text, { authorizationMode: 'AlwaysAllow' }), '/version')).toBe(401);
  });

  it.each<[string, string, object, string]>([
    ['an empty file', '', {}, 'from file "PATH": empty config data'],
    ['no kind', '{"apiVersion":"apiserver.config.k8s.io/v1"}', {}, `Object 'Kind' is missing in '{"apiVersion"`],
    ['no version', '{"kind":"AuthenticationConfiguration"}', {}, "Object 'apiVersion' is missing in '"],
    [
      'the kind of another file',
      '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthorizationConfiguration"}',
      {},
      'expected AuthenticationConfiguration, got *apiserver.AuthorizationConfiguration',
    ],
    [
      'an unknown version',
      JSON.stringify({ ...header, apiVersion: 'apiserver.config.k8s.io/v9' }),
      {},
      'must be one of',
    ],
    ['an unknown field', JSON.stringify({ ...header, jwts: [] }), {}, 'strict decoding error: unknown field "jwts"'],
    ['a field twice', `{"kind":"AuthenticationConfiguration","jwt":[],"jwt":[]}`, {}, 'key "jwt" already set in map'],
    [
      'an invalid issuer',
      configuration(jwt('http://a')),
      {},
      '--authentication-config="PATH": invalid authentication configuration: jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https',
    ],
    ...[false, true].map((anonymousAuth): [string, string, object, string] => [
      `the field anonymous and --anonymous-auth=${anonymousAuth}`,
      JSON.stringify({ ...header, anonymous: { enabled: true } }),
      { anonymousAuth },
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured',
    ]),
    ...[
      { oidcIssuerUrl: 'https://a.example.com' },
      { oidcUsernameClaim: 'sub' },
      { oidcSigningAlgs: 'RS256' },
      { oidcRequiredClaim: 'a=b' },
      { oidcCaFile: '/x' },
    ].map((flags): [string, string, object, string] => [
      JSON.stringify(flags),
      configuration(),
      flags,
      'authentication-config file and oidc-* flags are mutually exclusive',
    ]),
    [
      'its feature gate off',
      configuration(),
      { featureGates: 'StructuredAuthenticationConfiguration=false' },
      'set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file',
    ],
  ])('does not start with %s', async (_, text, settings, why) => {
    await expect(serverOfFile(text, settings)).rejects.toThrow(
      why.replace('PATH', join(folder, 'authentication.json')),
    );
  });

  it('has the form of the example in the documentation', async () => {
    const page = readFileSync(new URL('../../../docs/access-providers.md', import.meta.url), 'utf8');
    const [, example = ''] = /```yaml\n(apiVersion: apiserver\.config[\s\S]*?)```/.exec(page) ?? [];
    const { value, findings } = parseYaml(Buffer.from(example));
    expect(findings).toEqual([]);
    expect(value).toMatchObject({ kind: 'AuthenticationConfiguration', anonymous: { enabled: true } });
    await serverOfFile(example.replace(/ *certificateAuthority: \|\n(?: {8}.*\n)*/, ''));
  });
});

describe('a changed file of identity providers', () => {
  const name = 'apiserver_authentication_config_controller_automatic_reloads_total';

  async function started(text: string) {
    const clock = new VirtualClock();
    const server = await serverOfFile(text, { console: true }, { clock });
    /** Lets time pass until a condition holds. */
    const pass = (condition: () => Promise<void>) =>
      until(async () => {
        await clock.advance(10_000, async () => {
          for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
        });
        await condition();
      });
    const reloads = async (status: string): Promise<number> => {
      const { body } = await server.client.request({ method: 'GET', url: '/metrics', headers: {} });
      let metrics = '';
      for await (const chunk of body) metrics += Buffer.from(chunk).toString();
      const line = metrics.split('\n').find((one) => one.startsWith(`${name}{`) && one.includes(`status="${status}"`));
      return Number(line?.split(' ')[1] ?? 0);
    };
    return { server, pass, reloads };
  }

  it('takes effect within a minute, also for tokens that were in use and in the console', async () => {
    const { base } = await startProvider();
    const [one, two] = await Promise.all([tokenOf(`${base}/one`), tokenOf(`${base}/two`)]);
    const { server, pass, reloads } = await started(configuration(jwt(`${base}/one`)));
    await pass(async () => expect(await isKnown(server, one)).toBe(true));
    expect(await isKnown(server, two)).toBe(false);
    const renamed = { claimMappings: { username: { claim: 'sub', prefix: 'new:' } } };
    written(configuration(jwt(`${base}/one`, renamed), jwt(`${base}/two`)));
    await pass(async () => expect(await reloads('success')).toBe(1));
    expect(await whoIs(server, one)).toMatchObject({ username: 'new:jane' });
    // New providers are discovered before the change.
    expect(await isKnown(server, two)).toBe(true);
    written(configuration(jwt(`${base}/two`)));
    await pass(async () => expect(await reloads('success')).toBe(2));
    expect(await isKnown(server, one)).toBe(false);
    expect(await isKnown(server, two)).toBe(true);
    const response = await server.client.request({ method: 'GET', url: '/console/settings.json', headers: {} });
    const discoveryUrl = `${base}/two/.well-known/openid-configuration`;
    expect(await readJson(response)).toMatchObject({
      issuers: [{ url: `${base}/two`, clientId: 'orch', discoveryUrl }],
    });
  });

  it.each<[string, string]>([
    ['is not JSON', '{'],
    ['is not valid', configuration(jwt('http://example.com'))],
    ['changes the field anonymous', JSON.stringify({ ...header, anonymous: { enabled: true } })],
  ])('that %s leaves the one before in use', async (_, text) => {
    const { base } = await startProvider();
    const token = await tokenOf(`${base}/one`);
    const { server, pass, reloads } = await started(configuration(jwt(`${base}/one`)));
    await pass(async () => expect(await isKnown(server, token)).toBe(true));
    written(text);
    await pass(async () => expect(await reloads('failure')).toBeGreaterThan(0));
    expect(await isKnown(server, token)).toBe(true);
    expect(await reloads('success')).toBe(0);
  });

  it('does not take effect until its new providers are discovered, and keeps the keys of the others', async () => {
    const { base, away } = await startProvider();
    const [one, two] = await Promise.all([tokenOf(`${base}/one`), tokenOf(`${base}/two`)]);
    const { server, pass, reloads } = await started(configuration(jwt(`${base}/one`)));
    await pass(async () => expect(await isKnown(server, one)).toBe(true));
    away.add('one').add('two');
    const renamed = { claimMappings: { username: { claim: 'sub', prefix: 'new:' } } };
    written(configuration(jwt(`${base}/one`, renamed), jwt(`${base}/two`)));
    await pass(async () => expect(await reloads('failure')).toBeGreaterThan(0));
    expect(await reloads('success')).toBe(0);
    expect(await whoIs(server, one)).toMatchObject({ username: 'jane' });
    expect(await isKnown(server, two)).toBe(false);
    away.delete('two');
    await pass(async () => expect(await reloads('success')).toBe(1));
    expect(await whoIs(server, one)).toMatchObject({ username: 'new:jane' });
    expect(await isKnown(server, two)).toBe(true);
  });

  it('does not delay the end of a server that waits for a new provider', async () => {
    const { base, away, asked } = await startProvider();
    away.add('two');
    const { server, pass } = await started(configuration(jwt(`${base}/one`)));
    written(configuration(jwt(`${base}/two`)));
    await pass(async () => expect(asked.some((url) => url.startsWith('/two/'))).toBe(true));
    await server.close();
  });
});
