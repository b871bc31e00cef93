import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { externalAddress } from '../../../test/support/requirements.ts';
import type { Json, JsonObject } from '../../meta/index.ts';
import { type Listener, listen } from '../listener/listener.ts';
import { type Fixture, makeCertificates, makeFixture, realClock } from '../testing/fixture.ts';

const ns = '/api/v1/namespaces/default';
const pods = `${ns}/pods`;
// A proxy leads to no loopback address: what is proxied to must stand elsewhere on this machine.
const address = externalAddress();

let server: Fixture;
/** The server that runs in the pods. */
let web: Server;
let port: number;
beforeAll(async () => {
  server = await makeFixture();
  web = createServer((request, response) => {
    response.setHeader('x-seen', `${request.method} ${request.url}`);
    if (request.url === '/digest') {
      const digest = createHash('sha256');
      request.on('data', (piece: Buffer) => digest.update(piece));
      request.on('end', () => response.end(digest.digest('hex')));
    } else request.pipe(response);
  });
  await new Promise<void>((done) => web.listen(0, done));
  ({ port } = web.address() as AddressInfo);
});
afterAll(async () => {
  await server.close();
  web.closeAllConnections();
  await new Promise((done) => web.close(done));
});

/** Status and body of an answer. */
async function ask(method: string, url: string, body?: Json, headers: { [name: string]: string } = {}) {
  const answer = await server.send(method, url, { ...(body === undefined ? {} : { body }), headers });
  return { status: answer.status, headers: answer.headers, body: answer.json() as JsonObject };
}

const message = async (url: string) => (await ask('GET', url)).body['message'];

async function make(url: string, object: JsonObject): Promise<void> {
  const { status, body } = await ask('POST', url, object);
  expect(status, JSON.stringify(body)).toBe(201);
}

const pod = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

/** A pod that has an address. */
async function podAt(name: string, ips: string[], spec: JsonObject = {}): Promise<void> {
  await make(pods, pod(name, { nodeName: 'down', ...spec }));
  const status = { podIP: ips[0] ?? '', podIPs: ips.map((ip) => ({ ip })) };
  const type = { 'content-type': 'application/merge-patch+json' };
  expect((await ask('PATCH', `${pods}/${name}/status`, { status }, type)).status).toBe(200);
}

const node = (name: string, addresses: JsonObject[], agentPort?: number): JsonObject => ({
  metadata: { name },
  status: {
    addresses,
    ...(agentPort === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: agentPort } } }),
  },
});

describe('a connect request', () => {
  it('is 404 without the pod', async () => {
    for (const place of ['log', 'exec', 'attach', 'portforward', 'proxy']) {
      const answer = await ask('GET', `${pods}/absent/${place}`);
      expect([place, answer.status, answer.body['message']]).toEqual([place, 404, 'pods "absent" not found']);
    }
    expect((await ask('POST', `${pods}/absent/exec`)).status).toBe(404);
    for (const method of ['PUT', 'HEAD', 'OPTIONS']) {
      expect((await server.send(method, `${pods}/absent/exec`)).status).toBe(405);
    }
    for (const name of ['absent', 'absent:80', 'https:absent:web']) {
      expect(await message(`${ns}/services/${name}/proxy/x`)).toBe('services "absent" not found');
    }
    expect(await message('/api/v1/nodes/absent/proxy/')).toBe('nodes "absent" not found');
  });

  it('requires a scheduled pod', async () => {
    await make(pods, pod('waits'));
    const log = await server.send('GET', `${pods}/waits/log`);
    expect([log.status, log.text]).toEqual([204, '']);
    for (const place of ['exec', 'attach', 'portforward']) {
      const { status, body } = await ask('GET', `${pods}/waits/${place}`);
      expect([place, status, body['message']]).toEqual([place, 400, 'pod waits does not have a host assigned']);
    }
    expect(await message(`${pods}/waits/proxy`)).toBe('address not allowed');
  });

  it('requires the container name if there are several', async () => {
    const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
    await make(pods, pod('many', { containers, initContainers: [{ name: 'first', image: 'i' }] }));
    // All containers in the order in which they start (pkg/registry/core/pod/strategy.go of the reference server).
    const choose = 'a container name must be specified for pod many, choose one of: [first a b]';
    for (const place of ['log', 'exec', 'attach']) {
      expect(await message(`${pods}/many/${place}`)).toBe(choose);
      expect(await message(`${pods}/many/${place}?container=z`)).toBe('container z is not valid for pod many');
    }
    expect((await server.send('GET', `${pods}/many/log?container=first`)).status).toBe(204);
    expect(await message(`${pods}/many/portforward`)).toBe('pod many does not have a host assigned');
  });

  it('with exec, attach or portforward requires the verb create', async () => {
    const reader = await makeFixture({ authorize: ({ verb }) => ({ allowed: verb === 'get', reason: '' }) });
    const get = async (place: string) => {
      const { status, text } = await reader.send('GET', `${pods}/absent/${place}`, { token: 'jane' });
      return [status, (JSON.parse(text) as JsonObject)['message']];
    };
    for (const place of ['exec', 'attach', 'portforward']) {
      const why = `User "jane" cannot create resource "pods/${place}" in API group "" in the namespace "default"`;
      expect(await get(place)).toEqual([403, `pods "absent" is forbidden: ${why}`]);
    }
    for (const place of ['log', 'proxy']) expect(await get(place)).toEqual([404, 'pods "absent" not found']);
    await reader.close();
  });

  it.each([
    ['tailLines=-1', 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    ['stream=Stdout', 'stream: Forbidden: may not be specified'],
    [
      'sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z',
      ': Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
  ])('takes no log options such as %s', async (query, why) => {
    const { status, body } = await ask('GET', `${pods}/absent/log?${query}`);
    expect([status, body['message']]).toEqual([422, `PodLogOptions "absent" is invalid: ${why}`]);
  });

  it('requires a node that exists, has an address and responds', async () => {
    await make(pods, pod('lost', { nodeName: 'gone' }));
    await make(pods, pod('off', { nodeName: 'nameless' }));
    await make(pods, pod('far', { nodeName: 'down' }));
    await make(
      '/api/v1/nodes',
      node('nameless', [
        { type: 'Radio', address: 'x' },
        { type: 'Radio', address: 'y' },
      ]),
    );
    await make('/api/v1/nodes', node('down', [{ type: 'InternalIP', address: '127.0.0.1' }], 1));
    for (const place of ['log', 'exec', 'attach', 'portforward']) {
      // The reference server reports what is missing as an object of the requested resource.
      expect((await ask('GET', `${pods}/lost/${place}`)).body).toMatchObject({
        message: 'pods "gone" not found',
        details: { name: 'gone', kind: 'pods' },
      });
      expect(await ask('GET', `${pods}/off/${place}`)).toMatchObject({
        status: 500,
        body: { message: 'no preferred addresses found; known addresses: [{Radio x} {Radio y}]' },
      });
    }
    const { status, body } = await ask('GET', `${pods}/far/log?tailLines=1`);
    const refused = 'dial tcp 127.0.0.1:1: connect: connection refused';
    expect([status, body['message']]).toEqual([
      500,
      `Get "https://127.0.0.1:1/containerLogs/default/far/c?tailLines=1": ${refused}`,
    ]);
    expect(await ask('GET', `${pods}/far/exec`)).toMatchObject({
      status: 400,
      body: { message: 'Upgrade request required' },
    });
    expect((await server.send('GET', `${pods}/far/log/more`)).status).toBe(404);
  });

  it('is never proxied to a loopback address', async () => {
    await podAt('inside', ['127.0.0.1']);
    await make('/api/v1/nodes', node('itself', [{ type: 'Hostname', address: 'localhost' }]));
    for (const url of [
      `${pods}/inside:${port}/proxy/`,
      `/api/v1/nodes/down:${port}/proxy/`,
      '/api/v1/nodes/itself/proxy/',
    ]) {
      expect(await ask('GET', url)).toMatchObject({ status: 400, body: { message: 'address not allowed' } });
    }
  });

  it.each([
    [`${pods}/a:b:c:d/proxy/`, 'invalid pod request "a:b:c:d"'],
    [`${pods}/ftp:web:80/proxy/`, 'invalid pod request "ftp:web:80"'],
    [`${ns}/services/https::80/proxy/`, 'invalid service request "https::80"'],
    ['/api/v1/nodes/:80/proxy/', 'invalid node request ":80"'],
  ])('is named by a name: %s', async (url, expected) => {
    expect(await ask('GET', url)).toMatchObject({ status: 400, body: { message: expected } });
  });
});

describe('proxy to a service', () => {
  const endpoints = (name: string, ...subsets: JsonObject[]) =>
    make(`${ns}/endpoints`, { metadata: { name }, subsets });
  const service = (name: string) =>
    make(`${ns}/services`, {
      metadata: { name },
      spec: {
        clusterIP: 'None',
        ports: [
          { name: 'http', port: 80 },
          { name: 'admin', port: 81 },
        ],
      },
    });
  const target = (name: string, namespace = 'default') => ({ kind: 'Pod', namespace, name });

  it('is 503 without endpoints', async () => {
    await service('empty');
    await endpoints('empty');
    const url = `${ns}/services`;
    expect(await message(`${url}/empty:80/proxy/`)).toBe('no endpoints available for service "empty"');
    expect(await ask('GET', `${url}/empty:82/proxy/`)).toMatchObject({
      status: 503,
      body: { message: 'no service port 82 found for service "empty"' },
    });
  });

  it('uses endpoints in its own namespace only', async () => {
    await service('strays');
    await podAt('elsewhere', ['192.0.2.7']);
    const addresses = [
      { ip: '192.0.2.7' },
      { ip: '192.0.2.7', targetRef: target('elsewhere', 'other') },
      { ip: '192.0.2.7', targetRef: target('absent') },
      { ip: '192.0.2.8', targetRef: target('elsewhere') },
    ];
    await endpoints('strays', { addresses, ports: [{ name: 'http', port: 80 }] });
    for (const name of ['strays:http', 'strays:80', 'strays', 'strays:admin', 'https:strays:http']) {
      expect(await ask('GET', `${ns}/services/${name}/proxy/`)).toMatchObject({
        status: 503,
        body: { message: `no endpoints available for service "${name}"` },
      });
    }
  });

  it.skipIf(address === undefined)('is reached by the name and the number of a port', async () => {
    await service('shop');
    await podAt('shop-1', [address ?? '']);
    await endpoints(
      'shop',
      { addresses: [{ ip: address ?? '', targetRef: target('shop-1') }], ports: [{ name: 'admin', port: 9 }] },
      {
        addresses: [
          { ip: address ?? '', targetRef: target('shop-1') },
          { ip: address ?? '', targetRef: target('absent') },
        ],
        ports: [{ name: 'http', port }],
      },
    );
    for (const name of ['shop:http', 'shop:80', 'http:shop:http']) {
      const { status, headers } = await server.send('GET', `${ns}/services/${name}/proxy/a/b?c=d`);
      expect([status, headers['x-seen']]).toEqual([200, 'GET /a/b?c=d']);
    }
  });
});

describe.skipIf(address === undefined)('a proxy', () => {
  // Named as what could be mistaken for the place where the path goes on.
  const url = `${pods}/proxy:http/proxy`;
  beforeAll(async () => {
    await podAt('proxy', [address ?? ''], {
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }],
    });
    await make('/api/v1/nodes', node('near', [{ type: 'InternalIP', address: address ?? '' }]));
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])('takes %s', async (method) => {
    const { status, headers } = await server.send(method, `${pods}/proxy/proxy/a`);
    expect([status, headers['x-seen']]).toEqual([200, `${method} /a`]);
  });

  it.each([
    ['/', '/'],
    ['//a//b/', '//a//b/'],
    ['/a%2Fb/%20?c=%2F&d', '/a%2Fb/%20?c=%2F&d'],
    ['/../a', '/../a'],
    ['/proxy/x', '/proxy/x'],
    ['/a b', '/a%20b'],
  ])('keeps the path %s', async (sent, seen) => {
    for (const place of [`${pods}/proxy:${port}/proxy`, `/api/v1/nodes/near:${port}/proxy`]) {
      const { headers } = await server.send('GET', place + sent);
      expect(headers['x-seen']).toBe(`GET ${seen}`);
    }
  });

  it('redirects to a trailing slash, so that relative links resolve', async () => {
    const short = `${pods}/proxy/proxy`;
    const { status, headers } = await server.send('GET', `${short}?a=b`);
    expect([status, headers['location']]).toEqual([301, `${short}/?a=b`]);
    expect((await server.send('POST', `${short}?a=b`)).headers['x-seen']).toBe('POST /?a=b');
  });

  it('rejects a port that is not a number', async () => {
    expect((await server.send('GET', `${url}/`)).status).toBe(503);
  });

  it('is authorized', async () => {
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      expect((await server.send(method, `${pods}/proxy/proxy/`, { token: 'jane' })).status).toBe(403);
    }
  });

  it('streams a large body both ways, over HTTP/1.1 and HTTP/2', async () => {
    const { ca, cert, key } = makeCertificates();
    const listener: Listener = await listen({
      handler: server.handler,
      address: '127.0.0.1',
      port: 0,
      tls: { cert, key },
      clock: realClock,
      log: { error: (text, fields) => console.error(text, fields) },
    });
    const sent = Buffer.alloc(12 * 1024 * 1024, 'relay');
    const digest = createHash('sha256').update(sent).digest('hex');
    const authorization = 'Bearer admin';
    const path = `${pods}/proxy/proxy`;
    const over1 = (method: string, at: string) =>
      new Promise<Buffer>((resolve, reject) => {
        const request = https.request(
          { host: '127.0.0.1', port: listener.port, ca, method, path: path + at, headers: { authorization } },
          (response) => {
            const pieces: Buffer[] = [];
            response.on('data', (piece: Buffer) => pieces.push(piece));
            response.on('end', () => resolve(Buffer.concat(pieces)));
          },
        );
        request.on('error', reject);
        request.end(sent);
      });
    // The client itself would refuse to hold that much.
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca, maxSessionMemory: 100 });
    const over2 = async (method: string, at: string) => {
      const stream = session.request({ ':method': method, ':path': path + at, authorization }, { endStream: false });
      stream.end(sent);
      const pieces: Buffer[] = [];
      for await (const piece of stream) pieces.push(piece as Buffer);
      return Buffer.concat(pieces);
    };
    for (const over of [over1, over2]) {
      expect((await over('POST', '/digest')).toString()).toBe(digest);
      expect((await over('PUT', '/echo')).equals(sent)).toBe(true);
    }
    // Without a length, and with a method that seldom has a body.
    expect((await over2('DELETE', '/digest')).toString()).toBe(digest);
    session.close();
    await listener.close(100);
    expect(server.inFlight.limits.proxied.used).toBe(0);
  });
});
