import { type ClientHttp2Session, connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { httpsTransport, type Transport } from '../client/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { systemClock } from './clock.ts';
import { createServer, type OrchServer } from './server.ts';
import { storeLink } from './testing/store-link.ts';

// Clients of two servers over one store, each of which is shut down gracefully and started again, one after the other.
// Clients try again with the other server when a connection is closed, and never see an error of a server.
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const path = '/api/v1/namespaces/default/configmaps';
type Answer = { readonly status: number; readonly body: string };
/** A request to one of the servers. Rejects when its connection is closed. */
type Ask = (method: string, url: string, body?: object) => Promise<Answer>;

interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

function overHttp1(server: string, { ca, cert, key }: Credentials): Ask & { transport: Transport } {
  const transport = httpsTransport({ server, ca, certificate: { cert, key } });
  ends.push(() => transport.close());
  const ask: Ask = async (method, url, body) => {
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    const answer = await transport({ method, url, headers, ...sent });
    return { status: answer.status, body: await text(answer.body) };
  };
  return Object.assign(ask, { transport });
}

/** One connection, which is replaced when the server has told that it goes away. */
function overHttp2(server: string, credentials: Credentials): Ask {
  let session: ClientHttp2Session | undefined;
  ends.push(() => session?.destroy());
  const open = () => {
    const made = connect(server, credentials);
    const forget = () => {
      if (session === made) session = undefined;
    };
    made.on('error', forget).on('close', forget).on('goaway', forget);
    return made;
  };
  return (method, url, body) =>
    new Promise((resolve, reject) => {
      session ??= open();
      const stream = session.request({ ':method': method, ':path': url, 'content-type': 'application/json' });
      let status = 0;
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (status !== 0) resolve({ status, body: Buffer.concat(chunks).toString() });
      });
      stream.on('error', reject);
      stream.on('close', () => reject(new Error('the stream was closed')));
      if (body !== undefined) stream.end(JSON.stringify(body));
    });
}

/** Two servers that listen, and how to restart one of them. */
async function cluster() {
  const store = openMemoryStore({ clock: systemClock });
  const settings = { apiDomain: 'k8s.io', controllers: '-*', shutdownDelayDuration: '200ms', advertiseAddress: '::1' };
  const servers: OrchServer[] = [];
  const start = async (index: number, securePort: number) => {
    const server = await createServer({ ...settings, securePort }, { store: storeLink(store).store });
    servers[index] = server;
    return server.listen();
  };
  const started = [await start(0, 0), await start(1, 0)];
  ends.push(() => Promise.all(servers.map((server) => server.close())));
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

const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

it('clients that try again on a closed connection see no failed request', async () => {
  const { urls, credentials, restart } = await cluster();
  const failures: string[] = [];
  const created: string[] = [];
  let retries = 0;
  let over = false;
  const worker = async (id: string, connections: readonly Ask[]) => {
    let at = 0;
    const ask: Ask = async (method, url, body) => {
      for (let attempt = 0; attempt < 20; attempt++) {
        try {
          return await (connections[at % 2] as Ask)(method, url, body);
        } catch {
          retries++;
          at++;
          await pause(5);
        }
      }
      return { status: 0, body: 'no server answers' };
    };
    for (let count = 0; !over; count++, at++) {
      const name = `${id}-${count}`;
      const sent = [
        // A lost response to a request that was served would be 409 here, or 404.
        [201, await ask('POST', path, map(name))],
        [200, await ask('GET', `${path}/${name}`)],
        [200, await ask('GET', `${path}?limit=5`)],
        [200, await ask('PUT', `${path}/${name}`, { ...map(name), data: { a: 'b' } })],
        ...(count % 2 === 0 ? [[200, await ask('DELETE', `${path}/${name}`)] as const] : []),
      ] as const;
      for (const [status, answer] of sent) {
        if (answer.status !== status) failures.push(`${id}: ${answer.status} ${answer.body.slice(0, 200)}`);
      }
      if (count % 2 === 1) created.push(name);
    }
  };
  const workers = Array.from({ length: 8 }, (_, index) =>
    worker(
      `w${index}`,
      urls.map((url) => (index % 2 === 0 ? overHttp1(url, credentials) : overHttp2(url, credentials))),
    ),
  );
  // A watch goes on at its last version, with the other server.
  const seen = new Map<string, string>();
  const transports = urls.map((url) => overHttp1(url, credentials).transport);
  const watching = (async () => {
    let version = '0';
    for (let at = 0; !over || created.some((name) => !seen.has(name)); at++) {
      const url = `${path}?watch=1&resourceVersion=${version}&timeoutSeconds=${over ? 1 : 600}`;
      let rest = '';
      try {
        const answer = await (transports[at % 2] as Transport)({ method: 'GET', url, headers: {} });
        if (answer.status !== 200) failures.push(`watch: ${answer.status} ${await text(answer.body)}`);
        for await (const chunk of answer.body) {
          const lines = (rest + Buffer.from(chunk).toString()).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            const { type, object } = JSON.parse(line) as {
              type: string;
              object: ReturnType<typeof map> & { metadata: { resourceVersion: string } };
            };
            if (type === 'ERROR') failures.push(`watch: ${line}`);
            ({ resourceVersion: version } = object.metadata);
            if (type === 'ADDED') {
              if (seen.has(object.metadata.name)) failures.push(`watch: ${object.metadata.name} was added twice`);
              seen.set(object.metadata.name, version);
            }
          }
          if (over && created.every((name) => seen.has(name))) break;
        }
        if (rest !== '') failures.push('watch: an event was cut off');
      } catch {
        await pause(5);
      }
    }
  })();
  for (const index of [0, 1, 0, 1]) await restart(index);
  over = true;
  await Promise.all([...workers, watching]);
  expect(failures).toEqual([]);
  expect(retries).toBeGreaterThan(0);
  expect(created).not.toEqual([]);
});
