import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import { issueCertificate } from '../../pki/index.ts';
import { componentStatuses, type Health, probeLocal, probeOthers } from './component-status.ts';

const storeOf = (get: () => Promise<{ revision: number }>) => ({
  get: async () => ({ entry: undefined, ...(await get()) }),
  commit: () => Promise.reject(new Error('not written')),
});

const ok: Health = { healthy: true, message: 'ok' };

describe('componentStatuses', () => {
  const names = namesFor('k8s.io');
  const conditions = async (answer: () => Promise<{ revision: number }>, probe: (port: number) => Health) => {
    const statuses = await componentStatuses(storeOf(answer), names, async (_, port) => probe(port));
    return statuses.map(({ metadata, conditions: found }) => [metadata.name, found]);
  };
  const is = (status: string, message: string) => [{ type: 'Healthy', status, message }];

  it('reports the store and the other control plane components', async () => {
    const found = await conditions(
      async () => ({ revision: 7 }),
      (port) => (port === 10_259 ? { healthy: false, message: 'connect ECONNREFUSED' } : ok),
    );
    expect(found).toEqual([
      ['controller-manager', is('True', 'ok')],
      ['etcd-0', is('True', 'ok')],
      ['scheduler', is('False', 'connect ECONNREFUSED')],
    ]);
  });

  it('reports an unhealthy store without the internal reason', async () => {
    const found = await conditions(
      () => Promise.reject(new Error('/secret/path')),
      () => ok,
    );
    expect(found[1]).toEqual(['etcd-0', is('False', 'the backing store is not available')]);
  });
});

it('probeOthers asks no component that runs in the process', async () => {
  const probe = probeOthers(new Set(['scheduler']));
  // Nobody can listen on port 0.
  expect(await probe('scheduler', 0)).toEqual(ok);
  expect(await probe('controller-manager', 0)).toMatchObject({ healthy: false });
});

describe('probeLocal', () => {
  const now = Date.now();
  const identity = issueCertificate({
    commonName: 'scheduler',
    usage: 'server',
    hosts: ['localhost'],
    notBefore: now - 60_000,
    notAfter: now + 3_600_000,
  });

  /** The result of probing a component with this handler. */
  async function probed(status: number, text: string): Promise<{ health: Health; port: number }> {
    const server = createServer(identity, (request, response) => {
      response.writeHead(request.url === '/healthz' ? status : 404).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const health = await probeLocal(port);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    return { health, port };
  }

  it('reports the status and the body of the response', async () => {
    expect((await probed(200, 'ok')).health).toEqual(ok);
    const failed = { healthy: false, message: 'HTTP probe failed with statuscode: 500' };
    expect((await probed(500, 'broken')).health).toEqual(failed);
  });

  it('truncates long responses', async () => {
    expect((await probed(200, 'x'.repeat(100_000))).health.message).toHaveLength(10_240);
  });

  it('reports a component that does not listen', async () => {
    const { port } = await probed(200, 'ok');
    const { healthy, message } = await probeLocal(port);
    expect(healthy).toBe(false);
    expect(message).toContain(`Get "https://127.0.0.1:${port}/healthz": connect ECONNREFUSED`);
  });
});
