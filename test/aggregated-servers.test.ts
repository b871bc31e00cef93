import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../src/meta/testing/until.ts';
import { frontProxyFlags, registration, servingCertificate } from './support/front-proxy.ts';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

/*
 * Two servers: the one behind serves custom resources only, the one in front has users, rights, namespaces and controllers.
 */

const group = 'fruit.example.com';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `apples.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'apples', singular: 'apple', kind: 'Apple', shortNames: ['ap'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'An apple of the extension API server.',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer', description: 'In mm.' } } } },
          },
        },
      },
    ],
  },
};
const apple = (name: string, size: number, metadata: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Apple',
  metadata: { name, namespace: 'orchard', ...metadata },
  spec: { size },
});
const apples = `/apis/${group}/v1/namespaces/orchard/apples`;

/** A kubeconfig with a token for a server. */
const kubeconfig = (server: string, authority: string, token: string) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'front',
    contexts: [{ name: 'front', context: { cluster: 'front', user: 'behind' } }],
    clusters: [{ name: 'front', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'behind', user: { token } }],
  });

describe.skipIf(!hasKubectl())('an extension API server', () => {
  let folder: string;
  let kubectl: Kubectl;
  let behind: RunningServer;
  const front = () => kubectl.server;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orch-front-'));
    kubectl = await startKubectl([...frontProxyFlags(folder), '--controllers=*']);
    const { cert } = servingCertificate(folder, 'behind', 'behind.default.svc');
    await front().request('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'orchard' },
    });
    await kubectl.run('create', 'serviceaccount', 'behind');
    await kubectl.run(
      ...[
        'create',
        'clusterrolebinding',
        'behind',
        '--clusterrole=system:auth-delegator',
        '--serviceaccount=default:behind',
      ],
    );
    const token = (await kubectl.run('create', 'token', 'behind')).trim();
    const config = join(folder, 'front.kubeconfig');
    writeFileSync(config, kubeconfig(front().url, join(front().folder, 'ca.crt'), token), { mode: 0o600 });
    behind = await startServer([
      '--api-domain=k8s.io',
      '--runtime-config=api/all=false,v1=true,apiextensions.k8s.io/v1=true',
      `--tls-cert-file=${join(folder, 'behind.crt')}`,
      `--tls-private-key-file=${join(folder, 'behind.key')}`,
      `--requestheader-client-ca-file=${join(folder, 'front-ca.crt')}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--authentication-kubeconfig=${config}`,
      `--authorization-kubeconfig=${config}`,
      '--controllers=-*',
      '--disable-admission-plugins=NamespaceLifecycle',
    ]);
    const own = ['--server', behind.url, '--token', behind.token, '--insecure-skip-tls-verify'];
    kubectl.file('definition.json', JSON.stringify(definition));
    await kubectl.run(...own, 'create', '--validate=false', '-f', 'definition.json');
    const port = Number(new URL(behind.url).port);
    const items = registration(group, 'v1', 'behind', port, cert);
    kubectl.file('registration.json', JSON.stringify({ kind: 'List', apiVersion: 'v1', items }));
    await kubectl.run('apply', '-f', 'registration.json');
    await kubectl.run('wait', '--for=condition=Available', `apiservice/v1.${group}`, '--timeout=60s');
    await until(async () =>
      expect(await kubectl.run('api-resources', `--api-group=${group}`)).toMatch(/^apples +ap +fruit/m),
    );
  });
  afterAll(async () => {
    await behind.stop();
    await front().stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('serves kubectl apply, get in tables, explain and delete', async () => {
    kubectl.file('apple.json', JSON.stringify(apple('one', 70)));
    expect(await kubectl.run('apply', '-f', 'apple.json')).toBe('apple.fruit.example.com/one created\n');
    kubectl.file('apple.json', JSON.stringify(apple('one', 80)));
    expect(await kubectl.run('apply', '--server-side', '--force-conflicts', '-f', 'apple.json')).toContain(
      'serverside',
    );
    expect(await kubectl.run('get', 'ap', '-n', 'orchard')).toMatch(/^NAME +SIZE\none +80\n$/);
    expect(await kubectl.run('explain', 'apple.spec.size')).toMatch(/In mm\./);
    await kubectl.run('delete', 'apple', 'one', '-n', 'orchard');
    expect((await front().request('GET', `${apples}/one`)).status).toBe(404);
  });

  it('serves those whom the server in front names, with the rights that they have there', async () => {
    const as = { 'impersonate-user': 'jane', 'impersonate-group': 'system:authenticated' };
    expect((await front().request('GET', apples, undefined, as)).body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
    });
    await kubectl.run('create', 'serviceaccount', 'picker', '-n', 'orchard');
    await kubectl.run(...['create', 'role', 'picker', '-n', 'orchard', '--verb=list', `--resource=apples.${group}`]);
    await kubectl.run(
      ...['create', 'rolebinding', 'picker', '-n', 'orchard', '--role=picker', '--serviceaccount=orchard:picker'],
    );
    const token = (await kubectl.run('create', 'token', 'picker', '-n', 'orchard')).trim();
    const direct = { authorization: `Bearer ${token}` };
    // Asked by itself, the extension API server asks the one in front about the token and its rights.
    const own = await kubectl.ends([
      ...['--server', behind.url, '--token', token, '--insecure-skip-tls-verify', 'get', '--raw', apples],
    ]);
    expect(JSON.parse(own.out || 'null')).toMatchObject({ kind: 'AppleList' });
    const denied = await kubectl.ends([
      ...['--server', behind.url, '--token', token, '--insecure-skip-tls-verify', 'get', '--raw', `${apples}/one`],
    ]);
    expect(denied.err).toMatch(/Forbidden|forbidden/);
    expect((await front().request('GET', apples, undefined, direct)).status).toBe(200);
  });

  it('relays watches', async () => {
    const watching = kubectl.start('get', 'apples', '-n', 'orchard', '--watch');
    await front().request('POST', apples, apple('seen', 50));
    await watching.until(/^seen +50/m);
    watching.stop();
  });

  it('loses the objects whose owners in the server in front are deleted', async () => {
    const owner = await front().request('POST', '/api/v1/namespaces/orchard/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'tree' },
    });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'tree', uid: owner.body.metadata.uid };
    const owned = await front().request('POST', apples, apple('owned', 60, { ownerReferences: [reference] }));
    expect(owned.status).toBe(201);
    await front().request('DELETE', '/api/v1/namespaces/orchard/configmaps/tree');
    await expect.poll(async () => (await front().request('GET', `${apples}/owned`)).status).toBe(404);
  });

  it('loses the objects of a namespace that is deleted', async () => {
    await front().request('POST', apples, apple('last', 40));
    await front().request('DELETE', '/api/v1/namespaces/orchard');
    await expect.poll(async () => (await front().request('GET', '/api/v1/namespaces/orchard')).status).toBe(404);
    expect((await front().request('GET', apples)).body.items).toEqual([]);
  });

  it('stops neither garbage collection nor the deletion of other content while it is down', async () => {
    const configMaps = '/api/v1/namespaces/late/configmaps';
    const configMap = (name: string, metadata: object = {}) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, ...metadata },
    });
    await front().request('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'late' },
    });
    const owner = await front().request('POST', configMaps, configMap('owner'));
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.body.metadata.uid };
    await front().request('POST', configMaps, configMap('owned', { ownerReferences: [reference] }));
    behind.process.kill('SIGKILL');
    await kubectl.run('wait', '--for=condition=Available=false', `apiservice/v1.${group}`, '--timeout=60s');
    expect(await front().request('GET', apples)).toMatchObject({ status: 503, text: 'service unavailable\n' });
    await front().request('DELETE', `${configMaps}/owner`);
    await expect.poll(async () => (await front().request('GET', `${configMaps}/owned`)).status).toBe(404);
    await front().request('POST', configMaps, configMap('last'));
    await front().request('DELETE', '/api/v1/namespaces/late');
    await expect.poll(async () => (await front().request('GET', `${configMaps}/last`)).status).toBe(404);
    // The objects of the group may still be there: the namespace stays, and says why.
    await expect
      .poll(async () => (await front().request('GET', '/api/v1/namespaces/late')).body.status.conditions)
      .toContainEqual(expect.objectContaining({ type: 'NamespaceDeletionDiscoveryFailure', status: 'True' }));
  });
});
