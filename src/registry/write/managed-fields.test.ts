import { describe, expect, it } from 'vitest';
import { type ApiObject, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { delivered } from '../../store/testing/late-store.ts';
import { representObject } from '../index.ts';
import { apply, bench, failure, json, merge, note, remove, strategic, update } from '../testing/fixtures.ts';

// spec/resource-api.md, "Server-side apply" and "Field ownership".

/** The managed fields: `manager operation [subresource]` and the field set. */
function owners({ metadata }: ApiObject): JsonObject {
  const entries = (metadata.managedFields ?? []).filter((entry) => isJsonObject(entry)) as JsonObject[];
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager as string, operation as string, ...(subresource === undefined ? [] : [subresource as string])].join(' '),
      fieldsV1 as Json,
    ]),
  );
}

const by = (fieldManager: string) => ({ fieldManager });
const data = (...keys: string[]) => ({ 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) });
const withData = (...keys: string[]) => ({ 'f:data': { '.': {}, ...data(...keys)['f:data'] } });
const deployment = (fields: JsonObject): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  ...fields,
});

function setup() {
  const it = bench();
  const send = async (manager: string, change: Parameters<typeof it.write>[2], place = 'configmaps/c', more = {}) => {
    const [plural = '', name = '', subresource = ''] = place.split('/');
    const to = change.verb === 'create' ? {} : { name, subresource };
    const { object } = await it.write(plural, to, change, { ...by(manager), ...more });
    return JSON.parse(Buffer.from(object?.bytes ?? '{}', 'latin1').toString()) as ApiObject;
  };
  return { ...it, send };
}

describe('managed fields of a write', () => {
  it('a create manages every field that it sets', async () => {
    const { create } = setup();
    expect(owners(await create('configmaps', note('c', { a: '1' }), by('one')))).toEqual({
      'one Update': withData('a'),
    });
  });

  it('an update takes over the fields that it changes', async () => {
    const { create, send } = setup();
    await create('configmaps', note('c', { a: '1', b: '1' }), by('one'));
    const after = await send('two', update(note('c', { a: '1', b: '2' })));
    expect(owners(after)).toEqual({ 'one Update': withData('a'), 'two Update': data('b') });
  });

  it.each([
    ['a JSON Patch', json([{ op: 'add', path: '/data/b', value: '2' }])],
    ['a merge patch', merge({ data: { b: '2' } })],
    ['a strategic merge patch', strategic({ data: { b: '2' } })],
  ])('%s manages the fields that it adds', async (_, change) => {
    const { create, send } = setup();
    await create('configmaps', note('c', { a: '1' }), by('one'));
    expect(owners(await send('two', change))).toEqual({ 'one Update': withData('a'), 'two Update': data('b') });
  });

  it('a write to status has an entry of its own, without other fields', async () => {
    const { create, send } = setup();
    await create('deployments', deployment({ spec: { image: 'i' } }), by('one'));
    const change = merge({ spec: { image: 'other' }, status: { ready: 1 } });
    expect(owners(await send('two', change, 'deployments/d/status'))['two Update status']).toEqual({
      'f:status': { 'f:ready': {} },
    });
  });

  it('a write to the object manages no field of its status', async () => {
    const { create, send } = setup();
    await create('deployments', deployment({ spec: { image: 'i' } }), by('one'));
    const after = await send('two', merge({ spec: { image: 'j' }, status: { ready: 1 } }), 'deployments/d');
    expect(owners(after)['two Update']).toEqual({ 'f:spec': { 'f:image': {} } });
  });

  it('one empty entry clears them, an empty list does not', async () => {
    const { create, send } = setup();
    const made = await create('configmaps', note('c', { a: '1' }), by('one'));
    const sent = (managedFields: Json) => note('c', { a: '1' }, { managedFields });
    expect((await send('two', update(sent([])))).metadata.managedFields).toEqual(made.metadata.managedFields);
    expect((await send('two', update(sent([{}])))).metadata.managedFields).toBeUndefined();
  });

  it('nothing is written when nothing changes, for any manager at any time', async () => {
    const { create, send, clock, store } = setup();
    const made = await create('configmaps', note('c'), by('one'));
    clock.advance(5_000);
    expect(await send('two', update(note('c')))).toEqual(made);
    expect(await send('two', merge({ data: { a: '1' } }))).toEqual(made);
    expect(await store.revision()).toBe(Number(made.metadata.resourceVersion));
  });

  it('a deletion that waits for finalizers keeps them', async () => {
    const { create, send } = setup();
    const made = await create('configmaps', note('c', { a: '1' }, { finalizers: ['example.com/x'] }), by('one'));
    expect((await send('two', remove())).metadata.managedFields).toEqual(made.metadata.managedFields);
  });
});

describe('apply', () => {
  it('creates an absent object, but not in a dry run', async () => {
    const { write, read } = setup();
    const rehearsed = await write('configmaps', { name: 'c' }, apply(note('c')), { ...by('one'), dryRun: true });
    expect(rehearsed.created).toBe(true);
    expect(await failure(read('configmaps', 'c'))).toMatchObject({ code: 404 });
    expect((await write('configmaps', { name: 'c' }, apply(note('c')), by('one'))).created).toBe(true);
    expect(owners(await read('configmaps', 'c'))).toEqual({ 'one Apply': data('a') });
  });

  it('creates an object only if the writer may create it', async () => {
    const asked: unknown[] = [];
    const { write, read } = bench({
      authorize: async ({ name }, attributes) => {
        asked.push([name, attributes]);
        return { allowed: false, reason: 'no policy matched' };
      },
    });
    const attributes = {
      group: '',
      version: 'v1',
      resource: 'configmaps',
      subresource: '',
      namespace: 'ns',
      name: 'c',
    };
    const limited = { ...by('one'), attributes };
    expect(await failure(write('configmaps', { name: 'c' }, apply(note('c')), limited))).toMatchObject({
      code: 403,
      message:
        'configmaps "c" is forbidden: User "tester" cannot create resource "configmaps" in API group "" in the namespace "ns": no policy matched',
    });
    expect(asked).toEqual([['tester', { ...attributes, verb: 'create' }]]);
    expect(await failure(read('configmaps', 'c'))).toMatchObject({ code: 404 });
    // The permission is checked once the object is valid.
    const invalid = apply({ ...note('c'), metadata: { name: 'c', labels: { 'bad key!': '' } } });
    expect(await failure(write('configmaps', { name: 'c' }, invalid, limited))).toMatchObject({
      code: 422,
    });
    await write('configmaps', { name: 'c' }, apply(note('c')), by('one'));
    await delivered();
    const result = await write('configmaps', { name: 'c' }, apply(note('c', { b: '1' })), limited);
    expect(result.created).toBe(false);
    expect(asked).toHaveLength(1);
  });

  it('removes fields that are no longer applied, and keeps those of other managers', async () => {
    const { create, send } = setup();
    await create('configmaps', note('c', { x: '1' }), by('one'));
    await send('two', apply(note('c', { a: '1', b: '1' })));
    const after = await send('two', apply(note('c', { b: '1' })));
    expect(after['data']).toEqual({ b: '1', x: '1' });
    expect(owners(after)).toEqual({ 'one Update': withData('x'), 'two Apply': data('b') });
  });

  it('conflicts over the fields of another manager, unless forced', async () => {
    const { create, send } = setup();
    await create('configmaps', note('c', { a: '1' }), by('one'));
    const change = apply(note('c', { a: '2' }));
    expect(await failure(send('two', change))).toMatchObject({
      code: 409,
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] },
    });
    const after = await send('two', change, 'configmaps/c', { force: true });
    expect(owners(after)).toEqual({ 'one Update': { 'f:data': {} }, 'two Apply': data('a') });
  });

  it('writes nothing when nothing changes', async () => {
    const { send, clock } = setup();
    const made = await send('one', apply(note('c')));
    clock.advance(5_000);
    expect(await send('one', apply(note('c')))).toEqual(made);
  });

  it('changes neither the stored object nor the body when it fails', async () => {
    const { create, read, send } = setup();
    const made = await create('deployments', deployment({ spec: { node: 'n' } }), by('one'));
    const intent = deployment({ spec: { node: 'other' } });
    const before = structuredClone(intent);
    expect(await failure(send('one', apply(intent), 'deployments/d', { force: true }))).toMatchObject({ code: 422 });
    expect(intent).toEqual(before);
    expect(await read('deployments', 'd')).toEqual(made);
  });

  it('writes the status only to the status subresource', async () => {
    const { create, send } = setup();
    await create('deployments', deployment({ spec: { image: 'i' } }), by('one'));
    const intent = deployment({ spec: { image: 'no' }, status: { ready: 2 } });
    const after = await send('two', apply(intent), 'deployments/d/status', { force: true });
    expect([after['spec'], after['status']]).toEqual([{ image: 'i', replicas: 1 }, { ready: 2 }]);
    expect(owners(after)['two Apply status']).toEqual({ 'f:status': { 'f:ready': {} } });
    const missing = apply({ ...intent, metadata: { name: 'x' } });
    expect(await failure(send('two', missing, 'deployments/x/status'))).toMatchObject({ code: 404 });
  });

  it('converts the fields of a manager of another version', async () => {
    const { write, target, registry } = setup();
    const widget = (fields: JsonObject, version: string) => ({
      apiVersion: `example.com/${version}`,
      kind: 'Widget',
      metadata: { name: 'w' },
      ...fields,
    });
    await write('widgets', { name: 'w', version: 'v1' }, apply(widget({ size: 1 }, 'v1')), by('one'));
    const change = apply(widget({ spec: { size: 2 } }, 'v2'));
    expect(await failure(write('widgets', { name: 'w', version: 'v2' }, change, by('two')))).toMatchObject({
      code: 409,
    });
    await write('widgets', { name: 'w', version: 'v2' }, change, by('one'));
    const place = target('widgets', { name: 'w', version: 'v2' });
    const object = JSON.parse(representObject(place, await registry.get(place, {}), { as: 'object' })) as ApiObject;
    expect([object['spec'], owners(object)]).toEqual([{ size: 2 }, { 'one Apply': { 'f:spec': { 'f:size': {} } } }]);
  });

  it.each([
    ['no kind', { metadata: { name: 'c' } }, 'invalid object type: /, Kind='],
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c' } },
      'invalid object type: /v1, Kind=Secret',
    ],
    [
      'another version',
      { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'c' } },
      'invalid object type: /v2, Kind=ConfigMap',
    ],
    ['another name', note('other'), 'the name of the object (other) does not match the name on the URL (c)'],
    [
      'another namespace',
      note('c', {}, { namespace: 'other' }),
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['owners of its own', note('c', {}, { managedFields: [{}] }), 'metadata.managedFields must be nil'],
  ])('refuses a body with %s', async (_, body, message) => {
    expect(await failure(setup().send('one', apply(body)))).toMatchObject({ code: 400, message });
  });

  it('fails with a conflict for another uid', async () => {
    const { send } = setup();
    const of = (meta: JsonObject) => apply(note('c', {}, meta));
    expect(await failure(send('one', of({ uid: 'u' })))).toMatchObject({
      code: 409,
      message: expect.stringContaining(
        'uid mismatch: the provided object specified uid u, and no existing object',
      ) as string,
    });
    await send('one', of({ resourceVersion: '99' }));
    expect(await failure(send('one', of({ resourceVersion: '99' })))).toMatchObject({ code: 409 });
    expect(await failure(send('one', of({ uid: 'u' })))).toMatchObject({ code: 422 });
  });

  it('reports strict decoding errors as fieldValidation says', async () => {
    const { write } = setup();
    const change = { ...apply(note('c')), findings: ['key "a" already set in map'] } as ReturnType<typeof apply>;
    const strict = { ...by('one'), fieldValidation: 'Strict' } as const;
    expect(await failure(write('configmaps', { name: 'c' }, change, strict))).toMatchObject({
      code: 400,
      message: 'error strict decoding YAML: error converting YAML to JSON: key "a" already set in map',
    });
    const warnings = new Set<string>();
    await write('configmaps', { name: 'c' }, change, { ...by('one'), warn: (text: string) => void warnings.add(text) });
    expect([...warnings]).toEqual(['error converting YAML to JSON: key "a" already set in map']);
  });
});

it.each([
  [{ spec: { replicas: 'three' } }, 'map[spec:map[replicas:three]]', 'unrecognized type: int32'],
  [{ metadata: { finalizers: {} } }, 'map[metadata:map[finalizers:map[]]]', 'cannot restore slice from map'],
  [{ metadata: { labels: [] } }, 'map[metadata:map[labels:[]]]', 'cannot restore map from slice'],
])('the error of a strategic merge patch with an invalid result shows the patch: %j', async (patch, shown, why) => {
  const { create, send } = setup();
  await create('deployments', deployment({}), by('one'));
  expect(await failure(send('one', strategic(patch), 'deployments/d'))).toMatchObject({
    code: 422,
    message: ` "" is invalid: patch: Invalid value: "${shown}": ${why}`,
  });
});
