import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ApiObject, type FieldError, fieldError, type JsonObject } from '../../meta/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';

// The effects of feature gates and runtime config on clients.
const open: OrchServer[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((server) => server.close()));
});

type Logged = { readonly text: string; readonly fields: { readonly [name: string]: unknown } };

async function start(gates: { [name: string]: boolean } = {}, runtime: { [key: string]: boolean } = {}) {
  const warned: Logged[] = [];
  const failed: Logged[] = [];
  const log = {
    ...silentLog,
    warn: (text: string, fields: Logged['fields']) => void warned.push({ text, fields }),
    error: (text: string, fields: Logged['fields']) => void failed.push({ text, fields }),
  };
  const server = await createServer(
    {
      apiDomain: 'k8s.io',
      controllers: '-*',
      featureGates: gates,
      runtimeConfig: runtime,
    },
    { log },
  );
  open.push(server);
  const request = async (method: string, url: string, body?: JsonObject) => {
    const answer = await server.client.request({
      method,
      url,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    return { status: answer.status, text, json: () => JSON.parse(text) as JsonObject & ApiObject };
  };
  const metric = async (line: string) => {
    const { text } = await request('GET', '/metrics');
    return text
      .split('\n')
      .find((l) => l.startsWith(`${line} `))
      ?.slice(line.length + 1);
  };
  return { server, warned, failed, request, metric };
}

type Started = Awaited<ReturnType<typeof start>>;

const created = async ({ request }: Started, path: string, body: JsonObject): Promise<string> => {
  const { status, text, json } = await request('POST', path, body);
  expect(status, text).toBe(201);
  return JSON.stringify(json()['spec']);
};

const named = (spec: JsonObject) => ({ metadata: { name: 'x' }, spec });
const template = (spec: JsonObject) => ({
  template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
});
const statefulSet = named({
  selector: { matchLabels: { a: 'b' } },
  ...template({}),
  updateStrategy: { rollingUpdate: { maxUnavailable: 2 } },
});
const claim = named({
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  volumeAttributesClassName: 'fast',
});
const access = {
  spec: { resourceAttributes: { verb: 'list', resource: 'pods', labelSelector: { rawSelector: 'a=b' } } },
};
const job = named({ ...template({ restartPolicy: 'Never' }), managedBy: 'example.com/x' });

describe('a feature-gated field', () => {
  // Alpha features, and beta features that are off by default in 1.33, first.
  it.each<[gate: string, byDefault: boolean, path: string, body: JsonObject, field: string]>([
    [
      'MaxUnavailableStatefulSet',
      false,
      '/apis/apps/v1/namespaces/default/statefulsets',
      statefulSet,
      'maxUnavailable',
    ],
    [
      'VolumeAttributesClass',
      false,
      '/api/v1/namespaces/default/persistentvolumeclaims',
      claim,
      'volumeAttributesClassName',
    ],
    ['JobManagedBy', true, '/apis/batch/v1/namespaces/default/jobs', job, 'managedBy'],
    ['JobPodReplacementPolicy', true, '/apis/batch/v1/namespaces/default/jobs', job, 'podReplacementPolicy'],
    ['AuthorizeWithSelectors', true, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', access, 'labelSelector'],
  ])('of %s (%j) is dropped when the feature is disabled', async (gate, byDefault, path, body, field) => {
    const kept = async (on?: boolean) =>
      (await created(await start(on === undefined ? {} : { [gate]: on }), path, body)).includes(field);
    expect([await kept(), await kept(true), await kept(false)]).toEqual([byDefault, true, false]);
  });
});

describe('a feature-gated function', () => {
  it('pods/resize is not served without InPlacePodVerticalScaling', async () => {
    const seen = async (on: boolean) => {
      const { request } = await start({ InPlacePodVerticalScaling: on });
      const documents = await Promise.all(['/api/v1', '/openapi/v3/api/v1'].map((url) => request('GET', url)));
      const { text } = await request('GET', '/api/v1/namespaces/default/pods/x/resize');
      return [...documents.map((document) => /pods\/(\{name\}\/)?resize/.test(document.text)), text];
    };
    expect(await seen(true)).toEqual([true, true, expect.stringContaining('pods \\"x\\" not found')]);
    expect(await seen(false)).toEqual([
      false,
      false,
      expect.stringContaining('the server could not find the requested resource'),
    ]);
  });

  it('sendInitialEvents is rejected without WatchList', async () => {
    const { request } = await start();
    const url = '/api/v1/namespaces?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const { status, text } = await request('GET', url);
    expect(status).toBe(422);
    expect(text).toContain('sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled');
  });

  it.each([
    ['OpenAPIEnums', '/openapi/v3/api/v1', '"enum"'],
    ['StorageVersionHash', '/apis/apps/v1', '"storageVersionHash"'],
  ])('%s is in no document when disabled', async (gate, url, word) => {
    const told = async (on: boolean) => (await (await start({ [gate]: on })).request('GET', url)).text.includes(word);
    expect([await told(true), await told(false)]).toEqual([true, false]);
  });

  it.each([true, false])('all pages of a list show one revision (ListFromCacheSnapshot=%j)', async (on) => {
    const { request } = await start({ ListFromCacheSnapshot: on });
    const names = (list: JsonObject) => (list['items'] as unknown as ApiObject[]).map(({ metadata }) => metadata.name);
    const first = (await request('GET', '/api/v1/namespaces?limit=2')).json();
    await request('POST', '/api/v1/namespaces', { metadata: { name: 'zz' } });
    const rest = (await request('GET', `/api/v1/namespaces?continue=${first.metadata['continue'] as string}`)).json();
    expect([...names(first), ...names(rest)]).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });
});

describe('a part of the API disabled by runtime config', () => {
  // Each with a path that is not served, one that is, and a word that is missing in discovery and OpenAPI.
  it.each<
    [off: string, switches: { [key: string]: boolean }, gone: string, there: string, document: string, word: string]
  >([
    ['a version', { 'batch/v1': false }, '/apis/batch/v1/jobs', '/apis/apps/v1/deployments', '/apis', '"batch"'],
    [
      'a version that others are stored in',
      { 'autoscaling/v2': false },
      '/apis/autoscaling/v2/horizontalpodautoscalers',
      '/apis/autoscaling/v1/horizontalpodautoscalers',
      '/apis',
      '"autoscaling/v2"',
    ],
    [
      'a resource',
      { 'apps/v1/deployments': false },
      '/apis/apps/v1/deployments',
      '/apis/apps/v1/daemonsets',
      '/apis/apps/v1',
      '"deployments"',
    ],
    [
      'a resource of the core',
      { 'v1/events': false },
      '/api/v1/events',
      '/apis/events.k8s.io/v1/events',
      '/api/v1',
      '"events"',
    ],
    ['the core', { v1: false }, '/api/v1/namespaces', '/apis/apps/v1/deployments', '/api', 'versions'],
    [
      'all but one',
      { 'api/all': false, 'apps/v1': true },
      '/api/v1/pods',
      '/apis/apps/v1/deployments',
      '/apis',
      '"rbac.authorization.k8s.io"',
    ],
    [
      'all but one resource',
      { 'api/ga': false, 'v1/namespaces': true },
      '/api/v1/pods',
      '/api/v1/namespaces',
      '/api/v1',
      '"pods"',
    ],
  ])('%s is not served and not in any document', async (_, switches, gone, there, document, word) => {
    const { request } = await start({}, switches);
    expect((await request('GET', gone)).status).toBe(404);
    expect((await request('GET', there)).status).toBe(200);
    expect((await request('GET', document)).text).not.toContain(word);
    const { paths } = (await request('GET', '/openapi/v2')).json() as unknown as { paths: JsonObject };
    expect([gone in paths, there in paths]).toEqual([false, true]);
  });

  it('keeps its stored objects', async () => {
    const scaler = named({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 50,
    });
    const one = await start({}, { 'autoscaling/v2': false });
    const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
    expect(await created(one, path, scaler)).toContain('"targetCPUUtilizationPercentage":50');
    expect((await one.request('GET', `${path}/x`)).json()).toMatchObject({ apiVersion: 'autoscaling/v1', ...scaler });

    const two = await start({}, { 'v1/events': false });
    const events = '/apis/events.k8s.io/v1/namespaces/default/events';
    const event = {
      metadata: { name: 'x' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'a',
      reason: 'r',
      type: 'Normal',
      note: 'n',
      regarding: { namespace: 'default' },
    };
    expect((await two.request('POST', events, event)).status).toBe(201);
    expect((await two.request('GET', `${events}/x`)).json()).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      note: 'n',
    });
  });

  it('must not be the whole API', async () => {
    await expect(start({}, { 'api/all': false })).rejects.toThrow('--runtime-config leaves nothing to serve');
  });
});

describe('features', () => {
  it('are reported by a metric with their stage', async () => {
    const { metric } = await start({ AllAlpha: true, OpenAPIEnums: false });
    const state = (name: string, stage: string) =>
      metric(`kubernetes_feature_enabled{name="${name}",stage="${stage}"}`);
    expect(await state('WatchList', 'BETA')).toBe('0');
    expect(await state('OpenAPIEnums', 'BETA')).toBe('0');
    expect(await state('APIResponseCompression', 'BETA')).toBe('1');
    expect(await state('PodLevelResources', 'ALPHA')).toBe('1');
    expect(await state('HPAScaleToZero', 'ALPHA')).toBe('1');
    expect(await state('NodeSwap', 'BETA')).toBe('1');
    expect(await state('SidecarContainers', '')).toBe('1');
    expect(await state('InPlacePodVerticalScalingAllocatedStatus', 'DEPRECATED')).toBe('0');
  });

  it.each([
    [
      { SidecarContainers: false },
      'featureGates: cannot set feature gate SidecarContainers to false, feature is locked to true',
    ],
    [{ WatchLists: true }, 'featureGates="WatchLists=true" names an unknown feature "WatchLists"'],
  ])('cannot be set to %j', async (gates, problem) => {
    await expect(start(gates)).rejects.toThrow(problem);
  });

  it('without effect can be set, with a warning', async () => {
    const { warned } = await start({ NodeSwap: false, CPUManagerPolicyAlphaOptions: true });
    expect(warned.map(({ text }) => text)).toEqual([
      '--feature-gates NodeSwap=false has no effect: nothing in this server depends on it',
      '--feature-gates CPUManagerPolicyAlphaOptions=true has no effect: nothing in this server depends on it',
    ]);
  });

  it('that are stable or deprecated cause a warning when set', async () => {
    const { warned } = await start({ SidecarContainers: true });
    expect(warned.map(({ text }) => text)).toEqual([
      expect.stringContaining('the stable feature SidecarContainers=true'),
    ]);
  });
});

describe('declarative validation together with handwritten validation', () => {
  const path = '/api/v1/namespaces/default/replicationcontrollers';
  const mismatches = 'apiserver_validation_declarative_validation_mismatch_total';
  const spec = { replicas: -1, minReadySeconds: -1, selector: { a: 'b' }, ...template({}) };
  const body = { metadata: { name: 'x' }, spec };
  /** Handwritten validation that returns no error for the count. */
  const plant = () => {
    const { strategy } = builtinResources.find(({ plural }) => plural === 'replicationcontrollers') ?? {};
    for (const rule of ['validate', 'validateUpdate'] as const) {
      const real = strategy?.[rule] as (...given: unknown[]) => FieldError[];
      const blind = (...given: unknown[]) => real(...given).filter(({ field }) => field !== 'spec.replicas');
      vi.spyOn(strategy as { [rule: string]: typeof real }, rule).mockImplementation(blind);
    }
  };
  const finding = (field: string) => {
    const { reason, message } = fieldError.invalid(field, -1, 'must be greater than or equal to 0');
    return { reason, message, field };
  };
  const both = [finding('spec.minReadySeconds'), finding('spec.replicas')];
  const causes = async ({ request }: Started) => {
    const { json } = await request('POST', path, body);
    return (json()['details'] as JsonObject)['causes'];
  };

  it.each<[title: string, gates: { [name: string]: boolean }]>([
    ['only compared', {}],
    ['in charge', { DeclarativeValidationTakeover: true }],
    ['off', { DeclarativeValidation: false }],
  ])('returns the same errors, %s', async (_, gates) => {
    const made = await start(gates);
    expect(await causes(made)).toEqual(expect.arrayContaining(both));
    expect(await made.metric(mismatches)).toBe('0');
    expect(made.warned).toEqual([]);
  });

  it('mismatch: the handwritten errors are returned, and the mismatch is logged and counted', async () => {
    plant();
    const made = await start();
    expect(await causes(made)).toEqual([finding('spec.minReadySeconds')]);
    expect(made.warned).toEqual([
      {
        text: 'declarative and handwritten validation disagree',
        fields: {
          group: '',
          kind: 'ReplicationController',
          field: 'spec.replicas',
          handwritten: [],
          declarative: ['FieldValueInvalid'],
        },
      },
    ]);
    expect(await made.metric(mismatches)).toBe('1');
  });

  it('mismatch: the declarative errors are returned after the takeover', async () => {
    plant();
    const made = await start({ DeclarativeValidationTakeover: true });
    expect(await causes(made)).toEqual(expect.arrayContaining(both));
    expect(await made.metric(mismatches)).toBe('1');
  });

  it.each([{}, { DeclarativeValidationTakeover: true }])('is not compared when it is disabled (%j)', async (more) => {
    plant();
    const made = await start({ DeclarativeValidation: false, ...more });
    expect(await causes(made)).toEqual([finding('spec.minReadySeconds')]);
    expect(await made.metric(mismatches)).toBe('0');
    expect(made.warned).toEqual([]);
  });

  it('applies to updates, but not to writes of a subresource', async () => {
    const made = await start();
    await made.request('POST', path, { ...body, spec: { ...spec, replicas: 1, minReadySeconds: 0 } });
    plant();
    const scale = { metadata: { name: 'x' }, spec: { replicas: 2 } };
    expect((await made.request('PUT', `${path}/x/scale`, scale)).status).toBe(200);
    expect(await made.metric(mismatches)).toBe('0');
    await made.request('PUT', `${path}/x`, body);
    expect(await made.metric(mismatches)).toBe('1');
  });
});

describe('admission latency metrics', () => {
  it('are labelled with plugin, phase, operation and rejection', async () => {
    const { request, metric } = await start();
    const plugin = 'apiserver_admission_controller_admission_duration_seconds_count';
    const step = 'apiserver_admission_step_admission_duration_seconds_count';
    const labels = (type: string, rejected: boolean) => `operation="CREATE",rejected="${rejected}",type="${type}"`;
    const counts = (rejected: boolean) =>
      Promise.all([
        metric(`${plugin}{name="NamespaceLifecycle",${labels('admit', rejected)}}`),
        metric(`${step}{${labels('admit', rejected)}}`),
      ]);
    // The bootstrap objects of the server pass admission too.
    const before = await counts(false);
    await request('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'x' } });
    expect(await counts(false)).toEqual(before.map((count) => String(Number(count) + 1)));
    const absent = await request('POST', '/api/v1/namespaces/absent/configmaps', { metadata: { name: 'x' } });
    expect([absent.status, await counts(true)]).toEqual([404, ['1', '1']]);
  });
});
