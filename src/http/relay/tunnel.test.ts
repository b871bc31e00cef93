import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Listener, listen } from '../listener/listener.ts';
import { type Fixture, makeCertificates, makeFixture, realClock, usedOf } from '../testing/fixture.ts';

const { ca, cert, key } = makeCertificates();
const pods = '/api/v1/namespaces/default/pods';

/** The agent's handling of a connection that has switched to another protocol. */
let behave: (socket: Socket, head: Buffer) => void;
let seen: { method?: string | undefined; url?: string | undefined; headers: NodeJS.Dict<string | string[]> };
let agent: https.Server;
let server: Fixture;
let listener: Listener;

beforeAll(async () => {
  agent = https.createServer({ cert, key });
  agent.on('upgrade', (request, socket: TLSSocket, head) => {
    const { method, url, headers } = request;
    seen = { method, url, headers };
    socket.on('error', () => {});
    if (headers.upgrade === 'unknown') {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
      return;
    }
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel\r\n\r\n',
    );
    behave(socket, head);
  });
  await new Promise<void>((done) => agent.listen(0, '127.0.0.1', done));
  server = await makeFixture({ policy: { rules: [{ level: 'Metadata' }] } });
  listener = await listen({
    handler: server.handler,
    address: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    clock: realClock,
    log: { error: (text, fields) => console.error(text, fields) },
  });
  const make = async (url: string, body: object) => {
    const { status, text } = await server.send('POST', url, { body: body as never });
    expect(status, text).toBe(201);
  };
  await make('/api/v1/nodes', {
    metadata: { name: 'here' },
    status: {
      addresses: [
        { type: 'ExternalIP', address: '192.0.2.1' },
        { type: 'InternalIP', address: '127.0.0.1' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: (agent.address() as AddressInfo).port } },
    },
  });
  await make(pods, { metadata: { name: 'web' }, spec: { nodeName: 'here', containers: [{ name: 'c', image: 'i' }] } });
});
afterAll(async () => {
  await server.close();
  await listener.close(100);
  await new Promise((done) => agent.close(done));
});

interface Sent {
  readonly method?: string;
  readonly upgrade?: string;
  readonly token?: string;
  /** The bytes that follow the request at once. */
  readonly after?: string;
  readonly headers?: string;
}

/** A connection that has sent a request for another protocol. */
function connect(path: string, { method = 'POST', upgrade = 'SPDY/3.1', ...sent }: Sent = {}): TLSSocket {
  const { token = 'admin', after = '', headers = '' } = sent;
  const socket = tls.connect({
    port: listener.port,
    host: '127.0.0.1',
    ca,
    allowHalfOpen: true,
  } as tls.ConnectionOptions);
  socket.on('error', () => {});
  const head = `${method} ${path} HTTP/1.1\r\nHost: cluster.example\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n${headers}\r\n${after}`);
  return socket;
}

/** Reads until the other side has ended, or until it sent so much. */
async function read(socket: Socket, size = Number.POSITIVE_INFINITY): Promise<Buffer> {
  let got = Buffer.alloc(0);
  if (size === 0) return got;
  for await (const piece of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    got = Buffer.concat([got, piece]);
    if (got.length >= size) break;
  }
  return got;
}

/** The head of the answer; what came behind it is put back. */
async function answered(socket: Socket): Promise<string> {
  let got = '';
  while (!got.includes('\r\n\r\n')) got += (await read(socket, 1)).toString('latin1');
  const end = got.indexOf('\r\n\r\n') + 4;
  if (got.length > end) socket.unshift(Buffer.from(got.slice(end), 'latin1'));
  return got.slice(0, end);
}

const echo = (socket: Socket, head: Buffer) => {
  socket.write(head);
  socket.pipe(socket);
};
const idle = () => expect.poll(() => server.inFlight.limits.proxied.used).toBe(0);

it('has an audit event when the protocol is switched, and one when the connection has ended', async () => {
  behave = echo;
  server.events.length = 0;
  const socket = connect(`${pods}/web/exec?command=date`);
  await answered(socket);
  const stages = () => server.events.map(({ stage, responseStatus }) => [stage, responseStatus]);
  const switched = { metadata: {}, code: 101 };
  const started = [
    ['RequestReceived', undefined],
    ['ResponseStarted', switched],
  ];
  expect(stages()).toEqual(started);
  socket.end();
  await expect.poll(stages).toEqual([...started, ['ResponseComplete', switched]]);
  expect(server.events[2]).toMatchObject({ verb: 'create', objectRef: { name: 'web', subresource: 'exec' } });
  await idle();
});

it('an upgrade is forwarded to the kubelet without the credentials of the client', async () => {
  behave = echo;
  const client = connect(`${pods}/web/exec?command=a&command=b%20c&stdout=1&stdin=true&tty=false`, {
    headers: 'X-Stream-Protocol-Version: v4.channel\r\nX-Stream-Protocol-Version: v3.channel\r\nContent-Length: 0\r\n',
  });
  const head = (await answered(client)).toLowerCase();
  expect(head).toMatch(/^http\/1\.1 101 switching protocols\r\n/);
  for (const line of ['upgrade: spdy/3.1', 'connection: upgrade', 'x-stream-protocol-version: v4.channel']) {
    expect(head).toContain(`\r\n${line}\r\n`);
  }
  expect(seen).toMatchObject({
    method: 'POST',
    url: '/exec/default/web/c?command=a&command=b+c&input=1&output=1',
    headers: {
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': 'v4.channel, v3.channel',
      'x-forwarded-for': '127.0.0.1',
    },
  });
  expect(seen.headers).not.toHaveProperty('authorization');
  expect(usedOf(server.inFlight)).toMatchObject({ proxied: 1, mutating: 0 });
  client.end();
  await idle();
});

it.each([
  ['attach?container=c&stdin=1', '/attach/default/web/c?input=1'],
  ['portforward?ports=80,443&ports=8080', '/portForward/default/web?port=80%2C443%2C8080'],
  ['portforward', '/portForward/default/web'],
])('%s is forwarded to %s', async (path, url) => {
  behave = (socket) => socket.end();
  const client = connect(`${pods}/web/${path}`, { method: 'GET' });
  expect(await answered(client)).toMatch(/ 101 /);
  expect(seen).toMatchObject({ method: 'GET', url });
  client.destroy();
  await idle();
});

it('data sent together with the upgrade request or response is forwarded', async () => {
  behave = (socket, head) => {
    socket.write('from the kubelet,');
    echo(socket, head);
  };
  const client = connect(`${pods}/web/exec`, { after: 'from the client' });
  await answered(client);
  expect((await read(client, 32)).toString()).toBe('from the kubelet,from the client');
  client.destroy();
  await idle();
});

it('a slow client receives every byte', async () => {
  behave = echo;
  const client = connect(`${pods}/web/exec`);
  await answered(client);
  const sent = randomBytes(12 * 1024 * 1024);
  client.end(sent);
  const pieces: Buffer[] = [];
  for await (const piece of client as AsyncIterable<Buffer>) {
    pieces.push(piece);
    if (pieces.length % 20 === 0) await new Promise((done) => setTimeout(done, 1));
  }
  // The client has ended, and still got the rest.
  expect(Buffer.concat(pieces).equals(sent)).toBe(true);
  await idle();
});

it('a kubelet is held back while its client does not read', async () => {
  const much = 256 * 1024 * 1024;
  let wrote = 0;
  let full = false;
  behave = (socket) => {
    const piece = Buffer.alloc(1024 * 1024);
    const more = () => {
      full = false;
      while (wrote < much && !full) {
        wrote += piece.length;
        full = !socket.write(piece);
      }
    };
    socket.on('drain', more);
    more();
  };
  const client = connect(`${pods}/web/exec`);
  await answered(client);
  client.pause();
  // Two connections and their buffers are full long before all is written.
  let before = -1;
  await expect
    .poll(() => {
      const still = full && wrote === before;
      before = wrote;
      return still;
    })
    .toBe(true);
  expect(wrote).toBeLessThan(much);
  client.destroy();
  await idle();
});

it.each([
  ['the client is destroyed', (client: Socket) => client.destroy()],
  ['the client ends', (client: Socket) => client.end()],
  ['the kubelet is destroyed', (_: Socket, far: Socket) => far.destroy()],
  ['the kubelet ends', (_: Socket, far: Socket) => far.end()],
])('both connections are closed when %s', async (_, end) => {
  let far: Socket | undefined;
  behave = (socket) => {
    far = socket;
    socket.on('end', () => socket.end());
    socket.resume();
  };
  const client = connect(`${pods}/web/exec`);
  await answered(client);
  client.on('end', () => client.end());
  client.resume();
  await expect.poll(() => far).toBeDefined();
  end(client, far as unknown as Socket);
  await expect.poll(() => [client.destroyed, far?.destroyed]).toEqual([true, true]);
  await idle();
});

it('a kubelet that refuses the upgrade: its response is forwarded', async () => {
  const got = (await read(connect(`${pods}/web/exec`, { upgrade: 'unknown' }))).toString();
  expect(got).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n.*\r\n\r\nno$/s);
  await idle();
});

it.each([
  [
    'without permission',
    `${pods}/web/exec`,
    { token: 'jane' },
    403,
    'pods \\"web\\" is forbidden: User \\"jane\\" cannot create',
  ],
  ['for a missing pod', `${pods}/none/exec`, {}, 404, 'pods \\"none\\" not found'],
  ['for a missing container', `${pods}/web/exec?container=z`, {}, 400, 'container z is not valid for pod web'],
  [
    'with an invalid port',
    `${pods}/web/portforward?ports=x`,
    {},
    400,
    'cannot convert to []int32: strconv.ParseUint: parsing \\"x\\"',
  ],
  ['with a body', `${pods}/web/exec`, { headers: 'Content-Length: 2\r\n', after: '{}' }, 400, 'cannot have a body'],
  ['with too many headers', `${pods}/web/exec`, { headers: 'X-A: 1\r\n'.repeat(120) }, 431, 'Too many header fields'],
] as const)('an upgrade %s gets an HTTP error', async (_, path, sent, status, message) => {
  const got = (await read(connect(path, sent))).toString();
  expect(got).toContain(`HTTP/1.1 ${status} `);
  expect(got).toContain(message.replaceAll('\\"', got.includes('{') ? '\\"' : '"'));
});

it('exec without an upgrade is 400, also over HTTP/2, which has none', async () => {
  const message = 'Upgrade request required';
  const plain = await server.send('POST', `${pods}/web/exec`);
  expect(plain).toMatchObject({ status: 400 });
  expect(plain.json()).toMatchObject({ reason: 'BadRequest', message });
  const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
  const stream = session.request({ ':path': `${pods}/web/exec`, ':method': 'POST', authorization: 'Bearer admin' });
  stream.end();
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  expect(headers[':status']).toBe(400);
  let text = '';
  for await (const piece of stream) text += String(piece);
  expect(text).toContain(message);
  session.close();
});

it('an offered upgrade is ignored by a list', async () => {
  for (let i = 0; i < 40; i++) {
    const data = { text: 'x'.repeat(100_000) };
    await server.send('POST', '/api/v1/namespaces/default/configmaps', { body: { metadata: { name: `c${i}` }, data } });
  }
  const list = '/api/v1/namespaces/default/configmaps';
  const got = (await read(connect(list, { method: 'GET', upgrade: 'h2c' }))).toString();
  const { text } = await server.send('GET', list);
  expect(got.slice(0, 15)).toBe('HTTP/1.1 200 OK');
  expect(text.length).toBeGreaterThan(4_000_000);
  // In chunks, so with their sizes in between.
  expect(got.length).toBeGreaterThan(text.length);
});

it('an upgraded connection ends with the server', async () => {
  behave = (socket) => socket.resume();
  const client = connect(`${pods}/web/exec`);
  await answered(client);
  await server.close();
  expect((await read(client)).length).toBe(0);
  await idle();
});
