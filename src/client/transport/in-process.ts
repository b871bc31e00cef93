import { type ByteString, bufferOf, statusError } from '../../meta/index.ts';
import type { ClientResponse, Signal, Transport } from './transport.ts';

type Subject = { readonly commonName: string; readonly organizations: readonly string[] };

/** The request handler of a server in the same process. */
export type InProcessHandler = (request: {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly peer: { readonly address: string; readonly network: string; readonly certificate: Subject | undefined };
  readonly body: (limit: number) => Promise<Uint8Array>;
  readonly stream: () => AsyncIterable<Uint8Array> | undefined;
  readonly upgrades: false;
  readonly signal: Signal;
}) => Promise<{
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] };
  readonly body: Chunk | AsyncIterable<Chunk>;
}>;

type Chunk = ByteString | Uint8Array;

export interface InProcessOptions {
  /** The subject of the verified client certificate; absent without a certificate. */
  readonly subject?: Subject;
  /** Whether the process may exit while a response is pending. */
  readonly background?: boolean;
}

/** Calls a request handler in the same process, without a socket. Copies response chunks at most once. */
export function inProcessTransport(
  handler: InProcessHandler,
  { subject, background = false }: InProcessOptions = {},
): Transport {
  const peer = { address: '', network: '', certificate: subject };
  return async (request): Promise<ClientResponse> => {
    const body = request.body ?? new Uint8Array();
    const response = await handler({
      method: request.method,
      url: request.url,
      headers: request.headers,
      peer,
      body: (limit) => (body.length > limit ? Promise.reject(statusError.tooLarge(limit)) : Promise.resolve(body)),
      stream: () => (body.length === 0 ? undefined : buffers(body)),
      upgrades: false,
      signal: request.signal ?? new AbortController().signal,
    });
    const headers: { [name: string]: string } = {};
    for (const [name, value] of Object.entries(response.headers)) {
      headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
    }
    return { status: response.status, headers, body: buffers(response.body, background) };
  };
}

async function* buffers(body: Chunk | AsyncIterable<Chunk>, background = true): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') yield bufferOf(body);
  else if (body instanceof Uint8Array) yield body;
  else {
    for await (const chunk of background ? body : keepingAlive(body)) {
      yield typeof chunk === 'string' ? bufferOf(chunk) : chunk;
    }
  }
}

/** The maximum delay of a timer (ms). */
const maxDelayMs = 2 ** 31 - 1;

/** Passes the chunks on. A pending chunk keeps the process alive, as a pending socket read does. */
async function* keepingAlive<T>(chunks: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = setInterval(() => {}, maxDelayMs);
      const next = await iterator.next().finally(() => clearInterval(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
