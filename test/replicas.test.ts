import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../src/server/testing/load.ts';
import { startEtcd, type TestEtcd } from '../src/store/testing/etcd.ts';
import { etcdPath } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

// Two servers as users start them, over one etcd.
const program = etcdPath();

describe.skipIf(program === undefined)('two replicas', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program as string);
  });
  afterAll(() => etcd?.stop());
  const start = (...flags: string[]): Promise<RunningServer> =>
    startServer([
      ...['--store=etcd', `--etcd-servers=${etcd.servers.join(',')}`, '--api-domain=k8s.io'],
      ...['--advertise-address=192.0.2.7', '--shutdown-delay-duration=200ms', ...flags],
    ]);

  const endpoints = async (server: RunningServer): Promise<number[]> => {
    const { body } = await server.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
    const { subsets } = body as { subsets: { ports: { port: number }[] }[] };
    return subsets.flatMap(({ ports }) => ports.map(({ port }) => port));
  };
  const portOf = ({ url }: RunningServer) => Number(new URL(url).port);

  it('serve each other’s writes, and are restarted one by one without a failed request', async () => {
    const replicas = await Promise.all([start(), start()]);
    const ports = replicas.map(portOf);
    try {
      const [folder = ''] = replicas.map((replica) => replica.folder);
      const read = (name: string) => readFileSync(join(folder, name), 'utf8');
      const credentials = { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
      for (const replica of replicas) expect(await endpoints(replica)).toEqual(ports.toSorted((a, b) => a - b));
      const load = startLoad(
        replicas.map(({ url }) => url),
        credentials,
      );
      for (const [index, port] of ports.entries()) {
        expect(await replicas[index]?.stop()).toBe(0);
        expect(await endpoints(replicas[1 - index] as RunningServer)).toEqual([ports[1 - index]]);
        replicas[index] = await start(`--secure-port=${port}`);
      }
      const { failures, created, retries } = await load.end();
      expect(failures).toEqual([]);
      expect(created).toBeGreaterThan(0);
      expect(retries).toBeGreaterThan(0);
    } finally {
      await Promise.all(replicas.map((replica) => replica.stop()));
    }
  });
});
