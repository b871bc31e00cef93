import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerOptions } from '../src/server/index.ts';
import { openMemoryStore } from '../src/store/index.ts';
import { drivenClock } from '../src/store/testing/driven-clock.ts';
import { type Hook, startHook } from './support/hook.ts';
import { settle, startWorld, type World } from './support/in-process.ts';
import { startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

// Admission policies of whole servers.

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function start(settings?: ServerOptions, ...more: [seed?: number, under?: Parameters<typeof startWorld>[2]]) {
  const world = await startWorld(settings, ...more);
  open.push(world.close);
  return world;
}

const group = 'admissionregistration.k8s.io';
const configMaps = '/api/v1/namespaces/default/configmaps';
const exec = '/api/v1/namespaces/default/pods/p/exec?command=sh&stdout=true&container=c';
const note = (name: string, data: object = { a: '1' }) => ({ metadata: { name }, data });
const rule = (resources: string[], operations = ['CREATE', 'UPDATE']) => ({
  apiGroups: [''],
  apiVersions: ['*'],
  operations,
  resources,
});

/** Creates a validating policy of config maps and its binding. */
async function bind(
  { send }: World,
  validations: (string | object)[],
  spec: { readonly resourceRules?: object[]; readonly [field: string]: unknown } = {},
  binding: object = {},
): Promise<void> {
  const { resourceRules = [rule(['configmaps'])], ...more } = spec;
  const url = `/apis/${group}/v1/validatingadmissionpolic`;
  const made = await send('POST', `${url}ies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules },
      validations: validations.map((one) => (typeof one === 'string' ? { expression: one } : one)),
      ...more,
    },
  });
  const bound = await send('POST', `${url}ybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'], ...binding },
  });
  expect([made.status, bound.status]).toEqual([201, 201]);
}

/** Creates a mutating policy with JSON patches and its binding. */
async function bindMutating({ send }: World, resourceRules: object[], expression: string, spec: object = {}) {
  const url = `/apis/${group}/v1alpha1/mutatingadmissionpolic`;
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }];
  const made = await send('POST', `${url}ies`, {
    metadata: { name: 'm' },
    spec: { matchConstraints: { resourceRules }, mutations, reinvocationPolicy: 'Never', ...spec },
  });
  const bound = await send('POST', `${url}ybindings`, { metadata: { name: 'm' }, spec: { policyName: 'm' } });
  expect([made.status, bound.status]).toEqual([201, 201]);
}

const mutating: ServerOptions = {
  featureGates: { MutatingAdmissionPolicy: true },
  runtimeConfig: { [`${group}/v1alpha1`]: true },
};

/** Registers a webhook for the resources. */
async function register({ send }: World, kind: string, resources: string[], answer: (request: object) => object) {
  const hook: Hook = await startHook(({ review: { apiVersion, request } }) => ({
    apiVersion,
    kind: 'AdmissionReview',
    response: { uid: request.uid, ...answer(request) },
  }));
  open.push(() => hook.close());
  const made = await send('POST', `/apis/${group}/v1/${kind}webhookconfigurations`, {
    metadata: { name: 'c' },
    webhooks: [
      {
        name: 'w.example.com',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [rule(resources, ['*'])],
        clientConfig: { url: hook.url, caBundle: hook.caBundle },
      },
    ],
  });
  expect(made.status).toBe(201);
  return hook;
}

const denied = (why: string) =>
  `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${why}`;

describe('a policy', () => {
  it('takes effect for the next request of its writer, and on the other servers of the store with their watch', async () => {
    const under = openMemoryStore({ clock: drivenClock() });
    const [one, other] = [await start({}, 1, under), await start({}, 2, under)];
    const dryRun = `${configMaps}?dryRun=All`;
    const statuses = async () => [
      (await one.send('POST', dryRun, note('x'))).status,
      (await other.send('POST', dryRun, note('x'))).status,
    ];
    expect(await statuses()).toEqual([201, 201]);
    other.store.hold();
    await bind(one, ['false']);
    expect(await statuses()).toEqual([422, 201]);
    other.store.release();
    await settle();
    expect(await statuses()).toEqual([422, 422]);
    other.store.hold();
    await one.send('DELETE', `/apis/${group}/v1/validatingadmissionpolicybindings/b`);
    expect(await statuses()).toEqual([201, 422]);
    other.store.release();
    await settle();
    expect(await statuses()).toEqual([201, 201]);
  });

  it('has parameters of a custom kind, in the version that it names', async () => {
    const world = await start();
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { most: { type: 'integer' } } },
    };
    await world.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'limits.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'limits', kind: 'Limit' },
        versions: [
          { name: 'v1', served: true, storage: true, schema },
          { name: 'v1beta1', served: true, storage: false, schema },
        ],
      },
    });
    const limits = '/apis/example.com/v1/namespaces/default/limits';
    const paramRef = { selector: { matchLabels: { of: 'data' } }, parameterNotFoundAction: 'Deny' };
    const messageExpression = "params.apiVersion + ' allows ' + string(params.most)";
    await bind(
      world,
      [{ expression: 'object.data.size() <= params.most', messageExpression }],
      { paramKind: { apiVersion: 'example.com/v1beta1', kind: 'Limit' } },
      { paramRef },
    );
    const create = async () =>
      (await world.send('POST', `${configMaps}?dryRun=All`, note('x', { a: '1', b: '2' }))).body;
    const none = 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
    expect((await create()).message).toBe(denied(none));
    const limit = { apiVersion: 'example.com/v1', kind: 'Limit', metadata: { name: 'l', labels: { of: 'data' } } };
    expect((await world.send('POST', limits, { ...limit, most: 1 })).status).toBe(201);
    expect((await create()).message).toBe(denied('example.com/v1beta1 allows 1'));
    await world.send('PATCH', `${limits}/l`, { most: 2 }, { 'content-type': 'application/merge-patch+json' });
    expect((await create()).data).toEqual({ a: '1', b: '2' });
  });

  it('denies, warns and annotates audit events', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'policies-'));
    open.push(() => rmSync(folder, { recursive: true }));
    const auditLogPath = join(folder, 'audit.log');
    const world = await start({ auditLogPath, auditLogMode: 'blocking' });
    const auditAnnotations = [{ key: 'size', valueExpression: 'string(object.data.size())' }];
    await bind(world, ['object.data.size() > 1'], { auditAnnotations }, { validationActions: ['Warn', 'Audit'] });
    const { status, headers } = await world.send('POST', configMaps, note('x'));
    const why = 'failed expression: object.data.size() > 1';
    const warning = `Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': ${why}`;
    expect([status, headers['warning']]).toEqual([201, `299 - "${warning}"`]);
    const events = readFileSync(auditLogPath, 'utf8').trim().split('\n');
    const { annotations } = events
      .map((line) => JSON.parse(line))
      .find(({ objectRef, stage }) => objectRef?.name === 'x' && stage === 'ResponseComplete');
    expect(annotations['p/size']).toBe('1');
    expect(JSON.parse(annotations['validation.policy.admission.k8s.io/validation_failure'])).toEqual([
      { message: why, policy: 'p', binding: 'b', expressionIndex: 0, validationActions: ['Warn', 'Audit'] },
    ]);
  });

  it('asks the authorizer about the user', async () => {
    const world = await start();
    const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterrole';
    await world.send('POST', `${rbac}s`, {
      metadata: { name: 'writer' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
    });
    await world.send('POST', `${rbac}bindings`, {
      metadata: { name: 'writer' },
      subjects: [{ kind: 'User', name: 'ann' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' },
    });
    await bind(world, [
      "authorizer.requestResource.check('create').allowed()",
      { expression: "authorizer.group('').resource('secrets').check('list').allowed()", reason: 'Forbidden' },
    ]);
    expect((await world.send('POST', configMaps, note('a'))).status).toBe(201);
    const refused = await world.send('POST', configMaps, note('x'), { 'impersonate-user': 'ann' });
    expect(refused.body).toMatchObject({
      code: 403,
      message: denied("failed expression: authorizer.group('').resource('secrets').check('list').allowed()"),
    });
  });

  it('that exceeds its cost budget is decided by its failure policy', async () => {
    const each = (inner: string) => `object.data.a.split('').all(c, ${inner})`;
    const costly = each(each(each('true')));
    const large = note('x', { a: 'a'.repeat(200) });
    const world = await start();
    await bind(world, [costly]);
    const { body } = await world.send('POST', configMaps, large);
    expect([body.code, body.message]).toEqual([
      422,
      denied(`expression '${costly}' resulted in error: operation cancelled: actual cost limit exceeded`),
    ]);
    const patch = { spec: { failurePolicy: 'Ignore' } };
    const url = `/apis/${group}/v1/validatingadmissionpolicies/p`;
    await world.send('PATCH', url, patch, { 'content-type': 'application/merge-patch+json' });
    expect((await world.send('POST', configMaps, large)).status).toBe(201);
  });
});

it('a mutating policy is invoked again after a mutating webhook has changed the object', async () => {
  const world = await start(mutating);
  const count = '[JSONPatch{op: "add", path: "/metadata/labels", value: {"keys": string(object.data.size())}}]';
  await bindMutating(world, [rule(['configmaps'])], count, { reinvocationPolicy: 'IfNeeded' });
  const operations = [{ op: 'add', path: '/data/b', value: '2' }];
  const hook = await register(world, 'mutating', ['configmaps'], () => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  }));
  const { body } = await world.send('POST', configMaps, note('x'));
  expect(hook.calls.map(({ review }) => review.request.object.metadata.labels)).toEqual([{ keys: '1' }]);
  expect([body.metadata.labels, body.data]).toEqual([{ keys: '2' }, { a: '1', b: '2' }]);
});

it('a connection passes policies and webhooks of both kinds', async () => {
  const world = await start(mutating);
  const rules = [rule(['pods/exec'], ['CONNECT'])];
  await bindMutating(world, rules, '[JSONPatch{op: "replace", path: "/container", value: "main"}]');
  const told: string[] = [];
  const tell = (by: string) => (request: { object?: { container?: string } }) => {
    told.push(`${by} ${request.object?.container}`);
    return { allowed: by === 'mutating', status: { message: 'no shells' } };
  };
  await register(world, 'mutating', ['pods/exec'], tell('mutating'));
  await bind(world, ["request.subResource == 'exec' && object.container != 'main'"], { resourceRules: rules });
  const refused = await world.send('POST', exec);
  const why = "failed expression: request.subResource == 'exec' && object.container != 'main'";
  expect(refused.body).toMatchObject({
    code: 422,
    message: `pods "p" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${why}`,
  });
  expect(told).toEqual(['mutating main']);
  await world.send('DELETE', `/apis/${group}/v1/validatingadmissionpolicybindings/b`);
  await register(world, 'validating', ['pods/exec'], tell('validating'));
  expect((await world.send('POST', exec)).body.message).toBe(
    'admission webhook "w.example.com" denied the request: no shells',
  );
  expect(told).toEqual(['mutating main', 'mutating main', 'validating main']);
});

describe.skipIf(!hasKubectl())('kubectl', () => {
  it('shows the warning of a policy', async () => {
    const kubectl = await startKubectl();
    open.push(() => kubectl.server.stop());
    const policy = {
      apiVersion: `${group}/v1`,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: [rule(['configmaps'])] },
        validations: [{ expression: 'object.data.a == "1"', message: 'a should be 1' }],
      },
    };
    const binding = {
      apiVersion: `${group}/v1`,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Warn'] },
    };
    await kubectl.run('create', '-f', kubectl.file('policy.json', JSON.stringify(policy)));
    await kubectl.run('create', '-f', kubectl.file('binding.json', JSON.stringify(binding)));
    expect(await kubectl.warns('create', 'cm', 'x', '--from-literal=a=2')).toBe(
      "Warning: Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': a should be 1\n",
    );
    expect(await kubectl.warns('create', 'cm', 'y', '--from-literal=a=1')).toBe('');
  });
});
