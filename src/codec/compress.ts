import { once } from 'node:events';
import { createGzip, type Gzip } from 'node:zlib';
import { type ByteString, bufferOf, Lanes } from '../meta/index.ts';

type Chunk = ByteString | Uint8Array;
type Body = Chunk | AsyncIterable<Chunk>;

/** Maximum size of a body that is not compressed (bytes). */
export const compressedFrom = 128 * 1024;
const LEVEL = 1;
/** The size of one task of the thread pool (bytes): about a millisecond. */
const TASK_BYTES = 64 * 1024;

/** Maximum number of concurrent tasks: files and the store need the thread pool too, which has four threads by default. */
const lanes = new Lanes(2);

/** Whether an `Accept-Encoding` header accepts gzip. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined || !acceptEncoding.includes('gzip')) return false;
  return acceptEncoding.split(',').some((clause) => {
    const [coding = '', ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/**
 * Compresses a large body of a get or list; `encoding` is its `Content-Encoding`. A streamed body is buffered up to the
 * threshold; after that each chunk is pulled when the one before has been consumed. Owners share the threads. Not for
 * watches, because chunks are delayed.
 */
export async function compressBody(body: Body, owner: string): Promise<{ body: Body; encoding: 'gzip' | undefined }> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    if (body.length <= compressedFrom) return { body, encoding: undefined };
    const pieces: Uint8Array[] = [];
    for await (const piece of zipped([body], owner)) pieces.push(piece);
    return { body: Buffer.concat(pieces), encoding: 'gzip' };
  }
  const source = body[Symbol.asyncIterator]();
  const head: Chunk[] = [];
  for (let size = 0; size <= compressedFrom; ) {
    const next = await source.next();
    if (next.done === true) return { body: continued(head, undefined), encoding: undefined };
    head.push(next.value);
    size += next.value.length;
  }
  return { body: zipped(continued(head, source), owner), encoding: 'gzip' };
}

/** Takes the buffered chunks, then the rest of the source, which is closed when the consumer stops early. */
async function* continued(head: Chunk[], rest: AsyncIterator<Chunk> | undefined): AsyncGenerator<Chunk> {
  try {
    for (let chunk = head.shift(); chunk !== undefined; chunk = head.shift()) yield chunk;
    for (let next = await rest?.next(); next !== undefined && next.done !== true; next = await rest?.next()) {
      yield next.value;
    }
  } finally {
    await rest?.return?.();
  }
}

/** Compresses all chunks, one task after the other. */
async function* zipped(chunks: AsyncIterable<Chunk> | Iterable<Chunk>, owner: string): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: LEVEL });
  const pieces: Uint8Array[] = [];
  gzip.on('data', (piece: Uint8Array) => pieces.push(piece));
  // Callers that wait for the stream receive its error.
  gzip.on('error', () => {});
  try {
    for await (const part of parts(chunks)) {
      await lanes.run(owner, () => write(gzip, part));
      if (pieces.length > 0) yield Buffer.concat(pieces.splice(0));
    }
    await lanes.run(owner, () => once(gzip.end(), 'end'));
    yield Buffer.concat(pieces);
  } finally {
    gzip.destroy();
  }
}

/** Divides chunks into parts of one task each: slices of large chunks, or several small chunks. */
async function* parts(chunks: AsyncIterable<Chunk> | Iterable<Chunk>): AsyncGenerator<Uint8Array> {
  let slices: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += TASK_BYTES) {
      const slice = sliceOf(chunk, at, at + TASK_BYTES);
      slices.push(slice);
      size += slice.length;
      if (size < TASK_BYTES / 2) continue;
      yield Buffer.concat(slices);
      slices = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(slices);
}

const sliceOf = (chunk: Chunk, from: number, to: number): Uint8Array =>
  typeof chunk === 'string' ? bufferOf(chunk.slice(from, to) as ByteString) : chunk.subarray(from, to);

/** Resolves when the bytes have been compressed. */
const write = (gzip: Gzip, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    gzip.write(bytes, (error) => (error == null ? resolve() : reject(error)));
  });
