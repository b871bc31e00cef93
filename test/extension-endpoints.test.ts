import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Extension, type Front, startFront } from './support/extension.ts';
import { registration } from './support/front-proxy.ts';
import { externalAddress } from './support/requirements.ts';

// Endpoints have no loopback addresses: those of the extensions must be others of this machine.
const address = externalAddress();
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const merge = { 'content-type': 'application/merge-patch+json' };

describe.skipIf(address === undefined)('with --enable-aggregator-routing, requests', () => {
  let front: Front;
  const extensions: Extension[] = [];
  const group = 'routed.example.com';
  const path = `/apis/${group}/v1/things`;
  const extensionFor = async (text: string) => {
    const extension = new Extension(front.folder, 'routed');
    extension.answers[`/apis/${group}/v1`] = (_, response) => response.end('{}');
    extension.answers[path] = (_, response) => response.end(text);
    await extension.listen(address);
    extensions.push(extension);
    return extension;
  };
  const sliceOf = (name: string, service: string, port: number) => ({
    metadata: { name, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ name: 'https', port }],
  });
  const answered = async () => {
    const { status, text } = await front.request('GET', path);
    return [status, text];
  };

  beforeAll(async () => {
    front = await startFront(() => ['--enable-aggregator-routing=true']);
  });
  afterAll(async () => {
    for (const extension of extensions) await extension.close();
    await front.close();
  });

  it('go to the endpoints of the Service, wherever they move', async () => {
    const one = await extensionFor('one');
    const [, apiService] = registration(group, 'v1', 'routed', 443, one.authority);
    const spec = { ports: [{ name: 'https', port: 443 }] };
    await front.request('POST', services, { metadata: { name: 'routed' }, spec });
    // Slices of other Services do not count.
    await front.request('POST', slices, sliceOf('a-other', 'other', 1));
    await front.request('POST', slices, sliceOf('routed-1', 'routed', one.port));
    await front.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', apiService);
    await one.becomes(front, 'True');
    expect(await answered()).toEqual([200, 'one']);

    const two = await extensionFor('two');
    const caBundle = Buffer.from(two.authority).toString('base64');
    await front.request(
      'PATCH',
      `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`,
      { spec: { caBundle } },
      merge,
    );
    await front.request('POST', slices, sliceOf('routed-2', 'routed', two.port));
    await front.request('DELETE', `${slices}/routed-1`);
    await expect.poll(answered).toEqual([200, 'two']);

    // A slice that now belongs to another Service.
    const labels = { 'kubernetes.io/service-name': 'other' };
    await front.request('PATCH', `${slices}/routed-2`, { metadata: { labels } }, merge);
    await two.becomes(front, 'False');
    expect(await answered()).toEqual([503, 'service unavailable\n']);
    const { body } = await front.request('GET', `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`);
    expect(body.status.conditions[0].reason).toBe('EndpointsNotFound');
  });
});
