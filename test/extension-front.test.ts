import { readFileSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OrchServer } from '../src/server/server.ts';
import { type Front, startFront } from './support/extension.ts';
import { startWith } from './support/start.ts';

/* A server behind another one, without flags about authenticating proxies: it reads them from the one in front. */

const headers = (folder: string) => [
  `--requestheader-client-ca-file=${join(folder, 'front-ca.crt')}`,
  '--requestheader-allowed-names=front-proxy-client',
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
];

/** A service account of the server in front with the rights that an extension API server needs. */
async function accountOf(): Promise<{ token: string }> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const [apiGroup, subjects] = [
    'rbac.authorization.k8s.io',
    [{ kind: 'ServiceAccount', namespace: 'default', name: 'behind' }],
  ];
  await front.request('POST', accounts, { metadata: { name: 'behind' } });
  await front.request('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'behind' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:auth-delegator' },
    subjects,
  });
  await front.request('POST', `${rbac}/namespaces/kube-system/rolebindings`, {
    metadata: { name: 'behind' },
    roleRef: { apiGroup, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subjects,
  });
  const { body } = await front.request('POST', `${accounts}/behind/token`, { spec: {} });
  return body.status;
}

let front: Front;
let behind: OrchServer;
let url: string;
beforeAll(async () => {
  front = await startFront(headers);
  const kubeconfig = join(front.folder, 'front.kubeconfig');
  const { token } = await accountOf();
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'front',
    contexts: [{ name: 'front', context: { cluster: 'front', user: 'behind' } }],
    clusters: [{ name: 'front', cluster: { server: front.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'behind', user: { token } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  behind = await startWith([`--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`]);
  ({ url } = await behind.listen());
});
afterAll(async () => {
  await behind.close();
  await front.close();
});

/** Asks the server behind, with the certificate of the server in front, who the user of the headers is. */
function whoAmI(sent: { [name: string]: string }): Promise<string> {
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
  const { folder } = front;
  const [cert, key] = ['front.crt', 'front.key'].map((file) => readFileSync(join(folder, file)));
  return new Promise((resolve, reject) => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const all = { 'content-type': 'application/json', ...sent };
    const options = { method: 'POST', rejectUnauthorized: false, agent: false, cert, key, headers: all };
    const request = send(url + path, options as object, (incoming) => {
      let text = '';
      incoming.on('data', (piece) => {
        text += piece;
      });
      incoming.on('end', () => resolve(JSON.parse(text).status?.userInfo?.username ?? text));
    });
    request.on('error', reject);
    request.end(body);
  });
}

it('authenticates the users that the server in front names', async () => {
  // The server in front publishes its settings a moment after its start.
  await expect.poll(() => whoAmI({ 'x-remote-user': 'jane' })).toBe('jane');
  expect(await whoAmI({ 'x-other-user': 'joe' })).toMatch(/Unauthorized/);
});

it('follows changes of the settings of the server in front', async () => {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  const patch = (data: object) =>
    front.request('PATCH', path, { data }, { 'content-type': 'application/merge-patch+json' });
  await patch({ 'requestheader-username-headers': '["X-Other-User","X-Remote-User"]' });
  await expect.poll(() => whoAmI({ 'x-other-user': 'joe' })).toBe('joe');
  expect(await whoAmI({ 'x-remote-user': 'jane' })).toBe('jane');
});
