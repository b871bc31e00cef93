import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type HookCall, startHook } from '../../../test/support/hook.ts';
import { issueCertificate } from '../../pki/index.ts';
import type { Log } from '../dependencies.ts';
import { createServer } from '../server.ts';

/*
 * Webhooks of authentication and authorization, and an identity provider, that fail in every way, and repeat what they were
 * sent. Neither the token of the caller nor the credentials of the server are in what anyone can read afterwards.
 */

const now = Date.now();
const { cert, key } = issueCertificate({ commonName: 'server', usage: 'client', notBefore: now, notAfter: now + 1e7 });
const callerToken = 'token-of-a-caller';
const hookToken = 'token-for-the-webhook';
const password = 'password-for-the-webhook';
const secrets = [
  callerToken,
  hookToken,
  password,
  Buffer.from(`server:${password}`).toString('base64'),
  key.split('\n')[1] ?? '',
];

const echo = ({ authorization, review }: HookCall) => `cannot read ${authorization} ${JSON.stringify(review)}`;
/** A JWT of the issuer, which nobody has signed. */
const idToken = (issuer: string) =>
  [{ alg: 'RS256', kid: 'k' }, { iss: issuer, aud: 'orch', sub: 'ann', exp: now }, callerToken]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');

let folder: string;
const open: { close(): unknown }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  rmSync(folder, { recursive: true });
});

const written = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content, { mode: 0o600 });
  return join(folder, name);
};

/** A webhook, and the kubeconfig with which the server calls it. */
async function hookOf(name: string, user: object, answer: (call: HookCall) => unknown) {
  const hook = await startHook(answer);
  open.push(hook);
  const base64 = (pem: string) => Buffer.from(pem).toString('base64');
  const config = {
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: hook.url, 'certificate-authority-data': hook.caBundle } }],
    users: [{ name: 'u', user: { ...user, 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  return { hook, kubeconfig: written(`${name}.kubeconfig`, JSON.stringify(config)) };
}

/** The failures of webhooks after which they are not called again. */
const failures: readonly (readonly [string, (call: HookCall) => unknown])[] = [
  ['refuse the call in the words of the request', (call) => ({ status: 403, text: echo(call), type: 'text/plain' })],
  [
    'refuse the call with a Status',
    (call) => ({ status: 400, text: JSON.stringify({ kind: 'Status', status: 'Failure', message: echo(call) }) }),
  ],
  ['send what is not JSON', (call) => ({ status: 200, text: echo(call) })],
  ['send another kind', (call) => ({ kind: echo(call), apiVersion: echo(call) })],
  ['send another type', (call) => ({ ...call.review, status: { authenticated: echo(call), allowed: echo(call) } })],
  ['send nothing', () => ({ status: 200, text: '' })],
  ['redirect the call', () => ({ status: 307, text: '' })],
  ['close the connection', () => undefined],
];

it.each(failures)('secrets are in no log, metric, audit event or response when webhooks %s', async (_, fail) => {
  const lines: unknown[] = [];
  const record = (message: string, fields: unknown) => void lines.push([message, fields]);
  const log: Log = { error: record, warn: record, info: record, request: (entry) => void lines.push(entry) };
  const users = await hookOf('users', { token: hookToken }, fail);
  const rights = await hookOf('rights', { username: 'server', password }, fail);
  const issuer = `${users.hook.url}/issuer`;
  const server = await createServer(
    {
      apiDomain: 'k8s.io',
      controllers: '-*',
      securePort: 0,
      oidcIssuerUrl: issuer,
      oidcClientId: 'orch',
      oidcCaFile: written('ca.crt', Buffer.from(users.hook.caBundle, 'base64').toString()),
      authenticationTokenWebhookConfigFile: users.kubeconfig,
      authorizationMode: 'Webhook',
      authorizationWebhookConfigFile: rights.kubeconfig,
      tokenAuthFile: written('tokens.csv', `${callerToken}-known,ann,1\n`),
      auditPolicyFile: written('policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]'),
      auditLogPath: join(folder, 'audit.log'),
    },
    { log },
  );
  open.push(server);
  const { port } = await server.listen();
  const get = (path: string, token: string) =>
    new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      https
        .get({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (response) => {
          void text(response).then((body) => resolve(JSON.stringify([response.statusCode, response.headers, body])));
        })
        .on('error', reject);
    });
  const responses = [
    await get('/api/v1/pods', callerToken),
    await get('/api/v1/pods', `${callerToken}-known`),
    await get('/api/v1/pods', idToken(issuer)),
  ];
  expect([users.hook.calls.length, rights.hook.calls.length].every((count) => count > 0)).toBe(true);
  expect(responses.map((response) => JSON.parse(response)[0])).toEqual([401, expect.toBeOneOf([403, 500]), 401]);
  const { body } = await server.client.request({ method: 'GET', url: '/metrics', headers: {} });
  let metrics = '';
  for await (const chunk of body) metrics += Buffer.from(chunk).toString();
  const printed = lines.map((line) =>
    JSON.stringify(line, (_, value: unknown) => (value instanceof Error ? value.stack : value)),
  );
  const audited = readFileSync(join(folder, 'audit.log'), 'utf8');
  expect(audited).toContain('/api/v1/pods');
  for (const [place, content] of Object.entries({ responses, printed, metrics, audited })) {
    const found = secrets.filter((secret) => JSON.stringify(content).includes(secret));
    expect([place, found, found.length > 0 ? content : '']).toEqual([place, [], '']);
  }
});
