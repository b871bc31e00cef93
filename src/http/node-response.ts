import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../meta/index.ts';
import type { ApiResponse, Chunk } from './types.ts';

/** Bodies above this size are handed to the socket piece by piece. */
const pieceSize = 256 * 1024;

export interface WriteOptions {
  readonly clock: Clock;
  /** A client that takes nothing for so long is cut off. */
  readonly stallMs: number;
  /** Ask the client to close the connection after this answer. */
  readonly last: boolean;
}

type Sink = ServerResponse | ServerHttp2Stream;

/** Sends an answer over HTTP/1.1. */
export function writeHttp1(response: ApiResponse, out: ServerResponse, options: WriteOptions): void {
  // Without a socket it waits for the answers before it on the same connection.
  if (out.destroyed) {
    abandon(response.body);
    return;
  }
  const headers = headersOf(response);
  if (options.last) headers['connection'] = 'close';
  out.writeHead(response.status, headers);
  send(out, response, options);
}

/** Sends an answer over HTTP/2. */
export function writeHttp2(response: ApiResponse, stream: ServerHttp2Stream, options: WriteOptions): void {
  const { status, body } = response;
  if (stream.destroyed || stream.closed) {
    abandon(body);
    return;
  }
  const headers: OutgoingHttpHeaders = headersOf(response);
  headers[':status'] = status;
  const empty = isChunk(body) && body.length === 0;
  stream.respond(headers, { endStream: empty });
  if (!empty) send(stream, response, options);
}

function headersOf(response: ApiResponse): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...(response.headers as OutgoingHttpHeaders) };
  if (isChunk(response.body)) headers['content-length'] ??= response.body.length;
  return headers;
}

/** The longest time that a timer can wait (ms). */
const forever = 2 ** 31 - 1;

function send(sink: Sink, { body, waits }: ApiResponse, given: WriteOptions): void {
  const options = waits === true ? { ...given, stallMs: forever } : given;
  if (isChunk(body) && body.length <= pieceSize) {
    const cancel = options.clock.after(options.stallMs, () => sink.destroy());
    sink.once('close', cancel);
    if (typeof body === 'string') sink.end(body, 'latin1');
    else sink.end(body);
    return;
  }
  if (!isChunk(body) && 'flushHeaders' in sink) sink.flushHeaders();
  pump(sink, isChunk(body) ? pieces(body) : body, options);
}

/** Asks for a piece, writes it, waits until the sink has room, and so on until the end of either. */
function pump(sink: Sink, body: AsyncIterable<Chunk>, options: WriteOptions): void {
  const iterator = body[Symbol.asyncIterator]();
  let over = false;
  let waiting = false;
  let cancelStall: (() => void) | undefined;
  const stop = () => {
    cancelStall?.();
    if (over) return;
    over = true;
    iterator.return?.().catch(ignore);
  };
  const fail = () => {
    over = true;
    sink.destroy();
  };
  const next = () => {
    iterator.next().then(take, fail);
  };
  const drained = () => {
    cancelStall?.();
    cancelStall = undefined;
    if (over || !waiting) return;
    waiting = false;
    next();
  };
  const take = (result: IteratorResult<Chunk>) => {
    if (over) return;
    if (result.done === true) {
      over = true;
      cancelStall = options.clock.after(options.stallMs, () => sink.destroy());
      sink.end();
      return;
    }
    const piece = result.value;
    const room = typeof piece === 'string' ? sink.write(piece, 'latin1') : sink.write(piece);
    if (room) return next();
    waiting = true;
    cancelStall = options.clock.after(options.stallMs, () => sink.destroy());
  };
  sink.on('drain', drained);
  sink.once('close', stop);
  if (sink.destroyed) stop();
  else next();
}

function isChunk(body: ApiResponse['body']): body is Chunk {
  return typeof body === 'string' || body instanceof Uint8Array;
}

async function* pieces(body: Chunk): AsyncGenerator<Chunk> {
  for (let at = 0; at < body.length; at += pieceSize) {
    yield typeof body === 'string' ? (body.slice(at, at + pieceSize) as Chunk) : body.subarray(at, at + pieceSize);
  }
}

/** Lets go of a body that nobody will read. */
function abandon(body: ApiResponse['body']): void {
  if (isChunk(body)) return;
  body[Symbol.asyncIterator]().return?.().catch(ignore);
}

const ignore = () => {};
