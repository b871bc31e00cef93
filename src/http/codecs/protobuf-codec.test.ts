import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addedEvent } from '../../cache/index.ts';
import { readProtobuf, type TypeMeta, writeProtobuf } from '../../codec/index.ts';
import { inTurns, type Json, type JsonObject, namesFor, StatusError, type Steps } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import type { Resource } from '../../registry/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { compile, list, type StructSchema, struct } from '../../schema/index.ts';
import { findType } from '../../types/find-type.ts';
import { builtInSchema } from '../openapi/built-in-types.ts';
import { type Fixture, makeFixture, requestOf } from '../testing/fixture.ts';
import type { Chunk } from '../types.ts';
import { protobufCodec } from './protobuf-codec.ts';

const names = namesFor('k8s.io');
const media = 'application/vnd.kubernetes.protobuf';
const accept = { accept: `${media},application/json` };
const configMaps = '/api/v1/namespaces/default/configmaps';
const count = 300;

const known = (name: string) => findType(name) as StructSchema;
const ConfigMap = known('core/v1.ConfigMap');
const { metadata, items, ...typeFields } = known('meta/v1.PartialObjectMetadataList').fields as StructSchema['fields'];
const ConfigMapList = struct('core/v1.ConfigMapList', {
  ...typeFields,
  metadata: metadata as never,
  items: { ...(items as object), tag: 2, schema: list(ConfigMap) },
});

/** The object in a body of a known type, in normal form. */
function read(schema: StructSchema, body: Uint8Array): JsonObject {
  const nothing: TypeMeta = { apiVersion: '', kind: '' };
  return compile(schema, names).decode(readProtobuf(body, nothing, () => schema, names).value).value;
}
const write = (schema: StructSchema, value: JsonObject) =>
  writeProtobuf(schema, { apiVersion: value['apiVersion'] as string, kind: value['kind'] as string }, value, names);

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture({ features: { WatchList: true } });
  for (let i = 0; i < count; i++) {
    const name = `c${String(i).padStart(4, '0')}`;
    await server.send('POST', configMaps, { body: { metadata: { name }, data: { text: 'ü'.repeat(1_000) } } });
  }
});
afterAll(() => server.close());

async function send(method: string, url: string, body?: Uint8Array, headers: { [name: string]: string } = accept) {
  const type = body === undefined ? {} : { 'content-type': media };
  const answer = await server.send(method, url, { body: body as never, headers: { ...type, ...headers } });
  return { status: answer.status, type: answer.headers['content-type'], body: Buffer.concat(answer.pieces), answer };
}
const json = async (url: string) => (await server.send('GET', url)).json() as JsonObject;

it('every built-in type is found by the kind and version that its objects say', () => {
  const lost = builtinResources.flatMap(({ group, kind, versions }) =>
    versions
      .map(({ version, schema }) => ({
        type: { apiVersion: group === '' ? version : `${group}/${version}`, kind },
        schema,
      }))
      .filter(({ type, schema }) => builtInSchema(findType, type) !== schema),
  );
  expect(lost).toEqual([]);
});

describe('objects', () => {
  it('are the same as in JSON', async () => {
    const got = await send('GET', `${configMaps}/c0001`);
    // Recorded in surface.encodings: 200, the media type alone, the prefix.
    expect([got.status, got.type, got.body.subarray(0, 4).toString('hex')]).toEqual([200, media, '6b387300']);
    expect(read(ConfigMap, got.body)).toEqual(await json(`${configMaps}/c0001`));
  });

  it('are created, replaced and deleted, the options of the deletion included', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'written' }, data: { a: 'b' } };
    const created = await send('POST', configMaps, write(ConfigMap, object));
    expect([created.status, created.type]).toEqual([201, media]);
    expect(read(ConfigMap, created.body)).toMatchObject(object);
    const replaced = await send('PUT', `${configMaps}/written`, write(ConfigMap, { ...object, data: { a: 'c' } }));
    expect(read(ConfigMap, replaced.body)).toMatchObject({ data: { a: 'c' } });
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'another' } };
    const DeleteOptions = known('meta/v1.DeleteOptions');
    const refused = await send('DELETE', `${configMaps}/written`, write(DeleteOptions, options));
    expect([refused.status, refused.type]).toEqual([409, media]);
    const deleted = await send(
      'DELETE',
      `${configMaps}/written`,
      write(DeleteOptions, { ...options, preconditions: null }),
    );
    expect(read(known('meta/v1.Status'), deleted.body)).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  it('of another kind are rejected as in JSON', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } };
    const inJson = await server.send('POST', configMaps, { body: pod });
    const { status, answer } = await send('POST', configMaps, write(known('core/v1.Pod'), pod), {});
    expect([status, answer.text]).toEqual([inJson.status, inJson.text]);
  });

  it('that are malformed are rejected with the beginning of the body', async () => {
    const { status, answer } = await send('POST', configMaps, Buffer.from('{"a":1}'), {});
    expect([status, (answer.json() as JsonObject)['message']]).toEqual([
      400,
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"a":1})',
    ]);
  });

  it('represent errors as a Status', async () => {
    const { status, type, body } = await send('GET', `${configMaps}/nobody`);
    expect([status, type]).toEqual([404, media]);
    const inJson = await server.send('GET', `${configMaps}/nobody`);
    expect(read(known('meta/v1.Status'), body)).toEqual(inJson.json());
  });

  it('are available as PartialObjectMetadata, but not as a Table', async () => {
    const as = (kind: string) => `;as=${kind};g=meta.k8s.io;v=v1`;
    const partial = await send('GET', `${configMaps}/c0001`, undefined, {
      accept: media + as('PartialObjectMetadata'),
    });
    const inJson = await server.send('GET', `${configMaps}/c0001`, {
      headers: { accept: `application/json${as('PartialObjectMetadata')}` },
    });
    expect(read(known('meta/v1.PartialObjectMetadata'), partial.body)).toEqual(inJson.json());
    const table = `${media}${as('Table')},application/json${as('Table')}`;
    const shown = await send('GET', configMaps, undefined, { accept: table });
    expect([shown.type, (shown.answer.json() as JsonObject)['kind']]).toEqual(['application/json', 'Table']);
    const only = await send('GET', configMaps, undefined, { accept: media + as('Table') });
    expect([only.status, only.type]).toEqual([406, 'application/json']);
  });
});

describe('lists', () => {
  it('have the same items as in JSON', async () => {
    const all = await send('GET', configMaps);
    expect([all.status, all.type]).toEqual([200, media]);
    expect(all.answer.pieces.length).toBeGreaterThan(3);
    expect(read(ConfigMapList, all.body)).toMatchObject(await json(configMaps));
    const page = await send('GET', `${configMaps}?limit=2`);
    expect(page.answer.pieces.length).toBe(1);
    expect(read(ConfigMapList, page.body)).toMatchObject({
      kind: 'ConfigMapList',
      metadata: { remainingItemCount: count - 2, continue: expect.stringMatching(/./) as string },
    });
    const as = ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
    const partial = await send('GET', configMaps, undefined, { accept: media + as });
    expect(read(known('meta/v1.PartialObjectMetadataList'), partial.body)['items']).toHaveLength(count);
  });

  it('have the right length after requests for another representation, and after a change', async () => {
    const all = async () => (await send('GET', configMaps)).body;
    const before = await all();
    await send('GET', configMaps, undefined, { accept: `${media};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1` });
    expect((await all()).equals(before)).toBe(true);
    const name = 'c0001';
    await server.send('PUT', `${configMaps}/${name}`, {
      body: { metadata: { name }, data: { text: 'longer'.repeat(999) } },
    });
    expect(read(ConfigMapList, await all())).toMatchObject(await json(configMaps));
  });
});

describe('watches', () => {
  /** The next events: each has its length before it. */
  async function* events(url: string, of = server): AsyncGenerator<{ type: string; object: Buffer }> {
    const response = await of.handler(requestOf('GET', url, { headers: accept }));
    expect(response.headers['content-type']).toBe(`${media};stream=watch`);
    let held = Buffer.alloc(0);
    for await (const piece of response.body as AsyncIterable<Chunk>) {
      held = Buffer.concat([held, typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece]);
      for (let size = held.readUInt32BE(0); ; ) {
        const event = held.subarray(4, 4 + size);
        // WatchEvent { type = 1; object = 2 { raw = 1 } }, and the raw bytes go to the end.
        const type = event.subarray(2, 2 + (event[1] as number)).toString();
        yield { type, object: event.subarray(event.indexOf('k8s\0')) };
        held = held.subarray(4 + size);
        if (held.length < 4) break;
        size = held.readUInt32BE(0);
      }
    }
  }

  it('send the same events in the same order to each watcher', async () => {
    const start = (await json(`${configMaps}?limit=1`))['metadata'] as JsonObject;
    const url = `${configMaps}?watch=1&resourceVersion=${start['resourceVersion'] as string}`;
    const watchers = [events(url), events(url)];
    const seen: [string, Json | undefined][][] = [];
    const reading = watchers.map(async (watcher) => {
      const told: [string, Json | undefined][] = [];
      seen.push(told);
      for await (const { type, object } of watcher) {
        told.push([type, read(ConfigMap, object)['data']]);
        if (type === 'DELETED') break;
      }
    });
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w' } };
    await send('POST', configMaps, write(ConfigMap, { ...object, data: { a: '1' } }));
    await send('PUT', `${configMaps}/w`, write(ConfigMap, { ...object, data: { a: '2' } }));
    await send('DELETE', `${configMaps}/w`);
    await Promise.all(reading);
    const expected = [
      ['ADDED', { a: '1' }],
      ['MODIFIED', { a: '2' }],
      ['DELETED', { a: '2' }],
    ];
    expect(seen).toEqual([expected, expected]);
  });

  it('encode a large event in steps, once for all of them', async () => {
    const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 'value']));
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data };
    await send('POST', configMaps, write(ConfigMap, object));
    const resource = server.registry.find('', 'v1', 'configmaps') as Resource;
    const target = { resource, version: 'v1', namespace: 'default', name: 'large', subresource: '' };
    const event = addedEvent(await server.registry.get(target, {}));
    const { watch } = protobufCodec(findType, names);
    const stepsOf = () => watch.writer(target, { as: 'object' }).writeInSteps(event, true) as Steps<Chunk>;
    const alone = new EveryStep();
    const frame = (await inTurns(stepsOf(), alone)) as Uint8Array;
    expect(alone.count).toBeGreaterThan(10);
    const bytes = Buffer.from(frame);
    const body = bytes.subarray(bytes.indexOf('k8s\0'));
    expect(read(ConfigMap, body)).toMatchObject(object);
    const others = protobufCodec(findType, names).watch;
    const shared = new EveryStep();
    const watchers = [1, 2].map(() =>
      inTurns(others.writer(target, { as: 'object' }).writeInSteps(event, true) as Steps<Chunk>, shared),
    );
    expect(await Promise.all(watchers)).toEqual([frame, frame]);
    expect(shared.count).toBeLessThan(alone.count + 5);
    await send('DELETE', `${configMaps}/large`);
  });

  it('send bookmarks', async () => {
    const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    let initial = 0;
    for await (const { type, object } of events(`${configMaps}?${query}`)) {
      if (type === 'ADDED') {
        initial++;
        continue;
      }
      expect([type, initial]).toEqual(['BOOKMARK', count]);
      expect(read(ConfigMap, object)['metadata']).toMatchObject({
        annotations: { 'k8s.io/initial-events-end': 'true' },
      });
      break;
    }
  });

  it('send an error as their last event', async () => {
    const broken = await makeFixture();
    const next = () => Promise.reject(new StatusError(410, 'Expired', 'too old resource version'));
    const stream = { close: () => {}, [Symbol.asyncIterator]: () => ({ next }) };
    Object.assign(broken.registry, { watch: () => Promise.resolve(stream) });
    const told: JsonObject[] = [];
    for await (const { type, object } of events(`${configMaps}?watch=1`, broken)) {
      told.push({ type, object: read(known('meta/v1.Status'), object) });
    }
    expect(told).toEqual([
      { type: 'ERROR', object: expect.objectContaining({ kind: 'Status', code: 410, reason: 'Expired' }) as unknown },
    ]);
    await broken.close();
  });
});

describe('under another domain', () => {
  const compatible = 'application/vnd.kubernetes.protobuf';
  const own = 'application/vnd.orch.protobuf';

  it.each([own, compatible])('bodies and answers are protobuf under the name %s', async (type) => {
    const other = await makeFixture({ domain: 'orch.io' });
    const headers = { accept: `${type}, application/json`, 'content-type': type };
    const here = namesFor('orch.io');
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: 'b' } };
    const body = writeProtobuf(ConfigMap, object, object, here);
    const made = await other.send('POST', configMaps, { body: body as never, headers });
    expect([made.status, made.headers['content-type']]).toEqual([201, type]);
    for (const path of [`${configMaps}/x`, configMaps, `${configMaps}/absent`, '/api', '/api/v1']) {
      expect((await other.send('GET', path, { headers })).headers['content-type']).toBe(type);
    }
    const watch = await other.handler(
      requestOf('GET', `${configMaps}?watch=1`, { headers: { ...headers, accept: `${type};stream=watch` } }),
    );
    expect(watch.headers['content-type']).toBe(`${type};stream=watch`);
    await (watch.body as AsyncIterable<Chunk>)[Symbol.asyncIterator]().return?.();
    await other.close();
  });
});
