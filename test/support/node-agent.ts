import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** A minimal kubelet for streaming clients: it supports WebSocket and no other protocol. */
export interface NodeAgent {
  readonly port: number;
  /** `METHOD URL` of every request, in order. */
  readonly seen: string[];
  /** Upgraded connections that are open. */
  readonly streams: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** Channels of the protocols for running commands (`v4.channel…`, `v5.channel…`). */
const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/**
 * Serves logs as `serve` writes them, runs the commands `cat`, `fail`, `say <text>` and `size`, which prints each size of its
 * terminal, and has a port 7 that echoes, in every pod; nobody listens on other ports.
 */
export async function startNodeAgent(
  tls: { readonly cert: string; readonly key: string; readonly ca?: string },
  serve: (request: IncomingMessage, response: ServerResponse) => void,
  address = '127.0.0.1',
): Promise<NodeAgent> {
  const seen: string[] = [];
  const streams = new Set<Socket>();
  const client = tls.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
  const server: Server = createServer({ ...tls, ...client }, (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    serve(request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    seen.push(`${request.method} ${request.url}`);
    const offered = request.headers['sec-websocket-protocol']?.split(', ') ?? [];
    const [protocol] = offered.filter((name) => name.includes('.channel.'));
    if (request.headers.upgrade?.toLowerCase() !== 'websocket' || protocol === undefined) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 16\r\nConnection: close\r\n\r\nunknown protocol');
      return;
    }
    streams.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => streams.delete(socket));
    socket.once('end', () => socket.end());
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${handshake(request, protocol)}\r\n`);
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://agent');
    if (pathname.startsWith('/portForward/'))
      echo(socket, Number(searchParams.get('port') ?? searchParams.get('ports')));
    else run(socket, searchParams);
    if (head.length > 0) socket.unshift(head);
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    streams,
    close: () =>
      new Promise((done) => {
        for (const socket of streams) socket.destroy();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function handshake({ headers }: IncomingMessage, protocol: string): string {
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  return `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n`;
}

/** Runs a command over a WebSocket; each message begins with its channel. */
function run(socket: Socket, query: URLSearchParams): void {
  const [command, text] = query.getAll('command');
  const say = (to: number, data: Buffer | string) =>
    socket.write(frame(2, Buffer.concat([Buffer.of(to), Buffer.from(data)])));
  const leave = (status: object) => {
    say(channel.error, JSON.stringify({ metadata: {}, ...status }));
    socket.write(frame(8, Buffer.of(0x03, 0xe8)));
  };
  readFrames(socket, (opcode, data) => {
    if (opcode === 9) socket.write(frame(10, data));
    if (opcode === 8) socket.end();
    if (opcode !== 2) return;
    if (data[0] === channel.stdin) say(channel.stdout, data.subarray(1));
    if (data[0] === channel.resize && command === 'size') say(channel.stdout, `${data.subarray(1).toString()}\r\n`);
    if (data[0] === channel.close && data[1] === channel.stdin) leave({ status: 'Success' });
  });
  if (command === 'say') say(channel.stdout, `${text}\n`);
  if (command === 'fail') {
    say(channel.stderr, 'no luck\n');
    const details = { causes: [{ reason: 'ExitCode', message: '3' }] };
    leave({ status: 'Failure', reason: 'NonZeroExitCode', message: 'exit 3', details });
  } else if (!query.has('input')) {
    // A command without stdin ends.
    leave({ status: 'Success' });
  }
}

/** Echoes what is sent to port 7; channel 0 carries data, channel 1 errors, and each begins with the port. */
function echo(socket: Socket, port: number): void {
  const say = (to: number, data: Buffer | string) =>
    socket.write(frame(2, Buffer.concat([Buffer.of(to), Buffer.from(data)])));
  for (const to of [0, 1]) say(to, Buffer.of(port & 0xff, port >> 8));
  if (port !== 7) say(1, 'connection refused');
  readFrames(socket, (opcode, data) => {
    if (opcode === 8) socket.end();
    if (opcode === 2 && data[0] === 0) say(0, data.subarray(1));
  });
}

/** A message of a WebSocket in one frame, as a server sends it (RFC 6455, 5.2). */
function frame(opcode: number, data: Buffer): Buffer {
  const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = data.length < 126 ? data.length : data.length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(data.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(data.length), 2);
  return Buffer.concat([head, data]);
}

/** Emits each frame of the client, unmasked. */
function readFrames(socket: Socket, take: (opcode: number, data: Buffer) => void): void {
  let held = Buffer.alloc(0);
  socket.on('data', (piece: Buffer) => {
    held = Buffer.concat([held, piece]);
    while (held.length >= 2) {
      const short = (held[1] as number) & 0x7f;
      const start = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (held.length < start + 4) return;
      const size = short < 126 ? short : short === 126 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2));
      if (held.length < start + 4 + size) return;
      const mask = held.subarray(start, start + 4);
      const data = held.subarray(start + 4, start + 4 + size).map((byte, i) => byte ^ (mask[i % 4] as number));
      const opcode = (held[0] as number) & 0x0f;
      held = held.subarray(start + 4 + size);
      take(opcode, Buffer.from(data));
    }
  });
}
