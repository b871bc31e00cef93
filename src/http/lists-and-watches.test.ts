import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ByteString, bufferOf, type Json, namesFor, StatusError, scheduler } from '../meta/index.ts';
import { EveryStep } from '../meta/testing/every-step.ts';
import type { Resource, Target } from '../registry/index.ts';
import { findType } from '../types/find-type.ts';
import { createCodecs } from './codecs/codecs.ts';
import { type Fixture, makeFixture, requestOf } from './testing/fixture.ts';
import type { Chunk } from './types.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const count = 400;

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
  for (let i = 0; i < count; i++) {
    const name = `c${String(i).padStart(4, '0')}`;
    await server.send('POST', configMaps, { body: { metadata: { name }, data: { text: 'ü'.repeat(1_000) } } });
  }
});
afterAll(() => server.close());

interface List {
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: { readonly metadata: { readonly name: string } }[];
}

describe('lists', () => {
  it('are sent in chunks that together are the list', async () => {
    const answer = await server.send('GET', configMaps);
    expect(answer.pieces.length).toBeGreaterThan(2);
    expect(Math.max(...answer.pieces.map((piece) => piece.length))).toBeLessThan(512 * 1024);
    const { items } = answer.json() as unknown as List;
    expect(items.map((item) => item.metadata.name)).toEqual(
      Array.from({ length: count }, (_, i) => `c${String(i).padStart(4, '0')}`),
    );
    expect(answer.text).toContain('üü');
  });

  it.each(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', 'application/cbor'])(
    'are encoded in turns, a few for each chunk: %s',
    async (type) => {
      const turns = new EveryStep();
      const resource = server.registry.find('', 'v1', 'configmaps') as Resource;
      const target: Target = { resource, version: 'v1', namespace: 'default', name: '', subresource: '' };
      const codec = createCodecs({ findType, names: namesFor('k8s.io'), cbor: true }).all.find(({ mediaTypes }) =>
        mediaTypes.includes(type),
      );
      const list = await server.registry.list(target, {});
      const body = await codec?.encodeList(target, list, { as: 'object' }, turns);
      let chunks = 0;
      for await (const _ of body as AsyncIterable<Chunk>) chunks++;
      expect(chunks).toBeGreaterThan(2);
      expect(turns.count).toBeGreaterThanOrEqual(chunks);
    },
  );

  it('are one chunk if small', async () => {
    const response = await server.handler(requestOf('GET', `${configMaps}?limit=3`));
    expect(typeof response.body).toBe('string');
    const { metadata, items } = JSON.parse(bufferOf(response.body as never).toString()) as List;
    expect([items.length, metadata.remainingItemCount]).toEqual([3, count - 3]);
    const next = await server.send(
      'GET',
      `${configMaps}?limit=3&continue=${encodeURIComponent(metadata.continue ?? '')}`,
    );
    expect((next.json() as unknown as List).items[0]?.metadata.name).toBe('c0003');
  });

  it('are sent in chunks as pretty JSON and as YAML', async () => {
    const plain = await server.send('GET', configMaps);
    const lines = await server.send('GET', `${configMaps}?pretty=1`);
    expect(lines.text).toBe(JSON.stringify(plain.json(), undefined, 2));
    expect(lines.pieces.length).toBeGreaterThan(2);
    const yaml = await server.send('GET', configMaps, { headers: { accept: 'application/yaml' } });
    expect(yaml.text.match(/^- data:$/gm)).toHaveLength(count);
    expect(yaml.pieces.length).toBeGreaterThan(2);
  });

  it('are compressed for clients that accept gzip when large, as recorded', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const large = await server.send('GET', configMaps, { headers });
    expect(large.headers['content-encoding']).toBe('gzip');
    const plain = await server.send('GET', configMaps);
    expect(gunzipSync(Buffer.concat(large.pieces)).toString()).toBe(plain.text);
    expect((await server.send('GET', `${configMaps}/c0001`, { headers })).headers['content-encoding']).toBeUndefined();
  });

  it('are not compressed while as many are compressed as may be', async () => {
    const { compressed } = server.inFlight.limits;
    const headers = { 'accept-encoding': 'gzip' };
    compressed.take('jane', compressed.limit);
    const plain = await server.send('GET', configMaps, { headers });
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    compressed.release('jane', compressed.limit);
    const { body } = await server.handler(requestOf('GET', configMaps, { headers }));
    expect(compressed.used).toBe(1);
    await (body as AsyncIterable<Chunk>)[Symbol.asyncIterator]().return?.();
    expect(compressed.used).toBe(0);
  });

  it('are in flight until their last chunk was read', async () => {
    const response = await server.handler(requestOf('GET', configMaps));
    expect(server.inFlight.limits.readOnly.used).toBe(1);
    const body = (response.body as AsyncIterable<Chunk>)[Symbol.asyncIterator]();
    await body.next();
    expect(server.inFlight.limits.readOnly.used).toBe(1);
    await body.return?.();
    expect(server.inFlight.limits.readOnly.used).toBe(0);
  });
});

describe('watches', () => {
  const events = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { type: string; object: { kind: string; [key: string]: Json } });

  /** Opens a watch, makes changes, and closes it after `wanted` events. */
  async function watch(url: string, wanted: number, during: () => Promise<unknown>, headers = {}) {
    const gone = new AbortController();
    const response = await server.handler(requestOf('GET', url, { headers, signal: gone.signal }));
    await during();
    let text = '';
    for await (const piece of response.body as AsyncIterable<ByteString>) {
      text += bufferOf(piece).toString();
      if (events(text).length >= wanted) gone.abort();
    }
    return { response, events: events(text) };
  }
  const make = (name: string) => server.send('POST', configMaps, { body: { metadata: { name, labels: { w: '' } } } });

  it('begin with the initial events, send changes, and end cleanly', async () => {
    await make('w-old');
    const { response, events } = await watch(`${configMaps}?watch=1&labelSelector=w`, 3, async () => {
      await make('w-new');
      await server.send('DELETE', `${configMaps}/w-old`);
    });
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json']);
    expect(
      events.map(({ type, object }) => [type, object.kind, (object['metadata'] as { name: string }).name]),
    ).toEqual([
      ['ADDED', 'ConfigMap', 'w-old'],
      ['ADDED', 'ConfigMap', 'w-new'],
      ['DELETED', 'ConfigMap', 'w-old'],
    ]);
    expect(server.inFlight.limits.longRunning.used).toBe(0);
    await server.send('DELETE', `${configMaps}/w-new`);
  });

  it('send Tables with column definitions in the first event only, as recorded', async () => {
    const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
    await make('w-a');
    const { events } = await watch(`${configMaps}?watch=1&labelSelector=w`, 2, () => make('w-b'), headers);
    const shown = events.map(({ object }) => [
      object.kind,
      (object['columnDefinitions'] as Json[] | null)?.length ?? null,
    ]);
    expect(shown).toEqual([
      ['Table', 3],
      ['Table', null],
    ]);
  });

  it.each(['application/json', 'application/vnd.kubernetes.protobuf'])(
    'come in pieces of 256 KiB at most, however many and large the objects, in %s',
    async (accept) => {
      const large = await makeFixture();
      const sizes = [...Array(60).fill(10_000), 900_000];
      for (const [i, size] of sizes.entries()) {
        const body = { metadata: { name: `c${100 + i}` }, data: { text: 'x'.repeat(size) } };
        expect((await large.send('POST', configMaps, { body })).status).toBe(201);
      }
      const url = `${configMaps}?watch=1&timeoutSeconds=5`;
      // Each slice ends a piece. On a slow machine there are many.
      vi.spyOn(scheduler, 'over', 'get').mockReturnValue(false);
      const { pieces } = await large.send('GET', url, { headers: { accept } });
      expect(Math.max(...pieces.map(({ length }) => length))).toBe(256 * 1024);
      // Up to six small ones share a piece of 64 KiB.
      expect(pieces.length).toBeLessThan(30);
      const text = Buffer.concat(pieces).toString('latin1');
      expect([...text.matchAll(/x{1000,}/g)].map(([run]) => run.length)).toEqual(sizes);
      await large.close();
    },
  );

  it('send an error as their last event', async () => {
    const broken = await makeFixture();
    const next = () => Promise.reject(new StatusError(410, 'Expired', 'too old resource version'));
    const stream = { close: () => {}, [Symbol.asyncIterator]: () => ({ next }) };
    Object.assign(broken.registry, { watch: () => Promise.resolve(stream) });
    const answer = await broken.send('GET', `${configMaps}?watch=1&resourceVersion=1`);
    expect([answer.status, events(answer.text)]).toEqual([
      200,
      [{ type: 'ERROR', object: expect.objectContaining({ kind: 'Status', code: 410, reason: 'Expired' }) }],
    ]);
    await broken.close();
  });
});
