import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';

// The command, its data directory, and restarts with other configurations.
const dataDir = mkdtempSync(join(tmpdir(), 'orch-encrypted-'));
const config = join(dataDir, 'encryption.yaml');
let server: RunningServer | undefined;
afterAll(async () => {
  await server?.stop('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

const secrets = '/api/v1/namespaces/default/secrets';
const password = 'correct-horse-battery-staple';
const inBase64 = Buffer.from(password).toString('base64');
const key = (name: string) => `{ name: ${name}, secret: ${Buffer.from(name.padEnd(32, '-')).toString('base64')} }`;

async function start(...flags: string[]): Promise<RunningServer> {
  server = await startServer(flags, dataDir);
  return server;
}

/** With these providers; restarted when it runs. */
async function run(providers: string): Promise<RunningServer> {
  await stop();
  const text = `apiVersion: apiserver.config.orch.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers: ${providers}
`;
  writeFileSync(config, text, { mode: 0o600 });
  return start(`--encryption-provider-config=${config}`);
}

/** Ends the server as a power failure does, and keeps its data directory. */
async function stop(): Promise<void> {
  const child = server?.process;
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** Whether the files of the store hold the bytes. */
const holds = (text: string): boolean => {
  const store = join(dataDir, 'store');
  return readdirSync(store).some((name) => readFileSync(join(store, name)).includes(text));
};

it('secrets are not readable in the data directory, and readable by the server with any of its keys', async () => {
  const first = await run(`[{ aescbc: { keys: [${key('one')}] } }, { identity: {} }]`);
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { password } };
  expect((await first.request('POST', secrets, body)).status).toBe(201);
  const note = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { text: 'a-plain-config-map' } };
  expect((await first.request('POST', secrets.replace('secrets', 'configmaps'), note)).status).toBe(201);
  await stop();
  expect(holds('a-plain-config-map')).toBe(true);
  expect(holds('k8s:enc:aescbc:v1:one:')).toBe(true);
  expect([holds(password), holds(inBase64), holds('PRIVATE KEY')]).toEqual([false, false, false]);

  const second = await run(`[{ secretbox: { keys: [${key('two')}] } }, { aescbc: { keys: [${key('one')}] } }]`);
  const read = await second.request('GET', `${secrets}/a`);
  expect(read.body.data.password).toBe(inBase64);
  const replaced = await second.request('PUT', `${secrets}/a`, read.body);
  expect(replaced.status).toBe(200);
  expect(replaced.body.metadata.resourceVersion).not.toBe(read.body.metadata.resourceVersion);

  const third = await run(`[{ secretbox: { keys: [${key('two')}] } }]`);
  expect((await third.request('GET', `${secrets}/a`)).body.data.password).toBe(inBase64);

  // Without the key.
  const last = await run(`[{ aesgcm: { keys: [${key('three')}] } }]`);
  const failed = await last.request('GET', secrets);
  expect(failed.status).toBe(500);
  expect(failed.body.message).toBe('Internal error occurred: the stored object "/secrets/default/a" cannot be read');
  await stop();
  await expect(run('[{ aesgcm: { keys: [{ name: a, secret: c2hvcnQ= }] } }]')).rejects.toThrow(
    'resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: must be 16, 24, 32 random bytes in base64; it is 5 bytes',
  );
});
