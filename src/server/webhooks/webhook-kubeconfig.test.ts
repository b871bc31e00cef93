import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readWebhookConfig, readWebhookCredentials } from './webhook-kubeconfig.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hook-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Reads a kubeconfig with this cluster and user. */
function read(cluster: object, user: object = {}, more: object = {}) {
  const path = join(folder, 'hook.kubeconfig');
  const config = {
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'hook', user: 'u' } }],
    clusters: [{ name: 'hook', cluster }],
    users: [{ name: 'u', user }],
    ...more,
  };
  writeFileSync(path, JSON.stringify(config));
  return readWebhookConfig('--hook', path);
}
const server = 'https://hook.example/path';

it('reads the cluster and the user of the current context; files are relative to its own', async () => {
  for (const name of ['ca', 'cert', 'key']) writeFileSync(join(folder, name), `the ${name}`);
  const config = await read(
    { server, 'certificate-authority': 'ca', 'tls-server-name': 'other.example' },
    { 'client-certificate': 'cert', 'client-key': join(folder, 'key'), username: 'u', password: 'p' },
  );
  expect(config).toMatchObject({ ca: 'the ca', cert: 'the cert', key: 'the key', serverName: 'other.example' });
  expect([config.url.href, config.skipVerify]).toEqual([server, false]);
  expect(await config.authorization?.()).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`);
});

it('prefers data to files, and tokens to passwords', async () => {
  const config = await read(
    { server, 'certificate-authority': 'absent', 'certificate-authority-data': Buffer.from('pem').toString('base64') },
    { token: 't', username: 'u' },
  );
  expect(config.ca).toBe('pem');
  expect(await config.authorization?.()).toBe('Bearer t');
});

it.each([
  ['names no user', { contexts: [{ name: 'c', context: { cluster: 'hook' } }] }],
  ['names a user that is not listed', { users: [] }],
  ['has no users', { users: undefined }],
])('calls the webhook without credentials when the kubeconfig %s', async (_, more) => {
  const config = await read({ server }, { token: 't' }, more);
  expect([config.authorization, config.cert]).toEqual([undefined, undefined]);
});

it.each<[string, Parameters<typeof read>, string]>([
  ['no server', [{}], 'invalid configuration: no server found for cluster "hook"'],
  ['a server without TLS', [{ server: 'http://hook.example' }], 'server must be a URL with https'],
  ['credentials in the URL', [{ server: 'https://a:b@hook.example' }], 'without credentials'],
  [
    'an unknown context',
    [{ server }, {}, { 'current-context': 'd' }],
    '[context was not found for specified context: d, cluster has no server defined]: contexts has no context named "d"',
  ],
  [
    'a file that is missing',
    [{ server, 'certificate-authority': '/absent' }],
    'hook.kubeconfig": certificate-authority="/absent" cannot be read: there is no such file',
  ],
  [
    'a certificate without its key',
    [{ server }, { 'client-certificate-data': 'YQ==' }],
    'client-key-data or client-key must be specified for u to use the clientCert authentication method.',
  ],
  ['a key without its certificate', [{ server }, { 'client-key-data': 'YQ==' }], 'must be given together'],
  ['a proxy', [{ server, 'proxy-url': 'http://p' }], 'proxy-url is not supported'],
  ['a credential plugin', [{ server }, { exec: { command: 'x' } }], 'exec is not supported'],
  ['a field of another type', [{ server, 'tls-server-name': 1 }], 'tls-server-name must be a string'],
  ['another kind', [{ server }, {}, { kind: 'Pod' }], 'its kind must be Config'],
  [
    'a certificate authority that is not used',
    [{ server, 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'YQ==' }],
    'exclude each other',
  ],
])('refuses %s', async (_, args, message) => {
  await expect(read(...args)).rejects.toThrow(message);
});

it('finds the user for a webhook by its host: the name itself, its domains, any, then the current context', async () => {
  const path = join(folder, 'users.kubeconfig');
  const names = ['a.example', 'a.example:8443', '*.example', '*.b.example', 'hook.ns.svc', '*'];
  const readUsers = (more: readonly string[], rest: object = {}) => {
    const users = more.map((name) => ({ name, user: { token: name } }));
    writeFileSync(path, JSON.stringify({ kind: 'Config', users, ...rest }));
    return readWebhookCredentials('--hooks', path);
  };
  const { userFor } = await readUsers(names);
  const tokenFor = async (host: string, port = '443') => (await userFor(host, port)?.authorization?.())?.slice(7);
  expect(await tokenFor('a.example')).toBe('a.example');
  expect(await tokenFor('a.example', '8443')).toBe('a.example:8443');
  expect(await tokenFor('a.example', '9443')).toBe('*');
  expect(await tokenFor('c.example')).toBe('*.example');
  expect(await tokenFor('c.b.example')).toBe('*.b.example');
  expect(await tokenFor('hook.ns.svc')).toBe('hook.ns.svc');
  expect(await tokenFor('other')).toBe('*');
  const context = { 'current-context': 'c', contexts: [{ name: 'c', context: { user: 'u' } }] };
  expect(await (await readUsers(['u'], context)).userFor('any', '443')?.authorization?.()).toBe('Bearer u');
  expect((await readUsers(['u'])).userFor('any', '443')).toBeUndefined();
});

it('refuses users whose credentials come from a program', async () => {
  const path = join(folder, 'users.kubeconfig');
  writeFileSync(path, JSON.stringify({ kind: 'Config', users: [{ name: '*', user: { exec: {} } }] }));
  await expect(readWebhookCredentials('--hooks', path)).rejects.toThrow(
    `--hooks=${JSON.stringify(path)}: exec is not supported`,
  );
});
