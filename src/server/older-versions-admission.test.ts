import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readProtobuf, writeProtobuf } from '../codec/index.ts';
import { type ApiObject, isJsonObject, type Json, type JsonObject, namesFor } from '../meta/index.ts';
import { olderKinds } from '../resources/older/index.ts';
import { compile, type StructSchema } from '../schema/index.ts';
import { type TestServer, testServer } from './harness/test-server.ts';
import type { WebhookRequest } from './harness/webhooks.ts';
import { defaultSettings } from './settings/flags.ts';
import { selectDefinitions } from './settings/select-definitions.ts';

// Older versions against the parts of a server that see objects in other versions, or encode them otherwise.

const names = namesFor('k8s.io');
const webhook = (name: string, matchPolicy: string, rule: JsonObject) => ({
  name: `${name}.example.com`,
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  matchPolicy,
  clientConfig: { service: { name: 'hooks', namespace: 'default', path: `/${name}` } },
  rules: [{ operations: ['CREATE', 'UPDATE', 'DELETE'], ...rule }],
});
const ingresses = (group: string, version: string) => ({
  apiGroups: [group],
  apiVersions: [version],
  resources: ['ingresses'],
});
const configuration = (kind: string, webhooks: JsonObject[]) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'hooks' },
  webhooks,
});
const configurations = [
  configuration('ValidatingWebhookConfiguration', [
    webhook('equivalent', 'Equivalent', ingresses('networking.k8s.io', 'v1')),
    webhook('equivalent-older', 'Equivalent', ingresses('networking.k8s.io', 'v1beta1')),
    webhook('exact', 'Exact', ingresses('networking.k8s.io', 'v1')),
    webhook('exact-older', 'Exact', ingresses('extensions', 'v1beta1')),
  ]),
  configuration('MutatingWebhookConfiguration', [
    webhook('mutating', 'Equivalent', {
      apiGroups: ['autoscaling'],
      apiVersions: ['v2'],
      resources: ['horizontalpodautoscalers'],
    }),
  ]),
] as unknown as ApiObject[];

const calls: WebhookRequest[] = [];
const handler = (call: WebhookRequest) => {
  calls.push(call);
  if (call.path !== '/mutating') return { allowed: true };
  const value = { scaleDown: { stabilizationWindowSeconds: 9 } };
  const patch = [
    { op: 'replace', path: '/spec/maxReplicas', value: 7 },
    { op: 'add', path: '/spec/behavior', value },
  ];
  return { allowed: true, patchType: 'JSONPatch', patch };
};

let server: TestServer;
beforeAll(async () => {
  server = await testServer({
    apiDomain: 'k8s.io',
    controllers: ['resourcequota-controller'],
    runtimeConfig: 'extensions/v1beta1,networking.k8s.io/v1beta1,autoscaling/v2beta1,batch/v1beta1',
    webhooks: { configurations, handler },
  });
});
afterAll(() => server.close());
beforeEach(() => {
  calls.length = 0;
});

const at = (apiVersion: string, resource: string, name?: string) => ({
  apiVersion,
  resource,
  namespace: 'default',
  ...(name === undefined ? {} : { name }),
});
const ingress = (name: string) => ({
  apiVersion: 'extensions/v1beta1',
  kind: 'Ingress',
  metadata: { name },
  spec: { backend: { serviceName: 'a', servicePort: 80 } },
});
const autoscaler = (name: string) => ({
  apiVersion: 'autoscaling/v2beta1',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }, maxReplicas: 3 },
});

/** The reviews of the webhook at a path. */
const reviewed = (path: string) =>
  calls
    .filter((call) => call.path === `/${path}`)
    .map(({ review: { request } }) => {
      const { kind, requestKind, object, oldObject } = request;
      return { kind, requestKind, object, oldObject };
    });
const kindIn = (group: string, version: string) => ({ group, version, kind: 'Ingress' });
const backend = { defaultBackend: { service: { name: 'a', port: { number: 80 } } } };

describe('webhooks that match an equivalent version', () => {
  it('get the object in the version of their rule', async () => {
    await server.client.create(at('extensions/v1beta1', 'ingresses'), ingress('reviewed'));
    const requestKind = kindIn('extensions', 'v1beta1');
    expect(reviewed('equivalent')).toMatchObject([
      {
        kind: kindIn('networking.k8s.io', 'v1'),
        requestKind,
        object: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', spec: backend },
      },
    ]);
    expect(reviewed('equivalent-older')).toMatchObject([
      {
        kind: kindIn('networking.k8s.io', 'v1beta1'),
        requestKind,
        object: { apiVersion: 'networking.k8s.io/v1beta1', spec: { backend: { serviceName: 'a', servicePort: 80 } } },
      },
    ]);
    expect(reviewed('exact')).toEqual([]);
    expect(reviewed('exact-older')).toMatchObject([
      { kind: requestKind, requestKind, object: { apiVersion: 'extensions/v1beta1' } },
    ]);
  });

  it('get the old object in that version, too', async () => {
    await server.client.create(at('networking.k8s.io/v1beta1', 'ingresses'), {
      ...ingress('removed'),
      apiVersion: 'networking.k8s.io/v1beta1',
    });
    calls.length = 0;
    await server.client.delete(at('extensions/v1beta1', 'ingresses', 'removed'));
    expect(reviewed('equivalent')).toMatchObject([
      { object: null, oldObject: { apiVersion: 'networking.k8s.io/v1', spec: backend } },
    ]);
    expect(reviewed('exact-older')).toMatchObject([{ oldObject: { apiVersion: 'extensions/v1beta1' } }]);
  });

  it('change fields that the version of the request does not have', async () => {
    const place = at('autoscaling/v2beta1', 'horizontalpodautoscalers');
    const made = await server.client.create<ApiObject>(place, autoscaler('mutated'));
    expect(made['spec']).toMatchObject({ maxReplicas: 7 });
    expect(made['spec']).not.toHaveProperty('behavior');
    const stored = await server.client.get<ApiObject>(at('autoscaling/v2', 'horizontalpodautoscalers', 'mutated'));
    expect(stored['spec']).toMatchObject({
      maxReplicas: 7,
      behavior: { scaleDown: { stabilizationWindowSeconds: 9 } },
    });
  });
});

describe('a quota', () => {
  it('counts objects that are created in an older version', async () => {
    const hard = { 'count/cronjobs.batch': '1' };
    const quotas = at('v1', 'resourcequotas');
    await server.client.create(quotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few' },
      spec: { hard },
    });
    await server.settled();
    const cronJob = (name: string) => ({
      apiVersion: 'batch/v1beta1',
      kind: 'CronJob',
      metadata: { name },
      spec: {
        schedule: '1 2 * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
        },
      },
    });
    const cronJobs = at('batch/v1beta1', 'cronjobs');
    await server.client.create(cronJobs, cronJob('first'));
    await expect(server.client.create(cronJobs, cronJob('second'))).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('exceeded quota: few, requested: count/cronjobs.batch=1') as string,
    });
  });
});

/** The type of the first kind of a group in an older version. */
function schemaOf(ofGroup: string, ofVersion: string): StructSchema {
  const [found] = olderKinds
    .filter(({ group }) => group === ofGroup)
    .flatMap(({ versions }) => versions.filter(({ version }) => version === ofVersion));
  if (found === undefined) throw new Error(`${ofGroup}/${ofVersion} has no kind`);
  return found.schema;
}

describe('protobuf bodies', () => {
  it('have types in every older version', async () => {
    const settings = { ...defaultSettings, runtimeConfig: new Map([['extensions/v1beta1', true]]) };
    const { findType } = await selectDefinitions(settings, names);
    for (const { schema } of olderKinds.flatMap(({ versions }) => versions)) {
      expect(findType(schema.name), schema.name).toBe(schema);
    }
  });

  it('have the messages of the older version', async () => {
    const schema = schemaOf('autoscaling', 'v2beta1');
    const type = { apiVersion: 'autoscaling/v2beta1', kind: 'HorizontalPodAutoscaler' };
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } }];
    const sent = { ...autoscaler('encoded'), spec: { ...autoscaler('').spec, metrics } };
    const protobuf = 'application/vnd.kubernetes.protobuf';
    const answer = await server.client.request({
      method: 'POST',
      url: '/apis/autoscaling/v2beta1/namespaces/default/horizontalpodautoscalers',
      headers: { accept: protobuf, 'content-type': protobuf },
      body: Buffer.from(writeProtobuf(schema, type, compile(schema, names).decode(sent).value, names)),
    });
    const body = await buffer(answer.body);
    expect(answer.status).toBe(201);
    const { value } = readProtobuf(body, type, () => schema, names);
    expect(value).toMatchObject({ ...type, spec: { metrics } });
    const stored = await server.client.get<ApiObject>(at('autoscaling/v2', 'horizontalpodautoscalers', 'encoded'));
    const spec: Json = stored['spec'] ?? null;
    expect(isJsonObject(spec) ? spec['metrics'] : undefined).toEqual([
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
    ]);
  });
});
