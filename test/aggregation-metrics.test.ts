import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Extension, type Front, startFront } from './support/extension.ts';

let front: Front;
let extension: Extension;
beforeAll(async () => {
  front = await startFront();
  extension = new Extension(front.folder, 'measured');
  await extension.start(front);
});
afterAll(() => front.close());

const samples = async (metric: string) =>
  (await front.request('GET', '/metrics')).text.split('\n').filter((line) => line.startsWith(metric));

// Names, labels and values are those of the reference server in the same situations.
describe('the metrics of extension API servers', () => {
  it('count each document of aggregated discovery that is made', async () => {
    const count = async () => Number((await samples('aggregator_discovery_aggregation_count_total'))[0]?.split(' ')[1]);
    const discover = (version: string) => {
      const accept = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
      return front.request('GET', '/apis', undefined, { accept });
    };
    // The server reads what the extension serves once it is available.
    await expect.poll(async () => (await discover('v2')).text).not.toContain('Stale');
    const before = await count();
    await discover('v2');
    await front.request('GET', '/apis');
    expect(await count()).toBe(before);
    await discover('v2beta1');
    expect(await count()).toBe(before + 1);
  });

  it('show which APIServices are unavailable, and count how often they become so', async () => {
    const name = `v1.${extension.group}`;
    const unavailable = () => samples('aggregator_unavailable_apiservice{');
    const counted = () => samples('aggregator_unavailable_apiservice_total{');
    expect(await unavailable()).toContain(`aggregator_unavailable_apiservice{name="${name}"} 0`);
    expect(await unavailable()).toContain('aggregator_unavailable_apiservice{name="v1.apps"} 0');
    expect(await counted()).toEqual([]);
    await extension.close();
    // The server checks again when the Service changes.
    const merge = { 'content-type': 'application/merge-patch+json' };
    const patch = { metadata: { labels: { a: 'b' } } };
    await front.request('PATCH', '/api/v1/namespaces/default/services/measured', patch, merge);
    await extension.becomes(front, 'False');
    expect(await unavailable()).toContain(`aggregator_unavailable_apiservice{name="${name}"} 1`);
    await expect
      .poll(counted)
      .toEqual([`aggregator_unavailable_apiservice_total{name="${name}",reason="FailedDiscoveryCheck"} 1`]);
    await front.request('DELETE', `/apis/apiregistration.k8s.io/v1/apiservices/${name}`);
    await expect.poll(counted).toEqual([]);
    expect((await unavailable()).filter((line) => line.includes(name))).toEqual([]);
  });
});
