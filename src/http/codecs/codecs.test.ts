import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson, parseYaml, prettyJson, readOwnJsonInSteps, stringifyJson } from '../../codec/index.ts';
import { type ByteString, bytesOf, inTurns, type JsonObject, namesFor, type Turns } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { findType } from '../../types/find-type.ts';
import { type Fixture, makeFixture } from '../testing/fixture.ts';
import { createCodecs } from './codecs.ts';
import { jsonCodec } from './json-codec.ts';
import type { WireCodec } from './wire-codec.ts';

const turns = new EveryStep();
const codecs = createCodecs({ findType, names: namesFor('k8s.io'), cbor: true });
const object: JsonObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', labels: { l: 'ü' } },
  data: { text: 'two\nlines', number: '1' },
};
const stored = (value: JsonObject) => bytesOf(Buffer.from(JSON.stringify(value)));
const bytes = (chunk: ByteString | Uint8Array) => (typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk);

const stepsOf = async <T>(work: (turns: Turns) => T | Promise<T>) => {
  const turns = new EveryStep();
  return { value: await work(turns), count: turns.count };
};

describe.each(codecs.all.map((codec) => [codec.mediaTypes[0], codec] as const))('%s', (_, codec) => {
  const decode = async (body: Uint8Array) => (await codec.decode(body, 'u', { apiVersion: '', kind: '' }, turns)).value;

  it('decodes the objects and values that it encodes', async () => {
    expect(await decode(bytes(await codec.encodeObject(stored(object), turns)))).toEqual(object);
    expect(await decode(bytes(codec.encodeValue(object)))).toEqual(object);
  });

  it('encodes a large stored object as encodeValue does, asynchronously unless it is JSON', async () => {
    const data = Object.fromEntries(Array.from({ length: 30_000 }, (_unused, i) => [`k${i}`, 'value']));
    const large = { ...object, data };
    const encoding = codec.encodeObject(stored(large), turns);
    expect(encoding instanceof Promise).toBe(codec !== jsonCodec);
    expect(Buffer.compare(bytes(await encoding), bytes(codec.encodeValue(large)))).toBe(0);
  });

  it('decodes and encodes a large object in steps', async () => {
    const data = Object.fromEntries(Array.from({ length: 16_000 }, (_unused, i) => [`k${i}`, 'value']));
    const large = { ...object, data };
    const written = await stepsOf((turns) => codec.encodeObject(stored(large), turns));
    expect(written.count).toBeGreaterThan(codec === jsonCodec ? -1 : 10);
    const body = bytes(written.value);
    const none = { apiVersion: '', kind: '' };
    const steps = codec.decodeInSteps?.(body, none);
    if (steps === undefined) return expect(codec.mediaTypes[0]).toBe('application/yaml');
    const read = await stepsOf((turns) => inTurns(steps, turns));
    expect(read.value?.value).toEqual(large);
    expect(read.count).toBeGreaterThan(10);
  });

  it('rejects an invalid body', async () => {
    await expect((async () => decode(Buffer.from([0x7b, 0x00])))()).rejects.toMatchObject({ code: 400 });
  });
});

describe('pretty JSON', () => {
  const large = {
    data: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, 'two\nlines'])),
    list: Array.from({ length: 5_000 }, (_, i) => ({ i, none: [], nested: { empty: {} } })),
    empty: {},
    number: 12345678901234567890n,
  };

  it('of a large object is written in steps, as that of a small one', async () => {
    const text = stringifyJson(large);
    const reading = new EveryStep();
    await inTurns(readOwnJsonInSteps(text), reading);
    const pretty = jsonCodec.pretty as WireCodec;
    const written = await stepsOf((turns) => pretty.encodeObject(text as ByteString, turns));
    expect(written.value).toBe(prettyJson(large));
    expect(written.count).toBeGreaterThan(reading.count + 10);
  });
});

describe('lists', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps';
  let server: Fixture;
  beforeAll(async () => {
    server = await makeFixture();
    for (let i = 0; i < 320; i++) {
      const data = { text: `]}"\n- items: []\nü${'x'.repeat(1_000)}` };
      await server.send('POST', configMaps, { body: { metadata: { name: `c${i}` }, data } });
    }
  });
  afterAll(() => server.close());

  const kinds = ['', ';as=Table;g=meta.k8s.io;v=v1', ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'];
  const cases = kinds.flatMap((kind) => ['?limit=2', '?labelSelector=none', ''].map((query) => [kind, query] as const));
  it.each(cases)('%s %s are the same in JSON, pretty JSON and YAML', async (kind, query) => {
    const get = (accept: string, more = '') =>
      server.send('GET', configMaps + query + more, { headers: { accept: accept + kind } });
    const json = await get('application/json');
    // The ages of a table and the continue tokens of a page are computed for each response.
    const steady = (text: string) =>
      text.replace(/"?continue"?: ?"?[\w=+/-]+"?/g, 'continue').replace(/\b\d+s\b/g, 'age');
    const value = JSON.parse(steady(json.text).replace('continue', '"continue":""')) as JsonObject;
    const pretty = await get('application/json', `${query === '' ? '?' : '&'}pretty=1`);
    expect(steady(pretty.text)).toBe(steady(prettyJson(parseJson(Buffer.from(json.text)).value)));
    const yaml = await get('application/yaml');
    expect(parseYaml(Buffer.from(steady(yaml.text).replace('continue', 'continue: ""'))).value).toEqual(value);
    expect([pretty.pieces.length > 1, yaml.pieces.length > 1]).toEqual([query === '', query === '']);
  });
});
