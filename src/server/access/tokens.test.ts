import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type SigningKey, signingKey, signSecretToken } from '../../auth/index.ts';
import { inProcessTransport } from '../../client/index.ts';
import { type ApiObject, type JsonObject, namesFor } from '../../meta/index.ts';
import { until } from '../../meta/testing/until.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { Backend } from '../backend.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';
import { openServiceAccountKeys } from './service-account-keys.ts';

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const lines: unknown[] = [];
const record = (text: string, fields: unknown) => void lines.push([text, fields]);
const log: Log = { error: record, warn: record, info: record, request: (entry) => void lines.push(entry) };

async function start(options: ServerOptions = {}, store: Store = openMemoryStore({ clock: systemClock })) {
  // The store outlives the server.
  const kept = storeWith(store, { close: () => Promise.resolve() });
  const server = await createServer({ controllers: '-*', apiDomain: 'k8s.io', ...options }, { store: kept, log });
  servers.push(server);
  return server;
}

/** A request by someone without a client certificate. */
async function ask({ handler }: OrchServer, method: string, url: string, token?: string, body?: JsonObject) {
  const response = await inProcessTransport(handler)({
    method,
    url,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { ...response, body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
}

const account = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
const make = ({ client }: OrchServer, name: string) =>
  client.create<ApiObject>(account, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });

async function tokenOf({ client }: OrchServer, name: string, spec: JsonObject = {}): Promise<string> {
  const place = { ...account, name, subresource: 'token' };
  const posted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec };
  const { status } = await client.create<ApiObject>(place, posted);
  return (status as { token: string }).token;
}

const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const whoIs = async (server: OrchServer, token: string) => {
  const { status, body } = await ask(server, 'POST', reviews, token, review);
  const { userInfo } = (body['status'] ?? {}) as { userInfo?: { username: string } };
  return userInfo?.username ?? status;
};
const keyIds = async (server: OrchServer) => {
  const { body } = await server.client.request({ method: 'GET', url: '/openid/v1/jwks', headers: {} }).then(read);
  return (body['keys'] as { kid: string; alg: string }[]).map(({ alg }) => alg);
};
const read = async (response: { status: number; body: AsyncIterable<Uint8Array>; headers: object }) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { ...response, body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
};

describe('a token of a service account', () => {
  it('is accepted by every server of the store, at once and after a restart', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const [one, two] = [await start({}, store), await start({}, store)];
    await Promise.all([make(one, 'a'), make(two, 'b')]);
    // Both servers make their first token at the same time: one key wins.
    const [a, b] = await Promise.all([tokenOf(one, 'a'), tokenOf(two, 'b')]);
    for (const server of [one, two]) {
      expect(await whoIs(server, a)).toBe('system:serviceaccount:default:a');
      expect(await whoIs(server, b)).toBe('system:serviceaccount:default:b');
    }
    await one.close();
    expect(await whoIs(await start({}, store), a)).toBe('system:serviceaccount:default:a');
    expect(await whoIs(await start(), a)).toBe(401);
  });

  it('is refused for what it is not valid for, and appears in no log line', async () => {
    const server = await start();
    await make(server, 'bot');
    const token = await tokenOf(server, 'bot', { audiences: ['elsewhere'] });
    const good = await tokenOf(server, 'bot');
    lines.length = 0;
    expect(await whoIs(server, token)).toBe(401);
    expect(await whoIs(server, `${good}A`)).toBe(401);
    expect(await whoIs(server, good)).toBe('system:serviceaccount:default:bot');
    const logged = JSON.stringify(lines);
    expect(lines.length).toBeGreaterThan(2);
    for (const part of [token, good].flatMap((one) => one.split('.'))) expect(logged).not.toContain(part);
  });

  it('is not stored', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const server = await start({}, store);
    const { uid = '' } = (await make(server, 'bot')).metadata;
    const token = await tokenOf(server, 'bot');
    const [header = '', claims = '', signature = ''] = token.split('.');
    const { entries } = await store.list({ prefix: '/' });
    const stored = entries.map(({ value }) => Buffer.from(value).toString());
    expect(stored.filter((text) => text.includes(uid))).toHaveLength(1);
    for (const part of [header, claims, signature]) expect(stored.filter((text) => text.includes(part))).toEqual([]);
  });
});

describe('the keys of service account tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-'));
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const signing = file('signing.pem', p384.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const verifying = file('verifying.pem', rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  const publicOnly = file('public.pem', p384.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  const none = file('none.pem', 'nothing');

  it('are those of the files, all of them published', async () => {
    const server = await start({
      serviceAccountSigningKeyFile: signing,
      serviceAccountKeyFile: [verifying, publicOnly],
    });
    await make(server, 'bot');
    expect(await whoIs(server, await tokenOf(server, 'bot'))).toBe('system:serviceaccount:default:bot');
    expect(await keyIds(server)).toEqual(['ES384', 'RS256']);
  });

  it('are a generated one and those of the files without a signing key', async () => {
    expect(await keyIds(await start({ serviceAccountKeyFile: [publicOnly] }))).toEqual(['RS256', 'ES384']);
  });

  it.each([
    [{ serviceAccountSigningKeyFile: publicOnly }, 'holds no RSA or ECDSA private key in PEM'],
    [{ serviceAccountKeyFile: [none] }, 'holds no RSA or ECDSA key in PEM'],
    [{ serviceAccountKeyFile: [join(folder, 'absent.pem')] }, 'cannot be read'],
    [{ serviceAccountMaxTokenExpiration: '59m' }, '--service-account-max-token-expiration must be 0, or from 1h'],
  ])('and other settings are checked at the start: %j', async (options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });

  it('are those of the serving certificate, too, where none is given to verify', async () => {
    const settings = { serviceAccountKeyFile: [], serviceAccountSigningKeyFile: signing, tlsPrivateKeyFile: verifying };
    // A backend that is not open throws when it is used.
    const { verification } = await (await openServiceAccountKeys(settings, new Backend()))();
    expect(verification.map(({ algorithm }) => algorithm)).toEqual(['ES384', 'RS256']);
  });

  it('that are damaged in the store fail requests for tokens, and are not replaced', async () => {
    const store = openMemoryStore({ clock: systemClock });
    await store.commit([], [{ key: '/keys/service-account-signing-key', value: Buffer.from('damaged') }]);
    const server = await start({}, store);
    await make(server, 'bot');
    await expect(tokenOf(server, 'bot')).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining('damaged key under /keys/service-account-signing-key'),
    });
    expect(Buffer.from((await store.get('/keys/service-account-signing-key')).entry?.value ?? '').toString()).toBe(
      'damaged',
    );
  });

  it('verify tokens in secrets, whose last use is recorded', async () => {
    const server = await start({ serviceAccountSigningKeyFile: signing });
    const { metadata } = await make(server, 'bot');
    const key = signingKey(readFileSync(signing, 'utf8')) as SigningKey;
    const claims = { namespace: 'default', name: 'bot', uid: metadata.uid ?? '', secret: 'bot-token' };
    const token = await signSecretToken(key, claims, namesFor('k8s.io'));
    expect(await whoIs(server, token)).toBe(401);
    const secrets = { apiVersion: 'v1', resource: 'secrets', namespace: 'default' };
    await server.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { name: 'bot-token', annotations: { 'kubernetes.io/service-account.name': 'bot' } },
      stringData: { token },
    });
    expect(await whoIs(server, token)).toBe('system:serviceaccount:default:bot');
    await until(async () => {
      const { metadata: now } = await server.client.get<ApiObject>({ ...secrets, name: 'bot-token' });
      expect(now.labels?.['kubernetes.io/legacy-token-last-used']).toMatch(/^\d{4}-\d\d-\d\d$/);
    });
  });
});

describe('the OpenID documents', () => {
  it('tell issuer and keys, to be kept for an hour', async () => {
    const server = await start({ serviceAccountIssuer: ['https://issuer.example.com', 'https://old.example.com'] });
    const path = '/.well-known/openid-configuration';
    const { status, headers, body } = await read(
      await server.client.request({ method: 'GET', url: path, headers: {} }),
    );
    expect([status, headers]).toMatchObject([
      200,
      { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' },
    ]);
    expect(body).toEqual({
      issuer: 'https://issuer.example.com',
      jwks_uri: 'https://issuer.example.com/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
  });

  it('are not there for an issuer that is not an https URL', async () => {
    for (const issuer of ['http://issuer.example.com', 'issuer', 'https://issuer.example.com/?a=b']) {
      const server = await start({ serviceAccountIssuer: [issuer] });
      const { status } = await server.client.request({ method: 'GET', url: '/openid/v1/jwks', headers: {} });
      expect(status).toBe(404);
    }
  });

  it('name the URL of the keys that is configured', async () => {
    const server = await start({ serviceAccountJwksUri: 'https://keys.example.com/jwks' });
    const url = '/.well-known/openid-configuration';
    const { body } = await read(await server.client.request({ method: 'GET', url, headers: {} }));
    expect(body['jwks_uri']).toBe('https://keys.example.com/jwks');
  });

  it('are for authorized users, to be read, and in the index', async () => {
    const server = await start();
    const send = (method: string, url: string) => server.client.request({ method, url, headers: {} }).then(read);
    expect((await send('POST', '/openid/v1/jwks')).status).toBe(405);
    const { body } = await send('GET', '/');
    expect(body['paths']).toEqual(expect.arrayContaining(['/.well-known/openid-configuration', '/openid/v1/jwks']));
    expect((await ask(server, 'GET', '/openid/v1/jwks')).status).toBe(403);
  });
});

describe('a bootstrap token', () => {
  it('authenticates only when that is switched on', async () => {
    for (const [enableBootstrapTokenAuth, expected] of [
      [true, 'system:bootstrap:abcdef'],
      [false, 401],
    ] as const) {
      const server = await start({ enableBootstrapTokenAuth });
      await server.client.create(
        { apiVersion: 'v1', resource: 'secrets', namespace: 'kube-system' },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'bootstrap-token-abcdef' },
          type: 'bootstrap.kubernetes.io/token',
          stringData: {
            'token-id': 'abcdef',
            'token-secret': '0123456789abcdef',
            'usage-bootstrap-authentication': 'true',
          },
        },
      );
      expect(await whoIs(server, 'abcdef.0123456789abcdef')).toBe(expected);
    }
  });
});
