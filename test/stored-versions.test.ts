import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../src/meta/testing/until.ts';
import { openLmdbStore, type Store } from '../src/store/index.ts';
import { drivenClock } from '../src/store/testing/driven-clock.ts';
import { startEtcd, type TestEtcd } from '../src/store/testing/etcd.ts';
import { etcdPath } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');

const metadata = (name: string, digit: number) => ({
  name,
  namespace: 'default',
  uid: `00000000-0000-4000-8000-00000000000${digit}`,
  generation: 2,
  creationTimestamp: '2019-03-01T10:00:00Z',
});
const backend = { serviceName: 'web', servicePort: 80 };
const container = { name: 'c', image: 'example.com/c:1' };
const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } };

/** Objects by their keys, as servers of releases before 1.22 store them. */
const older = {
  '/cronjobs/default/nightly': {
    kind: 'CronJob',
    apiVersion: 'batch/v1beta1',
    metadata: metadata('nightly', 1),
    spec: { schedule: '0 3 * * *', jobTemplate },
    status: {},
  },
  '/ingress/default/web': {
    kind: 'Ingress',
    apiVersion: 'extensions/v1beta1',
    metadata: metadata('web', 2),
    spec: { rules: [{ host: 'a.example.com', http: { paths: [{ path: '/', backend }] } }] },
    status: { loadBalancer: {} },
  },
  '/poddisruptionbudgets/default/web': {
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1beta1',
    metadata: metadata('web', 3),
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 0 },
  },
};
const counts = {
  'cronjobs.batch': { 'batch/v1beta1': 1 },
  'ingresses.networking.k8s.io': { 'extensions/v1beta1': 1 },
  'poddisruptionbudgets.policy': { 'policy/v1beta1': 1 },
};
const paths = [
  '/apis/batch/v1/namespaces/default/cronjobs/nightly',
  '/apis/networking.k8s.io/v1/namespaces/default/ingresses/web',
  '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web',
];
const presentVersions = ['batch/v1', 'networking.k8s.io/v1', 'policy/v1'];

const folder = mkdtempSync(join(tmpdir(), 'orch-versions-'));
const started: RunningServer[] = [];
afterAll(async () => {
  for (const server of started) await server.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const serve = async (data: string, flags: readonly string[]) => {
  const server = await startServer(['--api-domain=k8s.io', ...flags], data);
  started.push(server);
  return server;
};

const run = (command: string, ...flags: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, command, ...flags, '--json'], {
    encoding: 'utf8',
  });
  return { status, stderr, result: JSON.parse(stdout) };
};

/** Ends a server, whose data directory remains. */
async function end({ process: child }: RunningServer): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** Opens the store of a data directory while no server runs. */
async function withStore<T>(data: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openLmdbStore({ path: join(data, 'store'), clock: drivenClock() });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** A data directory of a server, with the older objects. */
async function makeData(name: string): Promise<string> {
  const data = mkdtempSync(join(folder, name));
  await end(await serve(data, []));
  await withStore(data, (store) =>
    store.commit(
      [],
      Object.entries(older).map(([key, object]) => ({ key, value: Buffer.from(`${JSON.stringify(object)}\n`) })),
    ),
  );
  return data;
}

const versionsIn = async (store: Store) => {
  const entries = await Promise.all(Object.keys(older).map(async (key) => (await store.get(key)).entry));
  return entries.map((entry) => JSON.parse(Buffer.from(entry?.value ?? []).toString()).apiVersion);
};

/** The clients' view of the objects, without their resourceVersions. */
async function shownBy(server: RunningServer) {
  const answers = await Promise.all(paths.map((path) => server.request('GET', path)));
  return answers.map(({ status, body }) => {
    expect(status).toBe(200);
    const { resourceVersion: _, ...metadata } = body.metadata;
    return { ...body, metadata };
  });
}

describe('objects that are stored in an older version', () => {
  it('are counted by orch check, and stored in the storage version by StorageVersionMigrations', async () => {
    const data = await makeData('migrated-');
    const checked = run('check', `--data-dir=${data}`);
    expect(checked).toMatchObject({ status: 0, result: { ok: true, warnings: 0, older: counts } });

    const server = await serve(data, [
      '--feature-gates=StorageVersionMigrator=true',
      '--runtime-config=storagemigration.k8s.io/v1alpha1,batch/v1beta1,extensions/v1beta1,policy/v1beta1',
      '--controllers=storage-version-migrator-controller',
    ]);
    const before = await shownBy(server);
    const migrations = '/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations';
    for (const [i, path] of paths.entries()) {
      const [, , group, version, , , resource] = path.split('/');
      const created = await server.request('POST', migrations, {
        apiVersion: 'storagemigration.k8s.io/v1alpha1',
        kind: 'StorageVersionMigration',
        metadata: { name: `m${i}` },
        spec: { resource: { group, version, resource } },
      });
      expect(created.status).toBe(201);
    }
    await until(async () => {
      const { body } = await server.request('GET', migrations);
      const ends = body.items.map(({ status }: { status?: { conditions?: { type: string; status: string }[] } }) =>
        (status?.conditions ?? []).map((condition) => [condition.type, condition.status]),
      );
      expect(ends).toEqual(
        paths.map(() => [
          ['Running', 'False'],
          ['Succeeded', 'True'],
        ]),
      );
    });
    expect(await shownBy(server)).toEqual(before);
    await end(server);
    expect(await withStore(data, versionsIn)).toEqual(presentVersions);
    expect(run('check', `--data-dir=${data}`).result).toMatchObject({ ok: true, older: {} });
  });

  describe.skipIf(etcdPath() === undefined)('copied to etcd', () => {
    let etcd: TestEtcd;
    beforeAll(async () => {
      etcd = await startEtcd(etcdPath() as string);
    });
    afterAll(() => etcd?.stop());

    it('are converted by orch migrate, which counts them', async () => {
      const data = await makeData('copied-');
      const flags = [`--etcd-servers=${etcd.servers.join(',')}`, '--etcd-prefix=/versions'];
      const copied = run('migrate', `--data-dir=${data}`, ...flags);
      expect(copied).toMatchObject({ status: 0, result: { converted: counts } });
      const server = await serve(data, ['--store=etcd', ...flags]);
      const shown = await shownBy(server);
      expect(shown.map(({ apiVersion }) => apiVersion)).toEqual(presentVersions);
      expect(shown[1].spec.rules[0].http.paths[0].backend).toEqual({ service: { name: 'web', port: { number: 80 } } });
      await end(server);
    });
  });
});
