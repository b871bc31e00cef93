import { randomBytes } from 'node:crypto';
import type http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import tls from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readProtobuf } from '../../codec/index.ts';
import { namesFor, statusError } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import type { WatchStream } from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { findType } from '../../types/find-type.ts';
import { jsonCodec } from '../codecs/json-codec.ts';
import { protobufCodec } from '../codecs/protobuf-codec.ts';
import type { StreamingCodec } from '../codecs/wire-codec.ts';
import { type Listener, listen } from '../listener/listener.ts';
import { WatchBody } from '../listener/watch-body.ts';
import { type Fixture, makeCertificates, makeFixture, realClock, usedOf } from '../testing/fixture.ts';
import type { Chunk } from '../types.ts';
import { sendMessages } from './tunnel.ts';
import { ClientFrames, closeFrame, MessageBody } from './web-socket.ts';

const { ca, cert, key } = makeCertificates();
const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const bearer = (token: string, domain = 'k8s.io') =>
  `base64url.bearer.authorization.${domain}.${Buffer.from(token).toString('base64url')}`;

/** A frame as a client sends it: masked, unless it is not to be. */
function clientFrame(first: number, payload: Uint8Array | string, masked = true): Buffer {
  const bytes = Buffer.from(payload as Uint8Array);
  const size =
    bytes.length < 126
      ? [bytes.length]
      : bytes.length < 65_536
        ? [126, ...u16(bytes.length)]
        : [127, ...u64(bytes.length)];
  size[0] = (size[0] as number) | (masked ? 0x80 : 0);
  const mask = masked ? randomBytes(4) : Buffer.alloc(0);
  const body = masked ? bytes.map((byte, i) => byte ^ (mask[i % 4] as number)) : bytes;
  return Buffer.concat([Buffer.from([first, ...size]), mask, body]);
}
const u16 = (value: number) => [value >> 8, value & 0xff];
const u64 = (value: number) => [0, 0, 0, 0, value >>> 24, (value >> 16) & 0xff, ...u16(value & 0xffff)];
const closing = (code: number) => Buffer.from(u16(code));

interface Frame {
  readonly opcode: number;
  readonly final: boolean;
  readonly payload: Buffer;
}

/** Takes one frame of the server from the beginning; undefined: it is not all there. */
function frameIn(bytes: Buffer): { frame: Frame; rest: Buffer } | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  expect(second & 0x80, 'a server masks nothing').toBe(0);
  const start = second === 127 ? 10 : second === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = second === 127 ? Number(bytes.readBigUInt64BE(2)) : second === 126 ? bytes.readUInt16BE(2) : second;
  if (bytes.length < start + length) return undefined;
  const frame = { opcode: first & 0x0f, final: first >= 0x80, payload: bytes.subarray(start, start + length) };
  return { frame, rest: bytes.subarray(start + length) };
}

class Client {
  readonly socket: TLSSocket;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(port: number, path: string, headers: { readonly [name: string]: string } = {}) {
    this.socket = tls.connect({ port, host: '127.0.0.1', ca });
    this.socket.on('error', () => {});
    const all: { [name: string]: string } = {
      host: 'cluster.example',
      connection: 'keep-alive, Upgrade',
      upgrade: 'WebSocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    };
    const lines = Object.entries(all).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}\r\n`]));
    this.socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  }

  /** Reads on; false when the server has ended. */
  async #more(): Promise<boolean> {
    for await (const piece of this.socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      this.#bytes = Buffer.concat([this.#bytes, piece]);
      return true;
    }
    return false;
  }

  /** The head of the answer, in lower case. */
  async head(): Promise<string> {
    while (!this.#bytes.includes('\r\n\r\n') && (await this.#more()));
    const end = this.#bytes.indexOf('\r\n\r\n') + 4;
    const head = this.#bytes.subarray(0, end).toString().toLowerCase();
    this.#bytes = this.#bytes.subarray(end);
    return head;
  }

  /** The next frame; undefined when the server has ended. */
  async frame(): Promise<Frame | undefined> {
    for (;;) {
      const found = frameIn(this.#bytes);
      if (found !== undefined) {
        this.#bytes = found.rest;
        return found.frame;
      }
      if (!(await this.#more())) return undefined;
    }
  }

  async event(): Promise<{ type: string; object: { metadata: { name: string } } }> {
    const frame = await this.frame();
    expect(frame).toMatchObject({ opcode: 1, final: true });
    return JSON.parse(String(frame?.payload)) as never;
  }

  /** The status of the close frame that comes next, behind which nothing comes. */
  async closed(): Promise<number> {
    const frame = await this.frame();
    expect(frame).toMatchObject({ opcode: 8, final: true });
    this.socket.end();
    expect(await this.frame()).toBeUndefined();
    return (frame as Frame).payload.readUInt16BE(0);
  }
}

const admin = { authorization: 'Bearer admin' };
let server: Fixture;
let listener: Listener;
let agent: https.Server;
let seen: http.IncomingHttpHeaders;
const failures: string[] = [];
const open: Client[] = [];
function connect(path: string, headers: { readonly [name: string]: string } = admin): Client {
  const client = new Client(listener.port, path, headers);
  open.push(client);
  return client;
}
const watching = () => server.inFlight.limits.longRunning.used;

beforeAll(async () => {
  server = await makeFixture();
  listener = await listen({
    handler: server.handler,
    address: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    clock: realClock,
    log: { error: (text) => void failures.push(text) },
  });
  await server.send('POST', configMaps, { body: { metadata: { name: 'first' }, data: { a: 'ü' } } });
});
beforeEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await expect.poll(watching).toBe(0);
});
afterAll(async () => {
  for (const { socket } of open) socket.destroy();
  await server.close();
  await listener.close(100);
  expect(failures).toEqual([]);
});

describe('a watch', () => {
  it.each([`${configMaps}?watch=true`, '/api/v1/watch/namespaces/default/configmaps', `${configMaps}?watch=1`])(
    '%s sends each event in a text frame of its own',
    async (path) => {
      const client = connect(path);
      const head = await client.head();
      expect(head).toMatch(/^http\/1\.1 101 switching protocols\r\n/);
      // The example of RFC 6455, 1.3.
      for (const line of [
        'upgrade: websocket',
        'connection: upgrade',
        'sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=',
      ])
        expect(head).toContain(`\r\n${line}\r\n`);
      expect(head).not.toContain('sec-websocket-protocol');
      expect(await client.event()).toMatchObject({ type: 'ADDED', object: { data: { a: 'ü' } } });
      expect(watching()).toBe(1);
      const names = ['x', 'y', 'z'].map((name) => `${name}-${randomBytes(4).toString('hex')}`);
      await Promise.all(names.map((name) => server.send('POST', configMaps, { body: { metadata: { name } } })));
      const got = [await client.event(), await client.event(), await client.event()];
      expect(got.map(({ object }) => object.metadata.name).toSorted()).toEqual(names);
      for (const name of names) await server.send('DELETE', `${configMaps}/${name}`);
    },
  );

  it('sends an event of any size in one frame', async () => {
    const client = connect(`${configMaps}?watch=true&fieldSelector=metadata.name=large`);
    await client.head();
    for (const size of [60, 40_000, 900_000]) {
      await server.send('POST', configMaps, { body: { metadata: { name: 'large' }, data: { a: 'x'.repeat(size) } } });
      expect(await client.event()).toMatchObject({ type: 'ADDED', object: { data: { a: 'x'.repeat(size) } } });
      await server.send('DELETE', `${configMaps}/large`);
      expect(await client.event()).toMatchObject({ type: 'DELETED' });
    }
  });

  it('in protobuf sends each event in a binary frame, without a length before it', async () => {
    const client = connect(`${configMaps}?watch=true`, { ...admin, accept: 'application/vnd.kubernetes.protobuf' });
    expect(await client.head()).toContain(' 101 ');
    const frame = (await client.frame()) as Frame;
    expect(frame).toMatchObject({ opcode: 2, final: true });
    // WatchEvent { type = 1, object = 2 }, RawExtension { raw = 1 }
    const mark = frame.payload.indexOf('k8s\0');
    expect(frame.payload.subarray(0, 7)).toEqual(Buffer.from([0x0a, 5, ...Buffer.from('ADDED')]));
    expect(frame.payload[7]).toBe(0x12);
    const schema = findType('core/v1.ConfigMap') as StructSchema;
    const none = { apiVersion: '', kind: '' };
    const { value } = readProtobuf(frame.payload.subarray(mark), none, () => schema, namesFor('k8s.io'));
    expect(value).toMatchObject({ metadata: { name: 'first' } });
  });

  it('closes with status 1000', async () => {
    const client = connect(`${configMaps}?watch=true&timeoutSeconds=5`);
    await client.head();
    await client.event();
    expect(await client.closed()).toBe(1000);
    expect(usedOf(server.inFlight)).toMatchObject({ longRunning: 0, unread: 0 });
  });

  it('that fails before the upgrade gets an HTTP error', async () => {
    expect(await connect(`${configMaps}?watch=true`, { authorization: 'Bearer jane' }).head()).toContain(' 403 ');
    expect(await connect(`${configMaps}?watch=true&labelSelector=!!`).head()).toContain(' 400 ');
    expect(await connect('/api/v1/nothing?watch=true').head()).toContain(' 404 ');
  });

  it.each([
    ['another version', { 'sec-websocket-version': '8' }, ' 400 bad request', 'sec-websocket-version: 13'],
    ['no key', { 'sec-websocket-key': '' }, ' 400 bad request', ''],
    ['a short key', { 'sec-websocket-key': 'eHl6' }, ' 400 bad request', ''],
    ['several subprotocols', { 'sec-websocket-protocol': 'a, b' }, ' 400 bad request', ''],
  ])('rejects a handshake with %s', async (_, headers, status, line) => {
    const head = await connect(`${configMaps}?watch=true`, { ...admin, ...headers }).head();
    expect(head).toContain(status);
    expect(head).toContain(line);
    await expect.poll(watching).toBe(0);
  });

  it('selects the offered subprotocol', async () => {
    const client = connect(`${configMaps}?watch=true`, { ...admin, 'sec-websocket-protocol': 'base64.binary.k8s.io' });
    expect(await client.head()).toContain('\r\nsec-websocket-protocol: base64.binary.k8s.io\r\n');
    expect(await client.event()).toMatchObject({ type: 'ADDED' });
  });

  it('is sent over HTTP when another upgrade is offered', async () => {
    const head = await connect(`${configMaps}?watch=true`, { ...admin, upgrade: 'h2c' }).head();
    expect(head).toContain(' 200 ok');
    expect(head).toContain('content-type: application/json');
  });
});

describe('control frames', () => {
  const watch = async () => {
    const client = connect(`${configMaps}?watch=true`);
    await client.head();
    await client.event();
    return client;
  };

  it('pings are answered, also when split into bytes, and messages are ignored', async () => {
    const client = await watch();
    client.socket.write(clientFrame(0x81, 'hello'));
    client.socket.write(clientFrame(0x01, 'a'.repeat(200)));
    client.socket.write(clientFrame(0x80, 'b'.repeat(200)));
    for (const byte of clientFrame(0x89, 'are you there?')) client.socket.write(Buffer.from([byte]));
    client.socket.write(clientFrame(0x8a, 'unasked'));
    expect(await client.frame()).toEqual({ opcode: 10, final: true, payload: Buffer.from('are you there?') });
    client.socket.write(clientFrame(0x89, ''));
    expect(await client.frame()).toEqual({ opcode: 10, final: true, payload: Buffer.alloc(0) });
  });

  it.each([
    ['a close frame, with its status', clientFrame(0x88, closing(1001)), 1001],
    [
      'a close frame with a private status',
      clientFrame(0x88, Buffer.concat([closing(4000), Buffer.from('bye')])),
      4000,
    ],
    ['a close frame without a status', clientFrame(0x88, ''), 1000],
    ['a close frame with half a status', clientFrame(0x88, 'x'), 1002],
    ['a reserved status', clientFrame(0x88, closing(1006)), 1002],
    ['a frame that is not masked', clientFrame(0x81, 'x', false), 1002],
    ['an extension', clientFrame(0xc1, 'x'), 1002],
    ['an unknown opcode', clientFrame(0x83, 'x'), 1002],
    ['a fragmented control frame', clientFrame(0x09, 'x'), 1002],
    ['a long control frame', clientFrame(0x89, 'x'.repeat(126)), 1002],
    ['a continuation frame without a message', clientFrame(0x80, 'x'), 1002],
    ['a message within a fragmented one', Buffer.concat([clientFrame(0x01, 'x'), clientFrame(0x81, 'x')]), 1002],
    ['a large message', clientFrame(0x82, 'x'.repeat(4_097)), 1009],
    ['a message with a 64-bit length', clientFrame(0x82, 'x'.repeat(70_000)), 1009],
    [
      'a large fragmented message',
      Buffer.concat([clientFrame(0x02, 'x'.repeat(4_000)), clientFrame(0x80, 'x'.repeat(97))]),
      1009,
    ],
  ])('the server closes after %s', async (_, bytes, code) => {
    const client = await watch();
    client.socket.write(bytes);
    expect(await client.closed()).toBe(code);
    await expect.poll(watching).toBe(0);
    await expect.poll(() => listener.connections).toBe(0);
  });

  it('pings of a client that does not read are not all queued', async () => {
    let taken = () => {};
    const written: Buffer[] = [];
    const socket = new Duplex({
      read() {},
      write(bytes: Buffer, _, done) {
        written.push(bytes);
        taken = done;
      },
    });
    Object.assign(socket, { setNoDelay() {}, setKeepAlive() {} });
    const never: AsyncIterable<Chunk> = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
    const options = { clock: realClock, stallMs: 60_000, last: true, connection: { cutOff() {} } };
    const request = { whenOver() {} };
    sendMessages(socket as never, { status: 101, headers: {}, body: never }, { ...options, request }, () => {});
    for (let i = 0; i < 10_000; i++) socket.push(clientFrame(0x89, `${String(i).padStart(4, '0')} ${'x'.repeat(100)}`));
    await expect.poll(() => socket.readableLength).toBe(0);
    expect(socket.writableLength).toBeLessThan(128 * 1024);
    while (socket.writableLength > 0) {
      taken();
      await new Promise((done) => void setImmediate(done));
    }
    const answers =
      Buffer.concat(written)
        .toString()
        .match(/\d{4}(?= x)/g) ?? [];
    expect(answers.length).toBeLessThan(1_000);
    expect(answers.at(-1)).toBe('9999');
    socket.destroy();
  });

  it('a client that does not read is disconnected', async () => {
    const impatient = await listen({
      handler: server.handler,
      address: '127.0.0.1',
      port: 0,
      tls: { cert, key },
      clock: realClock,
      log: { error: (text) => void failures.push(text) },
      limits: { stallMs: 100 },
    });
    const client = new Client(impatient.port, `${configMaps}?watch=true&fieldSelector=metadata.name=first`, admin);
    await client.head();
    await client.event();
    client.socket.pause();
    const data = { a: 'x'.repeat(900_000) };
    for (let i = 0; watching() > 0 && i < 200; i++) {
      const body = { metadata: { name: 'first', labels: { i: `${i}` } }, data };
      await server.send('PUT', `${configMaps}/first`, { body });
      await new Promise((done) => setTimeout(done, 5));
    }
    await expect.poll(watching).toBe(0);
    expect(server.inFlight.limits.unread.used).toBe(0);
    await server.send('PUT', `${configMaps}/first`, { body: { metadata: { name: 'first' }, data: { a: 'ü' } } });
    client.socket.destroy();
    await impatient.close(0);
  });

  it.each([
    ['ends', (client: Client) => client.socket.end()],
    ['is destroyed', (client: Client) => client.socket.destroy()],
  ])('the watch and its connection end when the client %s', async (_, leave) => {
    const client = await watch();
    expect(watching()).toBe(1);
    leave(client);
    await expect.poll(() => [watching(), listener.connections]).toEqual([0, 0]);
  });
});

describe('the frames of a client', () => {
  const events: string[] = [];
  const reader = () =>
    new ClientFrames({
      ping: (payload) => void events.push(`ping ${payload.toString()}`),
      close: (code) => void events.push(`close ${code}`),
    });

  it('are read alike in chunks of any size', () => {
    const bytes = Buffer.concat([
      clientFrame(0x01, 'x'.repeat(300)),
      clientFrame(0x89, 'one'),
      clientFrame(0x80, 'y'.repeat(3_000)),
      clientFrame(0x89, 'two'),
      clientFrame(0x88, closing(1000)),
      clientFrame(0x89, 'after the end'),
    ]);
    for (const step of [1, 2, 7, 125, bytes.length]) {
      events.length = 0;
      const frames = reader();
      for (let at = 0; at < bytes.length; at += step) frames.read(bytes.subarray(at, at + step));
      expect(events).toEqual(['ping one', 'ping two', 'close 1000']);
    }
  });

  it('may be random bytes: at most one close, and no error', () => {
    for (let i = 0; i < 2_000; i++) {
      events.length = 0;
      const frames = reader();
      for (let j = 0; j < 4; j++) frames.read(randomBytes(1 + (i % 40)));
      expect(events.filter((event) => event.startsWith('close')).length).toBeLessThanOrEqual(1);
    }
  });
});

it('a body that fails has no close frame', async () => {
  const broken = (async function* () {
    yield Buffer.from('a');
    throw new Error('broken');
  })();
  const body = new MessageBody(broken, 'base64', true);
  const shown = async () => Buffer.from((await body.next()).value as string, 'latin1').toString('hex');
  expect([await shown(), await shown()]).toEqual(['8100', `8104${Buffer.from('YQ==').toString('hex')}`]);
  await expect(body.next()).rejects.toThrow('broken');
  expect(closeFrame(1000).toString('hex')).toBe('880203e8');
});

describe('a bearer token in a subprotocol', () => {
  const watch = `${configMaps}?watch=true`;
  const offer = (...protocols: string[]) => ({ 'sec-websocket-protocol': protocols.join(', ') });

  it('authenticates, and is not selected as the subprotocol', async () => {
    const head = await connect(watch, offer(bearer('admin'), 'base64.binary.k8s.io')).head();
    expect(head).toContain(' 101 ');
    expect(head).toContain('\r\nsec-websocket-protocol: base64.binary.k8s.io\r\n');
    expect(head).not.toContain('bearer');
    expect(await connect(watch, offer('x', bearer('jane'))).head()).toContain(' 403 ');
  });

  it.each([
    ['is wrong', offer(bearer('nobody'), 'x')],
    ['is offered alone', offer(bearer('admin'))],
    ['is offered twice', offer(bearer('admin'), bearer('admin'), 'x')],
    ['is padded', offer(`${bearer('adminx')}=`, 'x')],
    ['is empty', offer(bearer(''), 'x')],
    ['begins with a blank', offer(bearer(' admin'), 'x')],
    ['has a blank inside', offer(bearer('admin x'), 'x')],
  ])('is 401 when it %s', async (_, headers) => {
    expect(await connect(watch, headers).head()).toContain(' 401 ');
  });

  it('is ignored for another domain, and with an upgrade other than WebSocket', async () => {
    expect(await connect(watch, offer(bearer('admin', 'example.com'), 'x')).head()).toContain(' 403 ');
    expect(await connect(watch, { ...offer(bearer('admin'), 'x'), upgrade: 'h2c' }).head()).toContain(' 403 ');
  });

  it('is ignored with an Authorization header', async () => {
    const head = await connect(watch, { ...offer(bearer('nobody')), ...admin }).head();
    expect(head).toContain(' 101 ');
    expect(head).not.toContain('sec-websocket-protocol');
  });
});

describe('a response of a kubelet', () => {
  beforeAll(async () => {
    agent = https.createServer({ cert, key }, (_, response) => {
      response.write('line one\n');
      setTimeout(() => response.end('line two ü\n'), 5);
    });
    agent.on('upgrade', (request, socket) => {
      seen = request.headers;
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    await new Promise<void>((done) => agent.listen(0, '127.0.0.1', done));
    const Port = (agent.address() as AddressInfo).port;
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
    const node = { metadata: { name: 'here' }, status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port } } } };
    expect(await server.send('POST', '/api/v1/nodes', { body: node })).toMatchObject({ status: 201 });
    const spec = { nodeName: 'here', containers: [{ name: 'c', image: 'i' }] };
    expect(await server.send('POST', pods, { body: { metadata: { name: 'web' }, spec } })).toMatchObject({
      status: 201,
    });
  });
  afterAll(() => new Promise<void>((done) => void agent.close(() => done())));

  it.each([
    ['', 2, (payload: Buffer) => payload.toString()],
    ['binary.k8s.io', 2, (payload: Buffer) => payload.toString()],
    ['base64.binary.k8s.io', 1, (payload: Buffer) => Buffer.from(payload.toString(), 'base64').toString()],
  ])('to log is sent in messages of the subprotocol "%s"', async (protocol, opcode, read) => {
    const offered = protocol === '' ? '' : `unknown, ${protocol}`;
    const client = connect(`${pods}/web/log`, { ...admin, 'sec-websocket-protocol': offered });
    const head = await client.head();
    expect(head).toContain(' 101 ');
    if (protocol === '') expect(head).not.toContain('sec-websocket-protocol');
    else expect(head).toContain(`\r\nsec-websocket-protocol: ${protocol}\r\n`);
    // The first message is empty.
    expect(await client.frame()).toEqual({ opcode, final: true, payload: Buffer.alloc(0) });
    let text = '';
    while (!text.endsWith('ü\n')) {
      const frame = (await client.frame()) as Frame;
      expect(frame.opcode).toBe(opcode);
      text += read(frame.payload);
    }
    expect(text).toBe('line one\nline two ü\n');
    expect(await client.closed()).toBe(1000);
    await expect.poll(() => server.inFlight.limits.proxied.used).toBe(0);
  });

  it('to log is 403 with an unknown subprotocol', async () => {
    const client = connect(`${pods}/web/log`, { ...admin, 'sec-websocket-protocol': 'unknown' });
    expect(await client.head()).toContain(' 403 ');
  });

  it.each(['k8s.io', 'example.com'])('to exec is requested without the token for %s', async (domain) => {
    const protocols = `v5.channel.k8s.io, ${bearer('admin', domain)}, v4.channel.k8s.io`;
    const client = connect(`${pods}/web/exec?command=a`, { ...admin, 'sec-websocket-protocol': protocols });
    expect(await client.head()).toContain(' 101 ');
    expect(seen['sec-websocket-protocol']).toBe('v5.channel.k8s.io, v4.channel.k8s.io');
    expect(JSON.stringify(seen)).not.toContain(bearer('admin', domain));
    expect(seen['sec-websocket-key']).toBe('dGhlIHNhbXBsZSBub25jZQ==');
  });
});

describe('an error of a watch', () => {
  it.each([
    ['text', false],
    ['protobuf', true],
  ])('is its last event, in %s too', async (_, inProtobuf) => {
    const names = namesFor('k8s.io');
    const { watch: codec } = (inProtobuf ? protobufCodec(findType, names) : jsonCodec) as StreamingCodec;
    const failing = { next: () => Promise.reject(statusError.expired('too old')) };
    const stream = { [Symbol.asyncIterator]: () => failing, close: () => {} } as unknown as WatchStream;
    const unused = {} as never;
    const turns = new EveryStep();
    const options = {
      stream,
      writer: unused,
      series: unused,
      log: unused,
      turns,
      codec,
      unread: undefined,
      clock: drivenClock(),
    } as const;
    const shown = async (separate: boolean) => (await new WatchBody({ ...options, separate }).next()).value as Chunk;
    const [alone, framed] = [await shown(true), await shown(false)];
    // Over HTTP a protobuf frame has a length prefix.
    if (inProtobuf) expect(Buffer.from(framed as Uint8Array).readUInt32BE()).toBe(alone.length);
    expect(Buffer.from(alone as string).toString()).toBe(
      Buffer.from(framed as string)
        .subarray(inProtobuf ? 4 : 0)
        .toString(),
    );
    expect(Buffer.from(alone as string).toString()).toContain('Expired');
  });
});
