import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { bufferOf, type Clock } from '../../meta/index.ts';
import type { ApiResponse, Chunk } from '../types.ts';
import { type ChunkBuffer, giveBack, takeChunkBuffer } from './chunk-buffers.ts';
import { chunkedCoding, maxSharedBytes, SentBytes } from './sent-bytes.ts';
import { writeAtOnce } from './whole-response.ts';

export interface WriteOptions {
  readonly clock: Clock;
  /** A client that reads nothing for this long is disconnected (ms). */
  readonly stallMs: number;
  readonly connection: { cutOff(answer: Sink, clock: Clock): void };
  /** Sends `Connection: close`. */
  readonly last: boolean;
  readonly request: { whenOver(listener: () => void): void };
}

/** A socket is an upgraded connection. */
export type Sink = ServerResponse | ServerHttp2Stream | Socket;

/**
 * Whether a response is at most `limit` bytes and an ordinary head. The buffers of a connection (16 KiB) have room for one
 * of 8 KiB and another of 4 KiB: the next request may arrive just before Node has finished the response to the one before.
 */
export const isSmall = ({ body, headers }: ApiResponse, limit = 8 * 1024): boolean =>
  isChunk(body) && body.length <= limit && headers['warning'] === undefined;

/** Sends a response over HTTP/1.1. */
export function writeHttp1(response: ApiResponse, out: ServerResponse, options: WriteOptions): void {
  if (!options.last && writeAtOnce(response, out, options.clock)) {
    options.request.whenOver(stallTimer(response, out, options)());
    return;
  }
  const { status, headers, body, trailers } = response;
  // Names and values in turn, which Node copies as they are.
  const fields: OutgoingHttpHeader[] = [];
  for (const name in headers) fields.push(name, headers[name] as OutgoingHttpHeader);
  const hasLength = headers['content-length'] !== undefined;
  if (isChunk(body) && !hasLength) fields.push('content-length', body.length);
  if (options.last) fields.push('connection', 'close');
  // HTTP/1.1 connections are persistent by default: without this, Node adds `Keep-Alive`.
  else if (out.shouldKeepAlive && out.req.httpVersionMinor === 1) out.removeHeader('connection');
  // Trailers need chunks, which HTTP/1.0 does not have.
  const isChunked = !isChunk(body) && !hasLength && out.req.httpVersionMinor === 1;
  if (trailers === undefined || !isChunked) {
    out.writeHead(status, fields);
    send(out, response, options);
    return;
  }
  fields.push('trailer', trailers.announces);
  out.writeHead(status, fields);
  send(out, { ...response, body: followed(body, () => out.addTrailers(trailers.read())) }, options);
}

/** A body with a call after its last chunk. */
async function* followed(body: AsyncIterable<Chunk>, atEnd: () => void): AsyncGenerator<Chunk> {
  yield* body;
  atEnd();
}

/** Sends a response over HTTP/2. */
export function writeHttp2(response: ApiResponse, stream: ServerHttp2Stream, options: WriteOptions): void {
  const { status, body, trailers } = response;
  const headers: OutgoingHttpHeaders = { ':status': status };
  for (const name in response.headers) headers[name] = response.headers[name] as OutgoingHttpHeader;
  if (isChunk(body)) headers['content-length'] ??= body.length;
  const empty = isChunk(body) && body.length === 0;
  if (trailers === undefined || empty) stream.respond(headers, { endStream: empty });
  else {
    headers['trailer'] = trailers.announces;
    stream.respond(headers, { waitForTrailers: true });
    // The listener of Node sends none.
    stream.removeAllListeners('wantTrailers');
    stream.once('wantTrailers', () => stream.sendTrailers(trailers.read()));
  }
  if (!empty) send(stream, response, options);
}

/**
 * Aborts a response so that the client notices: HTTP/1.1 closes the connection, HTTP/2 resets the stream. A normal end
 * would make the partial body look complete.
 */
export function breakOff(sink: Sink): void {
  if ('rstCode' in sink) sink.destroy(new Error('the response was aborted'));
  else sink.destroy();
}

/** Returns a function that starts the timer which cuts off a client that reads nothing; that returns one which stops it. */
const stallTimer =
  ({ waits }: ApiResponse, sink: Sink, { stallMs, connection, clock }: WriteOptions): (() => () => void) =>
  () =>
    waits === true ? ignore : clock.after(stallMs, () => connection.cutOff(sink, clock));

/** Sends the body of a response with backpressure, and ends the sink. */
export function send(sink: Sink, response: ApiResponse, options: WriteOptions): void {
  const { body } = response;
  const { request } = options;
  const cutOffLater = stallTimer(response, sink, options);
  if (isChunk(body)) {
    request.whenOver(cutOffLater());
    end(sink, body);
    return;
  }
  pump(sink, body, cutOffLater, request);
}

/** Writes chunk by chunk, waiting for the sink to drain, until the body or the sink ends. */
function pump(
  sink: Sink,
  body: Exclude<ApiResponse['body'], Chunk>,
  cutOffLater: () => () => void,
  request: WriteOptions['request'],
): void {
  const iterator = body[Symbol.asyncIterator]();
  let over = false;
  let waiting = false;
  let begun = false;
  let cancelStall: (() => void) | undefined;
  /** Has the chunk that comes next. */
  let buffer: ChunkBuffer | undefined;
  const takeBuffer = (size: number) => {
    buffer = takeChunkBuffer(size);
    return buffer?.room;
  };
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
    iterator.next(takeBuffer).then(take, fail);
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
    begun = true;
    const goesOn = buffer === undefined ? write(result.value) : writeBuffer(sink, buffer, result.value.length);
    buffer = undefined;
    if (goesOn) return next();
    waiting = true;
    cancelStall = cutOffLater();
  };
  const write = writerOf(sink, () => {
    if (waiting) drained();
  });
  onDrain(sink, drained);
  // A chunk may arrive after the sink was destroyed.
  sink.on('error', ignore);
  // The body of a pipelined response waits for the responses before it: its chunks would fill the memory.
  if ('chunkedEncoding' in sink && sink.socket === null) {
    sink.once('socket', () => {
      if (!over) next();
    });
  } else next();
  // A first chunk that is ready is sent together with the headers; another may take long.
  if ('flushHeaders' in sink) {
    process.nextTick(() => {
      if (!begun && !over) sink.flushHeaders();
    });
  }
  request.whenOver(stop);
}

/** Calls `drained` when the sink can take more. */
function onDrain(sink: Sink, drained: () => void): void {
  sink.on('drain', () => {
    // Node also says so when another response on a pipelined connection begins.
    const full = 'chunkedEncoding' in sink && sink.socket?.writableNeedDrain === true ? sink.socket : undefined;
    if (full === undefined) drained();
    else full.once('drain', drained);
  });
}

/** Writes a chunk; false when the sink has more than it should hold. */
type Write = (chunk: Chunk) => boolean;

function writeChunk(sink: Writable, chunk: Chunk): boolean {
  if (typeof chunk !== 'string') return sink.write(chunk);
  if (!('chunkedEncoding' in sink && sink.chunkedEncoding) || chunk.length === 0) return sink.write(chunk, 'latin1');
  // Node writes the size, the chunk and the line feeds one by one, and TLS then copies them into one buffer.
  sink.chunkedEncoding = false;
  const goesOn = sink.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`, 'latin1');
  sink.chunkedEncoding = true;
  return goesOn;
}

/** Writes the chunk in a buffer, which is given back when it is sent. False when the sink has more than it should hold. */
function writeBuffer(sink: Sink, buffer: ChunkBuffer, length: number): boolean {
  const sent = (error?: Error | null) => {
    if (error == null) giveBack(buffer);
  };
  if (!('chunkedEncoding' in sink && sink.chunkedEncoding)) return sink.write(buffer.room.subarray(0, length), sent);
  sink.chunkedEncoding = false;
  const goesOn = sink.write(buffer.chunked(length), sent);
  sink.chunkedEncoding = true;
  return goesOn;
}

const chunks = new SentBytes(chunkedCoding);
const wholes = new SentBytes((chunk) => (typeof chunk === 'string' ? bufferOf(chunk) : chunk));

const isShared = ({ length }: Chunk): boolean => length > 0 && length <= maxSharedBytes;

/** Writes to a sink. Calls `drained` when a connection that was written to directly can take more. */
function writerOf(sink: Sink, drained: () => void): Write {
  if ('rstCode' in sink) return (chunk) => writeChunk(sink, (isShared(chunk) ? wholes.of(chunk) : undefined) ?? chunk);
  if (!('chunkedEncoding' in sink)) return (chunk) => writeChunk(sink, chunk);
  const written = (error?: Error | null) => {
    if (error == null && sink.socket?.writableNeedDrain === false) drained();
  };
  let isFirst = true;
  return (chunk) => {
    const { socket } = sink;
    const mayHaveHeaders = isFirst;
    isFirst = false;
    // Not while the response waits for its turn on the connection, or still has something to write itself, such as the
    // headers that go with the first chunk.
    const isReady = socket?.writable === true && sink.writableLength === socket.writableLength;
    const isDirect = isReady && !mayHaveHeaders && sink.chunkedEncoding && isShared(chunk);
    const bytes = isDirect ? chunks.of(chunk) : undefined;
    return bytes === undefined || socket === null ? writeChunk(sink, chunk) : socket.write(bytes, written);
  };
}

const end = (sink: Writable, chunk: Chunk): unknown =>
  typeof chunk === 'string' ? sink.end(chunk, 'latin1') : sink.end(chunk);

function isChunk(body: ApiResponse['body']): body is Chunk {
  return typeof body === 'string' || body instanceof Uint8Array;
}

const ignore = () => {};
