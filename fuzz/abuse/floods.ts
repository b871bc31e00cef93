import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { openSocket } from '../client.ts';
import {
  flag,
  frame,
  frameType,
  headerBlock,
  preface,
  requestFrame,
  setting,
  settings,
  uint32,
} from '../requests/frames.ts';
import { authorization, type TestedServer } from '../server.ts';
import { configMaps, hold, type Scenario, selfReviews } from './scenario.ts';

const bob = authorization('bob');
const host = 'Host: localhost\r\n';
const bobs = `Authorization: ${bob.authorization}\r\n`;

const megabyte = 1024 * 1024;

type Protocol = 'h2' | 'http/1.1';

/** Bytes that are sent in a loop and cost the server more than the client. */
interface Flood {
  /** The bytes of one time; the first may open a stream. */
  readonly bytes: (i: number) => Buffer;
  /** Whether the connection must end. What is as cheap for the server as any other bytes may go on. */
  readonly ends: boolean;
  /** How much is sent at least (bytes), where less may go on. */
  readonly least?: number;
  /** Absent: HTTP/2. */
  readonly protocol?: Protocol;
}

const reset = (stream: number) => frame(frameType.reset, 0, stream, uint32(8));
const inBody = (more: Buffer) => (i: number) =>
  i === 0 ? requestFrame(1, 'POST', selfReviews, { ...bob }, flag.endHeaders) : more;
const afterHead = (more: Buffer, flags: number) => (i: number) =>
  i === 0 ? requestFrame(1, 'GET', '/version', { ...bob }, flags) : more;
const chunked = (head: string, chunk: string) => (i: number) =>
  Buffer.from(i === 0 ? `${head}${host}Transfer-Encoding: chunked\r\n\r\n` : chunk);

const floods: { readonly [name: string]: Flood } = {
  'streams that are reset at once': {
    bytes: (i) => Buffer.concat([requestFrame(2 * i + 1, 'GET', '/version', { ...bob }), reset(2 * i + 1)]),
    ends: true,
  },
  'lists that are reset at once': {
    bytes: (i) => Buffer.concat([requestFrame(2 * i + 1, 'GET', configMaps, { ...bob }), reset(2 * i + 1)]),
    ends: true,
  },
  'bodies that are reset at once': {
    bytes: (i) =>
      Buffer.concat([requestFrame(2 * i + 1, 'POST', selfReviews, { ...bob }, flag.endHeaders), reset(2 * i + 1)]),
    ends: true,
  },
  'streams that the server has to reset': {
    bytes: (i) =>
      Buffer.concat([
        requestFrame(2 * i + 1, 'GET', '/version', { ...bob }),
        frame(frameType.windowUpdate, 0, 2 * i + 1, uint32(0)),
      ]),
    ends: true,
  },
  pings: { bytes: () => frame(frameType.ping, 0, 0, Buffer.alloc(8)), ends: true },
  settings: { bytes: () => settings({ [setting.initialWindowSize]: 65_535 }), ends: true },
  'sizes of the header table': {
    bytes: (i) => settings({ [setting.headerTableSize]: i % 2 === 0 ? 0 : 65_536 }),
    ends: true,
  },
  'empty data': { bytes: inBody(frame(frameType.data, 0, 1)), ends: true },
  'data of one byte': { bytes: inBody(frame(frameType.data, 0, 1, Buffer.from(' '))), ends: true },
  continuations: {
    bytes: afterHead(frame(frameType.continuation, 0, 1, headerBlock([['x-a', 'b'.repeat(100)]])), flag.endStream),
    ends: true,
  },
  'empty continuations': { bytes: afterHead(frame(frameType.continuation, 0, 1), flag.endStream), ends: true },
  'streams that stay open': {
    bytes: (i) => requestFrame(2 * i + 1, 'POST', selfReviews, { ...bob }, flag.endHeaders),
    ends: true,
  },
  // One large field, to which each request refers by one byte as often as its frame allows.
  'references to a large header': {
    bytes: (i) => {
      const head = headerBlock([
        [':method', 'GET'],
        [':scheme', 'https'],
        [':path', '/version'],
      ]);
      const large = headerBlock([['x-a', 'b'.repeat(3_900)]]);
      large.writeUInt8(0x40);
      const fields = i === 0 ? large : Buffer.alloc(16_000, 0xbe);
      return frame(frameType.headers, flag.endHeaders | flag.endStream, 2 * i + 1, Buffer.concat([head, fields]));
    },
    ends: false,
  },
  priorities: {
    bytes: (i) => frame(frameType.priority, 0, 2 * i + 1, Buffer.concat([uint32(0), Buffer.from([255])])),
    ends: true,
    least: 2 * megabyte,
  },
  'window updates': { bytes: () => frame(frameType.windowUpdate, 0, 0, uint32(1)), ends: true, least: 2 * megabyte },
  'unknown frames': { bytes: () => frame(0x77, 0, 0), ends: true, least: 2 * megabyte },
  'pipelined requests': {
    bytes: () => Buffer.from(`GET /version HTTP/1.1\r\n${host}\r\n`),
    ends: false,
    protocol: 'http/1.1',
  },
  'chunks of one byte': {
    bytes: chunked(`POST ${selfReviews} HTTP/1.1\r\n${bobs}`, '1\r\n \r\n'),
    ends: true,
    protocol: 'http/1.1',
  },
  'chunks that nobody reads': {
    bytes: chunked('GET /version HTTP/1.1\r\n', '1\r\n \r\n'),
    ends: true,
    protocol: 'http/1.1',
  },
};

const scenario = (name: string, protocol: Protocol, title: string): Scenario => ({
  name,
  title,
  sharesServer: true,
  attack: async ({ server, full }) => {
    for (const [what, flood] of Object.entries(floods)) {
      if ((flood.protocol ?? 'h2') === protocol) await sendFlood(server, what, flood, full);
    }
  },
});

/** Sends a flood over several connections at once. */
async function sendFlood(
  server: TestedServer,
  what: string,
  { bytes, ends, least = 0, protocol = 'h2' }: Flood,
  full: boolean,
): Promise<void> {
  const pieces: Buffer[] = protocol === 'h2' ? [preface, settings()] : [];
  const most = full ? 4 * megabyte : Math.max(least, megabyte / 2);
  for (let i = 0, size = 0; size < most; i++) {
    const piece = bytes(i);
    pieces.push(piece);
    size += piece.length;
  }
  const sent = Buffer.concat(pieces);
  const sockets = await Promise.all(Array.from({ length: full ? 5 : 2 }, () => openSocket(server, protocol)));
  const closed = sockets.map(async (socket) => {
    socket.resume();
    socket.write(sent);
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  });
  const late = sleep(ends ? 60_000 : full ? 2_000 : 300, false, { ref: false });
  const allClosed = await Promise.race([Promise.all(closed).then(() => true), late]);
  for (const socket of sockets) socket.destroy();
  hold(allClosed || !ends, `${what} do not end their connection`);
}

/** How many requests a connection sends at once: fewer than the streams that it may have. */
const inBurst: { readonly [protocol in Protocol]: number } = { h2: 99, 'http/1.1': 50 };

/** Connections that all send their requests in the same moment, which Node would read in one turn of the event loop. */
const burst: Scenario = {
  name: 'burst-of-connections',
  title: 'requests that many connections send at the same moment are read in turns, and answered',
  attack: async ({ server, full }) => {
    for (const protocol of ['h2', 'http/1.1'] as const) {
      const count = inBurst[protocol];
      const sent = Buffer.concat(
        protocol === 'h2'
          ? [
              preface,
              settings(),
              ...Array.from({ length: count }, (_, i) => requestFrame(2 * i + 1, 'GET', '/version')),
            ]
          : [Buffer.from(`GET /version HTTP/1.1\r\n${host}\r\n`.repeat(count))],
      );
      const sockets = await Promise.all(Array.from({ length: full ? 300 : 20 }, () => openSocket(server, protocol)));
      const responsesOf = protocol === 'h2' ? countHeaders : countHeads;
      const answered = sockets.map((socket) => responsesOf(socket, count));
      for (const socket of sockets) socket.write(sent);
      const all = await Promise.race([Promise.all(answered).then(() => true), sleep(60_000, false, { ref: false })]);
      for (const socket of sockets) socket.destroy();
      hold(all, `requests over ${protocol} get no response`);
    }
  },
};

/** Resolves once a connection of HTTP/1.1 has brought so many responses. */
function countHeads(socket: TLSSocket, count: number): Promise<void> {
  return new Promise((resolve) => {
    let [tail, found] = ['', 0];
    socket.on('data', (piece: Buffer) => {
      const text = tail + piece.toString('latin1');
      found += text.split('HTTP/1.1 ').length - 1;
      tail = text.slice(-8);
      if (found >= count) resolve();
    });
  });
}

/** Resolves once a connection of HTTP/2 has brought so many frames of headers. */
function countHeaders(socket: TLSSocket, count: number): Promise<void> {
  return new Promise((resolve) => {
    let [rest, found]: [Buffer, number] = [Buffer.alloc(0), 0];
    socket.on('data', (piece: Buffer) => {
      rest = Buffer.concat([rest, piece]);
      while (rest.length >= 9) {
        const end = 9 + rest.readUIntBE(0, 3);
        if (rest.length < end) break;
        if (rest[3] === frameType.headers) found++;
        rest = rest.subarray(end);
      }
      if (found >= count) resolve();
    });
  });
}

export const floodScenarios: readonly Scenario[] = [
  burst,
  scenario('http2-floods', 'h2', 'floods of HTTP/2 frames end their own connections only'),
  scenario('http1-floods', 'http/1.1', 'floods of HTTP/1.1 requests and chunks do not delay others'),
];
