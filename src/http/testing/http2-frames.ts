import { once } from 'node:events';
import tls from 'node:tls';

/** Types and flags of frames (RFC 9113, 6). */
export const type = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 };
export const flags = { endStream: 1, endHeaders: 4 };

export function frame(kind: number, flag: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = kind;
  head[4] = flag;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The first bytes of a client. */
export const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(type.settings, 0, 0)]);

/** GET of a path of https://a (RFC 7541, Appendix A). */
export function getRequest(stream: number, path: string): Buffer {
  const block = Buffer.concat([Buffer.from('8287410161', 'hex'), Buffer.of(4, path.length), Buffer.from(path)]);
  return frame(type.headers, flags.endStream | flags.endHeaders, stream, block);
}

/** A frame that a client has received. */
export interface Received {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A TLS connection on which nothing has been sent, and the frames that it receives. */
export async function connectFrames(port: number, ca: string, protocol = 'h2') {
  const socket = tls.connect({ port, host: '127.0.0.1', ca, ALPNProtocols: [protocol] });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  const frames: Received[] = [];
  let tail = Buffer.alloc(0);
  socket.on('data', (piece: Buffer) => {
    tail = Buffer.concat([tail, piece]);
    while (tail.length >= 9 && tail.length >= 9 + tail.readUIntBE(0, 3)) {
      const end = 9 + tail.readUIntBE(0, 3);
      frames.push({ type: tail[3] ?? 0, stream: tail.readUInt32BE(5), payload: tail.subarray(9, end) });
      tail = tail.subarray(end);
    }
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, frames, closed };
}
