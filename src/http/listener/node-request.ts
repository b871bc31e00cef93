import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { type Clock, ReceivedBytes, StatusError, statusError } from '../../meta/index.ts';
import type { ApiRequest, Peer, RequestHeaders } from '../types.ts';
import { hasBody } from './http1-message.ts';

/** The request line and the headers of a request. */
export interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
}

/** The source of a request's body. */
export type NodeMessage = IncomingMessage | ServerHttp2Stream;

export interface NodeRequestOptions {
  readonly clock: Clock;
  /** Timeout of a body that is read whole (ms). */
  readonly bodyMs: number;
  /** The minimum rate of such a body: bytes in each interval. */
  readonly pace: { readonly bytes: number; readonly ms: number };
  readonly upgrades?: boolean;
}

/** The connection of a request. */
export interface Sender {
  readonly peer: Peer;
  /** Is told of each piece of a body. */
  received(bytes: number): void;
}

/** Why signals abort: one for all, because making it takes a third of the time of an abort, and thousands may come at once. */
const disconnected = new DOMException('This operation was aborted', 'AbortError');

/** A request from Node's HTTP/1.1 or HTTP/2 server. */
export class NodeRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly peer: Peer;
  readonly upgrades: boolean;
  readonly #head: RequestHead;
  readonly #message: NodeMessage;
  readonly #sender: Sender;
  readonly #options: NodeRequestOptions;
  #gone: AbortController | undefined;
  #over = false;
  #discards = false;
  readonly #listeners: (() => void)[] = [];

  /** The name of its user, once it is answered. Undefined: the user is not known. */
  user: string | undefined;
  /** Whether the handler has returned its response, which may still be sent. */
  answered = false;

  constructor(head: RequestHead, message: NodeMessage, sender: Sender, options: NodeRequestOptions) {
    this.method = head.method ?? '';
    this.url = head.url ?? '';
    this.peer = sender.peer;
    this.upgrades = options.upgrades ?? false;
    this.#head = head;
    this.#message = message;
    this.#sender = sender;
    this.#options = options;
  }

  /** Ends the request: the response was sent, or the connection broke. Only the first call counts. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    for (const listener of this.#listeners) listener();
    // Node may hold a closed stream until a full garbage collection, and with it whatever its listeners refer to.
    this.#listeners.length = 0;
  }

  whenOver(listener: () => void): void {
    if (this.#over) listener();
    else this.#listeners.push(listener);
  }

  get headers(): RequestHeaders {
    // Repeated headers are joined by commas; `set-cookie`, the exception, is not a request header.
    return this.#head.headers as RequestHeaders;
  }

  headerValues(name: string): readonly string[] {
    const { rawHeaders } = this.#head;
    const values: string[] = [];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (rawHeaders[i]?.toLowerCase() !== name) continue;
      // Headers are latin1.
      const value = Buffer.from(rawHeaders[i + 1] ?? '', 'latin1');
      // Different values would decode to the same text.
      if (!isUtf8(value)) throw statusError.badRequest(`the header ${name} is not in UTF-8`);
      values.push(value.toString());
    }
    return values;
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController();
      this.#gone = gone;
      this.whenOver(() => gone.abort(disconnected));
    }
    return this.#gone.signal;
  }

  get #hasBody(): boolean {
    const message = this.#message;
    if ('rstCode' in message) return !message.endAfterHeaders;
    return hasBody(this.#head.headers);
  }

  /** Whether nothing more of the request can arrive. */
  get complete(): boolean {
    const message = this.#message;
    if (!this.#hasBody) return true;
    return 'rstCode' in message ? message.readableEnded || message.closed || message.destroyed : message.complete;
  }

  get coming(): number {
    const message = this.#message;
    if (!this.#hasBody) return 0;
    const length = Number(this.#head.headers['content-length'] ?? Number.POSITIVE_INFINITY);
    return message.readableLength === length ? 0 : length;
  }

  stream(): AsyncIterable<Uint8Array> | undefined {
    return this.#hasBody ? this.#pieces() : undefined;
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    const message = this.#message;
    try {
      for await (const piece of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        this.#sender.received(piece.length);
        yield piece;
      }
    } finally {
      this.discard();
    }
  }

  body(limit: number, count?: (bytes: number) => void): Promise<Uint8Array> {
    const message = this.#message;
    if (!this.#hasBody) return Promise.resolve(noBytes);
    const length = Number(this.#head.headers['content-length']);
    if (length > limit) return Promise.reject(statusError.tooLarge(limit));
    // A small body has arrived with the headers. Over HTTP/2 it may have come in many pieces, which are counted.
    if (message.readableLength === length && !('rstCode' in message)) {
      const whole = message.read() as Buffer;
      if (!message.complete) message.resume();
      return Promise.resolve(whole);
    }
    return new Promise((resolve, reject) => {
      const received = new ReceivedBytes();
      const settle = (error: StatusError | undefined) => {
        cancel();
        message.off('data', take);
        message.off('end', end);
        message.off('error', broken);
        message.off('close', broken);
        this.discard();
        if (error !== undefined) reject(error);
        else resolve(received.whole());
      };
      const take = (piece: Buffer) => {
        this.#sender.received(piece.length);
        const size = received.size + piece.length;
        if (size > limit) return settle(statusError.tooLarge(limit));
        try {
          count?.(size);
        } catch (error) {
          return settle(error as StatusError);
        }
        received.add(piece);
      };
      const end = () => settle(undefined);
      const broken = () => settle(statusError.badRequest('the body of the request was cut off'));
      const late = () => settle(new StatusError(408, 'Timeout', 'the body of the request came too slowly'));
      const cancel = this.#timed(() => received.size, late);
      if (message.readableEnded) return end();
      if (message.destroyed) return broken();
      message.on('data', take);
      message.on('end', end);
      message.on('error', broken);
      message.on('close', broken);
    });
  }

  /** Reads the rest of the body, so that the response can be sent. */
  discard(): void {
    if (this.#discards) return;
    this.#discards = true;
    const message = this.#message;
    message.on('error', ignore);
    message.on('data', ({ length }: Uint8Array) => this.#sender.received(length));
    message.resume();
  }

  /** Calls `late` when a body exceeds its timeout or its minimum rate. The result stops the timers. */
  #timed(received: () => number, late: () => void): () => void {
    const { clock, bodyMs, pace } = this.#options;
    let cancel: () => void;
    const span = (left: number) => {
      const before = received();
      const ms = Math.min(left, pace.ms);
      cancel = clock.after(ms, () => {
        if (left > ms && received() - before >= pace.bytes) span(left - ms);
        else late();
      });
    };
    span(bodyMs);
    return () => cancel();
  }
}

const noBytes = new Uint8Array();
const ignore = () => {};
