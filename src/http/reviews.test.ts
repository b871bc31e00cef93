import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../meta/index.ts';
import { type Fixture, makeFixture, type SendOptions } from './testing/fixture.ts';

const authentication = '/apis/authentication.k8s.io/v1';
const authorization = '/apis/authorization.k8s.io/v1';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await makeFixture();
});
afterAll(() => fixture.close());

async function post(path: string, body: Json, options: SendOptions = {}): Promise<[number, JsonObject]> {
  const { status, json } = await fixture.send('POST', path, { ...options, body });
  return [status, json() as JsonObject];
}

async function statusOf(path: string, spec: JsonObject, options: SendOptions = {}): Promise<Json | undefined> {
  const [code, answer] = await post(path, { spec }, options);
  expect(code).toBe(201);
  return answer['status'];
}

// Refusals as the recorded exchange has them (access.reviews): without the kind.
function refusal(field: string, message: string, reason = 'FieldValueInvalid'): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `.authorization.k8s.io "" is invalid: ${field}: ${message}`,
    reason: 'Invalid',
    details: { group: 'authorization.k8s.io', causes: [{ reason, message, field }] },
    code: 422,
  };
}

describe('selfsubjectreviews', () => {
  const whoami = async (options: SendOptions) => {
    const [code, answer] = await post(`${authentication}/selfsubjectreviews`, {}, options);
    expect(code).toBe(201);
    return answer;
  };

  it('return the user of the request', async () => {
    expect(await whoami({ token: 'jane' })).toEqual({
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
      status: { userInfo: { username: 'jane', groups: ['system:authenticated'] } },
    });
  });

  it('return the impersonated user', async () => {
    const headers = {
      'impersonate-user': 'jane',
      'impersonate-group': 'devs',
      'impersonate-uid': 'u-1',
      'impersonate-extra-scopes': ['view', 'edit'],
    };
    expect((await whoami({ headers }))['status']).toEqual({
      userInfo: {
        username: 'jane',
        uid: 'u-1',
        groups: ['devs', 'system:authenticated'],
        extra: { scopes: ['view', 'edit'] },
      },
    });
  });

  it('are for authenticated users only', async () => {
    expect((await post(`${authentication}/selfsubjectreviews`, {}, { token: '' }))[0]).toBe(403);
  });
});

describe('tokenreviews', () => {
  const path = `${authentication}/tokenreviews`;
  const jane = { username: 'jane', groups: ['system:authenticated'] };
  const wrong = { user: {}, error: 'invalid bearer token' };

  it('return the user of a token', async () => {
    expect(await statusOf(path, { token: 'jane' })).toEqual({ authenticated: true, user: jane, audiences: ['here'] });
  });

  it('return an error for an invalid token', async () => {
    const [code, answer] = await post(path, { spec: { token: 'garbage' } });
    expect(code).toBe(201);
    expect(answer).toMatchObject({ kind: 'TokenReview', spec: { token: 'garbage' }, status: wrong });
  });

  it('check the audiences of a token', async () => {
    expect(await statusOf(path, { token: 'jane', audiences: ['there', 'here'] })).toEqual({
      authenticated: true,
      user: jane,
      audiences: ['here'],
    });
    expect(await statusOf(path, { token: 'jane', audiences: ['there'] })).toEqual(wrong);
  });

  it('require a token', async () => {
    const [code, { message }] = await post(path, { spec: {} });
    expect([code, message]).toEqual([400, 'token is required for TokenReview in authentication']);
  });

  it('are forbidden for an ordinary user', async () => {
    expect((await post(path, { spec: { token: 'jane' } }, { token: 'jane' }))[0]).toBe(403);
  });
});

describe('selfsubjectaccessreviews', () => {
  const path = `${authorization}/selfsubjectaccessreviews`;
  const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };

  it('decide for the user of the request', async () => {
    expect(await post(path, { spec: { resourceAttributes } })).toEqual([
      201,
      {
        kind: 'SelfSubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        metadata: { managedFields: [expect.objectContaining({ manager: 'unknown', operation: 'Update' })] },
        spec: { resourceAttributes },
        status: { allowed: true },
      },
    ]);
    expect(await statusOf(path, { resourceAttributes }, { token: 'jane' })).toEqual({ allowed: false });
    const headers = { 'impersonate-user': 'jane' };
    expect(await statusOf(path, { resourceAttributes }, { headers })).toEqual({ allowed: false });
  });

  it('decide on non-resource paths', async () => {
    const allowed = (asked: string) =>
      statusOf(path, { nonResourceAttributes: { path: asked, verb: 'get' } }, { token: 'jane' });
    expect(await allowed('/healthz')).toMatchObject({
      allowed: true,
      reason: expect.stringContaining('RBAC: allowed by ClusterRoleBinding') as string,
    });
    expect(await allowed('/metrics')).toEqual({ allowed: false });
  });

  it('require exactly one of resourceAttributes and nonResourceAttributes', async () => {
    expect(await post(path, { spec: {} })).toEqual([
      422,
      refusal(
        'spec.resourceAttributes',
        'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    ]);
    const both = { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/', verb: 'get' } };
    expect(await post(path, { spec: both })).toEqual([
      422,
      refusal(
        'spec.nonResourceAttributes',
        'Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes',
      ),
    ]);
  });

  it('have no metadata', async () => {
    const [code, { message }] = await post(path, { metadata: { name: 'x' }, spec: { resourceAttributes } });
    expect(code).toBe(422);
    expect(message).toMatch(/metadata: Invalid value: {"name":"x",.*}: must be empty/);
  });
});

describe('subjectaccessreviews', () => {
  const path = `${authorization}/subjectaccessreviews`;
  const resourceAttributes = { verb: 'delete', resource: 'nodes' };

  it('decide for the given user and groups', async () => {
    expect(await statusOf(path, { user: 'x', groups: ['system:masters'], resourceAttributes })).toEqual({
      allowed: true,
    });
    expect(await statusOf(path, { user: 'admin', resourceAttributes })).toEqual({ allowed: false });
  });

  it('require a user or a group', async () => {
    expect(await post(path, { spec: { resourceAttributes } })).toEqual([
      422,
      refusal('spec.user', 'Invalid value: "": at least one of user or group must be specified'),
    ]);
    expect(await statusOf(path, { groups: ['system:masters'], resourceAttributes })).toEqual({ allowed: true });
  });

  it('may have selectors, which must not be empty', async () => {
    const select = (fieldSelector: JsonObject) =>
      post(path, { spec: { user: 'x', resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector } } });
    expect((await select({ rawSelector: 'spec.nodeName=n1' }))[1]['status']).toEqual({ allowed: false });
    expect((await select({}))[1]).toEqual(
      refusal(
        'spec.resourceAttributes.fieldSelector.requirements',
        'Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
        'FieldValueRequired',
      ),
    );
  });

  it('cannot be listed', async () => {
    expect((await fixture.send('GET', path)).status).toBe(405);
  });
});

describe('localsubjectaccessreviews', () => {
  const path = `${authorization}/namespaces/default/localsubjectaccessreviews`;
  const spec = (attributes: JsonObject) => ({ user: 'x', groups: ['system:masters'], ...attributes });

  it('decide within their namespace', async () => {
    const asked = spec({ resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } });
    const [code, answer] = await post(path, { spec: asked });
    expect(code).toBe(201);
    expect(answer).toMatchObject({ metadata: { namespace: 'default' }, spec: asked, status: { allowed: true } });
  });

  it('reject another namespace', async () => {
    const asked = spec({ resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'other' } });
    expect(await post(path, { spec: asked })).toEqual([
      422,
      refusal('spec.resourceAttributes.namespace', 'Invalid value: "other": must match metadata.namespace'),
    ]);
    const [code, { message }] = await post(path, { metadata: { namespace: 'other' }, spec: asked });
    expect([code, message]).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ]);
  });

  it('reject non-resource attributes', async () => {
    const asked = spec({ nonResourceAttributes: { path: '/x', verb: 'get' } });
    expect(await post(path, { spec: asked })).toEqual([
      422,
      refusal(
        'spec.nonResourceAttributes',
        'Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
      ),
    ]);
  });
});

describe('selfsubjectrulesreviews', () => {
  const path = `${authorization}/selfsubjectrulesreviews`;

  /** The rules that the default roles grant, recorded from the reference server; in no order. */
  const sorted = (rules: unknown) => (rules as JsonObject[]).map((rule) => JSON.stringify(rule)).sort();
  const rulesOf = async (options = {}) => (await statusOf(path, { namespace: 'default' }, options)) as JsonObject;
  const create = (group: string, ...resources: string[]) => ({
    verbs: ['create'],
    apiGroups: [`${group}.k8s.io`],
    resources,
  });
  const ofEveryone = [
    create('authentication', 'selfsubjectreviews'),
    create('authorization', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'),
  ];
  const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
  const discoveryPaths = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'];
  const pathsOfEveryone = [publicPaths, [...publicPaths, ...discoveryPaths].sort()].map((nonResourceURLs) => ({
    verbs: ['get'],
    nonResourceURLs,
  }));

  it('list all rights of system:masters', async () => {
    const { resourceRules, nonResourceRules, incomplete } = await rulesOf();
    const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    expect(sorted(resourceRules)).toEqual(sorted([all, ...ofEveryone]));
    expect(sorted(nonResourceRules)).toEqual(sorted([{ verbs: ['*'], nonResourceURLs: ['*'] }, ...pathsOfEveryone]));
    expect(incomplete).toBe(false);
  });

  it('list the rights of every authenticated user', async () => {
    const { resourceRules, nonResourceRules, incomplete } = await rulesOf({ token: 'jane' });
    expect(sorted(resourceRules)).toEqual(sorted(ofEveryone));
    expect(sorted(nonResourceRules)).toEqual(sorted(pathsOfEveryone));
    expect(incomplete).toBe(false);
  });

  it('return neither metadata nor spec', async () => {
    const [, { metadata, spec }] = await post(path, { spec: { namespace: 'default' } });
    expect([metadata, spec]).toEqual([{}, {}]);
  });

  it('require a namespace', async () => {
    const [code, { message }] = await post(path, { spec: {} });
    expect([code, message]).toEqual([400, 'no namespace on request']);
  });
});

it('stores no review', async () => {
  const version = async () => {
    const list = (await fixture.send('GET', '/api/v1/namespaces')).json() as { metadata: JsonObject };
    return list.metadata['resourceVersion'];
  };
  const before = await version();
  await post(`${authentication}/selfsubjectreviews`, {});
  expect(await version()).toBe(before);
});

describe('the response to a create', () => {
  const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const review = { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } };
  beforeAll(async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const created = await fixture.send('POST', '/api/v1/namespaces/default/pods', {
      body: { metadata: { name: 'p' }, spec },
    });
    expect(created.status).toBe(201);
  });

  it.each<[string, Json]>([
    [`${authentication}/selfsubjectreviews`, {}],
    [`${authorization}/selfsubjectaccessreviews`, review],
    ['/api/v1/namespaces/default/pods/p/eviction', { metadata: { name: 'p' } }],
  ])('is not a Table for a resource that cannot be read: %s', async (path, body) => {
    const ask = (accept: string) => fixture.send('POST', `${path}?dryRun=All`, { body, headers: { accept } });
    const refused = await ask(table);
    expect(refused.status).toBe(406);
    expect(refused.json()).toMatchObject({ reason: 'NotAcceptable' });
    const plain = await ask(`${table}, application/json`);
    expect([plain.status, plain.headers['content-type']]).toEqual([201, 'application/json']);
    expect(plain.json()).not.toMatchObject({ kind: 'Table' });
  });

  it('is a Table for a resource that can be read', async () => {
    const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
    const shown = await fixture.send('POST', path, { body: { metadata: { name: 'c' } }, headers: { accept: table } });
    expect([shown.status, (shown.json() as JsonObject)['kind']]).toEqual([201, 'Table']);
  });
});
