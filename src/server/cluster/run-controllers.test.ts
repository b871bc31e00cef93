import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type ApiObject, at, isStatus } from '../../meta/index.ts';
import { certificateRequest, commonName } from '../../pki/testing/certificate-request.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(options: ServerOptions = {}) {
  const clock = drivenClock();
  const server = await createServer({ apiDomain: 'k8s.io', ...options }, { clock });
  servers.push(server);
  return { server, clock };
}

const accounts = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
const view = { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterroles', name: 'view' };
const accountOf = ({ client }: OrchServer) =>
  client.get<ApiObject>({ ...accounts, name: 'default' }).catch((error: unknown) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });
const viewRules = async ({ client }: OrchServer) => (await client.get<ApiObject>(view))['rules'];

const textAt = (object: ApiObject | undefined, ...path: readonly string[]): string => {
  const value = at(object, ...path);
  return typeof value === 'string' ? value : '';
};

describe('the controllers of a server', () => {
  it('run once it has started, each as its service account', async () => {
    const { server, clock } = await start();
    expect(await accountOf(server)).toBeUndefined();
    clock.advance(1_000);
    await expect.poll(() => accountOf(server)).toBeDefined();
    await expect.poll(() => viewRules(server)).not.toBeNull();
  });

  it.each([
    ['-*', false, false],
    ['-clusterrole-aggregation', false, false],
    ['clusterrole-aggregation', false, true],
    ['*,-clusterrole-aggregation', true, false],
  ])('are those of --controllers=%s', async (controllers, makesAccounts, aggregates) => {
    const { server, clock } = await start({ controllers });
    clock.advance(1_000);
    if (makesAccounts) await expect.poll(() => accountOf(server)).toBeDefined();
    if (aggregates) await expect.poll(() => viewRules(server)).not.toBeNull();
    expect([(await accountOf(server)) !== undefined, (await viewRules(server)) !== null]).toEqual([
      makesAccounts,
      aggregates,
    ]);
  });

  it('publish the certificates of the server, sign with its authority, and issue tokens that it accepts', async () => {
    const serviceAccountSigningKeyFile = join(mkdtempSync(join(tmpdir(), 'orch-')), 'signing.key');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(serviceAccountSigningKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const { server, clock } = await start({ securePort: 0, serviceAccountSigningKeyFile });
    const { kubeconfig } = await server.listen();
    const { client } = server;
    clock.advance(1_000);
    const find = (apiVersion: string, resource: string, name: string, namespace?: string) =>
      client.get<ApiObject>({ apiVersion, resource, name, ...(namespace === undefined ? {} : { namespace }) });

    const published = async () =>
      textAt(await find('v1', 'configmaps', 'kube-root-ca.crt', 'default').catch(() => undefined), 'data', 'ca.crt');
    await expect.poll(published).toMatch(/^-----BEGIN CERTIFICATE-----/);
    const authority = Buffer.from(/certificate-authority-data: "?([\w+/=]+)/.exec(kubeconfig)?.[1] ?? '', 'base64');
    expect(await published()).toBe(authority.toString());

    const annotations = { 'kubernetes.io/service-account.name': 'default' };
    const metadata = { name: 'tok', namespace: 'default', annotations };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/service-account-token' };
    await expect.poll(() => accountOf(server)).toBeDefined();
    await client.create({ apiVersion: 'v1', resource: 'secrets', namespace: 'default' }, secret);
    const token = async () => textAt(await find('v1', 'secrets', 'tok', 'default'), 'data', 'token');
    await expect.poll(token).not.toBe('');
    const review = { apiVersion: 'authentication.k8s.io/v1', resource: 'tokenreviews' };
    const spec = { token: Buffer.from(await token(), 'base64').toString() };
    const reviewed = await client.create<ApiObject>(review, { ...review, kind: 'TokenReview', metadata: {}, spec });
    expect(textAt(reviewed, 'status', 'user', 'username')).toBe('system:serviceaccount:default:default');

    const certificates = { apiVersion: 'certificates.k8s.io/v1', resource: 'certificatesigningrequests' };
    const requested = await client.create<ApiObject>(certificates, {
      apiVersion: certificates.apiVersion,
      kind: 'CertificateSigningRequest',
      metadata: { name: 'csr' },
      spec: {
        request: Buffer.from(certificateRequest({ subject: [commonName('alice')] })).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    });
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Checked' }];
    const place = { ...certificates, name: 'csr', subresource: 'approval' };
    await client.update(place, { ...requested, status: { conditions } });
    const issued = async () =>
      textAt(await find(certificates.apiVersion, certificates.resource, 'csr'), 'status', 'certificate');
    await expect.poll(issued).not.toBe('');
    const certificate = new X509Certificate(Buffer.from(await issued(), 'base64'));
    expect(certificate.subject).toBe('CN=alice');
    expect(certificate.verify(new X509Certificate(authority).publicKey)).toBe(true);
  });

  it.each([0, 1_000])('do not hold up the end of the server, %i ms after its start', async (ms) => {
    const { server, clock } = await start();
    clock.advance(ms);
    await server.close();
    expect(await server.close()).toBeUndefined();
  });

  it.each([
    ['its own store', { store: 'lmdb' }, true],
    ['a store that others may have too', { store: 'memory' }, false],
  ] as const)('take the lease of its last process at once in %s', async (_, options, atOnce) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'orch-controllers-'));
    try {
      const { server, clock } = await start({ ...options, dataDir });
      const { client, names } = server;
      const namespace = await client.get({ apiVersion: 'v1', resource: 'namespaces', name: names.systemNamespace });
      const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: names.systemNamespace };
      const holderIdentity = `${names.server}_${namespace.metadata.uid}`;
      const renewTime = '2026-01-01T00:00:00.000000Z';
      await client.create<ApiObject>(leases, {
        apiVersion: leases.apiVersion,
        kind: 'Lease',
        metadata: { name: 'kube-controller-manager' },
        spec: { holderIdentity, leaseDurationSeconds: 15, renewTime },
      });
      const lease = async () => {
        const { spec } = await client.get<ApiObject>({ ...leases, name: 'kube-controller-manager' });
        return spec as { readonly [field: string]: unknown };
      };
      clock.advance(1_000);
      if (atOnce) {
        await expect.poll(() => accountOf(server)).toBeDefined();
        expect(await lease()).toMatchObject({ holderIdentity });
      } else {
        for (let second = 0; second < 10; second++) {
          await nextTurn();
          clock.advance(1_000);
        }
        expect([await accountOf(server), (await lease())['renewTime']]).toEqual([undefined, renewTime]);
      }
      await server.close();
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('are in the metrics', async () => {
    const { server, clock } = await start();
    clock.advance(1_000);
    await expect.poll(() => accountOf(server)).toBeDefined();
    const { body } = await server.client.request({ method: 'GET', url: '/metrics', headers: {} });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    expect(text).toMatch(/^workqueue_adds_total\{name="service_account"\} [1-9]/m);
    expect(text).toMatch(/^leader_election_master_status\{name="kube-controller-manager"\} 1$/m);
  });

  it('need no lease with leaderElect: false', async () => {
    const { server, clock } = await start({ leaderElect: false });
    clock.advance(1_000);
    await expect.poll(() => accountOf(server)).toBeDefined();
    const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'kube-system' };
    const { items } = await server.client.list<ApiObject>(leases);
    expect(items.filter(({ metadata }) => metadata.name === 'kube-controller-manager')).toEqual([]);
  });
});
