import { readFileSync } from 'node:fs';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { request as send } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { httpsTransport } from '../src/client/transport/https.ts';
import { readAll } from '../src/client/transport/response.ts';
import { loadPluginApi } from '../src/encryption/kms/plugin.ts';
import { makeCertificates } from '../src/http/testing/fixture.ts';
import type { ByteString } from '../src/meta/index.ts';
import { until } from '../src/meta/testing/until.ts';
import { providerDocuments } from '../src/server/access/provider-documents.ts';
import { systemClock } from '../src/server/clock.ts';
import { probeLocal } from '../src/server/cluster/component-status.ts';
import { createWebhookClient } from '../src/server/webhooks/webhook-client.ts';
import { storeErrorOf } from '../src/store/etcd/failure.ts';
import { Members } from '../src/store/etcd/members.ts';
import { loadRpc } from '../src/store/etcd/rpc.ts';
import { realClock } from '../src/store/testing/real-time.ts';
import { openCollector, tracesUrl } from '../src/tracing/collector.ts';
import { type Front, startFront } from './support/extension.ts';
import { type Fault, FaultServer, faults, hasHead, isAnywhere } from './support/fault-server.ts';
import { registration, servingCertificate } from './support/front-proxy.ts';
import { externalAddress } from './support/requirements.ts';

// Peers of a server that break off, keep silent or send anything else at every point of an exchange: each request ends
// within its timeout, no connection is left, and no error is uncaught, which would end the process (and ends this test).

const { ca, cert, key } = makeCertificates();
const timeoutMs = 200;
const timeout = AbortSignal.timeout.bind(AbortSignal);
beforeEach(() => {
  // Some timeouts are longer than the test should be.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(Math.min(ms, timeoutMs)));
});

/** A part of the server that sends requests by itself. */
interface Caller {
  /** Resolves with the status of a response. */
  call(): Promise<unknown>;
  close(): void;
}

const transportTo = (server: string, proxy?: string): Caller => {
  const transport = httpsTransport({ server, ca, ...(proxy === undefined ? {} : { proxy }) });
  const request = { method: 'POST', url: '/', headers: {}, body: Buffer.alloc(100_000, ' ') };
  return {
    async call() {
      const response = await transport({ ...request, signal: AbortSignal.timeout(timeoutMs) });
      await readAll(response);
      return response.status;
    },
    close: () => transport.close(),
  };
};

/** By what they talk to: whether that is a server with TLS, and what calls it. */
const callers: { readonly [name: string]: readonly [secure: boolean, open: (port: number) => Caller] } = {
  'a webhook': [
    true,
    (port) => {
      const credentials = { cert: undefined, key: undefined, authorization: undefined };
      const client = createWebhookClient(
        { url: new URL(`https://127.0.0.1:${port}/`), ca, serverName: undefined, skipVerify: false, ...credentials },
        { timeoutMs, maxAnswer: 1024 * 1024, maxRequests: 1 },
      );
      return {
        call: async () => (await client.post('{}' as ByteString, new AbortController().signal)).status,
        close: () => client.close(),
      };
    },
  ],
  'an identity provider': [
    true,
    (port) => {
      const documents = providerDocuments(ca);
      return {
        call: async () => (await documents.get(`https://127.0.0.1:${port}/`)).status,
        close: () => documents.close(),
      };
    },
  ],
  'a collector of traces': [
    false,
    (port) => {
      const url = tracesUrl(`127.0.0.1:${port}`) as URL;
      const scope = { name: 'orch', version: '1' };
      const collector = openCollector({ url, serviceName: 'a', instance: 'b', scope, clock: systemClock });
      return { call: () => collector.send([], timeoutMs).then(() => 200), close: () => collector.close() };
    },
  ],
  'a component': [true, (port) => ({ call: () => probeLocal(port), close: () => {} })],
  'an API server': [true, (port) => transportTo(`https://127.0.0.1:${port}`)],
  'an API server over a WebSocket': [
    true,
    (port) => {
      const transport = httpsTransport({ server: `https://127.0.0.1:${port}`, ca });
      const request = { url: '/', headers: {}, protocols: ['v5.channel.k8s.io'] };
      return {
        call: () => transport.webSocket({ ...request, signal: AbortSignal.timeout(timeoutMs) }),
        close: () => transport.close(),
      };
    },
  ],
  'a proxy': [false, (port) => transportTo('https://example.test', `http://127.0.0.1:${port}`)],
  'a SOCKS proxy': [false, (port) => transportTo('http://example.test', `socks5://127.0.0.1:${port}`)],
};

describe.each(Object.entries(callers))('a caller of %s', (_, [secure, open]) => {
  async function play(fault: Fault): Promise<void> {
    const server = new FaultServer(fault, secure ? { cert, key } : undefined);
    const caller = open(await server.listen());
    for (let calls = fault.point === 'next request' ? 2 : 1; calls > 0; calls--) {
      const failure: unknown = await caller.call().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure !== undefined) expect(failure, fault.name).toBeInstanceOf(Error);
    }
    caller.close();
    await expect.poll(() => server.open, { message: fault.name }).toBe(0);
    await server.close();
  }

  it('ends each call in time, and leaves no connection', async () => {
    await Promise.all(faults.map(play));
  });
});

describe('a server', () => {
  const ns = '/api/v1/namespaces/default';
  const webSocket = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  };
  const address = externalAddress();
  let front: Front;
  let extension: FaultServer;
  const made: FaultServer[] = [];
  beforeAll(async () => {
    front = await startFront();
    const pair = servingCertificate(front.folder, 'faulty', 'faulty.default.svc');
    const read = (kind: string) => readFileSync(join(front.folder, `faulty.${kind}`));
    extension = new FaultServer(undefined, { cert: read('crt'), key: read('key') });
    // Checks of availability, and requests for documents.
    extension.spared = (head) => {
      const found = /^GET \/(?:apis\/faulty\.example\.com\/v1|openapi\/\S*) /.test(head);
      return found ? 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' : undefined;
    };
    const port = await extension.listen();
    const [service, apiService] = registration('faulty.example.com', 'v1', 'faulty', port, pair.cert);
    await front.request('POST', `${ns}/services`, service);
    await front.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', apiService);
    await until(async () => expect((await front.request('GET', '/apis/faulty.example.com/v1')).status).toBe(200));
  });
  afterAll(async () => {
    await front.close();
    await Promise.all([extension, ...made].map((server) => server.close()));
  });

  interface Question {
    readonly path: string;
    readonly headers?: { readonly [name: string]: string };
    readonly body?: Buffer;
  }

  /** Whether an exchange may go on until the client disconnects. */
  const isOpen = ({ action }: Fault) => /silence|without end|bomb|upgrade/.test(action);

  /** The status of a response; 0 when the client disconnects first. Some of it is read. */
  function ask(fault: Fault, { path, headers = {}, body }: Question): Promise<number> {
    return new Promise((resolve) => {
      const { authorization } = front;
      const method = body === undefined ? 'GET' : 'POST';
      const options = { method, rejectUnauthorized: false, agent: false, headers: { authorization, ...headers } };
      const request = send(front.url + path, options);
      let status = 0;
      let over = () => {
        clearTimeout(timer);
        request.destroy();
        resolve(status);
      };
      const timer = isOpen(fault) ? setTimeout(() => over(), 3 * timeoutMs) : undefined;
      const read = (stream: Readable) => {
        let size = 0;
        stream.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size > 500_000) over();
        });
        stream.on('error', () => over()).on('close', () => over());
      };
      request.on('response', (response) => {
        status = response.statusCode ?? 0;
        read(response);
      });
      request.on('upgrade', (response, socket) => {
        status = response.statusCode ?? 0;
        const destroy = over;
        over = () => {
          socket.destroy();
          destroy();
        };
        socket.write('from the client');
        read(socket);
      });
      request.on('error', () => over()).end(body);
    });
  }

  /** A pod on a node whose kubelet is a server with this fault. */
  async function kubelet(name: string, fault: Fault): Promise<FaultServer> {
    const server = new FaultServer(fault, { cert, key });
    made.push(server);
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
    const daemonEndpoints = { kubeletEndpoint: { Port: await server.listen() } };
    await front.request('POST', '/api/v1/nodes', { metadata: { name }, status: { addresses, daemonEndpoints } });
    await front.request('POST', `${ns}/pods`, {
      metadata: { name },
      spec: { nodeName: name, containers: [{ name: 'main', image: 'i' }] },
    });
    return server;
  }

  /** Asks, and checks the status: what is no response is a failure. */
  async function judge(fault: Fault, question: Question): Promise<void> {
    const status = await ask(fault, question);
    const { name, point, action } = fault;
    const isRefused = isAnywhere(action) && !hasHead(point);
    const expected = isRefused ? [500, 503, 504] : [101, 200, 204, 302, 500, 502, 503, 504];
    expect(isOpen(fault) ? [0, ...expected] : expected, name).toContain(status);
  }
  const at = (...points: readonly string[]) => faults.filter(({ point }) => points.includes(point));

  it('answers requests for logs and for upgrades whose kubelet misbehaves', async () => {
    await front.request('POST', `${ns}/serviceaccounts`, { metadata: { name: 'default' } });
    const play = async (fault: Fault, i: number) => {
      const server = await kubelet(`kubelet-${i}`, fault);
      const pod = `${ns}/pods/kubelet-${i}`;
      if (i % 2 === 0) await judge(fault, { path: `${pod}/log?follow=true` });
      else await judge(fault, { path: `${pod}/exec?command=a&stdout=1`, headers: webSocket });
      await expect.poll(() => server.open, { message: fault.name }).toBe(0);
    };
    await Promise.all(at('client hello', 'handshake', 'request', 'chunk').map(play));
    expect((await front.request('GET', ns)).status).toBe(200);
  });

  it.skipIf(address === undefined)('answers requests through a proxy whose backend misbehaves', async () => {
    await front.request('POST', `${ns}/pods`, {
      metadata: { name: 'web' },
      spec: { nodeName: 'here', containers: [{ name: 'main', image: 'i' }] },
    });
    const status = { podIP: address, podIPs: [{ ip: address }] };
    const merge = { 'content-type': 'application/merge-patch+json' };
    await front.request('PATCH', `${ns}/pods/web/status`, { status }, merge);
    const play = async (fault: Fault) => {
      const server = new FaultServer(fault);
      made.push(server);
      const path = `${ns}/pods/web:${await server.listen('0.0.0.0')}/proxy/x`;
      await judge(fault, { path, body: Buffer.alloc(100_000) });
      await judge(fault, { path, headers: webSocket });
      await expect.poll(() => server.open, { message: fault.name }).toBe(0);
    };
    await Promise.all(faults.filter(({ point }) => point !== 'next request').map(play));
    expect((await front.request('GET', ns)).status).toBe(200);
  });

  it('answers requests that an extension API server serves badly', async () => {
    const path = `/apis/faulty.example.com/v1/things?timeout=${timeoutMs}ms`;
    // Faults before a request would make it unavailable.
    for (const fault of at('request', 'response', 'next request')) {
      extension.fault = fault;
      for (let i = fault.point === 'next request' ? 2 : 1; i > 0; i--) await judge(fault, { path });
      extension.disconnect();
    }
    expect((await front.request('GET', ns)).status).toBe(200);
  });
});

describe('a caller over gRPC', () => {
  const head = { ':status': 200, 'content-type': 'application/grpc' };
  const bytes = (...given: number[]) => Buffer.from(given);
  /** Responds, with trailers behind the body where they are given. */
  const respond = (body: Buffer, trailers?: { [name: string]: string }, headers: { [name: string]: string } = {}) => {
    return (stream: ServerHttp2Stream) => {
      stream.respond({ ...head, ...headers }, { waitForTrailers: trailers !== undefined });
      if (trailers !== undefined) stream.once('wantTrailers', () => stream.sendTrailers(trailers));
      stream.end(body);
    };
  };
  const done = { 'grpc-status': '0' };
  const answers: { readonly [name: string]: (stream: ServerHttp2Stream, socket: Socket | undefined) => unknown } = {
    'the end of the connection': (_, socket) => socket?.end(),
    'a reset connection': (_, socket) => socket?.resetAndDestroy(),
    'another protocol': (_, socket) => socket?.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    silence: () => {},
    'a reset stream': (stream) => stream.close(8),
    'another status of HTTP': (stream) => stream.respond({ ':status': 500 }, { endStream: true }),
    'a head that ends': (stream) => stream.respond(head, { endStream: true }),
    'a goaway': (stream) => stream.session?.goaway(11),
    'the end of the connection behind a head': (stream, socket) => {
      stream.respond(head);
      stream.write(bytes(0, 0, 0, 0, 9, 1), () => socket?.end());
    },
    'no message': respond(bytes(), done),
    'no trailers': respond(bytes(0, 0, 0, 0, 0)),
    'half a message': respond(bytes(0, 0, 0, 0, 9, 1), done),
    'a message that is too large': respond(bytes(0, 0xff, 0xff, 0xff, 0xff, 1), done),
    'a message that is no protobuf': respond(bytes(0, 0, 0, 0, 2, 0xff, 0xff), done),
    'a message whose compression has no name': respond(bytes(1, 0, 0, 0, 2, 1, 2), done),
    'a message of unknown compression': respond(bytes(1, 0, 0, 0, 2, 1, 2), done, { 'grpc-encoding': 'x' }),
    'a message that is no gzip': respond(bytes(1, 0, 0, 0, 2, 1, 2), done, { 'grpc-encoding': 'gzip' }),
    'a status that is no number': respond(bytes(), { 'grpc-status': 'x' }),
    'an unknown status': respond(bytes(), { 'grpc-status': '99' }),
    'a message of a status that cannot be decoded': respond(bytes(), { 'grpc-status': '13', 'grpc-message': '%zz%' }),
  };
  const kinds: { readonly [name: string]: (port: number) => Promise<Caller> } = {
    'of a KMS plugin': async (port) => {
      const plugin = (await loadPluginApi()).connect(`dns:127.0.0.1:${port}`, timeoutMs);
      return { call: () => plugin.status(), close: () => plugin.close() };
    },
    'of etcd': async (port) => {
      const rpc = await loadRpc();
      const members = await Members.open({
        endpoints: [`http://127.0.0.1:${port}`],
        tls: () => Promise.reject(new Error('no TLS')),
        probe: Buffer.from('a'),
        clock: realClock(),
        rpc,
      });
      return {
        call: () =>
          members.send(rpc.range, { key: Buffer.from('a') }, timeoutMs).catch((error: unknown) => {
            throw storeErrorOf(error);
          }),
        close: () => void members.close(),
      };
    },
  };
  describe.each(Object.entries(kinds))('%s', (_, open) => {
    it.each(Object.entries(answers))('fails with %s, and recovers', async (_name, answer) => {
      let isBroken = true;
      const sockets = new Set<Socket>();
      let latest: Socket | undefined;
      const server = createServer();
      server.on('connection', (socket: Socket) => {
        latest = socket;
        sockets.add(socket);
        socket.on('error', () => {}).once('close', () => sockets.delete(socket));
      });
      server.on('sessionError', () => {});
      server.on('stream', (stream: ServerHttp2Stream) => {
        stream.on('error', () => {});
        if (isBroken) answer(stream, latest);
        else respond(bytes(0, 0, 0, 0, 0), done)(stream);
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const caller = await open((server.address() as AddressInfo).port);
      await expect(caller.call()).rejects.toMatchObject({ name: expect.stringMatching(/^(PluginError|StoreError)$/) });
      isBroken = false;
      await until(() => caller.call());
      caller.close();
      await expect.poll(() => sockets.size).toBe(0);
      server.close();
    });
  });
});
