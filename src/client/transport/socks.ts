/** Connections through a SOCKS 5 proxy (RFC 1928), with a user name and a password (RFC 1929) if it asks for them. */
import { connect, type Socket } from 'node:net';

const version = 5;
const methods = { none: 0, password: 2 } as const;
/** The versions and codes of the messages. */
const passwordVersion = 1;
const connectCommand = 1;
const domainType = 3;
const succeeded = 0;

/** The meanings of the replies (RFC 1928, 6). */
const failures: { readonly [code: number]: string } = {
  1: 'general failure',
  2: 'not allowed',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'time exceeded',
  7: 'command not supported',
  8: 'address type not supported',
};

export interface SocksOptions {
  readonly proxy: { readonly host: string; readonly port: number };
  readonly user: string;
  readonly password: string;
  readonly target: { readonly host: string; readonly port: number };
  /** How long the proxy may take (ms). */
  readonly timeoutMs: number;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/** Opens a connection; the proxy resolves the name of the target. Rejects with an error whose message has no password. */
export function connectBySocks(options: SocksOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...options.proxy, signal: options.signal });
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(options.timeoutMs, () => fail(new Error('it did not answer in time')));
    socket.once('error', fail);
    socket.once('connect', () => {
      negotiate(socket, options).then(() => {
        socket.setTimeout(0);
        socket.off('error', fail);
        resolve(socket);
      }, fail);
    });
  });
}

async function negotiate(socket: Socket, { user, password, target }: SocksOptions): Promise<void> {
  const offered = user === '' ? [methods.none] : [methods.none, methods.password];
  const [, method] = await answerTo(socket, Uint8Array.of(version, offered.length, ...offered), () => 2);
  if (method === methods.password && user !== '') {
    const message = Uint8Array.from([passwordVersion, ...counted(user), ...counted(password)]);
    const [, status] = await answerTo(socket, message, () => 2);
    if (status !== succeeded) throw new Error('it refused the credentials');
  } else if (method !== methods.none) throw new Error('it asks for credentials that its URL does not have');
  const port = [target.port >> 8, target.port & 0xff];
  const request = Uint8Array.from([version, connectCommand, 0, domainType, ...counted(target.host), ...port]);
  const [, code = 1] = await answerTo(socket, request, lengthOfReply);
  if (code !== succeeded) throw new Error(failures[code] ?? `it answered ${code}`);
}

/** The bytes of a text after their count. @throws Error for more than 255 bytes */
function counted(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw new Error('a name or password for it is longer than 255 bytes');
  return Uint8Array.of(bytes.length, ...bytes);
}

/** The length of a reply, as far as its beginning tells: the address has 4 bytes, 16, or those that its first byte counts. */
function lengthOfReply(reply: Buffer): number {
  const [, , , type, count = 0] = reply;
  const address = type === 1 ? 4 : type === 4 ? 16 : 1 + count;
  return 4 + address + 2;
}

/** Sends a message and reads the answer; bytes after it stay in the socket. */
function answerTo(socket: Socket, message: Uint8Array, lengthOf: (answer: Buffer) => number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0);
    const end = () => socket.off('data', read).off('close', closed);
    const closed = () => {
      end();
      reject(new Error('it closed the connection'));
    };
    const read = (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      const length = lengthOf(answer);
      if (answer.length < length) return;
      end();
      socket.pause();
      if (answer.length > length) socket.unshift(answer.subarray(length));
      resolve(answer.subarray(0, length));
    };
    socket.on('data', read).on('close', closed);
    socket.resume();
    socket.write(message);
  });
}
