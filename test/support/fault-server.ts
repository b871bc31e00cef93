import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';

/** A connection: the one of TCP, and what is over it, which is the same without TLS. */
interface Ends {
  readonly under: Socket;
  readonly over: Socket;
}

/** An act that replaces the proper one of a server. */
type Act = (ends: Ends) => unknown;

const write =
  (text: string): Act =>
  ({ over }) =>
    over.write(text, 'latin1');

/** Sends the same bytes until the client has had enough. */
const forEver =
  (text: string): Act =>
  ({ over }) => {
    const bytes = Buffer.from(text.repeat(Math.ceil(16_384 / text.length)), 'latin1');
    const more = () => {
      for (let i = 0; i < 32; i++) if (over.destroyed || !over.write(bytes)) return;
      setImmediate(more);
    };
    over.on('drain', more);
    more();
  };

const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const whole = `${ok}Content-Length: 2\r\n\r\n{}`;
const gzipped = (bytes: Buffer, length = bytes.length) =>
  `${ok}Content-Encoding: gzip\r\nContent-Length: ${length}\r\n\r\n${bytes.toString('latin1')}`;
const switched = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** The acts that are possible at any point. */
const anywhere: { readonly [action: string]: Act } = {
  end: ({ over }) => over.end(),
  // Without the alert by which TLS says that all has been sent.
  cut: ({ under }) => under.end(),
  reset: ({ under }) => under.resetAndDestroy(),
  destroy: ({ over }) => over.destroy(),
  silence: () => {},
  garbage: write('\x00\xff\r\n: SSH-2.0 \x80'.repeat(50)),
  'bytes without end': forEver('x'),
};

/** The acts that replace a response. */
const responses: { readonly [action: string]: Act } = {
  'interim responses without end': forEver('HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n'),
  'headers without end': forEver(`a: ${'b'.repeat(1_000)}\r\n`),
  'a length that is too short': write(`${ok}Content-Length: 1\r\n\r\n{"a":1}`),
  'a length that is too long': ({ over }) => over.end(`${ok}Content-Length: 99\r\n\r\n{}`),
  'two lengths': write(`${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
  'two responses': write(whole + whole),
  'an upgrade': write(`${switched}bytes`),
  'an upgrade and an end': ({ over }) => over.end(switched),
  'an upgrade and a reset': ({ over, under }) => over.write(switched, () => under.resetAndDestroy()),
  'a redirect': write('HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'),
  'gzip that is none': write(gzipped(Buffer.from('plain'))),
  'half a gzip': ({ over }) => over.end(gzipped(gzipSync(Buffer.alloc(9_999)).subarray(0, 20), 20), 'latin1'),
  'a gzip bomb': write(gzipped(gzipSync(Buffer.alloc(8 * 1024 * 1024)))),
  'status 999': write('HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'),
  'status 000': write('HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n'),
  'status 204 with a body': write('HTTP/1.1 204 None\r\nContent-Length: 2\r\n\r\n{}'),
  'headers that are no text': write('HTTP/1.1 200 \x01\r\nX-A: \xff\xfe\r\nTrailer: x\r\nContent-Length: 2\r\n\r\n{}'),
};

/** The points of an exchange: what has been sent before, and what may happen besides what can happen anywhere. */
const points: { readonly [point: string]: { readonly sent?: string; readonly more?: typeof anywhere } } = {
  accept: {},
  'client hello': {},
  handshake: {},
  request: { more: responses },
  'half a head': { sent: `${ok}X-A: `, more: { 'headers without end': forEver(`a: ${'b'.repeat(1_000)}\r\n`) } },
  head: { sent: `${ok}Content-Length: 100\r\n\r\n` },
  'half a body': { sent: `${ok}Content-Length: 100\r\n\r\n{"kind":` },
  chunk: {
    sent: `${ok}Transfer-Encoding: chunked\r\n\r\n8\r\n{"kind":\r\n`,
    more: { 'a broken chunk': write('zz\r\n') },
  },
  response: { sent: whole },
  'last response': { sent: `${ok}Connection: close\r\nContent-Length: 2\r\n\r\n{}` },
  'next request': { sent: whole, more: responses },
};

export interface Fault {
  readonly name: string;
  readonly point: string;
  readonly action: string;
  readonly act: Act;
}

/** Whether the head of a response has been sent at a point. */
export const hasHead = (point: string): boolean => points[point]?.sent?.includes('\r\n\r\n') === true;

/** Whether an action may happen at any point: it sends no response. */
export const isAnywhere = (action: string): boolean => Object.hasOwn(anywhere, action);

export const faults: readonly Fault[] = Object.entries(points).flatMap(([point, { more = {} }]) =>
  Object.entries({ ...anywhere, ...more }).map(([action, act]) => ({
    name: `${action} at ${point}`,
    point,
    action,
    act,
  })),
);

/** A server that does something wrong at one point of each connection, with or without TLS. */
export class FaultServer {
  fault: Fault | undefined;
  /** Whole responses to requests that are answered all the same. */
  spared: (head: string) => string | undefined = () => undefined;
  readonly #server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  readonly #open = new Set<Socket>();
  readonly #tls: ReturnType<typeof createSecureContext> | undefined;

  constructor(fault?: Fault, certificate?: { readonly cert: string | Buffer; readonly key: string | Buffer }) {
    this.fault = fault;
    this.#tls = certificate === undefined ? undefined : createSecureContext(certificate);
  }

  async listen(address = '127.0.0.1'): Promise<number> {
    this.#server.listen(0, address);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections its clients have not closed. */
  get open(): number {
    return this.#open.size;
  }

  /** Ends all connections. */
  disconnect(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async close(): Promise<void> {
    this.disconnect();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(under: Socket): void {
    this.#open.add(under);
    under.on('error', ignore).once('close', () => this.#open.delete(under));
    const { point = '', act = ignore } = this.fault ?? {};
    if (point === 'accept' || point === 'client hello') {
      under.resume().once('end', () => under.destroy());
      if (point === 'accept') act({ under, over: under });
      else under.once('data', () => act({ under, over: under }));
      return;
    }
    const over = this.#tls === undefined ? under : new TLSSocket(under, { isServer: true, secureContext: this.#tls });
    over.on('error', ignore);
    over.once('end', () => under.destroy()).once('close', () => under.destroy());
    const ends = { under, over };
    if (point === 'handshake') {
      if (over === under) act(ends);
      else over.once('secure', () => act(ends));
    }
    let requests = 0;
    over.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1');
      if (!text.includes(' HTTP/1.1\r\n')) return;
      requests++;
      const spared = this.spared(text);
      const sent = points[point]?.sent;
      if (spared !== undefined) {
        over.write(spared);
        return;
      }
      if (point === 'handshake' || (requests > 1 && point !== 'next request')) return;
      if (sent === undefined || requests > 1) act(ends);
      else if (point === 'next request') over.write(sent);
      else over.write(sent, () => act(ends));
    });
  }
}

const ignore = () => {};
