import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nothingRegistered } from '../../aggregation/index.ts';
import { type JsonObject, namesFor, oneStep, VirtualClock } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { gadgets } from '../../registry/testing/gadgets.ts';
import { describe as describeType } from '../../types/descriptions.ts';
import { findType } from '../../types/find-type.ts';
import { createApiGroups, isCustomVersion } from '../documents/api-groups.ts';
import { type Fixture, makeFixture } from '../testing/fixture.ts';
import { jsonV2, jsonV3, protobufV2, protobufV3 } from './openapi-encodings.ts';
import { OpenApiFragments } from './openapi-fragments.ts';

let server: Fixture;
beforeEach(async () => {
  server = await makeFixture();
});
afterEach(() => server.close());

const groupOf = (i: number) => `g${i}.example.com`;

/** How often the schemas of a group were asked for, by dialect. */
const made = new Map<string, number>();

/** A custom resource whose schema has `properties` properties. */
function custom(group: string, properties = 1, description = 'some text') {
  const { stored } = gadgets();
  const fields = Object.fromEntries(
    Array.from({ length: properties }, (_, i) => [`f${i}`, { type: 'string', description: `${description} ${i}` }]),
  );
  const schema: JsonObject = { type: 'object', properties: fields };
  const openApi = (dialect: string) => {
    const key = `${group} ${dialect}`;
    made.set(key, (made.get(key) ?? 0) + 1);
    return oneStep(() => schema);
  };
  const [version] = stored.versions;
  const named = { ...version!.schema, name: `${group}/v1.Gadget` };
  const one = {
    ...stored,
    group,
    storage: { ...stored.storage, group },
    versions: [{ ...version!, schema: named, openApi }],
  };
  return { stored: one, served: [one] };
}

const get = (path: string, headers: { readonly [name: string]: string } = {}) => server.send('GET', path, { headers });

it('are made again for the definition that has changed alone', async () => {
  made.clear();
  for (let i = 0; i < 10; i++) server.registry.install(custom(groupOf(i)));
  const v3 = (i: number) => `/openapi/v3/apis/${groupOf(i)}/v1`;
  const askForAll = async () => {
    await get('/openapi/v2');
    for (let i = 0; i < 10; i++) await get(v3(i));
  };
  await askForAll();
  const before = new Map(made);
  // For the document in version 2; for that in version 3, and its hash.
  for (let i = 0; i < 10; i++) expect([made.get(`${groupOf(i)} v2`), made.get(`${groupOf(i)} v3`)]).toEqual([1, 2]);
  await askForAll();
  expect(made).toEqual(before);
  server.registry.install(custom(groupOf(3), 2));
  await askForAll();
  before.set(`${groupOf(3)} v2`, 2).set(`${groupOf(3)} v3`, 4);
  expect(made).toEqual(before);
});

it('make documents with the schemas and paths of every definition, also as gzip', async () => {
  for (let i = 0; i < 40; i++) server.registry.install(custom(groupOf(i), i + 1));
  const { definitions, paths } = (await get('/openapi/v2')).json() as unknown as {
    definitions: { [name: string]: { properties: JsonObject } };
    paths: JsonObject;
  };
  for (let i = 0; i < 40; i++) {
    expect(Object.keys(definitions[`com.example.g${i}.v1.Gadget`]!.properties)).toHaveLength(i + 1);
    expect(definitions[`com.example.g${i}.v1.GadgetList`]).toBeDefined();
    expect(paths[`/apis/${groupOf(i)}/v1/namespaces/{namespace}/gadgets/{name}`]).toBeDefined();
    expect(paths[`/apis/${groupOf(i)}/v1/`]).toBeDefined();
  }
  const gzip = await get('/openapi/v2', { 'accept-encoding': 'gzip' });
  expect([gzip.headers['content-encoding'], gzip.headers['vary']]).toEqual(['gzip', 'Accept, Accept-Encoding']);
  const sent = Buffer.concat(gzip.pieces);
  expect(gzip.headers['content-length']).toBe(String(sent.length));
  expect(JSON.parse(gunzipSync(sent).toString())).toEqual((await get('/openapi/v2')).json());
});

it('have the length of the whole document in the response to HEAD', async () => {
  const whole = await get('/openapi/v2');
  const { status, headers, text } = await server.send('HEAD', '/openapi/v2');
  expect([status, headers['content-length'], text]).toEqual([200, String(Buffer.byteLength(whole.text)), '']);
  expect(headers['etag']).toBe(whole.headers['etag']);
});

it('give documents the same hash on another server, whatever the order in which definitions come', async () => {
  const other = await makeFixture();
  for (let i = 0; i < 5; i++) server.registry.install(custom(groupOf(i)));
  for (let i = 4; i >= 0; i--) other.registry.install(custom(groupOf(i)));
  for (const path of ['/openapi/v2', '/openapi/v3', `/openapi/v3/apis/${groupOf(2)}/v1`, '/openapi/v3/apis/apps/v1']) {
    const tag = (await get(path)).headers['etag'];
    expect([path, (await other.send('GET', path)).headers['etag']]).toEqual([path, tag]);
  }
  const before = (await get('/openapi/v2')).headers['etag'];
  server.registry.install(custom(groupOf(2), 1, 'another text'));
  expect((await get('/openapi/v2')).headers['etag']).not.toBe(before);
  await other.close();
});

it('leave out a kind that has the name of the list of another one', async () => {
  const { stored } = custom(groupOf(0));
  const list = {
    ...stored,
    plural: 'gadgetlists',
    kind: 'GadgetList',
    storage: { ...stored.storage, resource: 'lists' },
  };
  const [version] = list.versions;
  const schema = { ...version!.schema, name: version!.schema.name.replace('Gadget', 'GadgetList') };
  const named = { ...list, versions: [{ ...version!, schema }] };
  server.registry.install({ stored, served: [stored] });
  server.registry.install({ stored: named, served: [named] });
  const { text } = await get(`/openapi/v3/apis/${groupOf(0)}/v1`);
  expect(text.match(/"com\.example\.g0\.v1\.GadgetList":/g)).toHaveLength(1);
  expect(text).toContain('A list of objects of the kind Gadget.');
});

it.each([jsonV2, protobufV2, jsonV3, protobufV3])('are made in steps: $dialect $mediaType', async (encoding) => {
  const properties = 20_000;
  server.registry.install(custom(groupOf(0), properties));
  const groups = createApiGroups(server.registry, nothingRegistered, new VirtualClock())();
  const versions = groups.flatMap((group) => group.versions);
  const options = {
    names: namesFor('k8s.io'),
    version: {},
    findType,
    enums: true,
    cbor: false,
    describe: describeType,
    kinds: new Map(),
  };
  const fragments = new OpenApiFragments(options);
  const turns = new EveryStep();
  const version = versions.find(isCustomVersion)!;
  const body = await (encoding.dialect === 'v2'
    ? fragments.wholeBody(versions, encoding, turns)
    : fragments.versionBody(version, encoding, turns));
  // A step encodes fewer than a thousand of the 60,000 values, and compresses at most 64 KiB.
  expect(turns.count).toBeGreaterThan(60 + body.length / 65_536);
  const reading = new EveryStep();
  for await (const piece of body.plain(reading)) expect(piece.length).toBeLessThanOrEqual(65_536);
  expect(reading.count).toBeGreaterThan(body.length / 65_536);
});
