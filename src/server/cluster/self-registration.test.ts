import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApiObject } from '../../meta/index.ts';
import { settled } from '../../meta/testing/settled.ts';
import { until } from '../../meta/testing/until.ts';
import { issueCertificate } from '../../pki/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { delivered } from '../../store/testing/late-store.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

// Names, labels and priorities as in the reference server's aggregator and control plane.
const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server with a store whose commits are counted. */
async function start(options: ServerOptions = {}, injected = newDependencies(), log = silentLog) {
  const commits: string[][] = [];
  const { store } = injected;
  const counted = storeWith(store, {
    commit: (compares, writes) => {
      commits.push(writes.map(({ key }) => key));
      return store.commit(compares, writes);
    },
    // The store is reused by another server.
    close: () => Promise.resolve(),
  });
  const dependencies = { clock: injected.clock, store: counted, log };
  const server = await createServer(
    { controllers: '-*', apiDomain: 'k8s.io', securePort: 0, ...options },
    dependencies,
  );
  servers.push(server);
  return { ...injected, server, client: server.client, commits };
}
const newDependencies = () => {
  const clock = drivenClock();
  return { clock, store: openMemoryStore({ clock }) };
};

const apiServices = { apiVersion: 'apiregistration.k8s.io/v1', resource: 'apiservices' };
const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'kube-system' };
const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'kube-system' };
const authorities = { ...configMaps, name: 'extension-apiserver-authentication' };
const label = 'kube-aggregator.kubernetes.io/automanaged';

type Started = Awaited<ReturnType<typeof start>>;
const list = async ({ client }: Started, place: typeof leases | typeof apiServices) =>
  (await client.list<ApiObject>(place)).items;
/** Waits for the self-registration after the start. */
async function settle(started: Started, seconds = 1): Promise<void> {
  started.clock.advance(seconds * 1000);
  await expect.poll(() => list(started, leases)).not.toEqual([]);
  // Three reads and writes in sequence.
  for (let i = 0; i < 3; i++) await delivered();
  await settled(200);
}
const specs = async (started: Started) =>
  Object.fromEntries((await list(started, apiServices)).map(({ metadata, spec }) => [metadata.name, spec]));

describe('the APIServices of the server', () => {
  it('are created after the start in one commit, one for each group version', async () => {
    const started = await start();
    expect(await list(started, apiServices)).toEqual([]);
    await settle(started);
    const made = started.commits.filter((keys) => keys.some((key) => key.includes('apiservices')));
    expect(made).toHaveLength(1);
    const { body } = await started.client.request({ method: 'GET', url: '/apis', headers: {} });
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    const { groups } = JSON.parse(Buffer.concat(pieces).toString()) as {
      groups: { name: string; versions: { version: string }[] }[];
    };
    const served = groups
      .filter(({ name }) => name !== 'apiregistration.k8s.io')
      .flatMap(({ name, versions }) => versions.map(({ version }) => `${version}.${name}`));
    const found = await specs(started);
    expect(Object.keys(found).sort()).toEqual(['v1.', ...served].sort());
    expect(found).toMatchObject({
      'v1.': { version: 'v1', groupPriorityMinimum: 18_000, versionPriority: 1 },
      'v1.apps': { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 },
      'v2.autoscaling': { groupPriorityMinimum: 17_500, versionPriority: 30 },
      'v1.flowcontrol.apiserver.k8s.io': { groupPriorityMinimum: 16_100, versionPriority: 21 },
    });
    expect(await started.client.get({ ...apiServices, name: 'v1.apps' })).toMatchObject({
      metadata: { labels: { [label]: 'onstart' }, managedFields: [{ manager: 'apiserver', operation: 'Update' }] },
      status: {
        conditions: [
          {
            type: 'Available',
            status: 'True',
            lastTransitionTime: expect.any(String) as string,
            reason: 'Local',
            message: 'Local APIServices are always available',
          },
        ],
      },
    });
  });

  it('have priorities for every group and version', async () => {
    const featureGates = { AllAlpha: true, AllBeta: true };
    const started = await start({ runtimeConfig: { 'api/all': true }, featureGates });
    await settle(started);
    const found = await specs(started);
    for (const definition of builtinResources) {
      const group = definition.group.replace('{domain}', 'k8s.io');
      if (group === 'apiregistration.k8s.io') continue;
      for (const { version } of definition.versions) expect(found).toHaveProperty([`${version}.${group}`]);
    }
  });

  it('are corrected at the next start and deleted with their version, unless they lack the automanaged label', async () => {
    const first = await start();
    await settle(first);
    const { client } = first;
    const name = (of: string) => ({ ...apiServices, name: of });
    await client.patch(name('v1.apps'), 'merge', { spec: { groupPriorityMinimum: 5 } });
    await client.patch(name('v1.policy'), 'merge', {
      spec: { groupPriorityMinimum: 6 },
      metadata: { labels: { [label]: null } },
    });
    await client.delete(name('v2.autoscaling'));
    await settle(first, 20);
    // They are corrected at startup only.
    expect(await specs(first)).toMatchObject({ 'v1.apps': { groupPriorityMinimum: 5 } });
    const second = await start({ runtimeConfig: { 'batch/v1': false } }, first);
    await settle(second);
    const found = await specs(second);
    expect(found).toMatchObject({
      'v1.apps': { groupPriorityMinimum: 17_800 },
      'v1.policy': { groupPriorityMinimum: 6 },
      'v2.autoscaling': { versionPriority: 30 },
    });
    expect(found).not.toHaveProperty(['v1.batch']);
  });

  it('need no commit at a restart, and no conflicting commits of several servers', async () => {
    const first = await start();
    await settle(first);
    const second = await start({}, first);
    await settle(second);
    await settle(first, 20);
    await settle(second, 20);
    expect(second.commits.flat().filter((key) => key.includes('apiservices'))).toEqual([]);
    expect(first.commits.filter((keys) => keys.some((key) => key.includes('apiservices')))).toHaveLength(1);
  });

  it('use the names of the API domain', async () => {
    const { clock, client } = await start({ apiDomain: 'orch.io' });
    clock.advance(1000);
    const place = { apiVersion: 'apiregistration.orch.io/v1', resource: 'apiservices', name: 'v1.networking.orch.io' };
    const labels = { 'kube-aggregator.orch.io/automanaged': 'onstart' };
    await expect.poll(() => client.get(place)).toMatchObject({ metadata: { labels } });
  });
});

describe('the identity lease', () => {
  it('is created once and renewed', async () => {
    const started = await start();
    await settle(started);
    const [lease, ...more] = await list(started, leases);
    expect(more).toEqual([]);
    const { name = '' } = lease?.metadata ?? {};
    expect(name).toMatch(/^apiserver-[a-z2-7]{26}$/);
    expect(lease).toMatchObject({
      metadata: {
        labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': hostname() },
      },
      spec: { leaseDurationSeconds: 3600, renewTime: new Date(started.clock.now()).toISOString().replace('Z', '000Z') },
    });
    const { holderIdentity } = (lease as ApiObject)['spec'] as { holderIdentity: string };
    expect(holderIdentity.startsWith(`${name}_`)).toBe(true);
    const written = () => started.commits.flat().filter((key) => key.startsWith('/leases/')).length;
    expect(written()).toBe(1);
    await started.server.listen();
    await settle(started);
    expect(written()).toBe(1);
    await settle(started, 10);
    const [renewed] = await list(started, leases);
    expect(renewed).toMatchObject({
      spec: { holderIdentity, renewTime: new Date(started.clock.now()).toISOString().replace('Z', '000Z') },
    });
  });

  it('of other servers is deleted when expired', async () => {
    const first = await start();
    await settle(first);
    const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
    const lease = (name: string, spec: ApiObject['spec'], of: { [key: string]: string } = labels) =>
      first.client.create<ApiObject>(leases, {
        apiVersion: leases.apiVersion,
        kind: 'Lease',
        metadata: { name, labels: of },
        ...(spec === undefined ? {} : { spec }),
      });
    const at = (seconds: number) => new Date(first.clock.now() + seconds * 1000).toISOString().replace('Z', '000Z');
    await lease('crashed', { renewTime: at(-3601), leaseDurationSeconds: 3600 });
    await lease('alive', { renewTime: at(-3000), leaseDurationSeconds: 3600 });
    await lease('never-renewed', { leaseDurationSeconds: 3600 });
    await lease('of-others', { renewTime: at(-9999), leaseDurationSeconds: 10 }, {});
    const second = await start({}, first);
    await settle(second);
    const names = async () => (await list(second, leases)).map(({ metadata }) => metadata.name);
    const own = [expect.stringMatching(/^apiserver-/), expect.stringMatching(/^apiserver-/)];
    expect(await names()).toEqual(['alive', ...own, 'of-others']);
    // The next garbage collection is an hour later.
    second.clock.advance(1_000_000);
    await lease('late', { renewTime: at(-3601), leaseDurationSeconds: 3600 });
    await settle(second, 10);
    expect(await names()).toContain('late');
    await settle(second, 3600);
    await settle(second, 10);
    expect(await names()).toEqual([...own, 'of-others']);
  });
});

describe('the config map of client authorities', () => {
  const certificates = (object: ApiObject) =>
    ((object['data'] as { [key: string]: string })['client-ca-file'] ?? '')
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem).subject);

  it('has the client CA bundle once the server listens', async () => {
    const started = await start();
    await settle(started);
    await expect(started.client.get(authorities)).rejects.toMatchObject({ code: 404 });
    await started.server.listen();
    await expect.poll(async () => certificates(await started.client.get(authorities))).toEqual(['CN=kubernetes-ca']);
  });

  it('keeps unexpired authorities and names of other servers, and removes other keys', async () => {
    const started = await start();
    const now = started.clock.now();
    const authority = (commonName: string, notAfter: number) =>
      issueCertificate({ commonName, usage: 'authority', notBefore: now - 10_000_000, notAfter }).cert;
    const data = {
      'client-ca-file': `${authority('other', now + 9_000_000)}x\n${authority('expired', now - 600_000)}`,
      'requestheader-allowed-names': '["front"]',
      more: 'removed',
    };
    const { apiVersion, namespace, name } = authorities;
    await started.client.create(configMaps, { apiVersion, kind: 'ConfigMap', metadata: { name, namespace }, data });
    await started.server.listen();
    await until(async () => {
      const found = await started.client.get<ApiObject>(authorities);
      expect(certificates(found)).toEqual(['CN=other', 'CN=kubernetes-ca']);
      expect(found['data']).toEqual({
        'client-ca-file': expect.any(String) as unknown,
        'requestheader-allowed-names': '["front"]',
      });
    });
    await settle(started);
    const before = started.commits.length;
    await settle(started, 10);
    expect(
      started.commits
        .slice(before)
        .flat()
        .filter((key) => key.includes('configmaps')),
    ).toEqual([]);
  });
});

describe('a failing registration', () => {
  it('is logged once and retried, and does not block the others', async () => {
    const warn = vi.fn();
    const injected = newDependencies();
    let broken = true;
    const commit = injected.store.commit.bind(injected.store);
    injected.store.commit = (compares, writes) =>
      broken && writes.some(({ key }) => key.includes('apiservices'))
        ? Promise.reject(new Error('no room'))
        : commit(compares, writes);
    const started = await start({}, injected, { ...silentLog, warn });
    await settle(started);
    await settle(started, 10);
    expect(warn.mock.calls.map(([text]: unknown[]) => text)).toEqual(['failed to reconcile the APIServices']);
    expect(await list(started, leases)).toHaveLength(1);
    broken = false;
    await settle(started, 10);
    expect(await specs(started)).toHaveProperty(['v1.apps']);
  });
});
