import { afterAll, describe, expect, it } from 'vitest';
import { createServer } from './server.ts';

const server = await createServer({ apiDomain: 'k8s.io' });
afterAll(() => server.close());

const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const warning = '299 - "Role: this server does not authorize requests by roles yet"';

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
    const role = { metadata: { name: 'x' }, rules: [] };
    const applied = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', ...role };
    expect(await send('POST', `${roles}?dryRun=All`, role)).toEqual([201, [warning]]);
    expect(await send('POST', roles, role)).toEqual([201, [warning]]);
    expect(await send('PUT', `${roles}/x`, role)).toEqual([200, [warning]]);
    const patch = { metadata: { labels: { a: 'b' } } };
    expect(await send('PATCH', `${roles}/x`, patch, 'application/merge-patch+json')).toEqual([200, [warning]]);
    const apply = await send(
      'PATCH',
      `${roles}/y?fieldManager=m`,
      { ...applied, metadata: { name: 'y' } },
      'application/apply-patch+yaml',
    );
    expect(apply).toEqual([201, [warning]]);
    expect(await send('GET', `${roles}/x`)).toEqual([200, []]);
    expect(await send('GET', roles)).toEqual([200, []]);
    expect(await send('DELETE', `${roles}/x`)).toEqual([200, []]);
  });

  it('is absent from a kind whose controller runs in another process', async () => {
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployment = { metadata: { name: 'x' }, spec: { selector: { matchLabels: labels }, template } };
    expect(await send('POST', deployments, deployment)).toEqual([201, []]);
  });
});
