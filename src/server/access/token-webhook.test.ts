import { mkdtempSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { inProcessTransport } from '../../client/index.ts';
import { makeCertificates } from '../../http/testing/fixture.ts';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

const issuer = 'https://here';
const { ca, cert, key } = makeCertificates();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
}
type Answer = { readonly status: number; readonly text: string } | JsonObject;

/** A webhook that answers reviews with a status, and what it was asked. */
async function startWebhook(answer: (review: Review, asked: number) => Answer | Promise<Answer>) {
  const reviews: Review[] = [];
  const urls: (string | undefined)[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
    urls.push(request.url);
    const found = await answer(review, reviews.push(review));
    if (typeof found['text'] === 'string') return response.writeHead(found['status'] as number).end(found['text']);
    const { apiVersion = review.apiVersion, kind = review.kind, ...status } = found as JsonObject;
    return response.end(JSON.stringify({ apiVersion, kind, status }));
  };
  const server = https.createServer({ cert, key }, (request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const path = join(mkdtempSync(join(tmpdir(), 'orch-')), 'webhook.kubeconfig');
  const cluster = {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}/review`,
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'hook', cluster }],
    contexts: [{ name: 'hook', context: { cluster: 'hook' } }],
    'current-context': 'hook',
  };
  writeFileSync(path, JSON.stringify(config));
  return { path, reviews, urls };
}

const lines: unknown[] = [];
const record = (text: string, fields: unknown) => void lines.push([text, fields]);
const log: Log = { error: record, warn: record, info: record, request: (entry) => void lines.push(entry) };

async function start(path: string, options: ServerOptions = {}) {
  const store = openMemoryStore({ clock: systemClock });
  const server = await createServer(
    {
      controllers: '-*',
      apiDomain: 'k8s.io',
      serviceAccountIssuer: issuer,
      authenticationTokenWebhookConfigFile: path,
      ...options,
    },
    { store, log },
  );
  closing.push(() => server.close());
  return server;
}

async function post({ handler }: OrchServer, resource: string, body: JsonObject, token?: string) {
  const response = await inProcessTransport(handler)({
    method: 'POST',
    url: `/apis/authentication.k8s.io/v1/${resource}`,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: Buffer.from(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', metadata: {}, ...body })),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
}

/** Who the server takes the caller with a token for. */
const whoIs = async (server: OrchServer, token: string) =>
  (await post(server, 'selfsubjectreviews', { kind: 'SelfSubjectReview' }, token)).body;

async function review({ client }: OrchServer, token: string, audiences: readonly string[] = []) {
  const place = { apiVersion: 'authentication.k8s.io/v1', resource: 'tokenreviews' };
  const spec = { token, audiences: [...audiences] };
  const posted = { apiVersion: place.apiVersion, kind: 'TokenReview', metadata: {}, spec };
  return (await client.create<ApiObject>(place, posted))['status'] as JsonObject;
}

const good = { authenticated: true, user: { username: 'ada', uid: '7', groups: ['staff'], extra: { scope: ['a'] } } };

describe('a token webhook', () => {
  it.each([
    ['v1beta1', {}],
    ['v1', { authenticationTokenWebhookVersion: 'v1' }],
  ])('tells who a token belongs to, by a review of %s', async (version, options) => {
    const { path, reviews, urls } = await startWebhook(() => good);
    const server = await start(path, options);
    expect(await whoIs(server, 'abc')).toMatchObject({
      status: { userInfo: { ...good.user, groups: ['staff', 'system:authenticated'] } },
    });
    expect(reviews).toEqual([
      {
        kind: 'TokenReview',
        apiVersion: `authentication.k8s.io/${version}`,
        metadata: {},
        spec: { token: 'abc', audiences: [issuer] },
        status: { user: {} },
      },
    ]);
    expect(urls).toEqual(['/review?timeout=30s']);
  });

  it('is asked once about tokens that it accepts, or refuses without an error, and once at a time', async () => {
    const { path, reviews } = await startWebhook(({ spec: { token } }) =>
      token === 'good' ? good : token === 'bad' ? { authenticated: false } : { authenticated: false, error: 'no' },
    );
    const server = await start(path);
    for (const token of ['good', 'bad', 'refused']) {
      await Promise.all([review(server, token), review(server, token)]);
      await review(server, token);
    }
    const tokens = reviews.map(({ spec }) => spec.token);
    expect(tokens).toEqual(['good', 'bad', 'refused', 'refused']);
  });

  it.each<[string, string[] | undefined, readonly string[], readonly string[] | undefined]>([
    ['none, none asked for', undefined, [], [issuer]],
    ['none, the server and others asked for', undefined, ['one', issuer], [issuer]],
    ['none, others asked for', undefined, ['one'], undefined],
    ['another one, none asked for', ['other'], [], undefined],
    ['more than asked for', ['other', 'one'], ['one', 'two'], ['one']],
  ])('names the audiences: %s', async (_, named, asked, valid) => {
    const { path } = await startWebhook(() => ({ ...good, ...(named === undefined ? {} : { audiences: named }) }));
    const { authenticated = false, audiences } = await review(await start(path), 'abc', asked);
    expect({ authenticated, audiences }).toEqual({ authenticated: valid !== undefined, audiences: valid });
  });

  it.each<[string, Answer, string]>([
    ['nobody', { authenticated: false }, 'invalid bearer token'],
    ['nobody, with a user', { ...good, authenticated: false, error: 'gone' }, '[invalid bearer token, gone]'],
    ['no status', { status: 200, text: '{}' }, 'invalid bearer token'],
    ['the other version', { ...good, apiVersion: 'authentication.k8s.io/v1' }, 'unknown conversion'],
    ['another group', { ...good, apiVersion: 'example.com/v1' }, 'no kind "TokenReview" is registered for version'],
    ['another kind', { ...good, kind: 'Review' }, 'no kind "Review" is registered for version'],
    ['a text', { status: 200, text: 'yes' }, "couldn't get version/kind"],
    ['nothing', { status: 200, text: '' }, '0-length response with status code: 200'],
    ['wrong types', { ...good, authenticated: 'yes' }, 'json: cannot unmarshal'],
    ['groups that are none', { ...good, user: { username: 'a', groups: [5] } }, 'json: cannot unmarshal'],
    ['a redirect', { status: 307, text: 'elsewhere' }, 'the server responded with the status code 307'],
    ['400', { status: 400, text: 'no' }, 'the server rejected our request'],
    ['401', { status: 401, text: 'who' }, 'the server has asked for the client to provide credentials'],
  ])('that answers with %s identifies nobody', async (_, answer, error) => {
    const { path, reviews } = await startWebhook(() => answer);
    const server = await start(path);
    const status = await review(server, 'abc');
    expect(status).toEqual({ user: {}, error: expect.stringContaining(error) });
    expect(reviews).toHaveLength(1);
    expect(await whoIs(server, 'abc')).toMatchObject({ code: 401, message: 'Unauthorized' });
  });

  it('is asked again after a pause while it fails, and its failure is logged without the token', async () => {
    const { path } = await startWebhook(({ spec: { token } }, asked) =>
      asked < 3 || token === 'secret' ? { status: 500, text: `cannot read ${token}` } : good,
    );
    const server = await start(path);
    expect(await review(server, 'late')).toMatchObject({ authenticated: true });
    lines.length = 0;
    const refused = { status: 403, text: JSON.stringify({ kind: 'Status', status: 'Failure', message: 'not secret' }) };
    const other = await startWebhook(() => refused);
    const failing = await start(other.path);
    expect(await review(failing, 'secret')).toMatchObject({ error: '[invalid bearer token, not secret]' });
    await review(failing, 'secret');
    expect(lines.filter((line) => JSON.stringify(line).includes('token webhook'))).toEqual([
      ['the token webhook has failed: its tokens are refused', { why: 'not <token>' }],
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('is asked about no token that the server knows', async () => {
    const { path, reviews } = await startWebhook(() => good);
    const folder = mkdtempSync(join(tmpdir(), 'orch-'));
    writeFileSync(join(folder, 'tokens.csv'), 'known,bob,1\n', { mode: 0o600 });
    const server = await start(path, { tokenAuthFile: join(folder, 'tokens.csv') });
    expect(await whoIs(server, 'known')).toMatchObject({ status: { userInfo: { username: 'bob' } } });
    expect(reviews).toEqual([]);
  });

  it('is always asked with a time of 0', async () => {
    const { path, reviews } = await startWebhook(() => good);
    const server = await start(path, { authenticationTokenWebhookCacheTtl: '-5s' });
    await review(server, 'abc', [issuer]);
    await review(server, 'abc', [issuer, 'x']);
    expect(reviews).toHaveLength(2);
  });
});

describe('the API server of --authentication-kubeconfig', () => {
  const delegates = (path: string) => ({
    authenticationTokenWebhookConfigFile: undefined,
    authenticationKubeconfig: path,
  });

  it('tells who a token belongs to, by a review of v1 at its own path', async () => {
    const { path, reviews, urls } = await startWebhook(() => good);
    const server = await start(path, delegates(path));
    expect(await whoIs(server, 'abc')).toMatchObject({ status: { userInfo: { username: 'ada' } } });
    expect(reviews[0]?.apiVersion).toBe('authentication.k8s.io/v1');
    expect(urls).toEqual(['/apis/authentication.k8s.io/v1/tokenreviews?timeout=30s']);
  });

  it('takes the place of a webhook', async () => {
    const { path } = await startWebhook(() => good);
    await expect(start(path, { authenticationKubeconfig: path })).rejects.toThrow(
      '--authentication-kubeconfig and --authentication-token-webhook-config-file exclude each other',
    );
  });
});

it.each([
  ['v2', 'unsupported authentication webhook version "v2", supported versions are "v1", "v1beta1"'],
  ['', 'unsupported authentication webhook version "", supported versions are "v1", "v1beta1"'],
])('a token webhook of version %j does not start', async (version, message) => {
  const { path } = await startWebhook(() => good);
  await expect(start(path, { authenticationTokenWebhookVersion: version })).rejects.toThrow(message);
});
