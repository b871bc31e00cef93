import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle, startWorld, type World } from './support/in-process.ts';

// Creates, updates, patches and deletions as the specification has them: "Object names", "Single-resource verbs",
// "Resource deletion", "Operations", "Media types and encodings", "Update mechanisms", "Dry run", "Field validation".
const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const type = (name: string) => ({ 'content-type': name });
const merge = type('application/merge-patch+json');

let world: World;
beforeEach(async () => {
  world = await startWorld();
  await world.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
});
afterEach(() => world.close());

const configMap = (name: string, metadata = {}, rest: object = { data: { a: '1' } }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...rest,
});
const pod = (name: string, metadata = {}) => ({
  metadata: { name, ...metadata },
  spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
});
const make = async (name: string, metadata = {}, collection = configMaps) =>
  (await world.send('POST', collection, configMap(name, metadata))).body;
const read = (name: string, collection = configMaps) => world.send('GET', `${collection}/${name}`);
const patch = (name: string, change: unknown, query = '') =>
  world.send('PATCH', `${configMaps}/${name}${query}`, change, merge);
const remove = (name: string, options?: object, query = '') =>
  world.send('DELETE', `${configMaps}/${name}${query}`, options);

describe('object names', () => {
  it('1, 2: a name is taken while its object is there, and free after it', async () => {
    const first = await make('one');
    expect(await world.send('POST', configMaps, configMap('one'))).toMatchObject({
      status: 409,
      body: { reason: 'AlreadyExists', message: 'configmaps "one" already exists' },
    });
    await remove('one');
    const second = await make('one');
    expect(second.metadata.name).toBe('one');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
  });

  it('2: it is unique for a kind in a namespace', async () => {
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
    await make('one');
    const elsewhere = await world.send('POST', '/api/v1/namespaces/other/configmaps', configMap('one'));
    const otherKind = await world.send('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'one' } });
    expect([elsewhere.status, otherKind.status]).toEqual([201, 201]);
  });

  it('3: of a cluster-scoped object it is unique in the whole cluster', async () => {
    const node = { metadata: { name: 'n' } };
    const answers = [await world.send('POST', '/api/v1/nodes', node), await world.send('POST', '/api/v1/nodes', node)];
    expect(answers.map(({ status }) => status)).toEqual([201, 409]);
  });

  it('generateName: the server makes a unique one', async () => {
    const made = await Promise.all(
      Array.from({ length: 50 }, () => world.send('POST', configMaps, { metadata: { generateName: 'made-' } })),
    );
    const names = made.map(({ body }) => body.metadata.name as string);
    expect(new Set(names).size).toBe(50);
    for (const name of names) expect(name).toMatch(/^made-[a-z0-9]{5}$/);
  });

  it.each(['uid', 'creationTimestamp', 'resourceVersion'])('%s is made by the server', async (field) => {
    const made = await make('one');
    expect(made.metadata[field]).toMatch(/./);
    world.clock.advance(60_000);
    const given = await world.send('POST', configMaps, configMap('two', { [field]: made.metadata[field] }));
    if (field === 'resourceVersion') expect([given.status, given.body.code]).toEqual([500, 500]);
    else expect(given.body.metadata[field]).not.toBe(made.metadata[field]);
  });
});

describe('update mechanisms', () => {
  it('1: PUT replaces the object', async () => {
    const { metadata } = await make('one', { labels: { l: 'v' } });
    const { resourceVersion } = metadata;
    const put = await world.send(
      'PUT',
      `${configMaps}/one`,
      configMap('one', { resourceVersion }, { data: { b: '2' } }),
    );
    expect(put).toMatchObject({ status: 200, body: { data: { b: '2' } } });
    expect(put.body.metadata.labels).toBeUndefined();
    expect(put.body.metadata.resourceVersion).not.toBe(resourceVersion);
  });

  it('1, 4: one with a stale resourceVersion is refused, and so is a patch', async () => {
    const { metadata } = await make('one');
    const { resourceVersion } = metadata;
    await patch('one', { data: { a: '2' } });
    const stale = { metadata: { resourceVersion }, data: { a: '3' } };
    const refused = {
      status: 409,
      body: {
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "one": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'one', kind: 'configmaps' },
      },
    };
    const whole = configMap('one', { resourceVersion }, { data: { a: '3' } });
    expect(await world.send('PUT', `${configMaps}/one`, whole)).toMatchObject(refused);
    expect(await patch('one', stale)).toMatchObject(refused);
    expect((await read('one')).body.data).toEqual({ a: '2' });
  });

  it('1: one without a resourceVersion is not conditional', async () => {
    await make('one');
    await patch('one', { data: { a: '2' } });
    expect(await world.send('PUT', `${configMaps}/one`, configMap('one'))).toMatchObject({
      status: 200,
      body: { data: { a: '1' } },
    });
  });

  it.each([
    ['json', 'application/json-patch+json', [{ op: 'replace', path: '/data/a', value: '2' }]],
    ['merge', 'application/merge-patch+json', { data: { a: '2' } }],
    ['strategic', 'application/strategic-merge-patch+json', { data: { a: '2' } }],
  ])('2: a %s patch changes what is there, and makes nothing', async (_, contentType, change) => {
    expect((await world.send('PATCH', `${configMaps}/one`, change, type(contentType))).status).toBe(404);
    await make('one');
    expect(await world.send('PATCH', `${configMaps}/one`, change, type(contentType))).toMatchObject({
      status: 200,
      body: { data: { a: '2' } },
    });
  });

  it('2: an apply makes the object, or patches it', async () => {
    const apply = (data: object) =>
      world.send('PATCH', `${configMaps}/one?fieldManager=m`, configMap('one', {}, { data }), {
        'content-type': 'application/apply-patch+yaml',
      });
    expect(await apply({ a: '1' })).toMatchObject({ status: 201, body: { data: { a: '1' } } });
    expect(await apply({ b: '2' })).toMatchObject({ status: 200, body: { data: { b: '2' } } });
  });

  it('2: a patch of JSON operations fails as a whole when a test in it does', async () => {
    await make('one');
    const operations = [
      { op: 'replace', path: '/data/a', value: '2' },
      { op: 'test', path: '/data/a', value: '3' },
    ];
    const answer = await world.send('PATCH', `${configMaps}/one`, operations, type('application/json-patch+json'));
    expect([answer.status, answer.body.reason]).toEqual([422, 'Invalid']);
    expect((await read('one')).body.data).toEqual({ a: '1' });
  });

  it.each([
    ['merge', merge, { metadata: { managedFields: [{}] }, data: { b: '2' } }],
    [
      'json',
      type('application/json-patch+json'),
      [
        { op: 'replace', path: '/metadata/managedFields', value: [{}] },
        { op: 'add', path: '/data/b', value: '2' },
      ],
    ],
  ])(
    '5: one empty entry resets the owners, and then who writes owns what they change: %s',
    async (_, headers, change) => {
      await make('one');
      const { body } = await world.send('PATCH', `${configMaps}/one?fieldManager=m`, change, headers);
      expect(body.metadata.managedFields).toMatchObject([
        { manager: 'm', operation: 'Update', fieldsV1: { 'f:data': { 'f:b': {} } } },
      ]);
    },
  );

  it('5: an empty list resets nothing', async () => {
    const { metadata } = await make('one');
    const { body } = await patch('one', { metadata: { managedFields: [] } });
    expect(body.metadata.managedFields).toEqual(metadata.managedFields);
  });
});

describe('resource deletion', () => {
  it('live, no finalizer: removed, and the answer says which object it was', async () => {
    const { metadata } = await make('one');
    expect(await remove('one')).toMatchObject({
      status: 200,
      body: { kind: 'Status', status: 'Success', details: { name: 'one', kind: 'configmaps', uid: metadata.uid } },
    });
    expect((await read('one')).status).toBe(404);
  });

  it('live, a finalizer: pending, with the time; it goes with the last finalizer', async () => {
    await make('one', { finalizers: ['x.io/a', 'x.io/b'] });
    const pending = await remove('one');
    expect(pending).toMatchObject({ status: 200, body: { kind: 'ConfigMap' } });
    expect(pending.body.metadata.deletionTimestamp).toBe(
      new Date(world.clock.now()).toISOString().replace(/\.\d+/, ''),
    );
    // In any order.
    expect(await patch('one', { metadata: { finalizers: ['x.io/b'] } })).toMatchObject({
      status: 200,
      body: { metadata: { deletionTimestamp: pending.body.metadata.deletionTimestamp } },
    });
    expect((await read('one')).status).toBe(200);
    expect((await patch('one', { metadata: { finalizers: null } })).status).toBe(200);
    expect((await read('one')).status).toBe(404);
  });

  it('pending: no finalizer comes any more, and a second deletion changes nothing', async () => {
    await make('one', { finalizers: ['x.io/a'] });
    const { body } = await remove('one');
    const more = await patch('one', { metadata: { finalizers: ['x.io/a', 'x.io/b'] } });
    expect([more.status, more.body.reason]).toEqual([422, 'Invalid']);
    expect(more.body.message).toContain(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/b"}',
    );
    world.clock.advance(60_000);
    expect((await remove('one')).body.metadata).toEqual(body.metadata);
  });

  it.each([
    ['Orphan', ['orphan']],
    ['Foreground', ['foregroundDeletion']],
  ])('propagationPolicy %s waits for who sees to the dependents', async (propagationPolicy, finalizers) => {
    await make('one');
    const { body } = await remove('one', { propagationPolicy });
    expect(body.metadata).toMatchObject({ finalizers, deletionTimestamp: expect.any(String) as string });
    await patch('one', { metadata: { finalizers: null } });
    expect((await read('one')).status).toBe(404);
  });

  it.each([
    [{ uid: 'other' }, /the UID in the precondition \(other\) does not match the UID in record/],
    [
      { resourceVersion: '1' },
      /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record/,
    ],
  ])('preconditions that do not hold: 409, %o', async (preconditions, message) => {
    await make('one');
    const answer = await remove('one', { preconditions });
    expect([answer.status, answer.body.reason]).toEqual([409, 'Conflict']);
    expect(answer.body.message).toMatch(message);
    expect((await read('one')).status).toBe(200);
  });

  it('gracePeriodSeconds: a pod on a node gets that time, and less when asked again, never more', async () => {
    const deadline = async (gracePeriodSeconds: number) =>
      (await world.send('DELETE', `${pods}/p`, { gracePeriodSeconds })).body.metadata.deletionGracePeriodSeconds;
    await world.send('POST', pods, pod('p'));
    expect([await deadline(20), await deadline(60), await deadline(5)]).toEqual([20, 20, 5]);
    await world.send('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 });
    expect((await read('p', pods)).status).toBe(404);
  });

  it('deletecollection: those that the selectors choose', async () => {
    for (const name of ['a', 'b', 'c']) await make(name, { labels: { in: String(name !== 'b') } });
    const { status, body } = await world.send('DELETE', `${configMaps}?labelSelector=in%3Dtrue`);
    expect([status, body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)]).toEqual([
      200,
      ['a', 'c'],
    ]);
    expect([(await read('a')).status, (await read('b')).status]).toEqual([404, 200]);
  });

  it('object names 4: what is in a namespace is not created there any more once it goes', async () => {
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'going' } });
    await world.send('DELETE', '/api/v1/namespaces/going');
    expect(await world.send('POST', '/api/v1/namespaces/going/configmaps', configMap('late'))).toMatchObject({
      status: 403,
      body: { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } },
    });
  });
});

describe('dry run', () => {
  const all: [string, string, () => Promise<unknown>, (query: string, body: object) => Promise<{ status: number }>][] =
    [
      ['create', '201', async () => {}, (query) => world.send('POST', configMaps + query, configMap('one'))],
      [
        'update',
        '200',
        () => make('one'),
        (query) => world.send('PUT', `${configMaps}/one${query}`, configMap('one', {}, {})),
      ],
      ['patch', '200', () => make('one'), (query) => patch('one', { data: { a: '2' } }, query)],
      [
        'apply',
        '201',
        async () => {},
        (query) =>
          world.send('PATCH', `${configMaps}/one${query === '' ? '?' : `${query}&`}fieldManager=m`, configMap('one'), {
            'content-type': 'application/apply-patch+yaml',
          }),
      ],
      ['delete', '200', () => make('one'), (query, body) => remove('one', body, query)],
      ['deletecollection', '200', () => make('one'), (query, body) => world.send('DELETE', configMaps + query, body)],
      [
        'update of a status',
        '200',
        () => world.send('POST', pods, pod('one')),
        (query) => world.send('PATCH', `${pods}/one/status${query}`, { status: { phase: 'Running' } }, merge),
      ],
    ];
  const forms = [
    ['dryRun=All', '?dryRun=All', {}],
    ['in the body', '', { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }],
  ] as const;
  const cases = all.flatMap(([verb, status, prepare, ask]) =>
    forms
      .filter(([, query]) => query !== '' || verb.startsWith('delete'))
      .map(([form, query, body]) => ({ verb, form, status, prepare, ask: () => ask(query, body) })),
  );

  it.each(cases)('1: $verb, $form: nothing is stored or told, the status is the usual one', async (given) => {
    await given.prepare();
    const watching = await world.watch('/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=');
    const everything = async () => [
      (await world.send('GET', configMaps)).body.items,
      (await world.send('GET', pods)).body.items,
    ];
    const [before, told] = [await everything(), watching.events.length];
    expect(String((await given.ask()).status)).toBe(given.status);
    await settle();
    expect(await everything()).toEqual(before);
    expect(watching.events.length).toBe(told);
  });

  it('1: every stage runs: names, defaults, merge, admission, validation', async () => {
    const made = await world.send('POST', `${pods}?dryRun=All`, {
      metadata: { generateName: 'p-' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    expect(made).toMatchObject({ status: 201, body: { spec: { restartPolicy: 'Always', priority: 0 } } });
    expect(made.body.metadata.name).toMatch(/^p-.{5}$/);
    expect(made.body.metadata.resourceVersion).toBeUndefined();
    const invalid = await world.send('POST', `${pods}?dryRun=All`, {
      metadata: { name: 'p' },
      spec: { containers: [] },
    });
    expect([invalid.status, invalid.body.reason]).toEqual([422, 'Invalid']);
    await make('one');
    expect((await patch('one', { data: { b: '2' } }, '?dryRun=All')).body.data).toEqual({ a: '1', b: '2' });
    expect((await patch('one', { data: { b: 2 } }, '?dryRun=All')).status).toBe(422);
    expect((await world.send('POST', `${configMaps}?dryRun=All`, configMap('one'))).status).toBe(409);
  });

  it.each(['?dryRun', '?dryRun='])('1: %s asks for none: the write is an ordinary one', async (query) => {
    expect((await world.send('POST', configMaps + query, configMap('one'))).status).toBe(201);
    expect((await patch('one', { data: { b: '2' } }, query)).status).toBe(200);
    expect((await read('one')).body.data).toEqual({ a: '1', b: '2' });
    expect((await remove('one', {}, query)).status).toBe(200);
    expect((await read('one')).status).toBe(404);
  });

  it.each(['Some', 'all', 'None', 'All&dryRun=Some'])('dryRun=%s is refused', async (value) => {
    expect(await world.send('POST', `${configMaps}?dryRun=${value}`, configMap('one'))).toMatchObject({
      status: 422,
      body: { details: { kind: 'CreateOptions', causes: [{ field: 'dryRun', reason: 'FieldValueNotSupported' }] } },
    });
    expect((await read('one')).status).toBe(404);
  });
});

describe('field validation', () => {
  const odd = configMap('one', {}, { dada: {}, data: { a: '1' }, immutabel: true });
  const post = (query: string, body: unknown = odd) => world.send('POST', configMaps + query, body);

  it('1: types are always validated, and a required field is required', async () => {
    for (const query of ['', '?fieldValidation=Ignore']) {
      expect((await post(query, configMap('one', {}, { data: { a: 1 } }))).status).toBe(400);
    }
    const bindingless = { metadata: { name: 'b' }, subjects: [] };
    expect(
      await world.send(
        'POST',
        '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?fieldValidation=Ignore',
        bindingless,
      ),
    ).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
  });

  it('2: Ignore drops them silently', async () => {
    const { status, headers, body } = await post('?fieldValidation=Ignore');
    expect([status, headers['warning'], 'dada' in body]).toEqual([201, undefined, false]);
  });

  it.each(['', '?fieldValidation=Warn'])(
    '2: Warn, the default, tells each in a header of its own: %s',
    async (query) => {
      const { status, headers, body } = await post(query);
      expect([status, headers['warning'], 'dada' in body]).toEqual([
        201,
        '299 - "unknown field \\"dada\\"", 299 - "unknown field \\"immutabel\\""',
        false,
      ]);
    },
  );

  it('2: Strict refuses with 400 and tells all of them', async () => {
    expect(await post('?fieldValidation=Strict')).toMatchObject({
      status: 400,
      body: {
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dada", unknown field "immutabel"',
      },
    });
    expect((await read('one')).status).toBe(404);
  });

  it('2: for PUT and PATCH too', async () => {
    await make('one');
    const put = await world.send('PUT', `${configMaps}/one?fieldValidation=Strict`, odd);
    expect([put.status, put.body.reason]).toEqual([400, 'BadRequest']);
    const patched = await patch('one', { dada: {} }, '?fieldValidation=Strict');
    expect([patched.status, patched.body.reason]).toEqual([422, 'Invalid']);
    expect(patched.body.message).toContain('strict decoding error: unknown field "dada"');
    const warned = await patch('one', { dada: {} });
    expect([warned.status, warned.headers['warning']]).toEqual([200, '299 - "unknown field \\"dada\\""']);
  });

  it('errors 1: a refusal for another reason warns as well', async () => {
    const { status, headers } = await post('', configMap('Not A Name', {}, { dada: {} }));
    expect([status, headers['warning']]).toEqual([422, '299 - "unknown field \\"dada\\""']);
  });

  it('another value is refused', async () => {
    expect(await post('?fieldValidation=strict')).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'fieldValidation', reason: 'FieldValueNotSupported' }] } },
    });
  });
});

describe('operations', () => {
  it('review: the answer to what is posted, with its status; nothing is kept', async () => {
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } };
    expect(await world.send('POST', reviews, { spec })).toMatchObject({
      status: 201,
      body: { status: { allowed: true } },
    });
    expect((await world.send('GET', reviews)).status).toBe(405);
  });

  it('subresources are not to be had across several resources', async () => {
    expect((await world.send('GET', '/api/v1/namespaces/default/pods/status')).status).toBe(404);
    expect((await world.send('PATCH', '/api/v1/namespaces/default/pods//status', {}, merge)).status).toBe(404);
  });

  it('media types 2: a body is read as what it is said to be', async () => {
    const { status, body } = await world.send('POST', configMaps, configMap('one'), type('text/plain'));
    expect([status, body.reason]).toEqual([415, 'UnsupportedMediaType']);
  });

  it('media types 3: 406 when none of the requested types is supported, with a list of those that are', async () => {
    const { status, body } = await world.send('GET', configMaps, undefined, { accept: 'text/css' });
    expect([status, body.reason]).toEqual([406, 'NotAcceptable']);
    expect(body.message).toContain('application/json');
  });

  it('media types 4: the first of several that is supported', async () => {
    const accept = 'application/unheard-of, application/json;as=Table;v=v1;g=meta.k8s.io, application/json';
    expect((await world.send('GET', configMaps, undefined, { accept })).body.kind).toBe('Table');
  });
});
