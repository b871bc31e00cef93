import {
  type ByteString,
  bufferOf,
  closeCodes,
  FrameError,
  FrameReader,
  frame,
  frameHead,
  type Names,
  opcodes,
  statusError,
  webSocketAccept,
} from '../../meta/index.ts';
import { emptyBody, textAnswer } from '../answers.ts';
import type { ApiRequest, ApiResponse, Chunk, RequestHeaders } from '../types.ts';

/**
 * The server side of WebSocket (RFC 6455) for responses that are streams of messages. Messages of the client are
 * discarded; only its control frames are handled.
 */

/** How a message is sent. `base64`: bytes as text. */
export type MessageForm = 'text' | 'binary' | 'base64';

/** The longest message that a client may send (bytes). */
const maxMessageBytes = 4 * 1024;

// Handshake

/** Whether a request that upgrades its connection opens a WebSocket. */
export const isWebSocket = (headers: RequestHeaders): boolean => headers['upgrade']?.toLowerCase() === 'websocket';

/** Subprotocols that carry a bearer token, of any domain. They are never forwarded. */
const bearerProtocols = /^base64url\.bearer\.authorization\./;

/** The offered subprotocols in the client's order, without those that carry a token. */
export function offeredProtocols(header: string | undefined): string[] {
  return protocolsIn(header).filter((protocol) => !bearerProtocols.test(protocol));
}

const protocolsIn = (header = ''): string[] =>
  header
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');

/**
 * The bearer token in the subprotocol `base64url.bearer.authorization.<domain>.<token>` of a WebSocket request, in the
 * form of an `Authorization` header. Another subprotocol must be offered too: the one with the token is never echoed,
 * and browsers fail when none is. Throws StatusError 401.
 */
export function protocolCredentials(request: ApiRequest, names: Names): string | undefined {
  if (!isWebSocket(request.headers)) return undefined;
  const prefix = `base64url.bearer.authorization.${names.domain}.`;
  const header = request.headers['sec-websocket-protocol'];
  const tokens = protocolsIn(header).filter((protocol) => protocol.startsWith(prefix));
  const [token] = tokens;
  if (token === undefined) return undefined;
  const encoded = token.slice(prefix.length);
  if (tokens.length > 1 || !/^[\w-]+$/.test(encoded)) throw statusError.unauthorized();
  if (offeredProtocols(header).length === 0) throw statusError.unauthorized();
  const decoded = Buffer.from(encoded, 'base64url').toString();
  if (/\s/.test(decoded)) throw statusError.unauthorized();
  return `Bearer ${decoded}`;
}

/**
 * The 101 response to a WebSocket handshake, or the error for an invalid one. `protocols`: the supported subprotocols;
 * undefined: any one.
 */
export function openWebSocket({ headers }: ApiRequest, protocols?: readonly string[]): ApiResponse {
  const offered = offeredProtocols(headers['sec-websocket-protocol']);
  const version = headers['sec-websocket-version'];
  if (version !== '13') {
    const refusal = textAnswer(400, 'missing or bad WebSocket version, supported: 13\n');
    return { ...refusal, headers: { ...refusal.headers, 'sec-websocket-version': '13' } };
  }
  const key = headers['sec-websocket-key'] ?? '';
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) return textAnswer(400, 'missing or bad Sec-WebSocket-Key\n');
  if (protocols === undefined && offered.length > 1) return textAnswer(400, 'offer one WebSocket subprotocol\n');
  const chosen = protocols === undefined ? offered[0] : offered.find((protocol) => protocols.includes(protocol));
  if (chosen === undefined && offered.length > 0) {
    return textAnswer(403, `none of the WebSocket subprotocols is supported, supported: ${protocols?.join(', ')}\n`);
  }
  return {
    status: 101,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-accept': webSocketAccept(key),
      ...(chosen === undefined ? {} : { 'sec-websocket-protocol': chosen }),
    },
    body: emptyBody,
  };
}

// Frames of the server

export const pongFrame = (payload: Buffer): Buffer => frame(opcodes.pong, payload);

export const closeFrame = (code: number): Buffer => frame(opcodes.close, Buffer.from([code >> 8, code & 0xff]));

function messageFrame(payload: Chunk, form: MessageForm): Chunk {
  if (form === 'base64') return messageFrame(base64Of(payload), 'text');
  if (typeof payload !== 'string') return frame(opcodes[form], payload);
  // Shared by all watchers: not copied.
  return (frameHead(opcodes[form], payload.length).toString('latin1') + payload) as ByteString;
}

const base64Of = (payload: Chunk): ByteString =>
  (typeof payload === 'string' ? bufferOf(payload) : Buffer.from(payload)).toString('base64') as ByteString;

/**
 * The frames of messages, each in one chunk, so that control frames can be sent between two chunks; the last one is the
 * close frame. `greeting`: the first message is empty, which shows that the stream has started.
 */
export class MessageBody implements AsyncIterableIterator<Chunk> {
  readonly #messages: AsyncIterator<Chunk>;
  /** Undefined: none is left to be sent. */
  #greeting: Chunk | undefined;
  readonly #take: (result: IteratorResult<Chunk>) => IteratorResult<Chunk>;
  #closed = false;

  constructor(messages: AsyncIterable<Chunk>, form: MessageForm, greeting = false) {
    this.#messages = messages[Symbol.asyncIterator]();
    this.#greeting = greeting ? messageFrame(emptyBody, form) : undefined;
    this.#take = (result) => {
      if (result.done !== true) return { done: false, value: messageFrame(result.value, form) };
      this.#closed = true;
      return { done: false, value: closeFrame(closeCodes.normal) };
    };
  }

  next(): Promise<IteratorResult<Chunk>> {
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    const greeting = this.#greeting;
    this.#greeting = undefined;
    if (greeting !== undefined) return Promise.resolve({ done: false, value: greeting });
    return this.#messages.next().then(this.#take);
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#closed = true;
    await this.#messages.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

// Frames of the client

export interface ClientEvents {
  ping(payload: Buffer): void;
  /** The client closes, or has violated the protocol: `code` is the status to send. Called once. */
  close(code: number): void;
}

/** Handles the control frames of a client. Discards its messages. */
export class ClientFrames {
  readonly #on: ClientEvents;
  readonly #reader = new FrameReader({ masked: true, maxMessageBytes });
  #closed = false;

  constructor(on: ClientEvents) {
    this.#on = on;
  }

  read(bytes: Buffer): void {
    if (this.#closed) return;
    try {
      for (const { opcode, payload } of this.#reader.read(bytes)) {
        if (opcode === opcodes.ping) this.#on.ping(payload);
        else if (opcode === opcodes.close) {
          this.#close(replyCode(payload));
          return;
        }
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#close(error.code);
    }
  }

  #close(code: number): void {
    this.#closed = true;
    this.#on.close(code);
  }
}

/** The status of the reply to a close frame: the same, if it is one that may be sent. */
function replyCode(payload: Buffer): number {
  if (payload.length === 0) return closeCodes.normal;
  const code = payload.length === 1 ? 0 : payload.readUInt16BE(0);
  const known = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
  return known || (code >= 3000 && code <= 4999) ? code : closeCodes.protocolError;
}
