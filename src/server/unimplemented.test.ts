import { afterAll, describe, expect, it } from 'vitest';
import { createServer } from './server.ts';

const server = await createServer({ controllers: '-*', apiDomain: 'k8s.io' });
afterAll(() => server.close());

const flowSchemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const warning = '299 - "FlowSchema: this server does not queue requests by flow schemas yet"';

/** The status and the warnings of a response. */
async function send(method: string, url: string, body?: object, type = 'application/json') {
  const { status, headers } = await server.client.request({
    method,
    url,
    headers: body === undefined ? {} : { 'content-type': type },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  });
  return [status, [headers['warning'] ?? []].flat()];
}

describe('the unimplemented text of a kind', () => {
  it('is a warning of each create, update, patch and apply, and of no get, list or delete', async () => {
    const schema = { metadata: { name: 'x' }, spec: { priorityLevelConfiguration: { name: 'exempt' } } };
    const applied = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', ...schema };
    expect(await send('POST', `${flowSchemas}?dryRun=All`, schema)).toEqual([201, [warning]]);
    expect(await send('POST', flowSchemas, schema)).toEqual([201, [warning]]);
    expect(await send('PUT', `${flowSchemas}/x`, schema)).toEqual([200, [warning]]);
    const patch = { metadata: { labels: { a: 'b' } } };
    expect(await send('PATCH', `${flowSchemas}/x`, patch, 'application/merge-patch+json')).toEqual([200, [warning]]);
    const apply = await send(
      'PATCH',
      `${flowSchemas}/y?fieldManager=m`,
      { ...applied, metadata: { name: 'y' } },
      'application/apply-patch+yaml',
    );
    expect(apply).toEqual([201, [warning]]);
    expect(await send('GET', `${flowSchemas}/x`)).toEqual([200, []]);
    expect(await send('GET', flowSchemas)).toEqual([200, []]);
    expect(await send('DELETE', `${flowSchemas}/x`)).toEqual([200, []]);
  });

  it('is absent from a kind whose controller runs in another process', async () => {
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployment = { metadata: { name: 'x' }, spec: { selector: { matchLabels: labels }, template } };
    expect(await send('POST', deployments, deployment)).toEqual([201, []]);
  });
});
