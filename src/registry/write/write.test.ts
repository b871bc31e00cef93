import { describe, expect, it } from 'vitest';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission/index.ts';
import {
  type ApiObject,
  fieldError,
  isJsonObject,
  type JsonObject,
  type StatusError,
  statusError,
} from '../../meta/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { openMemoryStore, StoreError, type StoreErrorCode } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { delivered } from '../../store/testing/late-store.ts';
import {
  apply,
  bench,
  failure,
  how,
  json,
  merge,
  note,
  notes,
  remove,
  strategic,
  update,
} from '../testing/fixtures.ts';
import { gadgets } from '../testing/gadgets.ts';
import type { Change, WriteOptions } from '../types.ts';

const create = (value: JsonObject) => ({ verb: 'create', object: { value, findings: [] } }) as const;
type PodTemplate = ApiObject & { template?: { spec?: { containers?: JsonObject[] } } };
const deployment = (spec: JsonObject = {}, rest: JsonObject = {}): JsonObject => ({
  metadata: { name: 'd' },
  spec,
  ...rest,
});

describe('create', () => {
  it('sets the system fields', async () => {
    const { change, clock } = bench();
    const made = await change('configmaps', {}, create(note('one')));
    expect(made).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'one',
        namespace: 'ns',
        uid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string,
        resourceVersion: '2',
        creationTimestamp: new Date(clock.now()).toISOString().replace(/\.\d+/, ''),
        managedFields: [
          expect.objectContaining({ operation: 'Update', fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } } }),
        ],
      },
      data: { a: '1' },
    });
  });

  it('overwrites system fields, and keeps the generation of a kind without generations', async () => {
    const meta = {
      uid: 'chosen',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 3,
      generation: 7,
      selfLink: '/x',
      managedFields: [{ manager: 'me' }],
    };
    const { metadata } = await bench().change('configmaps', {}, create(note('one', {}, meta)));
    expect(metadata.uid).not.toBe('chosen');
    expect(metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
    expect(Object.keys(metadata).sort()).toEqual(
      ['creationTimestamp', 'generation', 'name', 'namespace', 'resourceVersion', 'uid'].sort(),
    );
    expect(metadata.generation).toBe(7);
  });

  it('generates a name from a prefix, truncated to fit', async () => {
    const { change } = bench();
    const named = (generateName: string) => change('configmaps', {}, create({ metadata: { generateName } }));
    const short = await named('gen-');
    expect(short.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(short.metadata.generateName).toBe('gen-');
    expect((await named('a'.repeat(100))).metadata.name).toMatch(/^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('generates another name when the first is taken, and fails after eight', async () => {
    let calls = 0;
    const fixed = { uuid: () => '00000000-0000-4000-8000-000000000000', integer: () => (calls++ < 10 ? 0 : 1) };
    const { change } = bench({ random: fixed });
    const body = create({ metadata: { generateName: 'g-' } });
    expect((await change('configmaps', {}, body)).metadata.name).toBe('g-bbbbb');
    expect((await change('configmaps', {}, body)).metadata.name).toBe('g-ccccc');
    expect(await failure(change('configmaps', {}, body))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "g-ccccc" already exists, the server was not able to generate a unique name for the object',
      details: { retryAfterSeconds: 1 },
    });
  });

  it('says that no name could be generated also where the name that is taken was given', async () => {
    const { change } = bench();
    const body = create(note('one', {}, { generateName: 'g-' }));
    await change('configmaps', {}, body);
    const message = 'configmaps "one" already exists, the server was not able to generate a unique name for the object';
    expect(await failure(change('configmaps', {}, body))).toMatchObject({ message, details: { retryAfterSeconds: 1 } });
  });

  it('starts with generation 1 and drops the status', async () => {
    const made = await bench().change('deployments', {}, create(deployment({ image: 'i' }, { status: { ready: 5 } })));
    expect(made.metadata.generation).toBe(1);
    expect(made['spec']).toEqual({ replicas: 1, image: 'i' });
    expect(made['status']).toEqual({});
  });

  it('takes kind and version from the path when the body has none', async () => {
    const made = await bench().change('configmaps', {}, create({ metadata: { name: 'x' } }));
    expect([made.kind, made.apiVersion]).toEqual(['ConfigMap', 'v1']);
  });

  it('answers a create of a virtual resource and stores nothing', async () => {
    const { change, store } = bench();
    const answered = await change('reviews', {}, create({ spec: { user: 'u' } }));
    expect(answered).toMatchObject({
      kind: 'Review',
      spec: { user: 'u' },
      status: { allowed: 'true', asked: 'tester' },
    });
    expect(answered.metadata.uid).toBeUndefined();
    expect(await store.revision()).toBe(1);
  });

  it('fails with 501 for a virtual resource without a handler', async () => {
    const asked = bench({ reviewHandlers: new Map() }).change('reviews', {}, create({ spec: { user: 'u' } }));
    await expect(asked).rejects.toMatchObject({ code: 501 });
  });

  const rejections: [string, JsonObject, number, string][] = [
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } },
      400,
      'Namespace in version "v1" cannot be handled as a ConfigMap: converting (v1.Namespace) to (core.ConfigMap): unknown conversion',
    ],
    // The reference server knows lists, options and statuses as kinds, which no object can be converted from.
    ...['Status', 'List', 'ConfigMapList', 'DeleteOptions', 'PodExecOptions'].map(
      (kind): [string, JsonObject, number, string] => [
        `a kind that no resource has: ${kind}`,
        { apiVersion: 'v1', kind, metadata: { name: 'x' } },
        400,
        `${kind} in version "v1" cannot be handled as a ConfigMap: converting (v1.${kind}) to (core.ConfigMap): unknown conversion`,
      ],
    ),
    [
      'an unknown version',
      { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'x' } },
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'a value of the wrong type',
      { ...note('y'), data: { a: 1 } },
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'a list for a map',
      { ...note('y'), data: ['a'] },
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'another namespace',
      note('x', {}, { namespace: 'elsewhere' }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'a resourceVersion',
      note('x', {}, { resourceVersion: '5' }),
      500,
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'no name',
      { metadata: {} },
      422,
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
    [
      'a bare finalizer',
      note('x', {}, { finalizers: ['mine'] }),
      422,
      'ConfigMap "x" is invalid: metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ];
  it.each(rejections)('rejects %s', async (_, body, code, message) => {
    expect(await failure(bench().change('configmaps', {}, create(body)))).toMatchObject({ code, message });
  });

  it('fails with 409 for a name that is taken, in a dry run too', async () => {
    const { change, write } = bench();
    await change('configmaps', {}, create(note('one')));
    const taken = { code: 409, reason: 'AlreadyExists', message: 'configmaps "one" already exists' };
    expect(await failure(change('configmaps', {}, create(note('one'))))).toMatchObject(taken);
    expect(await failure(write('configmaps', {}, create(note('one')), { dryRun: true }))).toMatchObject(taken);
  });

  it('says that the object of this name is being deleted', async () => {
    const { change } = bench();
    await change('configmaps', {}, create(note('one', {}, { finalizers: ['example.com/hold'] })));
    await change('configmaps', { name: 'one' }, { verb: 'delete', options: {} });
    expect(await failure(change('configmaps', {}, create(note('one'))))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'object is being deleted: configmaps "one" already exists',
    });
  });

  it('drops the namespace of a cluster-scoped object', async () => {
    const { change } = bench();
    const made = await change('namespaces', {}, create({ metadata: { name: 'n', namespace: 'ignored' } }));
    expect(made.metadata.namespace).toBeUndefined();
  });
});

describe('field validation', () => {
  const body = { ...note('fv', { a: '2' }), bogus: 1, binaryDatas: {} };
  const object = { value: body, findings: ['duplicate field "metadata.name"', 'duplicate field "data.a"'] };
  const odd = [...object.findings, 'unknown field "binaryDatas"', 'unknown field "bogus"'];
  const post = async (fieldValidation: 'Ignore' | 'Warn' | 'Strict', value: JsonObject = body) => {
    const warnings = new Set<string>();
    const change = { verb: 'create', object: { ...object, value } } as const;
    const options = { fieldValidation, dryRun: true, warn: (text: string) => void warnings.add(text) };
    const refusal = await bench()
      .write('configmaps', {}, change, options)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    return { warnings: [...warnings], refusal };
  };

  it('warns', async () => expect(await post('Warn')).toEqual({ warnings: odd, refusal: undefined }));
  it('ignores', async () => expect(await post('Ignore')).toEqual({ warnings: [], refusal: undefined }));
  it('warns in an error for another reason too', async () => {
    const { warnings, refusal } = await post('Warn', { ...body, metadata: { name: 'Not A Name' } });
    expect(warnings).toEqual(odd);
    expect(refusal).toMatchObject({ code: 422 });
  });
  it('is strict', async () =>
    expect((await post('Strict')).refusal).toMatchObject({
      code: 400,
      message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${odd.join(', ')}`,
    }));

  it('checks the result of a patch', async () => {
    const { create: make, write } = bench();
    const { metadata } = await make('configmaps', note('fv'));
    const { uid, resourceVersion, creationTimestamp, managedFields } = metadata;
    const patched = `{"apiVersion":"v1","bogus":1,"data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"fv","namespace":"ns","uid":"${uid}","resourceVersion":"${resourceVersion}","creationTimestamp":"${creationTimestamp}","managedFields":${JSON.stringify(managedFields)}}}`;
    const change = merge({ bogus: 1 });
    expect(await failure(write('configmaps', { name: 'fv' }, change, { fieldValidation: 'Strict' }))).toMatchObject({
      code: 422,
      message: ` "" is invalid: patch: Invalid value: ${JSON.stringify(patched)}: strict decoding error: unknown field "bogus"`,
      details: { causes: [{ field: 'patch', reason: 'FieldValueInvalid' }] },
    });
    const warnings = new Set<string>();
    await write('configmaps', { name: 'fv' }, change, { warn: (text: string) => void warnings.add(text) });
    expect([...warnings]).toEqual(['unknown field "bogus"']);
  });

  it('passes on the warnings of the kind', async () => {
    const warnings = new Set<string>();
    await bench().write('deployments', {}, create(deployment({ image: 'old' })), {
      warn: (text: string) => void warnings.add(text),
    });
    expect([...warnings]).toEqual(['spec.image: old is old']);
  });

  it('passes on the warnings for a status, and no others, for a write of the status', async () => {
    const { create: make, write } = bench();
    await make('deployments', deployment({ image: 'old' }));
    const advice = async (subresource: string) => {
      const warnings = new Set<string>();
      await write('deployments', { name: 'd', subresource }, merge({ status: { phase: 'Odd' } }), {
        warn: (text: string) => void warnings.add(text),
      });
      return [...warnings];
    };
    expect(await advice('')).toEqual(['spec.image: old is old']);
    expect(await advice('status')).toEqual(['status.phase: Odd is odd']);
  });
});

describe('two controllers among the owner references', () => {
  const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true });
  const told = async (work: Promise<unknown>) => {
    const { details } = (await failure(work)) as StatusError;
    return (details?.causes ?? []).map(({ field }) => field);
  };
  const ownerReferences = [owner('a'), owner('b')];
  const bad = ['metadata.ownerReferences'];

  it('are reported once for a create', async () => {
    expect(await told(bench().create('configmaps', note('o', {}, { ownerReferences })))).toEqual(bad);
  });

  it('are reported once all else is valid, for a create of a kind that does not validate them', async () => {
    const validate = ({ data }: JsonObject) =>
      isJsonObject(data) && 'b' in data ? [fieldError.required('data.b')] : [];
    const strategy = { validate, metadataChecks: [0, 0] } as const;
    const { create: make } = bench({ definitions: [{ ...notes, strategy }] });
    expect(await told(make('configmaps', note('o', { b: '' }, { ownerReferences })))).toEqual(['data.b']);
    expect(await told(make('configmaps', note('o', {}, { ownerReferences })))).toEqual(bad);
  });

  // Any kind checks a change twice, as an object and as a change; the kind itself adds its own checks.
  it.each([
    [undefined, 4],
    [[0, 1], 3],
    [[1, 0], 3],
    [[0, 0], 2],
    [[2, 1], 5],
  ] as const)('are reported by every check of an update: %j', async (metadataChecks, times) => {
    const strategy = metadataChecks === undefined ? {} : { metadataChecks };
    const { create: make, change } = bench({ definitions: [{ ...notes, strategy }] });
    await make('configmaps', note('o'));
    const expected = Array.from({ length: times }, () => bad).flat();
    expect(await told(change('configmaps', 'o', merge({ metadata: { ownerReferences } })))).toEqual(expected);
  });

  it('are reported by the checks of a subresource', async () => {
    const { create: make, change } = bench();
    await make('deployments', deployment());
    const target = { name: 'd', subresource: 'status' };
    const patch = merge({ metadata: { ownerReferences } });
    expect(await told(change('deployments', target, patch))).toEqual([...bad, ...bad, ...bad]);
  });
});

describe('update', () => {
  it('replaces the object at its resourceVersion', async () => {
    const { create: make, change, read } = bench();
    const one = await make('configmaps', note('one'));
    const two = await change('configmaps', 'one', update({ ...one, data: { a: '2' } }));
    expect(two).toEqual({ ...one, data: { a: '2' }, metadata: { ...one.metadata, resourceVersion: '3' } });
    expect(await read('configmaps', 'one')).toEqual(two);
    expect(await failure(change('configmaps', 'one', update({ ...one, data: { a: '3' } })))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "one": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'one', kind: 'configmaps' },
    });
    expect((await change('configmaps', 'one', update(note('one', { a: '4' }))))['data']).toEqual({ a: '4' });
  });

  it('that changes nothing keeps the resourceVersion', async () => {
    const { create: make, change, store } = bench();
    const one = await make('configmaps', note('one', { b: '2', a: '1' }));
    expect(await change('configmaps', 'one', update(one))).toEqual(one);
    expect(await change('configmaps', 'one', update(note('one', { a: '1', b: '2' })))).toEqual(one);
    expect(await change('configmaps', 'one', merge({ data: { a: '1' } }))).toEqual(one);
    expect(await store.revision()).toBe(2);
  });

  it('increments the generation when the spec changes, not with metadata or status', async () => {
    const { create: make, change } = bench();
    await make('deployments', deployment({ image: 'a' }));
    const generation = async (body: JsonObject, subresource = '') =>
      (await change('deployments', { name: 'd', subresource }, merge(body))).metadata.generation;
    expect(await generation({ metadata: { labels: { x: 'y' } } })).toBe(1);
    expect(await generation({ spec: { image: 'b' } })).toBe(2);
    expect(await generation({ status: { ready: 1 } }, 'status')).toBe(2);
    expect(await generation({ metadata: { generation: 9 } })).toBe(2);
  });

  it('writes the status only to its subresource', async () => {
    const { create: make, change, read } = bench();
    await make('deployments', deployment({ image: 'a' }));
    await change(
      'deployments',
      { name: 'd', subresource: 'status' },
      merge({ spec: { image: 'b' }, status: { ready: 3 } }),
    );
    expect(await read('deployments', 'd')).toMatchObject({ spec: { image: 'a' }, status: { ready: 3 } });
    await change('deployments', 'd', merge({ spec: { image: 'c' }, status: { ready: 77 } }));
    expect(await read('deployments', 'd')).toMatchObject({ spec: { image: 'c' }, status: { ready: 3 } });
    const { status: _, ...rest } = await read('deployments', 'd');
    expect((await change('deployments', 'd', update(rest)))['status']).toEqual({ ready: 3 });
  });

  it('creates an absent object where the kind allows it', async () => {
    const { write, change } = bench();
    const made = await write('namespaces', { name: 'n' }, update({ metadata: { name: 'n' } }));
    expect(made.created).toBe(true);
    expect((await write('namespaces', { name: 'n' }, update({ metadata: { name: 'n' } }))).created).toBe(false);
    const meant = { metadata: { name: 'm', uid: 'gone' } };
    expect(await failure(change('namespaces', 'm', update(meant)))).toMatchObject({ code: 409 });
  });

  const rejections: [string, string, JsonObject, number, string][] = [
    ['another name', 'one', note('two'), 400, 'the name of the object (two) does not match the name on the URL (one)'],
    [
      'no name',
      'one',
      { metadata: {} },
      400,
      'the name of the object (one based on URL) was undeterminable: name must be provided',
    ],
    [
      'another namespace',
      'one',
      note('one', {}, { namespace: 'x' }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['an absent object', 'absent', note('absent'), 404, 'configmaps "absent" not found'],
    [
      'an absent object with a resourceVersion',
      'absent',
      note('absent', {}, { resourceVersion: '1' }),
      404,
      'configmaps "absent" not found',
    ],
    [
      'another uid',
      'one',
      note('one', {}, { uid: 'other' }),
      409,
      expect.stringMatching(
        /^Operation cannot be fulfilled on configmaps "one": StorageError: invalid object, Code: 4, Key: \/registry\/configmaps\/[a-z-]+\/one, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: [0-9a-f-]{36}$/,
      ) as string,
    ],
    [
      'a resourceVersion that is not a number',
      'one',
      note('one', {}, { resourceVersion: 'abc' }),
      500,
      'strconv.ParseUint: parsing "abc": invalid syntax',
    ],
  ];
  it.each(rejections)('rejects %s', async (_, name, body, code, message) => {
    const { create: make, change } = bench();
    await make('configmaps', note('one'));
    expect(await failure(change('configmaps', name, update(body)))).toMatchObject({ code, message });
  });

  it('names the key without its prefix in a dry run', async () => {
    const { create: make, change } = bench();
    await make('configmaps', note('one'));
    const sent = update(note('one', {}, { uid: 'other' }));
    const { message } = (await failure(change('configmaps', 'one', sent, { dryRun: true }))) as StatusError;
    expect(message).toMatch(/ Code: 4, Key: \/configmaps\/[a-z-]+\/one, ResourceVersion: 0, /);
  });

  it('ignores another creation time', async () => {
    const { create: make, change } = bench();
    const { metadata } = await make('configmaps', note('one'));
    const { creationTimestamp } = metadata;
    const other = { creationTimestamp: '2001-01-01T00:00:00Z' };
    const operations = [{ op: 'replace', path: '/metadata/creationTimestamp', value: other.creationTimestamp }];
    const applied = { ...note('one', { b: '3' }, other), apiVersion: 'v1', kind: 'ConfigMap' };
    const changes: [sent: Change, options?: Partial<WriteOptions>][] = [
      [update(note('one', { a: '0' }, other))],
      [merge({ metadata: other, data: { a: '1' } })],
      [strategic({ metadata: other, data: { a: '2' } })],
      [apply(applied), { fieldManager: 'm' }],
      [json(operations)],
    ];
    for (const [sent, options] of changes) {
      const changed = await change('configmaps', 'one', sent, options);
      expect(changed.metadata.creationTimestamp, JSON.stringify(sent)).toBe(creationTimestamp);
    }
  });

  it('requires the resourceVersion where the kind does', async () => {
    const { create: make, change } = bench();
    const made = await make('deployments', deployment());
    expect(await failure(change('deployments', 'd', update(deployment({ image: 'b' }))))).toMatchObject({
      code: 422,
      message:
        'deployments.apps "d" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
    expect((await change('deployments', 'd', update({ ...made, spec: { image: 'b' } })))['spec']).toMatchObject({
      image: 'b',
    });
  });

  it('is validated by schema and kind', async () => {
    const { create: make, change } = bench();
    await make('deployments', deployment());
    expect(await failure(change('deployments', 'd', merge({ spec: { replicas: -1, node: 'n' } })))).toMatchObject({
      code: 422,
      details: {
        group: 'apps',
        kind: 'Deployment',
        name: 'd',
        causes: [{ field: 'spec.replicas' }, { field: 'spec.node' }],
      },
    });
  });
});

describe('patch', () => {
  it('json: tests, replaces, moves and copies', async () => {
    const { create: make, change } = bench();
    await make('configmaps', note('j', { a: '1', b: '2' }));
    const ops = [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: '9' },
      { op: 'move', from: '/data/b', path: '/data/c' },
      { op: 'copy', from: '/data/c', path: '/data/d' },
    ];
    expect((await change('configmaps', 'j', json(ops)))['data']).toEqual({ a: '9', c: '2', d: '2' });
    expect((await change('configmaps', 'j', json([])))['data']).toEqual({ a: '9', c: '2', d: '2' });
  });

  it('merge: sets and removes', async () => {
    const { create: make, change } = bench();
    await make('configmaps', note('m', { a: '1', b: '2' }, { labels: { l: '1' } }));
    expect((await change('configmaps', 'm', merge({ data: { a: null, c: '3' } })))['data']).toEqual({ b: '2', c: '3' });
    const bare = await change('configmaps', 'm', merge({ metadata: { labels: null }, data: null }));
    expect([bare.metadata.labels, bare['data']]).toEqual([undefined, undefined]);
  });

  const rejections: [string, ReturnType<typeof merge>, number, string | RegExp][] = [
    [
      'a test that fails',
      json([{ op: 'test', path: '/data/a', value: 'no' }]),
      422,
      'the server rejected our request due to an error in our request',
    ],
    [
      'a patch that is not a list of operations',
      json({ op: 'add' }),
      400,
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ],
    [
      'a merge patch that is not an object',
      merge([1]),
      400,
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'another name',
      json([{ op: 'replace', path: '/metadata/name', value: 'renamed' }]),
      400,
      'the name of the object (renamed) does not match the name on the URL (m)',
    ],
    [
      'another namespace',
      merge({ metadata: { namespace: 'other' } }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['another version', merge({ metadata: { resourceVersion: '1' } }), 409, /the object has been modified/],
    [
      'another uid',
      merge({ metadata: { uid: 'other' } }),
      422,
      'ConfigMap "m" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    ],
    [
      'a bare finalizer',
      merge({ metadata: { finalizers: ['mine'] } }),
      422,
      'ConfigMap "m" is invalid: metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ],
    [
      'a finalizer that is not a qualified name',
      merge({ metadata: { finalizers: ['a b/c'] } }),
      422,
      /^ConfigMap "m" is invalid: metadata\.finalizers: Invalid value: "a b\/c": prefix part /,
    ],
    [
      'an invalid generateName',
      merge({ metadata: { generateName: 'a/b' } }),
      422,
      /^ConfigMap "m" is invalid: \[metadata\.generateName: Invalid value: "a\/b": may not contain '\/', metadata\.generateName: Invalid value: "a\/b": a lowercase RFC 1123 subdomain must /,
    ],
    [
      'another kind',
      merge({ kind: 'Namespace' }),
      422,
      /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"data\\":.*: converting \(v1\.Namespace\) to \(core\.ConfigMap\): unknown conversion$/,
    ],
    [
      'labels that are not a map',
      json([{ op: 'add', path: '/metadata/labels', value: 'text' }]),
      422,
      /json: cannot unmarshal string into Go struct field .*labels of type map\[string\]string$/,
    ],
    [
      'a result that is not an object',
      json([{ op: 'replace', path: '', value: 1 }]),
      422,
      /^ "" is invalid: patch: Invalid value: "1"/,
    ],
  ];
  it.each(rejections)('rejects %s', async (_, change, code, message) => {
    const made = bench();
    await made.create('configmaps', note('m'));
    const text = typeof message === 'string' ? message : (expect.stringMatching(message) as string);
    expect(await failure(made.change('configmaps', 'm', change))).toMatchObject({ code, message: text });
  });

  it('reports an error of the metadata twice, in one message', async () => {
    const { create: make, change } = bench();
    await make('configmaps', note('m'));
    const cause = {
      field: 'metadata.uid',
      message: 'Invalid value: "other": field is immutable',
      reason: 'FieldValueInvalid',
    };
    expect(await failure(change('configmaps', 'm', merge({ metadata: { uid: 'other' } })))).toMatchObject({
      details: { causes: [cause, cause] },
    });
  });

  it('fails with 404 for an absent object', async () => {
    const { change } = bench();
    expect(await failure(change('configmaps', 'absent', merge({})))).toMatchObject({ code: 404 });
    expect(await failure(change('namespaces', 'absent', merge({})))).toMatchObject({ code: 404 });
  });

  it('fails with 415 for a format that is not supported', async () => {
    const { registry, change } = bench();
    registry.install(gadgets());
    const refused = await failure(change('gadgets', 'm', strategic({})));
    expect(refused).toMatchObject({
      code: 415,
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    });
  });
});

describe('dry run', () => {
  it('does everything but the commit', async () => {
    const { create: make, write, read, store } = bench();
    const dry = { dryRun: true };
    const made = await make('configmaps', note('dry'), dry);
    expect(made.metadata.uid).toBeDefined();
    expect(made.metadata.resourceVersion).toBeUndefined();
    expect(await failure(read('configmaps', 'dry'))).toMatchObject({ code: 404 });
    const real = await make('configmaps', note('dry'));
    const patched = await write('configmaps', { name: 'dry' }, merge({ data: { b: '2' } }), dry);
    expect(JSON.parse(patched.object?.bytes ?? '')).toMatchObject({
      metadata: { resourceVersion: real.metadata.resourceVersion },
      data: { a: '1', b: '2' },
    });
    expect((await write('configmaps', { name: 'dry' }, remove(), dry)).deleted?.name).toBe('dry');
    expect((await write('configmaps', { name: 'dry' }, remove({ dryRun: ['All'] }))).deleted?.name).toBe('dry');
    expect(await read('configmaps', 'dry')).toEqual(real);
    expect(await store.revision()).toBe(2);
  });
});

describe('versions of a kind', () => {
  it('are written and read each in its own form', async () => {
    const { change, registry, target, store } = bench();
    const one = await change('widgets', {}, create({ apiVersion: 'example.com/v1', metadata: { name: 'w' }, size: 3 }));
    expect(one).toMatchObject({ kind: 'Widget', apiVersion: 'example.com/v1', size: 3 });
    const stored = await registry.get(target('widgets', { name: 'w' }), {});
    expect(JSON.parse(stored.bytes)).toMatchObject({ apiVersion: 'example.com/v2', spec: { size: 3 } });
    const two = await change('widgets', { name: 'w', version: 'v2' }, merge({ spec: { size: 4 } }));
    expect(two).toMatchObject({ apiVersion: 'example.com/v2', spec: { size: 4 } });
    const back = await change('widgets', 'w', json([{ op: 'replace', path: '/size', value: 5 }]));
    expect(back).toMatchObject({ apiVersion: 'example.com/v1', size: 5 });
    expect(await change('widgets', 'w', merge({ size: 5 }))).toEqual(back);
    expect(await store.revision()).toBe(4);
    const mixed = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'x' } };
    expect(await failure(change('widgets', {}, create(mixed)))).toMatchObject({
      code: 400,
      message: 'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)',
    });
  });
});

describe('admission', () => {
  const seen: AdmissionRequest[] = [];
  const plugin: AdmissionPlugin = {
    name: 'Test',
    mutate: async (request) => {
      await Promise.resolve();
      const { object } = request;
      if (object !== undefined) object.metadata.labels = { ...object.metadata.labels, admitted: 'yes' };
      request.warn('seen');
    },
    validate: (request) => {
      seen.push(request);
      if (request.name === 'refused') throw statusError.forbidden(request.resource, request.name, 'no');
    },
  };

  it('mutates and validates a write', async () => {
    const { write, change, read, create: make } = bench({ admission: [plugin] });
    const warnings = new Set<string>();
    await write('configmaps', {}, create(note('one')), { warn: (text: string) => void warnings.add(text) });
    expect([...warnings]).toEqual(['seen']);
    expect((await read('configmaps', 'one')).metadata.labels).toEqual({ admitted: 'yes' });
    expect(await failure(make('configmaps', note('refused')))).toMatchObject({
      code: 403,
      message: 'configmaps "refused" is forbidden: no',
    });
    await delivered();
    seen.length = 0;
    await change('configmaps', 'one', merge({ data: { b: '2' } }));
    await delivered();
    await write('configmaps', { name: 'one' }, remove());
    expect(
      seen.map(({ operation, name, namespace, object, oldObject }) => [
        operation,
        name,
        namespace,
        object?.['data'],
        oldObject?.['data'],
      ]),
    ).toEqual([
      ['UPDATE', 'one', 'ns', { a: '1', b: '2' }, { a: '1' }],
      ['DELETE', 'one', 'ns', undefined, { a: '1', b: '2' }],
    ]);
    expect(seen[0]?.user).toEqual(how.requester);
  });

  it('is followed by the defaults that depend on its changes', async () => {
    // Without a tag an image is the latest, which is always pulled.
    const untagged: AdmissionPlugin = {
      name: 'Test',
      mutate: ({ object }) => {
        const [container] = (object as PodTemplate).template?.spec?.containers ?? [];
        if (container !== undefined) Object.assign(container, { image: 'i', imagePullPolicy: undefined });
      },
    };
    const { create: make } = bench({ definitions: builtinResources, admission: [untagged] });
    const template = { spec: { containers: [{ name: 'c', image: 'i:1' }] } };
    const made = await make('podtemplates', { metadata: { name: 't' }, template });
    const [container] = (made as PodTemplate).template?.spec?.containers ?? [];
    expect(container).toMatchObject({ image: 'i', imagePullPolicy: 'Always' });
  });
});

describe('a side effect of admission', () => {
  /** Creates one object that admission charges for; tells how the creation ended and what is still charged. */
  async function charged(fail: () => Promise<never> | undefined, options: Partial<WriteOptions> = {}) {
    let charges = 0;
    const store = openMemoryStore({ clock: drivenClock() });
    const commit = store.commit.bind(store);
    store.commit = (compares, writes) => fail() ?? commit(compares, writes);
    const charge: AdmissionPlugin = {
      name: 'Charge',
      validate: ({ onAbandon }) => {
        charges++;
        onAbandon?.(async () => {
          charges--;
        });
      },
    };
    const { create: make } = bench({ store, admission: [charge] });
    const outcome = await make('configmaps', note('one'), options).catch((error: unknown) => error);
    return { outcome, charges };
  }

  it.each<[StoreErrorCode, number]>([
    ['invalid', 413],
    ['unavailable', 503],
    ['closed', 503],
    ['future', 504],
    ['compacted', 410],
  ])('is undone when the commit fails with %s', async (code, status) => {
    const { outcome, charges } = await charged(() => Promise.reject(new StoreError(code, 'refused')));
    expect(outcome).toMatchObject({ code: status });
    expect(charges).toBe(0);
  });

  it('is undone when the write fails unexpectedly', async () => {
    const { outcome, charges } = await charged(() => Promise.reject(new TypeError('bug')));
    expect(outcome).toMatchObject({ code: 500 });
    expect(charges).toBe(0);
  });

  it('stays when the outcome of the write is unknown', async () => {
    const { outcome, charges } = await charged(() => Promise.reject(new StoreError('uncertain', 'who knows')));
    expect(outcome).toMatchObject({ code: 504 });
    expect(charges).toBe(1);
  });

  it('stays with an object that is stored, and is undone in a dry run', async () => {
    expect((await charged(() => undefined)).charges).toBe(1);
    expect((await charged(() => undefined, { dryRun: true })).charges).toBe(0);
  });
});

describe('races', () => {
  it('all of fifty concurrent patches of one object are kept', async () => {
    const { create: make, change, read } = bench();
    await make('configmaps', note('hot', {}));
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => change('configmaps', 'hot', merge({ data: { [`k${i}`]: String(i) } }))),
    );
    expect(Object.keys((await read('configmaps', 'hot'))['data'] as JsonObject)).toHaveLength(50);
  });

  it('of updates with the same resourceVersion, one succeeds', async () => {
    const { create: make, change, read } = bench();
    const hot = await make('configmaps', note('hot'));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => change('configmaps', 'hot', update({ ...hot, data: { i: String(i) } }))),
    );
    const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled') as PromiseFulfilledResult<ApiObject>[];
    expect(winners).toHaveLength(1);
    expect(await read('configmaps', 'hot')).toEqual(winners[0]?.value);
    const losers = outcomes.filter((outcome) => outcome.status === 'rejected') as PromiseRejectedResult[];
    expect(losers.every(({ reason }) => (reason as { code: number }).code === 409)).toBe(true);
  });

  it('of creates with the same name, one succeeds', async () => {
    const { change } = bench();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => change('configmaps', {}, create(note('one')))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a store whose lists never return', () => {
  it('fails reads and writes after 34 seconds', async () => {
    const store = openMemoryStore({ clock: drivenClock() });
    store.list = () => new Promise(() => {});
    const { clock, create: make, change, read } = bench({ store });
    const requests = [
      make('configmaps', note('a')),
      change('configmaps', 'a', merge({ data: {} })),
      read('configmaps', 'a'),
    ];
    const outcomes = Promise.allSettled(requests);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(34_000);
    const reasons = (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason as { code: number });
    expect(reasons.map(({ code }) => code)).toEqual([504, 504, 504]);
  });
});
