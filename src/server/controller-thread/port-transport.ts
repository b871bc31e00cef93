import type { ClientRequest, ClientResponse, Transport } from '../../client/index.ts';
import type { ServerMessage, ThreadMessage } from './messages.ts';
import { unpackError } from './thread-error.ts';

type Subject = Extract<ThreadMessage, { type: 'request' }>['subject'];
type Answer = Extract<ServerMessage, { type: 'response' | 'chunk' | 'end' }>;

/** A request that waits for its response, or whose response is being read. */
interface Exchange {
  readonly resolve: (response: ClientResponse) => void;
  readonly reject: (error: Error) => void;
  readonly chunks: Uint8Array[];
  /** Removes the listener of the request's signal. */
  readonly close: () => void;
  ended: boolean;
  error: Error | undefined;
  wake: () => void;
}

/** Sends requests of controllers to the server of the process. */
export class PortTransport {
  readonly #post: (message: ThreadMessage, transfer?: ArrayBuffer[]) => void;
  readonly #exchanges = new Map<number, Exchange>();
  #last = 0;

  constructor(post: (message: ThreadMessage, transfer?: ArrayBuffer[]) => void) {
    this.#post = post;
  }

  /** A transport that authenticates as the subject of a verified client certificate. */
  of(subject: Subject): Transport {
    return (request) => this.#send(subject, request);
  }

  /** Handles a message about a request. */
  take(message: Answer): void {
    const exchange = this.#exchanges.get(message.id);
    if (exchange === undefined) return;
    if (message.type === 'response') {
      const { status, headers } = message;
      exchange.resolve({ status, headers, body: this.#read(message.id, exchange) });
      return;
    }
    if (message.type === 'chunk') exchange.chunks.push(message.bytes);
    else {
      this.#close(message.id, exchange);
      exchange.ended = true;
      exchange.error = message.error === undefined ? undefined : unpackError(message.error);
      if (exchange.error !== undefined) exchange.reject(exchange.error);
    }
    exchange.wake();
  }

  #send(subject: Subject, { method, url, headers, body, signal }: ClientRequest): Promise<ClientResponse> {
    const id = this.#last++;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new Error('the request was cancelled'));
        return;
      }
      const cancel = () => this.#post({ type: 'cancel', id });
      const close = () => signal?.removeEventListener('abort', cancel);
      signal?.addEventListener('abort', cancel);
      this.#exchanges.set(id, { resolve, reject, close, chunks: [], ended: false, error: undefined, wake: () => {} });
      this.#post({ type: 'request', id, subject, method, url, headers, body: body && new Uint8Array(body) });
    });
  }

  /** Returns whether the exchange was open. */
  #close(id: number, { close }: Exchange): boolean {
    close();
    return this.#exchanges.delete(id);
  }

  async *#read(id: number, exchange: Exchange): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = exchange.chunks.shift();
        if (chunk !== undefined) {
          this.#post({ type: 'read', id });
          yield chunk;
        } else if (exchange.ended) {
          if (exchange.error !== undefined) throw exchange.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            exchange.wake = resolve;
          });
        }
      }
    } finally {
      if (this.#close(id, exchange)) this.#post({ type: 'cancel', id });
    }
  }
}
