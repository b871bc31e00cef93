import { describe, expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { type Json, namesFor, parseLabelSelector } from '../../meta/index.ts';
import type { ServedResources } from '../metadata/discovery.ts';
import { externalValues, type Metrics, milliOf, objectValue, podSamples, resourceSamples } from './samples.ts';

const names = namesFor('k8s.io');
const everything = parseLabelSelector('');
const time = '2026-01-01T00:00:00Z';

/** Metrics APIs that answer with these bodies; all that was asked for is in `urls`. */
function metricsOf(answers: { readonly [url: string]: Json }, custom = 'v1beta2') {
  const urls: string[] = [];
  const client = createClient({
    transport: async ({ url }) => {
      urls.push(decodeURIComponent(url));
      const actual = answers[decodeURIComponent(url)];
      return {
        status: actual === undefined ? 404 : 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from(actual === undefined ? '404 page not found' : JSON.stringify(actual));
        })(),
      };
    },
  });
  const resource = (apiVersion: string, kind: string, resource: string) => ({
    apiVersion,
    kind,
    resource,
    namespaced: true,
    verbs: [],
    group: apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '',
  });
  const preferred = [
    resource('v1', 'Namespace', 'namespaces'),
    resource('networking.k8s.io/v1', 'Ingress', 'ingresses'),
    ...(custom === '' ? [] : [resource(`custom.metrics.k8s.io/${custom}`, 'MetricValueList', 'pods/qps')]),
  ];
  const served: ServedResources = { preferred, stale: [], find: () => undefined, findResource: () => undefined };
  const metrics: Metrics = { client, names, served, namespace: 'default' };
  return { metrics, urls };
}
const custom = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default';

describe('metrics', () => {
  it('of resources are the sums of containers, or one container', async () => {
    const item = (name: string, ...cpus: string[]) => ({
      metadata: { name },
      timestamp: time,
      window: '1m30s',
      containers: cpus.map((cpu, i) => ({ name: `c${i}`, usage: cpu === '' ? {} : { cpu } })),
    });
    const url = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?labelSelector=app=web';
    const { metrics } = metricsOf({ [url]: { items: [item('a', '250m', '1'), item('b', '1n', '')] } });
    const selector = parseLabelSelector('app=web');
    const at = { time: Date.parse(time), window: 90_000 };
    expect([...(await resourceSamples(metrics, 'cpu', selector, undefined))]).toEqual([['a', { value: 1250, ...at }]]);
    expect([...(await resourceSamples(metrics, 'cpu', selector, 'c0'))]).toEqual([
      ['a', { value: 250, ...at }],
      ['b', { value: 1, ...at }],
    ]);
  });

  it('of pods are read in the version that is served', async () => {
    const url = `${custom}/pods/*/qps?labelSelector=app=web&metricLabelSelector=verb=get`;
    const value = { describedObject: { kind: 'Pod', name: 'a' }, timestamp: time, value: '1500m' };
    const { metrics } = metricsOf({
      [url]: { items: [value] },
      [url.replace('v1beta2', 'v1beta1')]: { items: [{ ...value, window: 30 }] },
    });
    const [selector, metricSelector] = [parseLabelSelector('app=web'), parseLabelSelector('verb=get')];
    const sample = { value: 1500, time: Date.parse(time), window: 60_000 };
    expect([...(await podSamples(metrics, 'qps', selector, metricSelector))]).toEqual([['a', sample]]);
    const older = metricsOf({ [url.replace('v1beta2', 'v1beta1')]: { items: [{ ...value, window: 30 }] } }, 'v1beta1');
    expect((await podSamples(older.metrics, 'qps', selector, metricSelector)).get('a')?.window).toBe(30_000);
  });

  it('of objects are one value', async () => {
    const { metrics } = metricsOf({
      [`${custom}/ingresses.networking.k8s.io/main/qps`]: { items: [{ value: '10k' }] },
      [`${custom}/metrics/qps`]: { items: [{ value: 3 }] },
      [`${custom}/ingresses.networking.k8s.io/two/qps`]: { items: [{ value: 3 }, { value: 4 }] },
    });
    const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main' };
    expect(await objectValue(metrics, ingress, 'qps', everything)).toBe(10_000_000);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'other' };
    expect(await objectValue(metrics, namespace, 'qps', everything)).toBe(3000);
    await expect(objectValue(metrics, { ...ingress, name: 'two' }, 'qps', everything)).rejects.toThrow(
      'the custom metrics API server returned 2 results when we asked for exactly one',
    );
    await expect(objectValue(metrics, { ...ingress, kind: 'Other' }, 'qps', everything)).rejects.toThrow(
      'unable to fetch metrics from custom metrics API: no matches for kind "Other" in group "networking.k8s.io"',
    );
  });

  it('from outside are lists of values', async () => {
    const url = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/depth?labelSelector=queue=a';
    const { metrics } = metricsOf({ [url]: { items: [{ value: '1' }, { value: '20m' }] } });
    expect(await externalValues(metrics, 'depth', parseLabelSelector('queue=a'))).toEqual([1000, 20]);
  });

  it('of an API that is not served say so', async () => {
    const { metrics } = metricsOf({}, '');
    const absent = 'the server could not find the requested resource';
    await expect(resourceSamples(metrics, 'cpu', everything, undefined)).rejects.toThrow(
      `unable to fetch metrics from resource metrics API: ${absent} (get pods.metrics.k8s.io)`,
    );
    await expect(podSamples(metrics, 'qps', everything, everything)).rejects.toThrow(
      'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
    );
    await expect(externalValues(metrics, 'depth', everything)).rejects.toThrow(
      `unable to fetch metrics from external metrics API: ${absent} (get depth.external.metrics.k8s.io)`,
    );
  });

  it.each([
    ['1', 1000],
    ['1n', 1],
    ['-1500u', -1],
    ['1Ki', 1_024_000],
    [`${2n ** 62n}`, Number(2n ** 63n - 1n)],
  ])('%s is %d thousandths', (quantity, milli) => {
    expect(milliOf(quantity)).toBe(milli);
  });
});
