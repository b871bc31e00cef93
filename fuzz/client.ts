import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { authorization, type TestedServer, type User } from './server.ts';

export interface Ask {
  readonly user: User;
  readonly method: string;
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: Buffer;
}

/** The beginning of a body, for messages. */
export const shown = (body: Buffer): string => body.toString('utf8', 0, 500);

/** Response timeout (ms). */
const patience = 60_000;

/** A client for well-formed requests over HTTP/1.1 and HTTP/2 with persistent connections. */
export interface Client {
  http1(ask: Ask): Promise<Answer>;
  http2(ask: Ask): Promise<Answer>;
  close(): void;
}

export function createClient({ port, ca }: TestedServer): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, ca });
  let session: ClientHttp2Session | undefined;
  const opened = () => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(`https://127.0.0.1:${port}`, { ca, maxSessionMemory: 1_000 });
      session.on('error', () => {});
    }
    return session;
  };
  return {
    http1: ({ user, method, path, headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const options = {
          host: '127.0.0.1',
          port,
          agent,
          method,
          path,
          headers: { ...authorization(user), ...headers },
        };
        const sent = request(options, (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
          );
        });
        sent.setTimeout(patience, () =>
          sent.destroy(new Error(`no answer in ${patience / 1000} s: ${method} ${path}`)),
        );
        sent.on('error', reject);
        sent.end(body);
      }),
    http2: ({ user, method, path, headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const stream = opened().request({ ':method': method, ':path': path, ...authorization(user), ...headers });
        const pieces: Buffer[] = [];
        let answered: Answer | undefined;
        stream.on('response', ({ ':status': status = 0, ...rest }) => {
          answered = { status, headers: rest, body: Buffer.alloc(0) };
        });
        stream.on('data', (piece: Buffer) => pieces.push(piece));
        stream.on('error', reject);
        stream.on('end', () => {
          if (answered !== undefined) resolve({ ...answered, body: Buffer.concat(pieces) });
        });
        stream.on('close', () =>
          reject(new Error(`the stream closed without an answer: ${method} ${path.slice(0, 200)}`)),
        );
        stream.setTimeout(patience, () => stream.destroy(new Error(`no answer in ${patience / 1000} s`)));
        stream.end(body);
      }),
    close: () => {
      agent.destroy();
      session?.destroy();
    },
  };
}

/** A raw connection; its errors are ignored. */
export function openSocket({ port, ca }: TestedServer, protocol: 'http/1.1' | 'h2'): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: [protocol] });
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      socket.setNoDelay(true);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
