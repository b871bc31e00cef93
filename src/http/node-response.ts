import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Clock } from '../meta/index.ts';
import type { ApiResponse, Chunk } from './types.ts';

export interface WriteOptions {
  readonly clock: Clock;
  /** A client that takes nothing for so long is cut off (ms). */
  readonly stallMs: number;
  readonly connection: { cutOff(answer: Sink, clock: Clock): void };
  /** Ask the client to close the connection after this answer. */
  readonly last: boolean;
  readonly request: { whenOver(listener: () => void): void };
}

/** A socket: one that has gone over to another protocol. */
export type Sink = ServerResponse | ServerHttp2Stream | Socket;

/** Sends an answer over HTTP/1.1. */
export function writeHttp1(response: ApiResponse, out: ServerResponse, options: WriteOptions): void {
  const headers = headersOf(response);
  if (options.last) headers['connection'] = 'close';
  // A connection of HTTP/1.1 stays open unless one side says otherwise: without this, Node tells how long, too.
  else if (out.shouldKeepAlive && out.req.httpVersionMinor === 1) out.removeHeader('connection');
  out.writeHead(response.status, headers);
  send(out, response, options);
}

/** Sends an answer over HTTP/2. */
export function writeHttp2(response: ApiResponse, stream: ServerHttp2Stream, options: WriteOptions): void {
  const { status, body } = response;
  const headers = headersOf(response);
  headers[':status'] = status;
  const empty = isChunk(body) && body.length === 0;
  stream.respond(headers, { endStream: empty });
  if (!empty) send(stream, response, options);
}

/**
 * Ends an answer before its end, so that the client notices: HTTP/1.1 with its connection, HTTP/2 with an error, without
 * which what came so far would look like all there is.
 */
export function breakOff(sink: Sink): void {
  if ('rstCode' in sink) sink.destroy(new Error('the answer broke off'));
  else sink.destroy();
}

function headersOf(response: ApiResponse): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...(response.headers as OutgoingHttpHeaders) };
  if (isChunk(response.body)) headers['content-length'] ??= response.body.length;
  return headers;
}

/** The longest time that a timer can wait (ms). */
const forever = 2 ** 31 - 1;

/** Sends the body of an answer, no faster than the client takes it, and ends the sink. */
export function send(sink: Sink, { headers, body, waits }: ApiResponse, options: WriteOptions): void {
  const stallMs = waits === true ? forever : options.stallMs;
  const { clock, connection, request } = options;
  const cutOffLater = () => clock.after(stallMs, () => connection.cutOff(sink, clock));
  if (isChunk(body)) {
    request.whenOver(cutOffLater());
    end(sink, body);
    return;
  }
  // The first piece may be long in coming.
  if ('flushHeaders' in sink && headers['content-length'] === undefined) sink.flushHeaders();
  pump(sink, body, cutOffLater, request);
}

/** Asks for a piece, writes it, waits until the sink has room, and so on until the end of either. */
function pump(
  sink: Sink,
  body: AsyncIterable<Chunk>,
  cutOffLater: () => () => void,
  request: WriteOptions['request'],
): void {
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
    stop();
    breakOff(sink);
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
      cancelStall = cutOffLater();
      sink.end();
      return;
    }
    const piece = result.value;
    if (write(sink, piece)) return next();
    waiting = true;
    cancelStall = cutOffLater();
  };
  sink.on('drain', drained);
  // A piece may come when the sink has just been destroyed.
  sink.on('error', ignore);
  next();
  request.whenOver(stop);
}

const write = (sink: Writable, chunk: Chunk): boolean =>
  typeof chunk === 'string' ? sink.write(chunk, 'latin1') : sink.write(chunk);

const end = (sink: Writable, chunk: Chunk): unknown =>
  typeof chunk === 'string' ? sink.end(chunk, 'latin1') : sink.end(chunk);

function isChunk(body: ApiResponse['body']): body is Chunk {
  return typeof body === 'string' || body instanceof Uint8Array;
}

const ignore = () => {};
