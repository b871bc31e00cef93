import { afterEach, expect, it } from 'vitest';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../index.ts';

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const namespaces = { apiVersion: 'v1', resource: 'namespaces', name: 'demo' };

it('starts a server also while the namespace of the demo is being deleted', async () => {
  const store = openMemoryStore({ clock: drivenClock() });
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (text: string, fields: object) => void warnings.push({ text, ...fields }) };
  const start = async (identity: string) => {
    const server = await createServer({ demo: true, controllers: '-*' }, { store, log, identity });
    servers.push(server);
    return server;
  };
  const first = await start('one');
  expect(warnings).toEqual([]);
  await first.client.delete(namespaces);
  const quota = { apiVersion: 'v1', resource: 'resourcequotas', namespace: 'demo', name: 'demo' };
  await first.client.delete(quota);
  const second = await start('two');
  expect(await second.client.get(namespaces)).toMatchObject({ status: { phase: 'Terminating' } });
  expect(warnings).toEqual([
    {
      text: 'an object of the demo cannot be made',
      kind: 'ResourceQuota',
      name: 'demo',
      error: expect.stringContaining('is being terminated'),
    },
  ]);
});
