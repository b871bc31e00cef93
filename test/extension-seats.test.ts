import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Extension, type Front, startFront } from './support/extension.ts';

/* A priority level with one seat, which is that of the user jane. */

let front: Front;
let extension: Extension;
let path: string;
const jane = { 'impersonate-user': 'jane' };
const held: ServerResponse[] = [];
beforeAll(async () => {
  front = await startFront(() => ['--max-requests-inflight=1', '--max-mutating-requests-inflight=1']);
  extension = new Extension(front.folder, 'seats');
  path = `${extension.root}/namespaces/default/things`;
  await extension.start(front);
  for (const below of ['', '/one', '/one/log']) {
    extension.answers[path + below] = (request, response) => {
      if (request.url?.includes('hold')) held.push(response);
      else response.end('now');
    };
  }
  const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
  const limited = {
    nominalConcurrencyShares: 1,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  const post = async (url: string, body: object) => expect((await front.request('POST', url, body)).status).toBe(201);
  await post(`${flow}/prioritylevelconfigurations`, { metadata: { name: 'jane' }, spec: { type: 'Limited', limited } });
  await post(`${flow}/flowschemas`, {
    metadata: { name: 'jane' },
    spec: {
      priorityLevelConfiguration: { name: 'jane' },
      matchingPrecedence: 2,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'jane' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
        },
      ],
    },
  });
  await post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'jane' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  expect(levelOf(await get(''))).toBeDefined();
});
afterAll(async () => {
  await extension.close();
  await front.close();
});

const get = (rest: string) => front.request('GET', path + rest, undefined, jane);
const levelOf = ({ headers }: Awaited<ReturnType<typeof get>>) => headers['x-kubernetes-pf-prioritylevel-uid'];
/** Waits until the extension has received a request that it holds. */
const received = async () => {
  await expect.poll(() => held.length).toBe(1);
  return held.pop() as ServerResponse;
};

// As the reference server counts them (`apiserver_flowcontrol_dispatched_requests_total` and `_current_executing_requests`).
describe('a request for an extension API server', () => {
  it('has a seat until its response begins', async () => {
    const first = get('?hold');
    const response = await received();
    const second = await get('');
    expect([second.status, second.text]).toEqual([429, 'Too many requests, please try again later.\n']);
    expect((await front.request('POST', path, {}, jane)).status).toBe(429);
    response.end('later');
    const { text, headers } = await first;
    expect(text).toBe('later');
    expect(headers['x-kubernetes-pf-prioritylevel-uid']).toBe(levelOf(second));
    expect((await get('')).status).toBe(200);
  });

  it('has no seat as a watch, even if the extension does not answer it', async () => {
    const watch = get('?watch=1&hold');
    const response = await received();
    expect((await get('')).status).toBe(200);
    response.end('');
    expect(levelOf(await watch)).toBeDefined();
  });

  it('has no seat for a subresource that may take as long as the client wants', async () => {
    const log = get('/one/log?hold');
    const response = await received();
    expect((await get('/one')).status).toBe(200);
    response.end('');
    expect(levelOf(await log)).toBeUndefined();
  });
});
