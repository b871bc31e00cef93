import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openMemoryStore, type Store, StoreError } from '../store/index.ts';
import { storeContract } from '../store/testing/contract.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { storeWith } from '../store/testing/store-with.ts';
import { bytes, Recorder, text } from '../store/testing/tools.ts';
import { type Decrypted, loadSecretbox } from './cipher.ts';
import type { EncryptionConfiguration, ProviderConfiguration } from './configuration.ts';
import { EncryptedStore } from './encrypted-store.ts';
import { EncryptionRules } from './rules.ts';
import { encryptedOver } from './testing/encrypted-over.ts';

const secretbox = await loadSecretbox();
const secret = (fill: string) => Buffer.from(fill.padEnd(32, '.')).toString('base64');
const cbc = (name: string, fill = name): ProviderConfiguration => ({
  aescbc: { keys: [{ name, secret: secret(fill) }] },
});
const gcm = (name: string, fill = name): ProviderConfiguration => ({
  aesgcm: { keys: [{ name, secret: secret(fill) }] },
});
const box = (name: string, fill = name): ProviderConfiguration => ({
  secretbox: { keys: [{ name, secret: secret(fill) }] },
});
const identity: ProviderConfiguration = { identity: {} };
const kms: ProviderConfiguration = { kms: { name: 'p' } };

const resourceOf = (key: string) => {
  const [, resource = '', group = ''] = /^\/([a-z]+)\/(?:([a-z.]+)\/)?/.exec(key) ?? [];
  return resource === '' ? undefined : { resource, group: group.includes('.') ? group : '' };
};

/** A store over `inner` with these providers of secrets, which can be replaced. */
function over(inner: Store, first: ProviderConfiguration[], pathPrefix = '/registry') {
  const waiting: { readonly settle: (found: Decrypted | undefined | StoreError) => void; readonly data: string }[] = [];
  const rulesOf = (resources: EncryptionConfiguration['resources']) =>
    new EncryptionRules(resources === undefined ? {} : { resources }, {
      randomBytes,
      secretbox,
      observer: () => {},
      kms: () => ({
        encrypt: (value) => value,
        decrypt: (data) =>
          new Promise((resolve, reject) => {
            const settle = (found: Decrypted | undefined | StoreError) =>
              found instanceof StoreError ? reject(found) : resolve(found);
            waiting.push({ settle, data: Buffer.from(data).toString() });
          }),
      }),
    });
  let rules = rulesOf([{ resources: ['secrets'], providers: first }]);
  const store = new EncryptedStore({ store: inner, rules: () => rules, resourceOf, pathPrefix });
  return {
    store,
    inner,
    waiting,
    use: (providers: ProviderConfiguration[]) => {
      rules = rulesOf([{ resources: ['secrets'], providers }]);
    },
    useAll: (resources: EncryptionConfiguration['resources']) => {
      rules = rulesOf(resources);
    },
    put: async (key: string, value: string) => (await store.commit([], [{ key, value: bytes(value) }])).revision,
    read: async (key: string) => {
      const { entry } = await store.get(key);
      return entry && [text(entry), entry.stale === true];
    },
    stored: async (key: string) => Buffer.from((await inner.get(key)).entry?.value ?? []).toString('latin1'),
  };
}

const memory = () => openMemoryStore({ clock: drivenClock() });
const made = (...providers: ProviderConfiguration[]) => over(memory(), providers);
const a = '/secrets/ns/a';

storeContract('encrypted', async () => {
  const clock = drivenClock();
  const store = encryptedOver(openMemoryStore({ clock }));
  return { store, advance: async (ms) => clock.advance(ms), cleanup: () => store.close() };
});

describe('an encrypted store', () => {
  it('has the size of the store below', async () => {
    expect(await encryptedOver(storeWith(memory(), { size: async () => 4_096 })).size()).toBe(4_096);
  });

  it.each([
    ['aescbc', cbc('key1'), 'k8s:enc:aescbc:v1:key1:'],
    ['aesgcm', gcm('key1'), 'k8s:enc:aesgcm:v1:key1:'],
    ['secretbox', box('key1'), 'k8s:enc:secretbox:v1:key1:'],
  ])('stores %s with the prefix of the reference server, and nothing of the value', async (_, provider, prefix) => {
    const { put, read, stored } = made(provider);
    await put(a, 'the text of a secret');
    expect(await stored(a)).toMatch(new RegExp(`^${prefix}`));
    expect(await stored(a)).not.toContain('secret ');
    expect(await stored(a)).not.toContain('text');
    expect(await read(a)).toEqual(['the text of a secret', false]);
  });

  it('leaves other resources as they are, and keys of no object', async () => {
    const { put, stored } = made(gcm('key1'));
    await put('/pods/ns/a', 'pod');
    await put('own', 'own');
    expect([await stored('/pods/ns/a'), await stored('own')]).toEqual(['pod', 'own']);
  });

  it('writes with the first provider and reads with all; what others have written is stale', async () => {
    const { put, read, use, stored } = made(identity);
    await put(a, 'v');
    const orders = [
      [cbc('one'), identity],
      [gcm('two'), cbc('one')],
      [box('three'), gcm('two')],
      [{ aescbc: { keys: [{ name: 'five', secret: secret('5') }] } }, box('three')],
      [{ aescbc: { keys: [{ name: 'six', secret: secret('6') }, ...(cbc('five', '5').aescbc?.keys ?? [])] } }],
      [identity, cbc('six', '6')],
    ];
    for (const providers of orders) {
      use(providers);
      expect(await read(a)).toEqual(['v', true]);
      await put(a, 'v');
      expect(await read(a)).toEqual(['v', false]);
    }
    expect(await stored(a)).toBe('v');
  });

  it('tries every key whose prefix matches', async () => {
    const { put, read, use } = made(gcm('key1', 'old'));
    await put(a, 'v');
    use([gcm('key1', 'new'), gcm('key1', 'old')]);
    expect(await read(a)).toEqual(['v', true]);
  });

  it('has an empty value for what cannot be decrypted', async () => {
    const { put, read, use, inner, store } = made(gcm('key1'));
    await put(a, 'v');
    for (const providers of [[gcm('key1', 'other')], [gcm('key2')], [identity], [cbc('key1')]]) {
      use(providers);
      expect(await read(a)).toEqual(['', true]);
      expect((await store.list({ prefix: '/secrets/' })).entries.map(text)).toEqual(['']);
    }
    // Nor is a value that is not encrypted accepted without identity.
    await inner.commit([], [{ key: a, value: bytes('{"forged":true}') }]);
    use([gcm('key1')]);
    expect(await read(a)).toEqual(['', true]);
    // A conflict shows it in the same way.
    const conflict = await store.commit([{ key: a, revision: 1 }], [{ key: a, value: bytes('w') }]);
    expect(conflict.ok ? [] : conflict.found.map(text)).toEqual(['']);
  });

  it('does not decrypt a value that was moved to another key', async () => {
    const { put, read, inner } = made(gcm('key1'));
    await put(a, 'v');
    const { entry } = await inner.get(a);
    await inner.commit([], [{ key: '/secrets/ns/b', value: entry?.value ?? bytes('') }]);
    expect(await read('/secrets/ns/b')).toEqual(['', true]);
    expect(await over(inner, [gcm('key1')], '/other').read(a)).toEqual(['', true]);
    expect(await over(inner, [gcm('key1')]).read(a)).toEqual(['v', false]);
  });

  it('counts the growth of values in the largest value', async () => {
    const { store, inner, useAll } = made(identity);
    expect(store.maxValueBytes).toBe(inner.maxValueBytes);
    useAll([
      { resources: ['secrets'], providers: [identity, gcm('k')] },
      { resources: ['*.*'], providers: [gcm('long name')] },
    ]);
    expect(store.maxValueBytes).toBe(inner.maxValueBytes - 64 - 'k8s:enc:aesgcm:v1:long name:'.length);
    const value = new Uint8Array(store.maxValueBytes);
    expect((await store.commit([], [{ key: '/pods/ns/a', value }])).ok).toBe(true);
    const larger = new Uint8Array(store.maxValueBytes + 1);
    await expect(store.commit([], [{ key: '/pods/ns/a', value: larger }])).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('the rule of a resource', () => {
  it('is the narrowest one, and what several entries say of it', async () => {
    const { put, stored, useAll, read } = made(identity);
    useAll([
      { resources: ['secrets', 'things.example.org'], providers: [gcm('first')] },
      { resources: ['secrets'], providers: [identity] },
      { resources: ['*.example.org', '*.'], providers: [cbc('group')] },
      { resources: ['*.*'], providers: [box('all')] },
    ]);
    const prefixOf = async (key: string) => {
      await put(key, 'v');
      return (await stored(key)).split(':').slice(2, 5).join(' ');
    };
    expect(await prefixOf(a)).toBe('aesgcm v1 first');
    expect(await prefixOf('/things/example.org/a')).toBe('aesgcm v1 first');
    expect(await prefixOf('/others/example.org/a')).toBe('aescbc v1 group');
    expect(await prefixOf('/pods/ns/a')).toBe('aescbc v1 group');
    expect(await prefixOf('/things/other.org/a')).toBe('secretbox v1 all');
    useAll([
      { resources: ['secrets'], providers: [cbc('new')] },
      { resources: ['secrets'], providers: [gcm('first')] },
    ]);
    expect(await read(a)).toEqual(['v', true]);
  });
});

describe('a watch', () => {
  const watched = (store: Store, previous = true) => {
    const sink = new Recorder();
    return Object.assign(sink, { watch: store.watch('/secrets/', 1, sink, { previous }) });
  };

  it('delivers decrypted values, before and after', async () => {
    const { put, store, use } = made(gcm('one'));
    await put(a, 'v1');
    use([cbc('two'), gcm('one')]);
    const sink = watched(store);
    await sink.reached(await put(a, 'v2'));
    expect(sink.changes).toEqual([
      [a, 'v1', undefined],
      [a, 'v2', 'v1'],
    ]);
  });

  it('delivers in order while keys are fetched, also errors', async () => {
    const { put, store, waiting, inner } = made(kms);
    const revision = await put(a, 'v1');
    await inner.commit([], [{ key: '/secrets/ns/b', value: bytes('plain') }]);
    const sink = watched(store);
    sink.watch.progress();
    await expect.poll(() => waiting.length).toBe(1);
    await inner.close();
    expect(sink.batches).toEqual([]);
    waiting[0]?.settle({ value: bytes('v1'), stale: false });
    expect((await sink.failed()).code).toBe('closed');
    expect(sink.changes.slice(0, 2)).toEqual([
      [a, 'v1', undefined],
      ['/secrets/ns/b', '', undefined],
    ]);
    expect(sink.revisions[0]).toBe(revision);
  });

  it('ends as unavailable when a key cannot be had', async () => {
    const { put, store, waiting } = made(kms);
    await put(a, 'v1');
    const sink = watched(store);
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.settle(new StoreError('unavailable', 'the plugin is away'));
    expect((await sink.failed()).code).toBe('unavailable');
    const reading = store.get(a);
    await expect.poll(() => waiting.length).toBe(2);
    waiting[1]?.settle(new StoreError('unavailable', 'the plugin is away'));
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' });
    expect(sink.batches).toEqual([]);
  });

  it('delivers nothing after it has been closed', async () => {
    const { put, store, waiting } = made(kms);
    await put(a, 'v1');
    const sink = watched(store);
    await expect.poll(() => waiting.length).toBe(1);
    sink.watch.close();
    waiting[0]?.settle({ value: bytes('v1'), stale: false });
    await store.revision();
    expect([sink.batches, sink.errors]).toEqual([[], []]);
  });

  it('is restarted by a recheck if there was anything that could not be decrypted', async () => {
    const { put, store, use } = made(gcm('one'));
    await put(a, 'v1');
    const [readable, historical] = [watched(store, false), watched(store)];
    await Promise.all([readable.reached(2), historical.reached(2)]);
    store.recheck();
    use([gcm('two')]);
    await store.get(a);
    use([gcm('two'), gcm('one')]);
    expect(readable.errors).toEqual([]);
    store.recheck();
    expect((await readable.failed()).code).toBe('compacted');
    expect(historical.errors).toEqual([]);
    const other = watched(store, false);
    await other.reached(2);
    store.recheck();
    expect(other.errors).toEqual([]);
  });
});
