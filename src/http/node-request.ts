import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { type Clock, StatusError, statusError } from '../meta/index.ts';
import type { ApiRequest, Peer, RequestHeaders } from './types.ts';

export type NodeMessage = IncomingMessage | Http2ServerRequest;

/** What the answer is written to: closes when it is done, or when the connection broke. */
export interface Closable {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

export interface NodeRequestOptions {
  readonly clock: Clock;
  /** How long a body may take that is read as a whole. */
  readonly bodyTimeoutMs: number;
  readonly upgrades?: boolean;
}

/** A request as Node received it, over either protocol. */
export class NodeRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly peer: Peer;
  readonly upgrades: boolean;
  readonly #message: NodeMessage;
  readonly #answer: Closable;
  readonly #clock: Clock;
  readonly #bodyTimeoutMs: number;
  #gone: AbortController | undefined;

  constructor(
    message: NodeMessage,
    answer: Closable,
    peer: Peer,
    { clock, bodyTimeoutMs, upgrades = false }: NodeRequestOptions,
  ) {
    this.method = message.method ?? '';
    this.url = message.url ?? '';
    this.peer = peer;
    this.upgrades = upgrades;
    this.#message = message;
    this.#answer = answer;
    this.#clock = clock;
    this.#bodyTimeoutMs = bodyTimeoutMs;
  }

  get headers(): RequestHeaders {
    // Joined as HTTP does, but for `set-cookie`, which no request has.
    return this.#message.headers as RequestHeaders;
  }

  headerValues(name: string): readonly string[] {
    const { rawHeaders } = this.#message;
    const values: string[] = [];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (rawHeaders[i]?.toLowerCase() !== name) continue;
      // One character for each byte.
      values.push(Buffer.from(rawHeaders[i + 1] ?? '', 'latin1').toString());
    }
    return values;
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController();
      this.#gone = gone;
      this.#answer.once('close', () => gone.abort());
      if (this.#answer.destroyed) gone.abort();
    }
    return this.#gone.signal;
  }

  stream(): AsyncIterable<Uint8Array> | undefined {
    const { headers } = this.#message;
    const ends =
      'stream' in this.#message
        ? this.#message.stream.endAfterHeaders
        : headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
    return ends ? undefined : this.#pieces();
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    const message = this.#message;
    try {
      yield* message.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    } finally {
      // What still comes is read and dropped, so that the answer can be sent.
      message.on('error', ignore);
      message.resume();
    }
  }

  body(limit: number): Promise<Uint8Array> {
    const message = this.#message;
    const length = Number(message.headers['content-length']);
    if (length > limit) return Promise.reject(statusError.tooLarge(limit));
    // A small body is there by now, having come with its head.
    if (length > 0 && message.readableLength === length) {
      const whole = message.read() as Buffer;
      message.resume();
      return Promise.resolve(whole);
    }
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      let size = 0;
      const settle = (error: StatusError | undefined) => {
        cancel();
        message.off('data', take);
        message.off('end', end);
        message.off('error', broken);
        message.off('close', broken);
        // What still comes is read and dropped, so that the answer can be sent.
        message.on('error', ignore);
        message.resume();
        if (error !== undefined) reject(error);
        else resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
      };
      const take = (piece: Buffer) => {
        size += piece.length;
        if (size > limit) settle(statusError.tooLarge(limit));
        else pieces.push(piece);
      };
      const end = () => settle(undefined);
      const broken = () => settle(statusError.badRequest('the body of the request was cut off'));
      const cancel = this.#clock.after(this.#bodyTimeoutMs, () =>
        settle(new StatusError(408, 'Timeout', 'the body of the request came too slowly')),
      );
      if (message.readableEnded) return end();
      if (message.destroyed) return broken();
      message.on('data', take);
      message.on('end', end);
      message.on('error', broken);
      message.on('close', broken);
    });
  }
}

const ignore = () => {};
