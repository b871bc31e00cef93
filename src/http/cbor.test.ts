import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCborPatchInSteps, writeCbor } from '../codec/index.ts';
import { atOnce, bufferOf, type Json, type JsonObject, namesFor } from '../meta/index.ts';
import { coreV1 } from '../types/index.ts';
import { type Fixture, makeFixture, requestOf } from './testing/fixture.ts';
import type { Chunk } from './types.ts';

// Cases that test/reference/scenarios/cbor.mjs lacks: bytes, pages, audits, large bodies.
const names = namesFor('k8s.io');
const cbor = 'application/cbor';
const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = '/api/v1/namespaces/default/secrets';

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture({
    features: { CBORServingAndStorage: true, WatchList: true },
    policy: { rules: [{ level: 'RequestResponse' }] } as never,
  });
});
afterAll(() => server.close());

const write = (value: JsonObject) => bufferOf(writeCbor(value, undefined, names));
const read = (bytes: Uint8Array) => atOnce(readCborPatchInSteps(bytes, names)).value as JsonObject;
const get = async (url: string, accept = cbor) => {
  const answer = await server.send('GET', url, { headers: { accept } });
  const bytes = Buffer.concat(answer.pieces);
  return { ...answer, bytes, value: accept.startsWith(cbor) ? read(bytes) : (answer.json() as JsonObject) };
};
const send = (method: string, url: string, body: Uint8Array, type = cbor, accept = 'application/json') =>
  server.send(method, url, { body, headers: { 'content-type': type, accept } });

describe('objects in CBOR', () => {
  it('are the bytes of RFC 8949, with the keys in the order of JSON and binary data as bytes', async () => {
    await server.send('POST', secrets, { body: { metadata: { name: 's' }, data: { k: 'AAECAw==' } } });
    const { bytes, value, headers } = await get(`${secrets}/s`);
    const json = (await get(`${secrets}/s`, 'application/json')).value;
    expect(headers['content-type']).toBe(cbor);
    const expected = bufferOf(writeCbor(json, coreV1.Secret, names));
    expect(bytes.toString('hex')).toBe(`d9d9f7${expected.toString('hex')}`);
    expect(bytes.toString('hex')).toContain('d64400010203');
    // Without a schema, bytes with tag 22 are base64.
    expect(value).toEqual(json);
    expect(Object.keys(value)).toEqual(Object.keys(json));
  });

  it('are stored as JSON', async () => {
    const sent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sent' }, data: { k: 'v' } };
    const created = await send('POST', configMaps, write(sent));
    expect([created.status, created.json()]).toMatchObject([201, { data: { k: 'v' } }]);
    expect((await get(`${configMaps}/sent`, 'application/json')).value).toMatchObject(sent);
  });

  it('are read and written by every kind of write', async () => {
    const object = (data: JsonObject) =>
      write({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w', namespace: 'default' }, data });
    const apply = 'application/apply-patch+cbor';
    const applied = await send('PATCH', `${configMaps}/w?fieldManager=m`, object({ a: '1' }), apply);
    expect([applied.status, applied.json()]).toMatchObject([201, { data: { a: '1' } }]);
    const updated = await send('PUT', `${configMaps}/w`, object({ b: '2' }));
    expect([updated.status, updated.json()]).toMatchObject([200, { data: { b: '2' } }]);
    const options = write({ apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] });
    expect((await send('DELETE', `${configMaps}/w`, options)).status).toBe(200);
    expect((await get(`${configMaps}/w`)).status).toBe(200);
  });

  it('may be as large as in JSON, and are audited as JSON', async () => {
    const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'v'.repeat(40)]));
    const large = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data };
    const created = await send('POST', configMaps, write(large), cbor, cbor);
    expect([created.status, read(Buffer.concat(created.pieces))['data']]).toEqual([201, data]);
    const event = server.events.findLast(({ stage, verb }) => stage === 'ResponseComplete' && verb === 'create');
    expect(event).toMatchObject({ requestObject: { data }, responseObject: { data } });
    const tooLarge = await send('POST', configMaps, Buffer.alloc(3 * 1024 * 1024 + 1));
    expect(tooLarge.status).toBe(413);
  });

  it('have their unknown fields reported as in JSON', async () => {
    const body = write({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'u', odd: 1 }, more: 2 });
    const warned = await send('POST', `${configMaps}?dryRun=All`, body);
    expect(warned.headers['warning']).toEqual([
      '299 - "unknown field \\"metadata.odd\\""',
      '299 - "unknown field \\"more\\""',
    ]);
    const strict = await send('POST', `${configMaps}?dryRun=All&fieldValidation=Strict`, body);
    expect(strict.json()).toMatchObject({ code: 400, message: expect.stringContaining('unknown field "more"') });
  });
});

describe('lists in CBOR', () => {
  const kinds = ['', ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'];
  const cases = kinds.flatMap((kind) => ['?limit=2', '?labelSelector=none', ''].map((query) => [query, kind] as const));

  beforeAll(async () => {
    for (let i = 0; i < 150; i++) {
      await server.send('POST', configMaps, { body: { metadata: { name: `l${i}` }, data: { k: 'ü'.repeat(500) } } });
    }
  });

  it.each(cases)('are the same as in JSON: %s %s', async (query, kind) => {
    const json = await get(configMaps + query, `application/json${kind}`);
    const { value, pieces } = await get(configMaps + query, cbor + kind);
    const steady = ({ metadata, ...rest }: JsonObject) => ({ ...rest, ...(metadata as JsonObject), continue: '' });
    expect(steady(value)).toEqual(steady(json.value));
    expect(pieces.length > 1).toBe(query === '');
  });

  it('have pages', async () => {
    const first = (await get(`${configMaps}?limit=2`)).value;
    const { continue: token, remainingItemCount } = first['metadata'] as JsonObject;
    expect(remainingItemCount).toBeGreaterThan(100);
    const second = (await get(`${configMaps}?limit=2&continue=${encodeURIComponent(token as string)}`)).value;
    expect(second['items']).toHaveLength(2);
    expect(second['items']).not.toEqual(first['items']);
  });
});

describe('watches in CBOR', () => {
  /** The events of a watch, as hexadecimal bytes and as values. */
  async function watch(query: string, count: number, during: () => Promise<unknown> = async () => {}) {
    const gone = new AbortController();
    const url = `${configMaps}?watch=1&${query}`;
    const response = await server.handler(requestOf('GET', url, { headers: { accept: cbor }, signal: gone.signal }));
    await during();
    const frames: Buffer[] = [];
    for await (const chunk of response.body as AsyncIterable<Chunk>) {
      frames.push(Buffer.from(typeof chunk === 'string' ? bufferOf(chunk) : chunk));
      if (sequence(Buffer.concat(frames)).length >= count) gone.abort();
    }
    return { type: response.headers['content-type'], values: sequence(Buffer.concat(frames)) };
  }

  /** The items of a sequence, each of which begins with the tag, a map of two and the key `type`. */
  const mark = 'd9d9f7a24474797065';
  const sequence = (bytes: Buffer): JsonObject[] =>
    bytes
      .toString('hex')
      .split(mark)
      .slice(1)
      .map((rest) => read(Buffer.from(mark + rest, 'hex')));
  const shown = (values: readonly JsonObject[]) =>
    values.map(({ type, object }) => [type, ((object as JsonObject)['metadata'] as JsonObject)['name']]);

  it('are sequences of tagged items with tagged objects', async () => {
    const version = ((await get(configMaps)).value['metadata'] as JsonObject)['resourceVersion'] as Json;
    const { type, values } = await watch(
      `resourceVersion=${version as string}&fieldSelector=metadata.name=w1`,
      2,
      async () => {
        await server.send('POST', configMaps, { body: { metadata: { name: 'w1' }, data: { k: 'x'.repeat(100_000) } } });
        await server.send('DELETE', `${configMaps}/w1`);
      },
    );
    expect(type).toBe('application/cbor-seq');
    expect(shown(values)).toEqual([
      ['ADDED', 'w1'],
      ['DELETED', 'w1'],
    ]);
  });

  it('begin with the existing objects and a bookmark that ends them', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const { values } = await watch(`${query}&fieldSelector=metadata.name=sent`, 2);
    expect(shown(values)).toEqual([
      ['ADDED', 'sent'],
      ['BOOKMARK', undefined],
    ]);
    expect(values[1]).toMatchObject({
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  });
});

describe('errors of a request for CBOR', () => {
  it.each([
    ['GET', `${configMaps}/none`, 404, cbor],
    ['GET', `${configMaps}?continue=x`, 400, cbor],
    ['GET', '/api/v1/namespaces/default/nothing', 404, 'application/json'],
    ['POST', `${configMaps}/sent`, 405, 'application/json'],
  ])('%s %s is %d in %s', async (method, url, status, type) => {
    const answer = await server.send(method, url, { headers: { accept: cbor } });
    expect([answer.status, answer.headers['content-type']]).toEqual([status, type]);
    const bytes = Buffer.concat(answer.pieces);
    expect(type === cbor ? read(bytes) : answer.json()).toMatchObject({ kind: 'Status', code: status });
  });

  it('is JSON when the user is not authorized', async () => {
    const answer = await server.send('GET', configMaps, { token: 'stale', headers: { accept: cbor } });
    expect([answer.status, answer.headers['content-type']]).toEqual([403, 'application/json']);
  });
});

it('is neither accepted nor offered while the gate is off', async () => {
  const plain = await makeFixture();
  const got = await plain.send('GET', configMaps, { headers: { accept: cbor } });
  expect([got.status, got.headers['content-type']]).toEqual([406, 'application/json']);
  const headers = { 'content-type': cbor };
  expect((await plain.send('POST', configMaps, { body: write({}), headers })).status).toBe(415);
  await plain.close();
});
