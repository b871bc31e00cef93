import { afterEach, expect, it } from 'vitest';
import { openMemoryStore } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { createServer, type OrchServer } from '../server.ts';
import { startLoad } from '../testing/load.ts';
import { storeLink } from '../testing/store-link.ts';

// Two servers over one store, each of which is shut down gracefully and started again, one after the other.
const servers: OrchServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Two servers that listen, and how to restart one of them. */
async function cluster() {
  const store = openMemoryStore({ clock: systemClock });
  const settings = { apiDomain: 'k8s.io', controllers: '-*', shutdownDelayDuration: '200ms', advertiseAddress: '::1' };
  const start = async (index: number, securePort: number) => {
    const server = await createServer({ ...settings, securePort }, { store: storeLink(store).store });
    servers[index] = server;
    return server.listen();
  };
  const started = [await start(0, 0), await start(1, 0)];
  const config = JSON.stringify(started[0]?.kubeconfig).replaceAll('\\n', '\n').replaceAll('\\"', '"');
  const field = (name: string) =>
    Buffer.from(new RegExp(`${name}-data"?: ?"?([\\w+/=]+)`).exec(config)?.[1] ?? '', 'base64').toString();
  const credentials = {
    ca: field('certificate-authority'),
    cert: field('client-certificate'),
    key: field('client-key'),
  };
  return {
    urls: started.map(({ url }) => url),
    credentials,
    restart: async (index: number) => {
      await servers[index]?.close();
      await start(index, started[index]?.port ?? 0);
    },
  };
}

it('clients that try again on a closed connection see no failed request', async () => {
  const { urls, credentials, restart } = await cluster();
  const load = startLoad(urls, credentials);
  for (const index of [0, 1, 0, 1]) await restart(index);
  const { failures, created, retries } = await load.end();
  expect(failures).toEqual([]);
  expect(created).toBeGreaterThan(0);
  expect(retries).toBeGreaterThan(0);
});
