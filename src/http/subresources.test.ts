import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../meta/index.ts';
import { certificateRequest, type Fixture, makeFixture } from './testing/fixture.ts';

const ns = '/api/v1/namespaces/default';
const pods = `${ns}/pods`;
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const mergePatch = { 'content-type': 'application/merge-patch+json' };

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

/** Status and body of an answer. */
async function ask(method: string, url: string, body?: Json, headers: { [name: string]: string } = {}) {
  const answer = await server.send(method, url, { ...(body === undefined ? {} : { body }), headers });
  return { status: answer.status, headers: answer.headers, body: answer.json() as JsonObject };
}

const patch = (url: string, body: Json) => ask('PATCH', url, body, mergePatch);

const pod = (name: string, spec: JsonObject = {}, labels: { [key: string]: string } = {}): JsonObject => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

async function make(url: string, object: JsonObject): Promise<JsonObject> {
  const { status, body } = await ask('POST', url, object);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = (name: string): JsonObject => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] }, template },
});

describe('scale', () => {
  const scale = (name: string) => `${deployments}/${name}/scale`;
  const made = async (name: string) => {
    const labels = { app: 'x', a: '1' };
    await make(deployments, {
      ...deployment(name),
      spec: {
        selector: (deployment(name)['spec'] as JsonObject)['selector'] as Json,
        template: { ...template, metadata: { labels } },
      },
    });
  };

  it('represents replicas and selector as a Scale', async () => {
    await made('shown');
    const { status, body } = await ask('GET', scale('shown'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { replicas: 0, selector: 'a,app=x' },
    });
    expect(Object.keys(body['metadata'] as JsonObject)).toEqual([
      'name',
      'namespace',
      'uid',
      'resourceVersion',
      'creationTimestamp',
    ]);
  });

  it('has a Table of its own', async () => {
    await made('tabled');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await ask('GET', scale('tabled'), undefined, { accept });
    const { columnDefinitions, rows } = body as unknown as {
      columnDefinitions: { name: string; type: string }[];
      rows: { cells: Json[]; object: { metadata: JsonObject } }[];
    };
    expect(columnDefinitions.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Desired', 'integer'],
      ['Available', 'integer'],
      ['Age', 'string'],
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.cells.slice(0, 3)).toEqual(['tabled', 1, 0]);
    expect(Object.keys(rows[0]?.object.metadata ?? {})).not.toContain('generation');
  });

  it('changes the replicas only, and increments the generation of the object', async () => {
    await made('changed');
    expect((await patch(scale('changed'), { spec: { replicas: 3 } })).body['spec']).toEqual({ replicas: 3 });
    const { body } = await ask('GET', `${deployments}/changed`);
    expect(body).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 3, selector: { matchLabels: { app: 'x' } } },
    });
    expect(body['kind']).toBe('Deployment');
    const put = { metadata: { name: 'changed', namespace: 'default' }, spec: {} };
    expect((await ask('PUT', scale('changed'), put)).body['spec']).toEqual({});
    expect((await ask('GET', `${deployments}/changed`)).body['spec']).toMatchObject({ replicas: 0 });
  });

  it('rejects negative replicas before it checks the resourceVersion', async () => {
    await made('negative');
    const body = { metadata: { name: 'negative', resourceVersion: '1' }, spec: { replicas: -4 } };
    expect(await ask('PUT', scale('negative'), body)).toMatchObject({
      status: 422,
      body: {
        message:
          'Scale.autoscaling "negative" is invalid: spec.replicas: Invalid value: -4: must be greater than or equal to 0',
        details: { group: 'autoscaling', kind: 'Scale', name: 'negative' },
      },
    });
  });

  it('rejects another name or uid and a stale resourceVersion', async () => {
    await made('old');
    const put = (metadata: JsonObject) =>
      ask('PUT', scale('old'), { metadata: { name: 'old', ...metadata }, spec: { replicas: 2 } });
    expect(await put({ resourceVersion: '1' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('deployments.apps "old": the object has been modified') as string },
    });
    expect(await put({ uid: 'other' })).toMatchObject({
      status: 409,
      body: {
        message: expect.stringMatching(
          /deployments\.apps "old": StorageError: invalid object, Code: 4, Key: \/registry\/deployments\/default\/old, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: /,
        ) as string,
        details: { kind: 'deployments' },
      },
    });
  });

  it('is 404 for a missing object', async () => {
    expect((await ask('GET', scale('absent'))).body['message']).toBe('deployments.apps "absent" not found');
    expect((await patch(scale('absent'), {})).body['message']).toBe('deployments.apps "absent" not found');
  });

  it('uses the selector labels of a replication controller', async () => {
    const url = `${ns}/replicationcontrollers`;
    await make(url, { metadata: { name: 'rc' }, spec: { selector: { app: 'x' }, template } });
    expect((await ask('GET', `${url}/rc/scale`)).body['status']).toEqual({ replicas: 0, selector: 'app=x' });
  });
});

describe('a new object with a resourceVersion', () => {
  // 0 means no version; any other is rejected only when the object is stored.
  it.each(['0', '5'])('is validated before the resourceVersion is checked: %s', async (resourceVersion) => {
    const answer = await ask('POST', `${ns}/persistentvolumeclaims`, { metadata: { name: 'v', resourceVersion } });
    expect(answer.status).toBe(422);
    expect(answer.body['message']).toContain('spec.accessModes: Required value: at least 1 access mode is required');
  });
});

describe('status', () => {
  it('of a deployment does not change its labels', async () => {
    await make(deployments, {
      ...deployment('labelled'),
      metadata: { name: 'labelled', labels: { a: '1' } },
      spec: { selector: { matchLabels: { app: 'x' } }, template },
    });
    const { body } = await patch(`${deployments}/labelled/status`, {
      metadata: { labels: { a: '2' } },
      spec: { replicas: 9 },
      status: { observedGeneration: 1 },
    });
    expect(body).toMatchObject({
      metadata: { labels: { a: '1' } },
      spec: { replicas: 1 },
      status: { observedGeneration: 1 },
    });
  });
});

describe('binding', () => {
  const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  const to = (name: string, node = 'node-9'): JsonObject => ({
    metadata: { name },
    target: { kind: 'Node', name: node },
  });

  it('assigns a pod to a node, once', async () => {
    await make(pods, pod('b'));
    expect(await ask('POST', `${pods}/b/binding`, to('b'))).toMatchObject({ status: 201, body: done });
    const { body } = await ask('GET', `${pods}/b`);
    expect(body).toMatchObject({
      spec: { nodeName: 'node-9' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True', lastProbeTime: null }] },
    });
    expect(await ask('POST', `${pods}/b/binding`, to('b'))).toMatchObject({
      status: 409,
      body: {
        message: 'Operation cannot be fulfilled on pods/binding "b": pod b is already assigned to node "node-9"',
        details: { name: 'b', kind: 'pods/binding' },
      },
    });
  });

  it('has its preconditions reported as the reference server reports them', async () => {
    await make(pods, pod('meant'));
    const meant = { ...to('meant'), metadata: { name: 'meant', uid: 'x' } };
    for (const [query, root] of [
      ['', '/registry'],
      ['?dryRun=All', ''],
    ]) {
      const { status, body } = await ask('POST', `${pods}/meant/binding${query}`, meant);
      expect([status, body['details']]).toEqual([409, { name: 'meant', kind: 'pods' }]);
      expect(body['message']).toContain(
        `Operation cannot be fulfilled on pods "meant": StorageError: invalid object, Code: 4, Key: ${root}/pods/default/meant, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: `,
      );
    }
  });

  it('is served as the resource bindings too', async () => {
    await make(pods, pod('beside'));
    expect((await ask('POST', `${ns}/bindings`, to('beside'))).status).toBe(201);
    expect((await ask('GET', `${pods}/beside`)).body['spec']).toMatchObject({ nodeName: 'node-9' });
    const message = async (name: string) => (await ask('POST', `${ns}/bindings`, to(name))).body['message'];
    expect(await message('')).toBe('Name parameter required.');
    // A uid is that of a new binding, which has none yet: it says nothing of the pod.
    await make(pods, pod('aside'));
    const { metadata, ...rest } = to('aside');
    const named = { ...rest, metadata: { ...(metadata as JsonObject), uid: 'x' } };
    expect((await ask('POST', `${ns}/bindings`, named)).status).toBe(201);
    expect(await message('../x')).toBe(`Name parameter invalid: "../x": may not contain '/'`);
  });

  it('with dry run is not stored', async () => {
    await make(pods, pod('dry'));
    expect((await ask('POST', `${pods}/dry/binding?dryRun=All`, to('dry'))).status).toBe(201);
    expect((await ask('GET', `${pods}/dry`)).body['spec']).not.toHaveProperty('nodeName');
  });

  it('rejects missing pods, pods with scheduling gates, and another name', async () => {
    await make(pods, pod('gated', { schedulingGates: [{ name: 'example.com/g' }] }));
    const message = async (url: string, body: JsonObject) => (await ask('POST', url, body)).body['message'];
    expect(await message(`${pods}/absent/binding`, to('absent'))).toBe('pods "absent" not found');
    expect(await message(`${pods}/gated/binding`, to('gated'))).toContain(
      'pod gated has non-empty .spec.schedulingGates',
    );
    expect(await message(`${pods}/gated/binding`, to('other'))).toBe(
      'name in URL does not match name in Binding object',
    );
    const elsewhere = { ...to('other'), metadata: { name: 'other', namespace: 'elsewhere' } };
    expect(await message(`${pods}/gated/binding`, elsewhere)).toBe(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
    expect(await message(`${pods}/gated/binding`, to('gated', ''))).toBe('target.name: Required value');
  });
});

describe('eviction', () => {
  const evict = (name: string, more: JsonObject = {}, query = '') =>
    ask('POST', `${pods}/${name}/eviction${query}`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name },
      ...more,
    });
  const running = async (name: string, app: string, ready = true) => {
    await make(pods, pod(name, { nodeName: 'n' }, { app }));
    const conditions = ready ? [{ type: 'Ready', status: 'True' }] : [];
    await patch(`${pods}/${name}/status`, { status: { phase: 'Running', conditions } });
  };
  const budget = async (name: string, app: string, status: JsonObject) => {
    await make(budgets, { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app } } } });
    await patch(`${budgets}/${name}/status`, { status });
  };

  it('deletes a pod that no PodDisruptionBudget selects', async () => {
    await make(pods, pod('free'));
    expect(await evict('free')).toMatchObject({ status: 201, body: { status: 'Success', code: 201 } });
    expect((await ask('GET', `${pods}/free`)).status).toBe(404);
    expect((await evict('free')).body['message']).toBe('pods "free" not found');
  });

  it('accepts v1beta1 of Eviction, and no other version', async () => {
    await make(pods, pod('former'));
    const asked = await evict('former', { apiVersion: 'policy/v1alpha1' });
    expect(asked).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
    expect((await evict('former', { apiVersion: 'policy/v1beta1' })).status).toBe(201);
    expect((await ask('GET', `${pods}/former`)).status).toBe(404);
  });

  it('is 429 while the status of the budget is not observed', async () => {
    await running('unseen', 'unseen');
    await budget('unseen', 'unseen', { observedGeneration: 0, disruptionsAllowed: 1 });
    const answer = await evict('unseen');
    expect(answer.headers['retry-after']).toBe('10');
    expect(answer).toMatchObject({
      status: 429,
      body: {
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget unseen is still being processed by the server.',
            },
          ],
          retryAfterSeconds: 10,
        },
      },
    });
  });

  it('decrements disruptionsAllowed until none is left', async () => {
    for (const name of ['one', 'two']) await running(name, 'kept');
    const counts = {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
    };
    await budget('kept', 'kept', counts);
    expect((await evict('one', {}, '?dryRun=All')).status).toBe(201);
    expect((await evict('one', { deleteOptions: { dryRun: ['All'] } })).status).toBe(201);
    expect((await ask('GET', `${budgets}/kept`)).body['status']).toMatchObject({ disruptionsAllowed: 1 });
    // A rehearsal leaves no word on why either.
    expect((await ask('GET', `${pods}/one`)).body['status']).toMatchObject({ conditions: [{ type: 'Ready' }] });
    expect((await evict('one')).status).toBe(201);
    const { body } = await ask('GET', `${budgets}/kept`);
    expect(body['status']).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { one: expect.any(String) as string },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    expect((await ask('GET', `${pods}/one`)).body).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 30 },
      status: {
        conditions: [
          { type: 'Ready' },
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'EvictionByEvictionAPI',
            message: 'Eviction API: evicting',
            lastProbeTime: null,
          },
        ],
      },
    });
    await patch(`${budgets}/kept/status`, { status: { currentHealthy: 1 } });
    const refused = await evict('two');
    expect(refused).toMatchObject({
      status: 429,
      body: {
        details: { causes: [{ message: 'The disruption budget kept needs 1 healthy pods and has 1 currently' }] },
      },
    });
    expect(refused.headers['retry-after']).toBeUndefined();
    // It is on its way already: that disturbs nobody any more.
    expect((await evict('one')).status).toBe(201);
  });

  it('evicts an unhealthy pod while enough are healthy', async () => {
    await running('sick', 'sick', false);
    await budget('sick', 'sick', { observedGeneration: 1, currentHealthy: 2, desiredHealthy: 2 });
    expect((await evict('sick')).status).toBe(201);
    expect((await ask('GET', `${budgets}/sick`)).body['status']).not.toHaveProperty('disruptedPods');
  });

  it('heeds a budget whose selector is empty for every pod, and one without a selector for none', async () => {
    await running('any', 'any');
    await make(budgets, { metadata: { name: 'absent' }, spec: { minAvailable: 1 } });
    await make(budgets, { metadata: { name: 'empty' }, spec: { minAvailable: 1, selector: {} } });
    expect(await evict('any')).toMatchObject({
      status: 429,
      body: { details: { causes: [{ message: expect.stringContaining('The disruption budget empty ') }] } },
    });
    for (const name of ['absent', 'empty']) await ask('DELETE', `${budgets}/${name}`);
    expect((await evict('any')).status).toBe(201);
  });

  it('uses each of several budgets, and none if one of them refuses', async () => {
    const counts = { observedGeneration: 1, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 };
    await running('torn', 'torn');
    await budget('torn-1', 'torn', { ...counts, disruptionsAllowed: 1 });
    await budget('torn-2', 'torn', { ...counts, disruptionsAllowed: 0 });
    const statusOf = async (name: string) => (await ask('GET', `${budgets}/${name}`)).body['status'];
    expect(await evict('torn')).toMatchObject({
      status: 429,
      body: { details: { causes: [{ message: expect.stringContaining('The disruption budget torn-2 ') }] } },
    });
    expect(await statusOf('torn-1')).toMatchObject({ disruptionsAllowed: 1 });
    expect(await statusOf('torn-1')).not.toHaveProperty('disruptedPods');
    await patch(`${budgets}/torn-2/status`, { status: { disruptionsAllowed: 2 } });
    expect((await evict('torn')).status).toBe(201);
    const disruptedPods = { torn: expect.any(String) as string };
    expect(await statusOf('torn-1')).toMatchObject({ disruptionsAllowed: 0, disruptedPods });
    expect(await statusOf('torn-2')).toMatchObject({ disruptionsAllowed: 1, disruptedPods });
  });

  it('spends no budget of several that spares a pod which is not ready', async () => {
    await running('ill', 'ill', false);
    const counts = { observedGeneration: 1, currentHealthy: 1, disruptionsAllowed: 1 };
    await budget('ill-1', 'ill', { ...counts, desiredHealthy: 1 });
    await budget('ill-2', 'ill', { ...counts, desiredHealthy: 2 });
    expect((await evict('ill')).status).toBe(201);
    expect((await ask('GET', `${budgets}/ill-1`)).body['status']).toMatchObject({ disruptionsAllowed: 1 });
    expect((await ask('GET', `${budgets}/ill-2`)).body['status']).toMatchObject({ disruptionsAllowed: 0 });
  });

  it('deletes with its deleteOptions', async () => {
    await running('quick', 'quick');
    const preconditions = { uid: 'another' };
    expect((await evict('quick', { deleteOptions: { preconditions } })).status).toBe(409);
    const { body } = await ask('GET', `${pods}/quick`);
    expect(body['status']).toMatchObject({ conditions: [{ type: 'Ready' }] });
    const { resourceVersion } = body['metadata'] as { resourceVersion: string };
    const asMeant = { preconditions: { resourceVersion }, gracePeriodSeconds: 20 };
    expect((await evict('quick', { deleteOptions: asMeant })).status).toBe(201);
    expect(await evict('quick', { deleteOptions: asMeant })).toMatchObject({
      status: 409,
      body: {
        message: expect.stringContaining(`the ResourceVersion in the precondition (${resourceVersion})`) as string,
      },
    });
    expect((await evict('quick', { deleteOptions: { gracePeriodSeconds: 0 } })).status).toBe(201);
    expect((await ask('GET', `${pods}/quick`)).status).toBe(404);
  });
});

describe('ephemeralcontainers and resize', () => {
  it('ephemeral containers are added and cannot be removed', async () => {
    await make(pods, pod('looked', {}, { a: '1' }));
    const url = `${pods}/looked/ephemeralcontainers`;
    const debug = { name: 'debug', image: 'sh' };
    const { status, body } = await patch(url, {
      metadata: { labels: { a: '2' } },
      spec: { nodeName: 'n', ephemeralContainers: [debug] },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ metadata: { labels: { a: '1' } }, spec: { ephemeralContainers: [debug] } });
    expect(body['spec']).not.toHaveProperty('nodeName');
    expect(await patch(url, { spec: { ephemeralContainers: null } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'spec.ephemeralContainers', reason: 'FieldValueForbidden' }] } },
    });
  });

  it('resize changes cpu and memory within the QoS class', async () => {
    const resources = (cpu: string) => ({ requests: { cpu, memory: '1Mi' } });
    const spec = (cpu: string, image = 'i') => ({ containers: [{ name: 'c', image, resources: resources(cpu) }] });
    await make(pods, pod('resized', spec('1')));
    const url = `${pods}/resized/resize`;
    const grown = await patch(url, { spec: spec('2', 'other') });
    expect(grown.status, JSON.stringify(grown.body)).toBe(200);
    expect(grown.body).toMatchObject({ metadata: { generation: 2 }, spec: spec('2') });
    const message = async (body: JsonObject) => (await patch(url, body)).body['message'];
    expect(await message({ spec: { containers: [{ name: 'c', image: 'i' }] } })).toContain(
      'Pod QOS Class may not change',
    );
    const limited = { ...resources('2'), limits: { cpu: '2', memory: '1Mi' } };
    expect(await message({ spec: { containers: [{ name: 'c', image: 'i', resources: limited }] } })).toContain(
      'Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    );
    expect(await message({ spec: { containers: [] } })).toContain('containers may not be added or removed on resize');
  });
});

describe('deletion of pods', () => {
  const remove = (name: string, query = '') => ask('DELETE', `${pods}/${name}${query}`);

  it('gives a running pod its grace period, which can be shortened only', async () => {
    await make(pods, pod('runs', { nodeName: 'n' }));
    const { status, body } = await remove('runs');
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30, generation: 2 } });
    const until = (answer: { body: JsonObject }) => {
      const { deletionTimestamp, deletionGracePeriodSeconds } = answer.body['metadata'] as JsonObject;
      return [Date.parse(deletionTimestamp as string), deletionGracePeriodSeconds];
    };
    const [first] = until({ body }) as [number];
    expect(until(await remove('runs', '?gracePeriodSeconds=5'))).toEqual([first - 25_000, 5]);
    expect(until(await remove('runs', '?gracePeriodSeconds=60'))).toEqual([first - 25_000, 5]);
    expect(until(await remove('runs'))).toEqual([first - 25_000, 5]);
    expect((await remove('runs', '?gracePeriodSeconds=0')).body).toMatchObject({
      kind: 'Pod',
      metadata: { deletionGracePeriodSeconds: 0 },
    });
    expect((await remove('runs')).status).toBe(404);
  });

  it('defaults to terminationGracePeriodSeconds, at least one second', async () => {
    await make(pods, pod('own', { nodeName: 'n', terminationGracePeriodSeconds: 7 }));
    expect((await remove('own')).body['metadata']).toMatchObject({ deletionGracePeriodSeconds: 7 });
    await make(pods, pod('below', { nodeName: 'n' }));
    expect((await remove('below', '?gracePeriodSeconds=-5')).body['metadata']).toMatchObject({
      deletionGracePeriodSeconds: 1,
    });
  });

  it('removes a pod at once that is unscheduled or terminated', async () => {
    await make(pods, pod('nowhere'));
    await make(pods, pod('over', { nodeName: 'n' }));
    await patch(`${pods}/over/status`, { status: { phase: 'Succeeded' } });
    for (const name of ['nowhere', 'over']) {
      expect((await remove(name, '?dryRun=All')).body['metadata']).toMatchObject({ deletionGracePeriodSeconds: 0 });
      expect((await remove(name)).body['metadata']).toMatchObject({ deletionGracePeriodSeconds: 0 });
      expect((await remove(name)).status).toBe(404);
    }
  });

  it('is 202 with orphanDependents=false while the pod remains', async () => {
    await make(pods, pod('begun', { nodeName: 'n' }));
    expect((await remove('begun', '?orphanDependents=false')).status).toBe(202);
    expect((await remove('begun', '?orphanDependents=false&gracePeriodSeconds=0')).status).toBe(200);
  });

  it('waits for finalizers beyond the grace period', async () => {
    await make(pods, { ...pod('held'), metadata: { name: 'held', finalizers: ['example.com/f'] } });
    expect((await remove('held', '?gracePeriodSeconds=0')).body['metadata']).toMatchObject({
      deletionGracePeriodSeconds: 0,
      finalizers: ['example.com/f'],
    });
    expect((await patch(`${pods}/held`, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await ask('GET', `${pods}/held`)).status).toBe(404);
  });
});

describe('namespaces', () => {
  const url = '/api/v1/namespaces';
  const finalize = (name: string, finalizers: string[]) =>
    ask('PUT', `${url}/${name}/finalize`, { metadata: { name }, spec: { finalizers } });

  it('are marked, and stay until spec.finalizers is empty', async () => {
    await make(url, { metadata: { name: 'short' } });
    const { status, body } = await ask('DELETE', `${url}/short`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'Namespace',
      metadata: { deletionTimestamp: expect.any(String) as string },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Terminating' },
    });
    expect(body['metadata']).not.toHaveProperty('deletionGracePeriodSeconds');
    expect((await ask('DELETE', `${url}/short`)).body).toEqual(body);
    expect((await finalize('short', ['kubernetes', 'example.com/mine'])).body['spec']).toEqual({
      finalizers: ['kubernetes', 'example.com/mine'],
    });
    expect((await finalize('short', ['mine'])).status).toBe(422);
    expect((await finalize('short', [])).status).toBe(200);
    expect((await ask('GET', `${url}/short`)).status).toBe(404);
  });

  it('without spec.finalizers are still marked first', async () => {
    await make(url, { metadata: { name: 'bare' } });
    await finalize('bare', []);
    expect((await patch(`${url}/bare`, { metadata: { labels: { a: 'b' } } })).body['spec']).toEqual({});
    expect((await ask('DELETE', `${url}/bare`)).body['status']).toEqual({ phase: 'Terminating' });
    expect((await ask('DELETE', `${url}/bare`)).body['kind']).toBe('Namespace');
    expect((await ask('GET', `${url}/bare`)).status).toBe(404);
  });

  it('have preconditions checked', async () => {
    await make(url, { metadata: { name: 'meant' } });
    const { body } = await ask('DELETE', `${url}/meant`, { preconditions: { resourceVersion: '1' } });
    expect(body['message']).toMatch(
      /^Operation cannot be fulfilled on namespaces "meant": Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: \d+$/,
    );
  });
});

describe('a token of a service account', () => {
  it('is a 501 without a handler of token requests', async () => {
    await make(`${ns}/serviceaccounts`, { metadata: { name: 'sa' } });
    const answer = await ask('POST', `${ns}/serviceaccounts/sa/token`, { metadata: {}, spec: {} });
    expect([answer.status, answer.body['message']]).toEqual([
      501,
      'serviceaccounts/token is not served by this server',
    ]);
  });
});

describe('the approval of a certificate signing request', () => {
  it('changes conditions only, and sets their times', async () => {
    const url = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const spec = { request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'] };
    await make(url, { metadata: { name: 'r' }, spec });
    const { status, body } = await patch(`${url}/r/approval`, {
      spec: { signerName: 'example.com/other' },
      status: { certificate: 'AAAA', conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body['spec']).toMatchObject({ signerName: 'example.com/s' });
    const time = expect.stringMatching(/^\d{4}-/) as string;
    expect(body['status']).toEqual({
      conditions: [{ type: 'Approved', status: 'True', reason: 'r', lastUpdateTime: time, lastTransitionTime: time }],
    });
    // The status itself decides nothing.
    const { body: refused } = await patch(`${url}/r/status`, { status: { conditions: null } });
    expect(refused['message']).toContain('updates may not remove a condition of type "Approved"');
  });
});

describe('deprecated versions', () => {
  it('name their replacement in a warning', async () => {
    const { headers } = await server.send('GET', `${ns}/endpoints`);
    expect(headers['warning']).toEqual([
      '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
    ]);
  });
});
