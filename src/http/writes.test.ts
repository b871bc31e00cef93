import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../meta/index.ts';
import { type Fixture, makeFixture } from './testing/fixture.ts';

// Writes of built-in kinds, answered as the reference server does.

const core = '/api/v1/namespaces/default';
const daemonSets = '/apis/apps/v1/namespaces/default/daemonsets';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const merge = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

async function send(method: string, url: string, body?: Json, type = 'application/json') {
  const headers = { 'content-type': type };
  const answer = await server.send(method, url, body === undefined ? {} : { body, headers });
  return { status: answer.status, body: answer.json() as JsonObject };
}

async function make(url: string, object: JsonObject): Promise<void> {
  const { status, body } = await send('POST', `${url}?fieldManager=maker`, object);
  expect(status, JSON.stringify(body)).toBe(201);
}

/** The field sets of a response by manager, of one top-level field. */
function owned({ body }: { body: JsonObject }, field: string): JsonObject {
  const { managedFields = [] } = body['metadata'] as { managedFields?: { manager: string; fieldsV1: JsonObject }[] };
  return Object.fromEntries(
    managedFields.flatMap(({ manager, fieldsV1 }) => {
      const fields = fieldsV1[`f:${field}`];
      return fields === undefined ? [] : [[manager, fields]];
    }),
  );
}

describe('the template generation of a daemon set', () => {
  const set = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'set' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  const count = { 'f:deprecated.daemonset.template.generation': {} };

  beforeAll(() => make(daemonSets, set));

  it('belongs to whoever creates the set', async () => {
    const made = await send('GET', `${daemonSets}/set`);
    expect(owned(made, 'metadata')).toEqual({ maker: { 'f:annotations': { '.': {}, ...count } } });
  });

  it('belongs to nobody when an apply creates the set', async () => {
    const url = `${daemonSets}/applied?fieldManager=z&dryRun=All`;
    const made = await send('PATCH', url, { ...set, metadata: { name: 'applied' } }, apply);
    expect([made.status, owned(made, 'metadata')]).toEqual([201, {}]);
  });

  it('belongs to whoever replaces the set without it', async () => {
    const replaced = await send('PUT', `${daemonSets}/set?fieldManager=z&dryRun=All`, set);
    expect(owned(replaced, 'metadata')).toEqual({
      maker: { 'f:annotations': {} },
      z: { 'f:annotations': count },
    });
  });
});

describe('the finalizers of a namespace', () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' }, spec: { finalizers: ['a/b'] } };

  it.each([
    ['a create', 'POST', '/api/v1/namespaces?fieldManager=z&dryRun=All', 'application/json'],
    ['an apply', 'PATCH', '/api/v1/namespaces/n?fieldManager=z&dryRun=All', apply],
  ])('are owned by %s that sets them', async (_, method, url, type) => {
    expect(owned(await send(method, url, namespace, type), 'spec')).toEqual({ z: { 'f:finalizers': {} } });
  });

  it('are contested by an apply', async () => {
    await make('/api/v1/namespaces', namespace);
    const other = { ...namespace, spec: { finalizers: ['c/d'] } };
    const { status, body } = await send('PATCH', '/api/v1/namespaces/n?fieldManager=z', other, apply);
    expect([status, body['message']]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "maker" using v1: .spec.finalizers',
    ]);
  });
});

describe('an object with list entries that lack their key', () => {
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'unkeyed' },
    secrets: [{ name: 'a' }, {}],
  };

  it('has no managed fields', async () => {
    const { body } = await send('POST', `${core}/serviceaccounts?fieldManager=maker&dryRun=All`, account);
    expect(body['metadata']).not.toHaveProperty('managedFields');
  });

  it('loses its managed fields', async () => {
    await make(`${core}/serviceaccounts`, { ...account, secrets: [{ name: 'a' }] });
    const { status, body } = await send('PUT', `${core}/serviceaccounts/unkeyed`, account);
    expect([status, body['secrets']]).toEqual([200, [{ name: 'a' }, {}]]);
    expect(body['metadata']).not.toHaveProperty('managedFields');
  });
});

it('an object without managed fields gets none by an update, and before-first-apply by an apply', async () => {
  await make(`${core}/configmaps`, { metadata: { name: 'unowned' }, data: { a: '1' } });
  const url = `${core}/configmaps/unowned?fieldManager=z`;
  await send('PATCH', url, { metadata: { managedFields: [{}] } }, merge);
  const changed = await send('PATCH', url, { data: { b: '2' } }, merge);
  expect(changed.body['metadata']).not.toHaveProperty('managedFields');
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'unowned' }, data: { b: '3' } };
  const { status, body } = await send('PATCH', url, applied, apply);
  expect([status, body['message']]).toEqual([
    409,
    'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.b',
  ]);
});

it('replicas that nobody owns get no owner by an update of the scale', async () => {
  const sets = '/apis/apps/v1/namespaces/default/replicasets';
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'scaled' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  };
  await send('PATCH', `${sets}/scaled?fieldManager=maker`, set, apply);
  await send('PATCH', `${sets}/scaled/scale?fieldManager=z`, { spec: { replicas: 3 } }, merge);
  const { body } = await send('GET', `${sets}/scaled`);
  expect(body['spec']).toMatchObject({ replicas: 3 });
  expect(Object.keys(owned({ body }, 'spec'))).toEqual(['maker']);
});

describe('a patch without a resourceVersion', () => {
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b', resourceVersion: '' } };

  beforeAll(() => make(budgets, { metadata: { name: 'b' }, spec: { minAvailable: 1 } }));

  it.each([
    ['a merge patch', merge, { metadata: { resourceVersion: null, labels: { a: 'b' } } }],
    ['a JSON patch', jsonPatch, [{ op: 'replace', path: '/metadata/resourceVersion', value: '' }]],
    ['an apply', apply, { ...budget, spec: { minAvailable: 1 } }],
  ])('is rejected where the kind requires one: %s', async (_, type, patch) => {
    const { status, body } = await send('PATCH', `${budgets}/b?fieldManager=z`, patch, type);
    expect([status, body['message']]).toEqual([
      422,
      'poddisruptionbudgets.policy "b" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
  });

  it('is accepted where the kind does not', async () => {
    await make(`${core}/configmaps`, { metadata: { name: 'free' } });
    const patch = { metadata: { resourceVersion: '' }, data: { a: 'b' } };
    expect((await send('PATCH', `${core}/configmaps/free`, patch, merge)).status).toBe(200);
  });
});

describe('the generateName of an update', () => {
  const patch = { metadata: { generateName: 'A_' } };

  it('is checked by the rule of kinds that check the metadata again', async () => {
    await make(`${core}/configmaps`, { metadata: { name: 'again' } });
    const { status, body } = await send('PATCH', `${core}/configmaps/again`, patch, merge);
    expect(status).toBe(422);
    expect(body['message']).toContain(
      'metadata.generateName: Invalid value: "A_": a lowercase RFC 1123 subdomain must',
    );
  });

  it('is free for others', async () => {
    await make(budgets, { metadata: { name: 'others' }, spec: { minAvailable: 1 } });
    expect((await send('PATCH', `${budgets}/others`, patch, merge)).status).toBe(200);
  });
});

it.each([
  ['configmaps', {}, 2],
  ['events', { involvedObject: { namespace: 'default', kind: 'Pod', name: 'p' } }, 0],
])('a bare finalizer is reported by each metadata check of an update: %s', async (plural, fields, count) => {
  await make(`${core}/${plural}`, { metadata: { name: 'bare' }, ...fields });
  const { body } = await send('PATCH', `${core}/${plural}/bare`, { metadata: { finalizers: ['x'] } }, merge);
  const { causes = [] } = (body['details'] ?? {}) as { causes?: { field: string }[] };
  expect(causes.map(({ field }) => field)).toEqual(Array.from({ length: count }, () => 'metadata.finalizers[0]'));
});

it('the type check in the status of a policy names its expressions', async () => {
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
  await make(policies, {
    metadata: { name: 'policy' },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] },
  });
  const status = { typeChecking: { expressionWarnings: [{ fieldRef: ' ' }] } };
  const { body } = await send('PATCH', `${policies}/policy/status`, { status }, merge);
  const at = 'status.typeChecking.expressionWarnings[0]';
  expect(body['message']).toBe(
    `ValidatingAdmissionPolicy.admissionregistration.k8s.io "policy" is invalid: [${at}.warning: Required value, ${at}.fieldRef: Required value]`,
  );
});

it('stored versions of a definition that a status leaves out are set again', async () => {
  const names = { plural: 'things', kind: 'Thing' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  await make(definitions, {
    metadata: { name: 'things.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  });
  const url = `${definitions}/things.example.com/status?fieldManager=z`;
  for (const patch of [
    [{ op: 'replace', path: '/status/storedVersions', value: [] }],
    [{ op: 'remove', path: '/status' }],
  ]) {
    const { body } = await send('PATCH', url, patch, jsonPatch);
    expect(body['status']).toMatchObject({ storedVersions: ['v1'] });
  }
});
