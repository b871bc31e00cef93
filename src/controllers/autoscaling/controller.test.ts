import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { horizontalPodAutoscalerController } from './controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const syncMs = 15_000;
const labels = { app: 'web' };
const spec = {
  automountServiceAccountToken: false,
  containers: [{ name: 'c', image: 'example.com/app:1', resources: { requests: { cpu: '1' } } }],
};

/** Deployments without a controller: their pods are made here. */
async function start(targets: { readonly [name: string]: number }) {
  cluster = await testCluster([horizontalPodAutoscalerController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  for (const [name, replicas] of Object.entries(targets)) {
    await cluster.client.kind(kinds.deployments).create({
      metadata: { namespace: 'default', name },
      spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
  }
}
const autoscale = (name: string, more: object = {}) =>
  cluster.client.kind(kinds.horizontalPodAutoscalers).create({
    metadata: { namespace: 'default', name },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 5, ...more },
  });
const status = async (name: string) =>
  (await cluster.client.kind(kinds.horizontalPodAutoscalers).get({ namespace: 'default', name })).status;
const conditions = async (name: string) =>
  (await status(name))?.conditions?.map(({ type, status, reason }) => [type, status, reason]);
const replicas = async (name: string) =>
  (await cluster.client.kind(kinds.deployments).get({ namespace: 'default', name })).spec?.replicas;
const events = async () =>
  (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items.map(({ source, reason, message }) => [
    source?.component,
    reason,
    message,
  ]);

const metricsVersion = 'metrics.k8s.io/v1beta1';
const metricsPlace = { apiVersion: metricsVersion, resource: 'pods', namespace: 'default' };

/** Custom objects stand for the metrics API. */
async function serveMetrics() {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, for tests' };
  await cluster.client.create(
    { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'pods.metrics.k8s.io', annotations },
      spec: {
        group: 'metrics.k8s.io',
        scope: 'Namespaced',
        names: { plural: 'pods', kind: 'PodMetrics' },
        versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  );
}
/** A ready pod that uses so much of its CPU. */
async function run(name: string, cpu: string) {
  const pod = await cluster.client.kind(kinds.pods).create({ metadata: { namespace: 'default', name, labels }, spec });
  const startTime = '2025-12-31T00:00:00Z';
  const ready = [{ type: 'Ready', status: 'True', lastTransitionTime: startTime }];
  await cluster.client
    .kind(kinds.pods)
    .subresource('status')
    .patch(pod.metadata, 'merge', { status: { phase: 'Running', startTime, conditions: ready } });
  await use(name, cpu);
}
async function use(name: string, cpu: string) {
  const metrics = {
    apiVersion: metricsVersion,
    kind: 'PodMetrics',
    metadata: { namespace: 'default', name, labels },
    timestamp: '2026-01-01T00:00:00Z',
    window: '30s',
    containers: [{ name: 'c', usage: { cpu } }],
  };
  await cluster.client.apply({ ...metricsPlace, name }, metrics, { fieldManager: 'test', force: true });
}

describe('horizontal-pod-autoscaler-controller', () => {
  it('reports what keeps it from scaling', async () => {
    await start({ some: 1, none: 0 });
    for (const name of ['some', 'none', 'lost']) await autoscale(name);
    await cluster.advance(syncMs);
    const absent = 'the server could not find the requested resource (get pods.metrics.k8s.io)';
    const why = `failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: ${absent}`;
    expect(await status('some')).toMatchObject({
      currentReplicas: 1,
      desiredReplicas: 0,
      currentMetrics: [{ type: '' }],
      conditions: [
        { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale' },
        {
          type: 'ScalingActive',
          status: 'False',
          reason: 'FailedGetResourceMetric',
          message: `the HPA was unable to compute the replica count: ${why}`,
        },
      ],
    });
    expect(await conditions('none')).toEqual([
      ['AbleToScale', 'True', 'SucceededGetScale'],
      ['ScalingActive', 'False', 'ScalingDisabled'],
    ]);
    expect((await status('lost'))?.conditions).toMatchObject([
      {
        reason: 'FailedGetScale',
        message: `the HPA controller was unable to get the target's current scale: deployments.apps "lost" not found`,
      },
    ]);
    const source = 'horizontal-pod-autoscaler';
    expect(new Set((await events()).map((event) => JSON.stringify(event)))).toEqual(
      new Set(
        [
          [source, 'FailedGetResourceMetric', why],
          [
            source,
            'FailedComputeMetricsReplicas',
            `invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${why}`,
          ],
          [source, 'FailedGetScale', 'deployments.apps "lost" not found'],
        ].map((event) => JSON.stringify(event)),
      ),
    );
    expect(cluster.logged).toEqual([]);
  });

  it('keeps the replicas between the minimum and the maximum', async () => {
    await start({ few: 1, many: 9 });
    await autoscale('few', { minReplicas: 2 });
    await autoscale('many');
    await cluster.advance(syncMs - 1);
    expect(await replicas('few')).toBe(1);
    await cluster.advance(1);
    expect([await replicas('few'), await replicas('many')]).toEqual([2, 5]);
    expect(await status('few')).toEqual({
      currentReplicas: 1,
      desiredReplicas: 2,
      currentMetrics: null,
      lastScaleTime: '2026-01-01T00:00:15Z',
      conditions: [
        {
          type: 'AbleToScale',
          status: 'True',
          reason: 'SucceededRescale',
          message: 'the HPA controller was able to update the target scale to 2',
          lastTransitionTime: '2026-01-01T00:00:15Z',
        },
      ],
    });
    expect(await events()).toContainEqual([
      'horizontal-pod-autoscaler',
      'SuccessfulRescale',
      'New size: 5; reason: Current number of replicas above Spec.MaxReplicas',
    ]);
  });

  it('scales up by the usage of pods at once, and down when it was low for five minutes', async () => {
    await start({ web: 2 });
    await serveMetrics();
    await run('a', '900m');
    await run('b', '700m');
    await autoscale('web', { metrics: [utilization(40)] });
    await cluster.advance(syncMs);
    expect(await replicas('web')).toBe(4);
    expect(await status('web')).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 4,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '800m' } } },
      ],
    });
    expect(await conditions('web')).toEqual([
      ['AbleToScale', 'True', 'SucceededRescale'],
      ['ScalingActive', 'True', 'ValidMetricFound'],
      ['ScalingLimited', 'False', 'DesiredWithinRange'],
    ]);
    expect(await events()).toContainEqual([
      'horizontal-pod-autoscaler',
      'SuccessfulRescale',
      'New size: 4; reason: cpu resource utilization (percentage of request) above target',
    ]);
    for (const pod of ['a', 'b']) await use(pod, '100m');
    await cluster.advance(syncMs);
    expect(await replicas('web')).toBe(4);
    expect(await conditions('web')).toContainEqual(['AbleToScale', 'True', 'ScaleDownStabilized']);
    await cluster.advance(300_000);
    expect(await replicas('web')).toBe(1);
    expect(cluster.logged).toEqual([]);
  });

  it('does not scale down while a metric fails', async () => {
    await start({ web: 3 });
    await serveMetrics();
    await run('a', '100m');
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } };
    const depth = { type: 'External', external: { metric: { name: 'depth' }, target: { type: 'Value', value: '5' } } };
    await autoscale('web', { metrics: [utilization(50), depth], behavior });
    await cluster.advance(syncMs);
    expect(await replicas('web')).toBe(3);
    expect((await status('web'))?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'ScalingActive',
        status: 'False',
        reason: 'FailedGetExternalMetric',
        message:
          'the HPA was unable to compute the replica count: failed to get external metric depth: unable to get external metric default/depth/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get depth.external.metrics.k8s.io)',
      }),
    );
  });

  it('refuses pods that several autoscalers scale', async () => {
    await start({ web: 1 });
    await serveMetrics();
    await run('a', '500m');
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    for (const name of ['one', 'two']) await autoscale(name, { scaleTargetRef });
    await cluster.advance(2 * syncMs);
    const message = 'pods by selector app=web are controlled by multiple HPAs: [{one default} {two default}]';
    expect((await status('one'))?.conditions).toContainEqual(
      expect.objectContaining({ type: 'ScalingActive', status: 'False', reason: 'AmbiguousSelector', message }),
    );
  });
});

const utilization = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
