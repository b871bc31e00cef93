import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import * as grpc from '@grpc/grpc-js';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { emptyEncryptionCounts } from '../counts.ts';
import { type FakePlugin, startFakePlugin } from '../testing/fake-plugin.ts';
import { KmsProvider } from './kms-provider.ts';
import { loadPluginApi, type PluginApi } from './plugin.ts';

const minute = 60_000;
const path = '/registry/secrets/ns/a';
const value = Buffer.from('a secret');

let api: PluginApi;
let plugin: FakePlugin;
const open: { close(): void }[] = [];
beforeAll(async () => {
  api = await loadPluginApi();
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** A provider of a fake plugin; the plugin is started before the first one. */
async function provider({ fresh = true, timeoutMs = 5_000 } = {}) {
  if (fresh) {
    plugin = await startFakePlugin();
    open.push({ close: () => plugin.stop() });
  }
  const clock = drivenClock();
  const counts = emptyEncryptionCounts();
  const recoveries: string[] = [];
  let ids = 0;
  const made = new KmsProvider({
    name: 'p',
    api,
    clock,
    randomBytes,
    counts,
    plugin: api.connect(plugin.endpoint, timeoutMs),
    random: { uuid: () => `uid-${++ids}`, integer: () => 0 },
    onRecovery: () => recoveries.push(plugin.keyId),
  });
  open.push(made);
  return { made, clock, counts, recoveries };
}

async function started(options = {}) {
  const all = await provider(options);
  await all.made.start();
  return all;
}

const callsOf = (name: string) => plugin.calls.filter((call) => call === name).length;

describe('a KMS provider', () => {
  it('encrypts with one seed, and needs the plugin for that of another process once', async () => {
    const { made } = await started();
    const stored = made.encrypt(value, path);
    expect(Buffer.from(stored).includes('secret')).toBe(false);
    expect(Buffer.from(made.encrypt(value, path))).not.toEqual(Buffer.from(stored));
    expect(made.decrypt(stored, path)).toEqual({ value, stale: false });
    expect(plugin.calls).toEqual(['Status', 'Encrypt']);
    const { made: other } = await started({ fresh: false });
    const [one, two] = await Promise.all([other.decrypt(stored, path), other.decrypt(stored, path)]);
    expect([one, two]).toEqual([
      { value, stale: false },
      { value, stale: false },
    ]);
    expect(other.decrypt(stored, path)).toEqual({ value, stale: false });
    expect(callsOf('Decrypt')).toBe(1);
  });

  it('stores the message of the reference server', async () => {
    const { made } = await started();
    const object = api.decode(made.encrypt(value, path));
    expect(object).toMatchObject({
      keyID: 'key-1',
      annotations: { 'version.plugin.example': Buffer.from('1') },
      encryptedDEKSourceType: 1,
    });
    // The bytes that a key is derived with, the nonce, the ciphertext, the tag.
    expect(object.encryptedData).toHaveLength(32 + 12 + value.length + 16);
    expect(object.encryptedDEKSource).toHaveLength(12 + 32 + 16);
  });

  it('reads what is encrypted with a key in place of a seed, as stale', async () => {
    const { made } = await started();
    const { encryptedDEKSource, keyID, annotations, encryptedData } = api.decode(made.encrypt(value, path));
    // With the seed as the key.
    const { made: other } = await started({ fresh: false });
    const derived = await other.decrypt(
      api.encode({ encryptedData, encryptedDEKSource, keyID, annotations, encryptedDEKSourceType: 1 }),
      path,
    );
    expect(derived).toEqual({ value, stale: false });
    const direct = api.connect(plugin.endpoint, 5_000);
    open.push(direct);
    const key = Buffer.from(await direct.decrypt({ ciphertext: encryptedDEKSource, keyId: keyID, annotations }, 'u'));
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(path));
    const data = Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    const stored = api.encode({
      encryptedData: data,
      encryptedDEKSource,
      keyID,
      annotations,
      encryptedDEKSourceType: 0,
    });
    expect(await other.decrypt(stored, path)).toEqual({ value, stale: true });
    // The key of each value is derived from the seed as the reference derives it.
    const info = Buffer.from(encryptedData).subarray(0, 32);
    const own = createHmac('sha256', key)
      .update(Buffer.concat([info, Buffer.of(1)]))
      .digest();
    const again = createCipheriv('aes-256-gcm', own, Buffer.from(encryptedData).subarray(32, 44));
    again.setAAD(Buffer.from(path));
    expect(Buffer.concat([again.update(value), again.final(), again.getAuthTag()])).toEqual(
      Buffer.from(encryptedData).subarray(44),
    );
  });

  it('decrypts nothing that was altered or moved, and no other message', async () => {
    const { made } = await started();
    const stored = Buffer.from(made.encrypt(value, path));
    expect(await made.decrypt(stored, `${path}b`)).toBeUndefined();
    expect(await made.decrypt(Buffer.from('{"no":"message"}'), path)).toBeUndefined();
    expect(await made.decrypt(Buffer.alloc(0), path)).toBeUndefined();
    const object = api.decode(stored);
    const flipped = Buffer.from(object.encryptedData);
    flipped[50] = (flipped[50] as number) ^ 1;
    for (const change of [
      { encryptedData: flipped },
      { encryptedData: Buffer.alloc(0) },
      { keyID: '' },
      { keyID: 'x'.repeat(1025) },
      { keyID: 'key-2' },
      { encryptedDEKSource: Buffer.alloc(0) },
      { encryptedDEKSource: Buffer.alloc(1025) },
      { encryptedDEKSource: randomBytes(60) },
      { encryptedDEKSourceType: 0 },
      { encryptedDEKSourceType: 2 },
      { annotations: {} },
      { annotations: { nodomain: Buffer.from('1') } },
      { annotations: { 'a.b': Buffer.alloc(32 * 1024) } },
    ]) {
      expect(await made.decrypt(api.encode({ ...object, ...change }), path)).toBeUndefined();
    }
  });

  it('rotates its seed when the plugin tells of another key ID', async () => {
    const { made, clock, recoveries } = await started();
    const before = made.encrypt(value, path);
    plugin.keyId = 'key-2';
    clock.advance(minute);
    await expect.poll(() => recoveries).toEqual(['key-1', 'key-2']);
    expect(made.decrypt(before, path)).toEqual({ value, stale: true });
    expect(api.decode(made.encrypt(value, path)).keyID).toBe('key-2');
    expect(callsOf('Encrypt')).toBe(2);
    clock.advance(minute);
    await expect.poll(() => callsOf('Status')).toBe(3);
    expect(callsOf('Encrypt')).toBe(2);
  });

  it('goes on for three minutes without the plugin, and reads what it knows for longer', async () => {
    const { made, clock } = await started();
    const before = made.encrypt(value, path);
    plugin.failure = grpc.status.INTERNAL;
    for (let i = 1; i <= 4; i++) {
      clock.advance(i === 1 ? minute : 30_000);
      await expect.poll(() => callsOf('Status')).toBeGreaterThan(i);
      // The next call is due once this one has failed.
      await expect.poll(() => clock.tasks).toBe(1);
    }
    expect(made.encrypt(value, path)).toBeDefined();
    clock.advance(minute);
    expect(() => made.encrypt(value, path)).toThrow('the KMS plugin p is not available');
    expect(made.decrypt(before, path)).toEqual({ value, stale: false });
    plugin.failure = undefined;
    await expect
      .poll(async () => {
        clock.advance(10_000);
        await made.check();
        return made.encrypt(value, path).length;
      })
      .toBeGreaterThan(0);
    expect(callsOf('Encrypt')).toBe(1);
  });

  it.runIf(process.platform === 'linux')('reaches a plugin on an abstract socket', async () => {
    const name = `kms-${randomBytes(8).toString('hex')}`;
    const abstract = await startFakePlugin(`/@${name}`, `unix:\0${name}`);
    open.push({ close: () => abstract.stop() });
    const direct = api.connect(abstract.endpoint, 5_000);
    open.push(direct);
    expect(await direct.status()).toMatchObject({ keyId: abstract.keyId });
  });

  it('refuses to encrypt before the plugin has encrypted a seed', async () => {
    const { made } = await provider();
    expect(() => made.encrypt(value, path)).toThrow('it has encrypted no key yet');
  });

  it('fails reads for now while the plugin cannot be asked, and for good when it refuses', async () => {
    const { made } = await started();
    const stored = made.encrypt(value, path);
    const { made: other } = await started({ fresh: false });
    for (const failure of [grpc.status.UNAVAILABLE, grpc.status.DEADLINE_EXCEEDED, grpc.status.RESOURCE_EXHAUSTED]) {
      plugin.failure = failure;
      await expect(other.decrypt(stored, path)).rejects.toMatchObject({ code: 'unavailable' });
    }
    plugin.failure = grpc.status.INVALID_ARGUMENT;
    expect(await other.decrypt(stored, path)).toBeUndefined();
    plugin.failure = undefined;
    expect(await other.decrypt(stored, path)).toEqual({ value, stale: false });
  });

  it.each([
    ['another key', randomBytes(32)],
    ['a short one', Buffer.from('short')],
    ['none', Buffer.alloc(0)],
    ['a long one', Buffer.alloc(100_000)],
    ['more than a message may have', Buffer.alloc(300_000)],
  ])('reads a value once the plugin is right again: %s', async (_, decrypted) => {
    const { made } = await started();
    const stored = made.encrypt(value, path);
    const { made: other } = await started({ fresh: false });
    plugin.decrypted = decrypted;
    expect(await Promise.resolve(other.decrypt(stored, path)).catch(({ code }) => code)).toBe(
      decrypted.length > 256 * 1024 ? 'unavailable' : undefined,
    );
    plugin.decrypted = undefined;
    expect(await other.decrypt(stored, path)).toEqual({ value, stale: false });
    expect(other.sources).toBe(2);
  });

  it('goes on while the plugin tells another key ID each time', async () => {
    const { made, clock } = await started();
    const stored: Uint8Array[] = [];
    for (let i = 0; i < 20; i++) {
      plugin.keyId = `key-${i}`;
      clock.advance(minute);
      await expect.poll(() => api.decode(made.encrypt(value, path)).keyID).toBe(plugin.keyId);
      stored.push(made.encrypt(value, path));
    }
    expect(stored.map((data) => made.decrypt(data, path))).toEqual(
      stored.map((_, i) => ({ value, stale: i < stored.length - 1 })),
    );
  });

  it('gives up a call after its timeout', async () => {
    const { made } = await provider({ timeoutMs: 100 });
    plugin.hangs = true;
    await expect(made.start()).rejects.toThrow('DEADLINE_EXCEEDED');
    plugin.hangs = false;
    // On a busy machine an answer may take longer, too.
    await expect.poll(() => made.start()).toBeUndefined();
  });

  it('decrypts a limited number of keys at a time', async () => {
    const { made } = await started({ timeoutMs: 2_000 });
    const object = api.decode(made.encrypt(value, path));
    plugin.hangs = true;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 101 }, async () =>
        made.decrypt(api.encode({ ...object, encryptedDEKSource: randomBytes(60) }), path),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(Array(101).fill('rejected'));
    expect(callsOf('Decrypt')).toBe(100);
  });
});

describe('the health check', () => {
  it.each([
    [{ healthz: 'the HSM is away' }, 'its status is "the HSM is away"'],
    [{ version: 'v1' }, 'another version than v2'],
    [{ keyId: '' }, 'no key ID of 1 to 1024 bytes'],
    [{ keyId: 'x'.repeat(1025) }, 'no key ID of 1 to 1024 bytes'],
    [{ encryptsWith: 'other' }, 'another key ID than that of its status'],
    [{ annotations: { nodomain: Buffer.from('1') } }, 'or its annotations are'],
    [{ failure: grpc.status.PERMISSION_DENIED }, 'PERMISSION_DENIED: Status is refused'],
  ])('fails for %j', async (change, message) => {
    const { made, clock, recoveries } = await provider();
    const healthy = { ...plugin };
    Object.assign(plugin, change);
    await expect(made.start()).rejects.toThrow(`the KMS plugin p is not healthy: `);
    await expect(made.check()).rejects.toThrow(message);
    expect(recoveries).toEqual([]);
    Object.assign(plugin, { ...healthy, calls: plugin.calls });
    // The outcome is kept for a while.
    await expect(made.check()).rejects.toThrow(message);
    clock.advance(3_001);
    await made.check();
    expect(recoveries).toHaveLength(1);
  });

  it('counts key IDs by their hash', async () => {
    const { made, counts } = await started();
    made.encrypt(value, path);
    const [{ labels, value: times } = { labels: {}, value: 0 }] = [...counts.keyIds.all()];
    expect(times).toBe(1);
    expect(labels).toEqual({
      transformation_type: 'to_storage',
      provider_name: 'p',
      key_id_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(made.sources).toBe(1);
  });
});
