import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../../test/support/in-process.ts';
import type { ApiObject } from '../meta/index.ts';
import { storeWith } from '../store/testing/store-with.ts';
import { createServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'object-history-'));
const config = join(folder, 'encryption.json');

/** A configuration that encrypts secrets by the first of the keys of these names, and reads them with all. */
function writeConfig(...names: string[]): void {
  const keys = names.map((name) => ({ name, secret: Buffer.from(name.padEnd(32, '.')).toString('base64') }));
  const resources = [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }] }];
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
  writeFileSync(config, JSON.stringify({ ...kind, resources }), { mode: 0o600 });
}

const options = { objectHistory: true, encryptionProviderConfig: config };
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const secrets = '/api/v1/namespaces/default/secrets';
const removed = 'removed-from-the-secret';
const base64 = (text: string) => Buffer.from(text).toString('base64');

let world: World;
/** The version of the secret `a` with the data that its next version no longer has. */
let before: ApiObject;
/** The same of the secret `gone`, which is deleted. */
let gone: ApiObject;
const exactly = ({ metadata }: ApiObject) =>
  `${metadata.name}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
const read = (user: string, url: string, headers = {}) =>
  world.send('GET', url, undefined, { ...(user === '' ? {} : { 'impersonate-user': user }), ...headers });

/** Grants a user verbs of secrets in the namespace `default`. */
async function grant(user: string, verbs: string[], more: object = {}): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs, ...more }];
  await world.send('POST', `${rbac}/roles`, { metadata: { name: user }, rules });
  await world.send('POST', `${rbac}/rolebindings`, {
    metadata: { name: user },
    subjects: [{ kind: 'User', name: user }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
  });
}

beforeAll(async () => {
  writeConfig('first');
  world = await startWorld(options);
  const create = async (name: string) =>
    (
      await world.send('POST', `${secrets}?fieldManager=writer`, {
        metadata: { name },
        stringData: { password: removed },
      })
    ).body as ApiObject;
  before = await create('a');
  await world.send('PUT', `${secrets}/a?fieldManager=cleaner`, { metadata: { name: 'a' }, stringData: { user: 'u' } });
  gone = await create('gone');
  await world.send('DELETE', `${secrets}/gone`);
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('former versions of a secret', () => {
  it('are read with the right to get it, with the managed fields that they had', async () => {
    await grant('reader', ['get'], { resourceNames: ['a'] });
    const { status, body } = await read('reader', `${secrets}/${exactly(before)}`);
    expect(status).toBe(200);
    expect(body).toEqual(before);
    expect(body.data).toEqual({ password: base64(removed) });
    expect((await read('reader', `${secrets}/a`)).body.data).toEqual({ user: base64('u') });
  });

  it('are read after its deletion', async () => {
    const { status, body } = await read('', `${secrets}/${exactly(gone)}`);
    expect([status, body.metadata.uid]).toEqual([200, gone.metadata.uid]);
    expect((await read('', `${secrets}/gone`)).status).toBe(404);
  });

  it.each([
    ['nobody', [], {}],
    ['watcher', ['watch'], {}],
    ['lister', ['list', 'watch'], {}],
    ['writer', ['create', 'update', 'patch', 'delete'], {}],
    ['reader-of-another', ['get'], { resourceNames: ['b'] }],
  ])('are forbidden to %s, whether or not they existed', async (user, verbs, more) => {
    await grant(user, verbs, more);
    for (const object of [before, gone, { ...gone, metadata: { ...gone.metadata, name: 'never' } }]) {
      const { status, body } = await read(user, `${secrets}/${exactly(object as ApiObject)}`);
      expect([status, body.reason]).toEqual([403, 'Forbidden']);
      expect(body.message).toContain(`User "${user}" cannot get resource "secrets"`);
      expect(JSON.stringify(body)).not.toContain(base64(removed));
    }
  });

  it('are forbidden to a reader of another namespace', async () => {
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
    await grant('tenant', ['get', 'list', 'watch']);
    const other = `/api/v1/namespaces/other/secrets/${exactly(before)}`;
    expect((await read('tenant', other)).status).toBe(403);
    expect((await read('', other)).status).toBe(404);
  });

  it('are forbidden once the right has been taken away', async () => {
    await grant('former', ['get']);
    expect((await read('former', `${secrets}/${exactly(before)}`)).status).toBe(200);
    await world.send('DELETE', `${rbac}/rolebindings/former`);
    expect((await read('former', `${secrets}/${exactly(before)}`)).status).toBe(403);
  });

  it('show no data where only metadata or a table is requested', async () => {
    for (const as of ['PartialObjectMetadata', 'Table']) {
      const accept = `application/json;as=${as};v=v1;g=meta.k8s.io`;
      const { status, body } = await read('', `${secrets}/${exactly(before)}`, { accept });
      expect([status, body.kind]).toEqual([200, as]);
      expect(JSON.stringify(body)).not.toContain(base64(removed));
    }
  });

  it('are encrypted in the store', async () => {
    const { entry } = await world.store.get('/secrets/default/a', Number(before.metadata.resourceVersion));
    const stored = Buffer.from(entry?.value ?? []).toString('latin1');
    expect(stored).toMatch(/^k8s:enc:aesgcm:v1:first:/);
    expect(stored).not.toContain(base64(removed));
  });

  it('are not readable once their key is removed, and the error shows nothing of them', async () => {
    const store = storeWith(world.store.under, { close: async () => {} });
    const url = `${secrets}/${exactly(before)}`;
    writeConfig('second', 'first');
    const rotating = await startWorld(options, 2, store);
    expect((await rotating.send('GET', url)).body.data).toEqual({ password: base64(removed) });
    await rotating.send('PUT', `${secrets}/a`, { metadata: { name: 'a' }, stringData: { user: 'v' } });
    await rotating.close();
    writeConfig('second');
    const rotated = await startWorld(options, 3, store);
    expect((await rotated.send('GET', `${secrets}/a`)).status).toBe(200);
    const { status, body } = await rotated.send('GET', url);
    expect([status, body.message]).toEqual([
      500,
      'Internal error occurred: the stored object "/secrets/default/a" cannot be read',
    ]);
    await rotated.close();
  });
});

describe('the history of objects', () => {
  it('is read after a restart, and without the flag the parameter is ignored', async () => {
    const dataDir = join(folder, 'data');
    const open = (objectHistory: boolean) =>
      createServer({ controllers: '-*', securePort: 0, store: 'lmdb', dataDir, objectHistory });
    const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
    const first = await open(true);
    const created = await first.client.create<ApiObject>(place, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one' },
    });
    const changed = await first.client.patch<ApiObject>({ ...place, name: 'one' }, 'merge', { data: { a: '1' } });
    await first.close();
    for (const [flag, expected] of [
      [true, created],
      [false, changed],
    ] as const) {
      const server = await open(flag);
      const url = `/api/v1/namespaces/default/configmaps/${exactly(created)}`;
      const { body } = await server.client.request({ method: 'GET', url, headers: {} });
      expect(await new Response(body as unknown as ReadableStream).json()).toEqual(expected);
      await server.close();
    }
  });

  it('is limited by --history-max-size', async () => {
    const { send, store, close } = await startWorld({ objectHistory: true, historyMaxSize: 100_000 });
    const maps = '/api/v1/namespaces/default/configmaps';
    const { body: first } = await send('POST', maps, { metadata: { name: 'one' }, data: { n: '0' } });
    const big = 'x'.repeat(30_000);
    for (let n = 1; n <= 4; n++)
      await send('PUT', `${maps}/one`, { metadata: { name: 'one' }, data: { n: `${n}`, big } });
    await expect.poll(() => store.oldest()).toBeGreaterThan(Number(first.metadata.resourceVersion));
    const oldest = await store.oldest();
    expect((await send('GET', `${maps}/${exactly(first)}`)).body).toMatchObject({
      code: 410,
      details: { causes: [{ reason: 'OldestResourceVersion', message: `${oldest}` }] },
    });
    expect((await send('GET', `${maps}/one?resourceVersion=${oldest}&resourceVersionMatch=Exact`)).status).toBe(200);
    await close();
  });
});
