import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { inProcessTransport } from '../../client/index.ts';
import { type FakePlugin, startFakePlugin } from '../../encryption/testing/fake-plugin.ts';
import type { ApiObject, Json } from '../../meta/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { type DrivenClock, drivenClock } from '../../store/testing/driven-clock.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { createServer, type OrchServer, type ServerOptions } from '../index.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-encryption-'));
const secrets = { apiVersion: 'v1', resource: 'secrets', namespace: 'default' };
const secretOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { password: `hunter2 of ${name}` },
});
const a = { ...secrets, name: 'a' };
const keyOfA = '/secrets/default/a';

const key = (name: string) => ({ name, secret: Buffer.from(name.padEnd(32, '.')).toString('base64') });
const gcm = (...names: string[]): Json => ({ aesgcm: { keys: names.map(key) } });
const cbc = (...names: string[]): Json => ({ aescbc: { keys: names.map(key) } });
const identity: Json = { identity: {} };
let files = 0;

/** A file that configures these providers of secrets, or of other resources. */
function file(providers: readonly Json[], path = join(folder, `${++files}.yaml`), resources = ['secrets']): string {
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
  writeFileSync(path, stringify({ ...kind, resources: [{ resources, providers }] }), { mode: 0o600 });
  return path;
}

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Running {
  readonly server: OrchServer;
  readonly client: OrchServer['client'];
  /** The stored text of a key, without decryption. */
  readonly stored: (key: string) => Promise<string>;
  readonly ask: (url: string) => Promise<{ readonly status: number; readonly body: string }>;
}

/** The store outlives its servers. */
function world() {
  const clock: DrivenClock = drivenClock();
  const inner = openMemoryStore({ clock });
  open.push(inner);
  const store: Store = storeWith(inner, { close: async () => {} });
  const errors: unknown[][] = [];
  const ignore = () => {};
  const log = { debug: ignore, info: ignore, warn: ignore, error: (...given: unknown[]) => errors.push(given) };
  return {
    clock,
    inner,
    errors,
    run: async (path: string, options: ServerOptions = {}): Promise<Running> => {
      const server = await createServer(
        { controllers: '-*', securePort: 0, apiDomain: 'k8s.io', encryptionProviderConfig: path, ...options },
        { clock, store, log },
      );
      open.push(server);
      const send = inProcessTransport(server.handler, {
        subject: { commonName: 'x', organizations: ['system:masters'] },
      });
      return {
        server,
        client: server.client,
        stored: async (at) => Buffer.from((await inner.get(at)).entry?.value ?? []).toString('latin1'),
        ask: async (url) => {
          const { status, body } = await send({ method: 'GET', url, headers: {} });
          return { status, body: await text(body) };
        },
      };
    },
  };
}

const passwordOf = (object: ApiObject) =>
  Buffer.from((object as unknown as { data: { password: string } }).data.password, 'base64').toString();

describe('encryption at rest', () => {
  it('encrypts the objects of its resources and the secrets of the server, and nothing else', async () => {
    const { run, inner } = world();
    const { client, stored, server } = await run(file([gcm('key1')]));
    await client.create(secrets, secretOf('a'));
    await client.create(
      { ...secrets, resource: 'configmaps' },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    );
    const account = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
    await client.create(account, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } });
    const token = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { audiences: [] },
    };
    await client.create({ ...account, name: 'a', subresource: 'token' }, token);
    expect(await stored(keyOfA)).toMatch(/^k8s:enc:aesgcm:v1:key1:/);
    expect(await stored('/configmaps/default/a')).toMatch(/^\{"kind":"ConfigMap"/);
    const { entries } = await inner.list({ prefix: '' });
    const encrypted = entries.filter(({ value }) => Buffer.from(value).toString('latin1').startsWith('k8s:enc:'));
    expect(encrypted.map((entry) => entry.key)).toEqual(['/keys/service-account-signing-key', keyOfA]);
    for (const { value } of entries)
      expect(Buffer.from(value).toString('latin1')).not.toMatch(/PRIVATE KEY|hunter2|aHVudGVyMi/);
    expect(passwordOf(await server.client.get(a))).toBe('hunter2 of a');
  });

  it('rotates: an update without a change writes what is stale with the present key, and only that', async () => {
    const { run } = world();
    const first = await run(file([gcm('old')]));
    await first.client.create(secrets, secretOf('a'));
    const same = await first.client.get(a);
    await first.client.update(a, same);
    expect((await first.client.get(a)).metadata.resourceVersion).toBe(same.metadata.resourceVersion);
    await first.server.close();
    const second = await run(file([cbc('new'), gcm('old'), identity]));
    const before = await second.client.get(a);
    expect(before).toEqual(same);
    expect(await second.stored(keyOfA)).toMatch(/^k8s:enc:aesgcm:v1:old:/);
    // A dry run writes nothing.
    await second.client.update(a, before, { dryRun: true });
    expect(await second.stored(keyOfA)).toMatch(/^k8s:enc:aesgcm:v1:old:/);
    await second.client.update(a, before);
    expect(await second.stored(keyOfA)).toMatch(/^k8s:enc:aescbc:v1:new:/);
    const after = await second.client.get(a);
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    await second.client.update(a, after);
    expect((await second.client.get(a)).metadata.resourceVersion).toBe(after.metadata.resourceVersion);
    await second.server.close();
    // Away from encryption.
    const third = await run(file([identity, cbc('new')]));
    await third.client.update(a, await third.client.get(a));
    expect(await third.stored(keyOfA)).toMatch(/^\{"kind":"Secret"/);
  });

  it('rewrites the secrets of the server at the start', async () => {
    const { run, inner } = world();
    const value = Buffer.from('-----BEGIN PRIVATE KEY-----');
    await inner.commit([], [{ key: '/keys/x', value }]);
    const { stored, server } = await run(file([gcm('one'), identity]));
    expect(await stored('/keys/x')).toMatch(/^k8s:enc:aesgcm:v1:one:/);
    await server.close();
    const next = await run(file([cbc('two'), gcm('one')]));
    expect(await next.stored('/keys/x')).toMatch(/^k8s:enc:aescbc:v1:two:/);
    await next.server.close();
    // A value that cannot be decrypted stays as it is.
    const last = await run(file([gcm('three')]));
    expect(await last.stored('/keys/x')).toMatch(/^k8s:enc:aescbc:v1:two:/);
  });

  it.each([{}, { featureGates: 'AllowUnsafeMalformedObjectDeletion=true' }])(
    'fails reads of what cannot be decrypted, naming the key and no content: %j',
    async (options) => {
      const { run, errors } = world();
      const first = await run(file([gcm('lost')]));
      await first.client.create(secrets, secretOf('a'));
      await first.server.close();
      const { client, ask } = await run(file([gcm('new')]), options);
      const unreadable = {
        code: 500,
        message: `Internal error occurred: the stored object "${keyOfA}" cannot be read`,
      };
      await expect(client.get(a)).rejects.toMatchObject(unreadable);
      // Where they may be deleted, a list names all of them.
      const listed = options.featureGates === undefined ? unreadable : { code: 500, reason: 'StoreReadError' };
      await expect(client.list(secrets)).rejects.toMatchObject(listed);
      await expect(client.update(a, secretOf('a'))).rejects.toMatchObject(unreadable);
      await expect(client.delete(a)).rejects.toMatchObject(unreadable);
      expect(JSON.stringify(errors)).not.toMatch(/hunter2|k8s:enc|bG9zd/);
      expect((await ask('/metrics')).body).toMatch(
        /apiserver_storage_transformation_operations_total\{resource="secrets",transformation_type="from_storage",transformer_prefix="unknown",status="Unknown"\} [1-9]/,
      );
      const unsafe = client.delete(a, { ignoreStoreReadErrorWithClusterBreakingPotential: true });
      if (options.featureGates === undefined) return expect(unsafe).rejects.toMatchObject(unreadable);
      await unsafe;
      await client.create(secrets, secretOf('a'));
      expect((await client.list(secrets)).items).toHaveLength(1);
      return undefined;
    },
  );

  it('encrypts every resource', async () => {
    const { run, inner } = world();
    const everything = file([gcm('all'), identity], undefined, ['*.*']);
    const { client, server } = await run(everything);
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wheels.example.org' },
      spec: {
        group: 'example.org',
        names: { kind: 'Wheel', plural: 'wheels' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    await client.create({ apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' }, definition);
    const wheels = { apiVersion: 'example.org/v1', resource: 'wheels', namespace: 'default' };
    await expect
      .poll(() =>
        client.list(wheels).then(
          ({ items }) => items,
          () => undefined,
        ),
      )
      .toEqual([]);
    await client.create(wheels, { apiVersion: 'example.org/v1', kind: 'Wheel', metadata: { name: 'w' } });
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], type: 'NodePort' } };
    await client.create({ ...secrets, resource: 'services' }, { apiVersion: 'v1', kind: 'Service', ...service });
    const seen = await client.watch(secrets);
    await client.create(secrets, secretOf('a'));
    await expect(seen[Symbol.asyncIterator]().next()).resolves.toMatchObject({ value: { type: 'ADDED' } });
    seen.close();
    const { entries } = await inner.list({ prefix: '' });
    const plain = entries.filter(
      ({ value }) => !Buffer.from(value).toString('latin1').startsWith('k8s:enc:aesgcm:v1:all:'),
    );
    expect(entries.length).toBeGreaterThan(50);
    expect(plain.filter(({ key: at }) => !/^\/(?:identity|ranges\/)/.test(at)).map(({ key: at }) => at)).toEqual([]);
    await server.close();
    const next = await run(everything);
    expect(passwordOf(await next.client.get(a))).toBe('hunter2 of a');
    await expect
      .poll(() =>
        next.client.list(wheels).then(
          ({ items }) => items.length,
          () => 0,
        ),
      )
      .toBe(1);
  });
});

describe('a configuration that cannot be used', () => {
  const failing = async (path: string, options: ServerOptions = {}) => {
    const { run } = world();
    return run(path, options).then(
      () => 'started',
      (error: Error) => error.message,
    );
  };

  it('prevents the start', async () => {
    const path = file([{ aescbc: { keys: [{ name: 'a', secret: 'SECRET==' }] } }]);
    const message = await failing(path);
    expect(message).toContain('--encryption-provider-config=');
    expect(message).toContain('resources[0].providers[0].aescbc.keys[0].secret: Invalid value: must be 16, 24, 32');
    expect(message).not.toContain('SECRET');
    expect(await failing(join(folder, 'none'))).toContain('there is no such file');
    const exposed = join(folder, 'exposed.yaml');
    writeFileSync(exposed, '{}', { mode: 0o644 });
    if (process.platform !== 'win32') expect(await failing(exposed)).toContain('chmod 600');
    const broken = file([gcm('a')]);
    writeFileSync(broken, 'secret: "SECRET');
    expect(await failing(broken)).not.toContain('SECRET');
    const alone = { encryptionProviderConfigAutomaticReload: true };
    await expect(createServer({ securePort: 0, ...alone })).rejects.toThrow('needs');
  });
});

describe('the reload of a changed file', () => {
  const reloads = { encryptionProviderConfigAutomaticReload: true };
  const minute = 60_000;

  it('uses valid files, keeps the last one for others, and reads again what could not be read', async () => {
    const { run, clock, errors } = world();
    const first = await run(file([gcm('one')]));
    await first.client.create(secrets, secretOf('a'));
    await first.server.close();
    const path = file([gcm('zero')]);
    const { client, stored, ask } = await run(path, reloads);
    await expect(client.get(a)).rejects.toMatchObject({ code: 500 });
    const reloaded = async (status: string, times: number) => {
      const line = `apiserver_encryption_config_controller_automatic_reloads_total{status="${status}"} ${times}\n`;
      await expect
        .poll(async () => {
          clock.advance(minute / 4);
          return (await ask('/metrics')).body.includes(line);
        })
        .toBe(true);
    };
    file([gcm('two')], path);
    await reloaded('success', 1);
    await client.create(secrets, secretOf('b'));
    expect(await stored('/secrets/default/b')).toMatch(/^k8s:enc:aesgcm:v1:two:/);
    await expect(client.update(a, secretOf('a'))).rejects.toMatchObject({ code: 500 });
    // The cache reads again what it could not read, after pauses of the clock.
    const listed = async (): Promise<number> => {
      let outcome: number | undefined;
      void client.list(secrets).then(
        ({ items }) => {
          outcome = items.length;
        },
        ({ code }: { code: number }) => {
          outcome = code;
        },
      );
      while (outcome === undefined) {
        clock.advance(1_000);
        await nextTurn();
      }
      return outcome;
    };
    expect(await listed()).toBe(500);
    writeFileSync(path, 'nothing');
    await reloaded('failure', 2);
    expect(errors.filter(([message]) => message === 'failed to reload the encryption configuration')).toHaveLength(1);
    await client.create(secrets, secretOf('c'));
    expect(await stored('/secrets/default/c')).toMatch(/^k8s:enc:aesgcm:v1:two:/);
    file([gcm('three', 'two', 'one')], path);
    await reloaded('success', 2);
    await expect.poll(listed).toBe(3);
    await client.update(a, await client.get(a));
    expect(await stored(keyOfA)).toMatch(/^k8s:enc:aesgcm:v1:three:/);
    expect((await ask('/metrics')).body).toMatch(/automatic_reload_last_timestamp_seconds\{status="success"\} 1\d{9}/);
    expect((await ask('/metrics')).body).toMatch(/last_config_info\{hash="sha256:[0-9a-f]{64}"\} 1/);
  });

  it('without the key of a cached object lets an update save it', async () => {
    const { run, clock } = world();
    const path = file([gcm('one')]);
    const { client, stored } = await run(path, reloads);
    await client.create(secrets, secretOf('a'));
    file([gcm('two')], path);
    await expect
      .poll(async () => {
        clock.advance(minute);
        await client.update(a, await client.get(a));
        return stored(keyOfA);
      })
      .toMatch(/^k8s:enc:aesgcm:v1:two:/);
    expect(passwordOf(await client.get(a))).toBe('hunter2 of a');
  });

  it('does not happen unless it is asked for', async () => {
    const { run, clock } = world();
    const path = file([gcm('one')]);
    const { client, stored } = await run(path);
    file([gcm('two')], path);
    for (let i = 0; i < 3; i++) clock.advance(minute);
    await client.create(secrets, secretOf('a'));
    expect(await stored(keyOfA)).toMatch(/^k8s:enc:aesgcm:v1:one:/);
  });
});

describe('a KMS plugin', () => {
  const kms = ({ endpoint }: FakePlugin, name = 'p'): Json => ({
    kms: { apiVersion: 'v2', name, endpoint, timeout: '2s' },
  });
  const started = async () => {
    const plugin = await startFakePlugin();
    open.push({ close: () => plugin.stop() });
    return plugin;
  };

  it('encrypts; a rotated key makes objects stale, and its failure the server unhealthy', async () => {
    const { run, clock } = world();
    const plugin = await started();
    const { client, stored, ask } = await run(file([kms(plugin), identity]));
    await client.create(secrets, secretOf('a'));
    const first = await stored(keyOfA);
    expect(first).toMatch(/^k8s:enc:kms:v2:p:/);
    expect((await ask('/livez/kms-provider-0')).status).toBe(200);
    await client.update(a, await client.get(a));
    expect(await stored(keyOfA)).toBe(first);
    plugin.keyId = 'key-2';
    clock.advance(60_000);
    await expect.poll(() => plugin.calls.filter((call) => call === 'Encrypt').length).toBe(2);
    await expect
      .poll(async () => {
        await client.update(a, await client.get(a));
        return (await stored(keyOfA)).includes('key-2');
      })
      .toBe(true);
    expect((await ask('/metrics')).body).toContain(
      'apiserver_envelope_encryption_dek_source_cache_size{provider_name="p"} 2',
    );
    plugin.healthz = 'away';
    clock.advance(60_000);
    await expect.poll(async () => (await ask('/healthz')).body).toContain('[-]kms-provider-0 failed');
    // Keys that are known are used meanwhile.
    expect(passwordOf(await client.get(a))).toBe('hunter2 of a');
  });

  it('that is away after a restart makes reads wait, and nothing corrupt', async () => {
    const { run, clock } = world();
    const plugin = await started();
    const first = await run(file([kms(plugin)]));
    await first.client.create(secrets, secretOf('a'));
    await first.server.close();
    const { client } = await run(file([kms(plugin)]));
    expect(plugin.calls).not.toContain('Decrypt');
    plugin.failure = status.UNAVAILABLE;
    const reading = client.get(a).then(passwordOf);
    await expect.poll(() => plugin.calls).toContain('Decrypt');
    plugin.failure = undefined;
    let read: string | undefined;
    void reading.then((password) => {
      read = password;
    });
    await expect
      .poll(() => {
        clock.advance(100);
        return read;
      })
      .toBe('hunter2 of a');
  });

  it('is replaced by a reload only when the new one is healthy', async () => {
    const { run, clock } = world();
    const [one, two] = [await started(), await started()];
    const path = file([kms(one)]);
    const { client, stored, ask } = await run(path, { encryptionProviderConfigAutomaticReload: true });
    await client.create(secrets, secretOf('a'));
    expect((await ask('/readyz/kms-providers')).status).toBe(200);
    two.healthz = 'starting';
    file([kms(two, 'q'), kms(one)], path);
    clock.advance(60_000);
    await expect.poll(() => two.calls.length).toBeGreaterThan(0);
    await client.create(secrets, secretOf('b'));
    expect(await stored('/secrets/default/b')).toMatch(/^k8s:enc:kms:v2:p:/);
    two.healthz = 'ok';
    await expect
      .poll(async () => {
        clock.advance(60_000);
        await client.update(a, await client.get(a));
        return stored(keyOfA);
      })
      .toMatch(/^k8s:enc:kms:v2:q:/);
    expect((await client.list(secrets)).items).toHaveLength(2);
  });
});
