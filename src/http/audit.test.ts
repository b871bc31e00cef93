import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { type Fixture, makeFixture, requestOf } from './testing/fixture.ts';
import type { Chunk } from './types.ts';

// The events of kube-apiserver 1.33: their fields, their stages, and what each level shows.
const ns = '/api/v1/namespaces/default';
const maps = `${ns}/configmaps`;
const at = '2023-11-14T22:13:20.000000Z';

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture({
    clock: drivenClock(Date.parse(at)),
    authorize: ({ user, verb, path }) => {
      if (path === '/panics') throw new Error('broken');
      return { allowed: user.name === 'jane' && verb === 'impersonate', reason: 'a test says so' };
    },
    policy: {
      rules: [
        { level: 'None', nonResourceURLs: ['/healthz'] },
        { level: 'Metadata', resources: [{ resources: ['secrets', 'serviceaccounts/token'] }] },
        { level: 'Request', verbs: ['update'], omitStages: ['RequestReceived'] },
        { level: 'RequestResponse', resources: [{ resources: ['services'] }], omitManagedFields: true },
        { level: 'RequestResponse' },
      ],
    },
  });
});
afterAll(() => server.close());
beforeEach(() => {
  server.events.length = 0;
});

const stagesOf = () => server.events.map(({ stage }) => stage);
const last = () => server.events.at(-1) as JsonObject;
const configMap = (name: string, data: JsonObject = { a: 'b' }): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const failure = (code: number, reason: string, message: unknown, details?: object) => ({
  metadata: {},
  status: 'Failure',
  message,
  reason,
  ...(details === undefined ? {} : { details }),
  code,
});

describe('the events of a request', () => {
  it('are one when it arrives and one when it is answered, with all fields in their order', async () => {
    const answer = await server.send('POST', `${maps}?fieldManager=m`, {
      body: configMap('created'),
      headers: { 'user-agent': 'tester', 'x-forwarded-for': '10.0.0.1, ::ffff:10.0.0.2', 'x-real-ip': '10.0.0.1' },
    });
    const received = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      auditID: answer.headers['audit-id'],
      stage: 'RequestReceived',
      requestURI: `${maps}?fieldManager=m`,
      verb: 'create',
      user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['10.0.0.1', '10.0.0.2'],
      userAgent: 'tester',
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      requestReceivedTimestamp: at,
      stageTimestamp: at,
    };
    const complete = {
      ...received,
      stage: 'ResponseComplete',
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1', name: 'created' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: configMap('created'),
      responseObject: answer.json(),
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': expect.any(String) },
    };
    expect(server.events).toEqual([received, complete]);
    expect(Object.keys(last())).toEqual([
      ...['kind', 'apiVersion', 'level', 'auditID', 'stage', 'requestURI', 'verb', 'user', 'sourceIPs', 'userAgent'],
      ...['objectRef', 'responseStatus', 'requestObject', 'responseObject'],
      ...['requestReceivedTimestamp', 'stageTimestamp', 'annotations'],
    ]);
  });

  it('take the Audit-ID of the client', async () => {
    const answer = await server.send('GET', maps, { headers: { 'audit-id': 'mine' } });
    expect([answer.headers['audit-id'], ...server.events.map(({ auditID }) => auditID)]).toEqual([
      'mine',
      'mine',
      'mine',
    ]);
  });

  it('are none at the level None', async () => {
    expect((await server.send('GET', '/healthz')).status).toBe(200);
    expect(server.events).toEqual([]);
  });

  it('name the object that a generated name gives', async () => {
    const object = { ...configMap(''), metadata: { generateName: 'gen-' } };
    const { metadata } = (await server.send('POST', maps, { body: object })).json() as { metadata: JsonObject };
    expect(server.events.map(({ objectRef }) => (objectRef as JsonObject)['name'])).toEqual([
      undefined,
      metadata['name'],
    ]);
    expect(last()['requestObject']).toEqual(object);
  });

  it('show the name of a list only where its selector gives one', async () => {
    await server.send('GET', `${maps}?fieldSelector=metadata.name%3Dx`);
    expect(last()).toMatchObject({ verb: 'list', objectRef: { name: 'x' } });
    await server.send('GET', maps);
    expect(last()['objectRef']).toEqual({ resource: 'configmaps', namespace: 'default', apiVersion: 'v1' });
  });

  it('say that a version of the API is deprecated', async () => {
    await server.send('GET', `${ns}/endpoints`);
    expect(last()['annotations']).toMatchObject({ 'k8s.io/deprecated': 'true' });
    await server.send('GET', maps);
    expect(last()['annotations']).not.toHaveProperty(['k8s.io/deprecated']);
  });

  it('cut a long User-Agent', async () => {
    await server.send('GET', maps, { headers: { 'user-agent': 'a'.repeat(1025) } });
    expect(last()['userAgent']).toBe(`${'a'.repeat(1024)}...TRUNCATED`);
  });

  it('show no Authorization header', async () => {
    await server.send('POST', maps, { token: 'jane', body: configMap('refused') });
    expect(JSON.stringify(server.events)).not.toMatch(/bearer/i);
  });
});

describe('request and response objects', () => {
  it('are those of a get and a list', async () => {
    const list = await server.send('GET', maps);
    expect(last()).toMatchObject({ verb: 'list', responseStatus: { code: 200 }, responseObject: list.json() });
    const got = await server.send('GET', `${maps}/created`);
    expect(last()).toMatchObject({ verb: 'get', responseStatus: { code: 200 }, responseObject: got.json() });
    expect(last()).not.toHaveProperty('requestObject');
  });

  it('are JSON whatever the encodings of request and response are', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "ü"\n';
    const headers = { 'content-type': 'application/yaml', accept: 'application/vnd.kubernetes.protobuf' };
    expect((await server.send('POST', maps, { body, headers })).status).toBe(201);
    expect(last()).toMatchObject({
      requestObject: configMap('yaml', { a: 'ü' }),
      responseObject: { ...configMap('yaml', { a: 'ü' }), metadata: { name: 'yaml', uid: expect.any(String) } },
    });
  });

  it('are the objects of an update at the level Request, but for the response', async () => {
    const object = (await server.send('GET', `${maps}/created`)).json() as { metadata: JsonObject };
    server.events.length = 0;
    await server.send('PUT', `${maps}/created`, { body: object });
    expect(server.events).toHaveLength(1);
    const { uid, resourceVersion } = object.metadata;
    expect(last()).toMatchObject({ level: 'Request', requestObject: object, objectRef: { uid, resourceVersion } });
    expect(last()).not.toHaveProperty('responseObject');
  });

  it('are the patch, as JSON', async () => {
    const patch = [{ op: 'add', path: '/data/c', value: 'd' }];
    const headers = { 'content-type': 'application/json-patch+json' };
    await server.send('PATCH', `${maps}/created`, { body: patch, headers });
    expect(last()).toMatchObject({ verb: 'patch', requestObject: patch, responseObject: { data: { a: 'b', c: 'd' } } });
    const body = 'apiVersion: v1\nkind: ConfigMap\ndata:\n  e: f\n';
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    await server.send('PATCH', `${maps}/created?fieldManager=m&force=true`, { body, headers: apply });
    expect(last()).toMatchObject({
      requestObject: { apiVersion: 'v1', kind: 'ConfigMap', data: { e: 'f' } },
      responseStatus: { code: 200 },
    });
    await server.send('PATCH', `${maps}/created`, { body: '{', headers });
    expect(last()).toMatchObject({ responseStatus: { code: 400 } });
    expect(last()).not.toHaveProperty('requestObject');
  });

  it('are the options of a deletion and its Status', async () => {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
    const answer = await server.send('DELETE', `${maps}/yaml`, { body: options });
    const { details } = answer.json() as JsonObject;
    expect(last()).toMatchObject({
      verb: 'delete',
      requestObject: options,
      responseStatus: { metadata: {}, status: 'Success', details, code: 200 },
      responseObject: { kind: 'Status', apiVersion: 'v1', status: 'Success', details },
    });
    await server.send('DELETE', `${maps}?labelSelector=no%3Dne`);
    expect(last()).toMatchObject({ verb: 'deletecollection', responseObject: { kind: 'ConfigMapList', items: [] } });
  });

  it('have no managed fields where the rule omits them', async () => {
    const body = { metadata: { name: 's' }, spec: { ports: [{ port: 1 }] } };
    const made = (await server.send('POST', `${ns}/services`, { body })).json() as { metadata: JsonObject };
    const { managedFields, ...metadata } = made.metadata;
    expect(managedFields).toHaveLength(1);
    expect(last()['responseObject']).toEqual({ ...made, metadata });
    await server.send('GET', `${ns}/services`);
    expect((last()['responseObject'] as { items: JsonObject[] }).items[0]?.['metadata']).toEqual(metadata);
    const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    await server.send('GET', `${ns}/services?includeObject=Object`, { headers: table });
    expect(last()).toMatchObject({ responseObject: { kind: 'Table', rows: [{ object: { metadata } }] } });
    expect(JSON.stringify(server.events)).not.toContain('managedFields');
  });

  it('are left out when they are too large, and the event says so', async () => {
    for (const name of ['large-0', 'large-1', 'large-2']) {
      await server.send('POST', `${ns}/configmaps`, { body: configMap(name, { a: 'x'.repeat(1_048_500) }) });
    }
    server.events.length = 0;
    expect((await server.send('GET', maps)).status).toBe(200);
    expect(last()).toMatchObject({ annotations: { 'audit.k8s.io/truncated': 'true' }, responseStatus: { code: 200 } });
    expect(last()).not.toHaveProperty('responseObject');
    await server.send('DELETE', maps);
  });

  it('are none of secrets and tokens at the level Metadata', async () => {
    const secret = { metadata: { name: 's' }, stringData: { password: 'hunter2' } };
    await server.send('POST', `${ns}/secrets`, { body: secret });
    await server.send('GET', `${ns}/secrets/s`);
    await server.send('GET', `${ns}/secrets`);
    const headers = { 'content-type': 'application/merge-patch+json' };
    await server.send('PATCH', `${ns}/secrets/s`, { body: { stringData: { password: 'hunter2' } }, headers });
    await server.send('POST', `${ns}/secrets`, { body: '{"stringData":{"password":"hunter2"' });
    await server.send('POST', `${ns}/serviceaccounts/x/token`, { body: { spec: { audiences: ['hunter2'] } } });
    expect(server.events.filter(({ stage }) => stage === 'ResponseComplete')).toHaveLength(6);
    expect(JSON.stringify(server.events)).not.toMatch(/hunter2|aHVudGVyMg/);
    expect(server.events[1]).toMatchObject({ objectRef: { name: 's' } });
  });
});

describe('a request that fails', () => {
  it('has the Status of its error', async () => {
    const { json } = await server.send('GET', `${maps}/absent`);
    const { details, message } = json() as { details: object; message: string };
    expect(last()['responseStatus']).toEqual(failure(404, 'NotFound', message, details));
    expect(last()['responseObject']).toEqual(json());
    expect(stagesOf()).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  it('has a code only when it is answered by a page', async () => {
    expect((await server.send('GET', '/nope')).status).toBe(404);
    expect(last()['responseStatus']).toEqual({ metadata: {}, code: 404 });
  });

  it('and is forbidden has the reason', async () => {
    await server.send('HEAD', `${maps}/x`, { token: 'jane' });
    expect(last()).toMatchObject({
      verb: 'get',
      user: { username: 'jane' },
      responseStatus: { code: 403, reason: 'Forbidden' },
      annotations: { 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': 'a test says so' },
    });
  });

  it('and is not authenticated has one event without a user', async () => {
    await server.send('GET', `${maps}/x`, { token: 'wrong' });
    expect(server.events).toEqual([
      expect.objectContaining({
        stage: 'ResponseStarted',
        user: {},
        verb: 'get',
        objectRef: { resource: 'configmaps', namespace: 'default', name: 'x', apiVersion: 'v1' },
        responseStatus: failure(401, 'Unauthorized', 'Unauthorized'),
      }),
    ]);
    expect(last()).not.toHaveProperty('annotations');
  });

  it('and cannot be parsed has none', async () => {
    expect((await server.send('GET', '/%ff')).status).toBe(400);
    expect(server.events).toEqual([]);
  });

  it('by an unexpected error has the stage Panic in place of the last one; its number is logged with the Audit-ID', async () => {
    const answer = await server.send('GET', '/panics', { token: 'jane' });
    expect(answer.status).toBe(500);
    expect(stagesOf()).toEqual(['RequestReceived', 'Panic']);
    expect(last()['responseStatus']).toEqual(failure(500, 'InternalError', "APIServer panic'd: broken"));
    expect(server.errors.at(-1)?.fields).toMatchObject({ auditID: answer.headers['audit-id'] });
  });
});

describe('the annotations of authorization', () => {
  it('name the binding and the role that allow a request', async () => {
    expect((await server.send('GET', '/version', { token: 'jane' })).status).toBe(200);
    expect(last()['annotations']).toEqual({
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason':
        'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
    });
  });

  it('have no decision where the authorizer failed', async () => {
    await server.send('GET', '/panics', { token: 'jane' });
    expect(last()['annotations']).toEqual({ 'authorization.k8s.io/reason': 'internal error' });
  });
});

describe('the annotations of authentication', () => {
  const stale = { 'authentication.k8s.io/stale-token': 'old' };

  it('are those of all events of a request', async () => {
    await server.send('GET', maps, { token: 'stale' });
    expect(stagesOf()).toEqual(['RequestReceived', 'ResponseComplete']);
    expect(server.events[0]?.['annotations']).toEqual(stale);
    expect(last()['annotations']).toMatchObject({ ...stale, 'authorization.k8s.io/decision': 'forbid' });
  });

  it('are those of a review of the token', async () => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'stale' } };
    const { json } = await server.send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body });
    expect(json()).toMatchObject({ status: { authenticated: true } });
    expect(last()['annotations']).toMatchObject(stale);
    await server.send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: { ...body, spec: { token: 'jane' } },
    });
    expect(last()['annotations']).not.toHaveProperty(['authentication.k8s.io/stale-token']);
  });
});

describe('impersonation', () => {
  it('shows both users, also where it is forbidden', async () => {
    const headers = { 'impersonate-user': 'ann', 'impersonate-extra-scopes': 'view' };
    await server.send('GET', maps, { token: 'jane', headers });
    expect(last()).toMatchObject({
      user: { username: 'jane', groups: ['system:authenticated'] },
      impersonatedUser: { username: 'ann', groups: ['system:authenticated'], extra: { scopes: ['view'] } },
    });
    await server.send('GET', maps, { token: '', headers });
    expect(last()).toMatchObject({ user: { username: 'system:anonymous' }, responseStatus: { code: 403 } });
    expect(last()).not.toHaveProperty('impersonatedUser');
  });
});

/** Sends a request and reads nothing of its response. The result disconnects. */
async function open(url: string): Promise<() => void> {
  const listeners: (() => void)[] = [];
  const whenOver = (listener: () => void) => {
    listeners.push(listener);
  };
  await server.handler({ ...requestOf('GET', url), whenOver });
  return () => {
    for (const listener of listeners) listener();
  };
}

describe('a long-running request', () => {
  it('has an event when its response starts, and one when it ends', async () => {
    const answer = await server.handler(requestOf('GET', `${maps}?watch=1`));
    expect(stagesOf()).toEqual(['RequestReceived', 'ResponseStarted']);
    expect(last()).toMatchObject({ verb: 'watch', responseStatus: { metadata: {}, code: 200 } });
    await (answer.body as AsyncIterable<Chunk>)[Symbol.asyncIterator]().return?.();
    expect(stagesOf()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
    expect(last()).not.toHaveProperty('responseObject');
  });

  it('ends when its client disconnects', async () => {
    const disconnect = await open(`${maps}?watch=1`);
    expect(stagesOf()).toEqual(['RequestReceived', 'ResponseStarted']);
    disconnect();
    expect(stagesOf()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
  });

  it.each(['exec', 'log', 'proxy'])('has both also where it fails: %s', async (subresource) => {
    await server.send('GET', `${ns}/pods/absent/${subresource}`);
    expect(stagesOf()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
    expect(server.events.slice(1).map(({ responseStatus }) => (responseStatus as JsonObject)['code'])).toEqual([
      404, 404,
    ]);
    expect(last()).toMatchObject({ objectRef: { resource: 'pods', name: 'absent', subresource } });
  });
});

it('a dropped connection completes a request whose response was not read', async () => {
  const disconnect = await open(maps);
  expect(stagesOf()).toEqual(['RequestReceived']);
  disconnect();
  disconnect();
  expect(stagesOf()).toEqual(['RequestReceived', 'ResponseComplete']);
});

describe('requests that wait for their events', () => {
  let waiting: Fixture;
  /** Events that are not written yet; the stages that cannot be written. */
  let unwritten: { readonly stage: unknown; readonly written: () => void }[] | undefined;
  let failing: readonly unknown[] = [];
  beforeAll(async () => {
    waiting = await makeFixture({
      policy: { rules: [{ level: 'Metadata' }] },
      audited: ({ stage }) =>
        new Promise((resolve) => {
          const written = () => resolve(!failing.includes(stage));
          if (unwritten === undefined) written();
          else unwritten.push({ stage, written });
        }),
    });
  });
  afterAll(() => waiting.close());
  beforeEach(() => {
    unwritten = undefined;
    failing = [];
    waiting.events.length = 0;
  });
  const stages = () => waiting.events.map(({ stage }) => stage);
  const names = async () => {
    const list = (await waiting.send('GET', maps)).json() as { items: { metadata: { name: string } }[] };
    return list.items.map(({ metadata }) => metadata.name);
  };

  it('are carried out when the first event is written, and answered when the last one is', async () => {
    unwritten = [];
    let answered = false;
    const sent = waiting.send('POST', maps, { body: configMap('waits') }).then(() => {
      answered = true;
    });
    for (const stage of ['RequestReceived', 'ResponseComplete']) {
      await expect.poll(() => unwritten?.map((one) => one.stage)).toEqual([stage]);
      expect(answered).toBe(false);
      unwritten.pop()?.written();
    }
    await sent;
    expect(stages()).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  it('are refused, and not carried out, when the first event cannot be written', async () => {
    failing = ['RequestReceived'];
    const answer = await waiting.send('POST', maps, { body: configMap('refused') });
    expect(answer.json()).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: 'Internal error occurred: failed to store audit event',
    });
    expect(stages()).toEqual(['RequestReceived']);
    expect(waiting.auditCounts.rejected).toBe(1);
    failing = [];
    expect(await names()).not.toContain('refused');
  });

  it('are not refused because of another event', async () => {
    failing = ['ResponseComplete'];
    expect((await waiting.send('POST', maps, { body: configMap('recorded') })).status).toBe(201);
    expect(await names()).toContain('recorded');
  });

  it('get the head of a long-running response when its event is written', async () => {
    const opened = waiting.handler(requestOf('GET', `${maps}?watch=1`));
    const { body } = await opened;
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted']);
    await (body as AsyncIterable<Chunk>)[Symbol.asyncIterator]().return?.();
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
  });
});
