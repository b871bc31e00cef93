import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { ProviderKeys, type ProviderResponse } from './provider-keys.ts';

const issuer = 'https://a.example.com/one';
const keysUrl = 'https://a.example.com/keys';
const json = (value: unknown): ProviderResponse => ({ status: 200, statusText: 'OK', text: JSON.stringify(value) });
const discovery = json({ issuer, jwks_uri: keysUrl });
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A provider with these documents by URL, on a clock that is set by hand. */
async function start(documents: { [url: string]: ProviderResponse | Error }) {
  const clock = { time: 0, tasks: [] as { readonly ms: number; readonly task: () => void }[] };
  const asked: string[] = [];
  const failures: string[] = [];
  const keys = new ProviderKeys({
    issuer,
    get: async (url) => {
      asked.push(url);
      const found = documents[url] ?? new Error('no connection');
      if (found instanceof Error) throw found;
      return found;
    },
    clock: {
      monotonic: () => clock.time,
      after: (ms, task) => {
        clock.tasks.push({ ms, task });
        return () => clock.tasks.splice(0);
      },
    },
    failed: (why) => failures.push(why),
  });
  await settle();
  const discoverAgain = async () => {
    for (const { task } of clock.tasks.splice(0)) task();
    await settle();
  };
  return { keys, asked, failures, clock, discoverAgain };
}

const discoveryUrl = `${issuer}/.well-known/openid-configuration`;

describe('a provider', () => {
  it('is discovered again every ten seconds until it can be', async () => {
    const documents: { [url: string]: ProviderResponse | Error } = {};
    const { keys, asked, failures, clock, discoverAgain } = await start(documents);
    expect(keys.ready).toBe(false);
    expect(await keys.fetch()).toEqual([]);
    expect(clock.tasks.map(({ ms }) => ms)).toEqual([10_000]);
    documents[discoveryUrl] = discovery;
    await discoverAgain();
    expect(keys.ready).toBe(true);
    expect(clock.tasks).toEqual([]);
    expect(asked).toEqual([discoveryUrl, discoveryUrl]);
    expect(failures).toEqual(['no connection']);
  });

  it.each([
    ['with https', 'https://b.example.com/token', 'https://b.example.com/token'],
    ['without https', 'http://b.example.com/token', undefined],
    ['that is not a URL', 'token', undefined],
    ['that is not a text', 1, undefined],
  ])('knows the token endpoint of its document, one %s', async (_, named, known) => {
    const document = json({ issuer, jwks_uri: keysUrl, token_endpoint: named });
    const { keys } = await start({ [discoveryUrl]: document });
    expect([keys.ready, keys.tokenEndpoint]).toEqual([true, known]);
  });

  it.each<[string, ProviderResponse, string]>([
    ['fails', { status: 503, statusText: 'Service Unavailable', text: '' }, '503 Service Unavailable'],
    ['is not JSON', { status: 200, statusText: 'OK', text: 'hello' }, 'oidc: failed to decode'],
    [
      'is of another issuer',
      json({ issuer: 'https://b.example.com', jwks_uri: keysUrl }),
      'it names itself "https://b.example.com"',
    ],
    ['is of an issuer with a slash', json({ issuer: `${issuer}/`, jwks_uri: keysUrl }), 'it names itself'],
    ['has no keys', json({ issuer }), 'its jwks_uri must be a URL with https'],
    [
      'has keys without TLS',
      json({ issuer, jwks_uri: 'http://a.example.com' }),
      'its jwks_uri must be a URL with https',
    ],
    ['redirects', { status: 302, statusText: 'Found', text: '' }, '302 Found'],
  ])('is not used while its document %s', async (_, document, why) => {
    const { keys, failures } = await start({ [discoveryUrl]: document });
    expect(keys.ready).toBe(false);
    expect(failures).toEqual([expect.stringContaining(why)]);
  });

  it('is not discovered again once it is closed', async () => {
    const { keys, clock } = await start({});
    keys.close();
    expect(clock.tasks).toEqual([]);
  });
});

describe('keys', () => {
  it('are fetched at most 30 times at once, and then once in ten seconds', async () => {
    const { keys, asked, clock } = await start({ [discoveryUrl]: discovery, [keysUrl]: json({ keys: [] }) });
    const fetches = () => asked.filter((url) => url === keysUrl).length;
    for (let i = 0; i < 50; i++) await keys.fetch();
    expect(fetches()).toBe(30);
    clock.time = 9_999;
    await keys.fetch();
    expect(fetches()).toBe(30);
    clock.time = 10_000;
    for (let i = 0; i < 5; i++) await keys.fetch();
    expect(fetches()).toBe(31);
  });

  it('are fetched once for all who ask at the same time', async () => {
    const { keys, asked } = await start({ [discoveryUrl]: discovery, [keysUrl]: json({ keys: [] }) });
    await Promise.all([keys.fetch(), keys.fetch(), keys.fetch()]);
    expect(asked.filter((url) => url === keysUrl)).toHaveLength(1);
  });

  it('stay known while they cannot be fetched', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const documents: { [url: string]: ProviderResponse | Error } = {
      [discoveryUrl]: discovery,
      [keysUrl]: json({ keys: [{ ...(await exportJWK(publicKey)), kid: 'a' }] }),
    };
    const { keys } = await start(documents);
    expect((await keys.fetch()).map(({ id }) => id)).toEqual(['a']);
    documents[keysUrl] = new Error('no connection');
    await expect(keys.fetch()).rejects.toThrow('no connection');
    expect(keys.known.map(({ id }) => id)).toEqual(['a']);
  });

  it('are not used when they are symmetric, for encryption, for another algorithm, or malformed', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const { keys } = await start({
      [discoveryUrl]: discovery,
      [keysUrl]: json({
        keys: [
          { kty: 'oct', k: 'c2VjcmV0', kid: 'oct' },
          { ...jwk, use: 'enc', kid: 'enc' },
          { ...jwk, alg: 'ES384', kid: 'other' },
          { kty: 'EC', crv: 'P-256', x: '!', y: '!', kid: 'malformed' },
          'text',
          null,
          { ...jwk, kid: 'good' },
        ],
      }),
    });
    const found = await keys.fetch();
    const usable = found.map((key) => [key.id, key.forAlgorithm('ES256') !== undefined]);
    expect(usable).toEqual([
      ['other', false],
      ['malformed', false],
      ['good', true],
    ]);
  });
});
