import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { type ByteString, bufferOf } from '../meta/index.ts';

type Chunk = ByteString | Uint8Array;
type Body = Chunk | AsyncIterable<Chunk>;

/** The largest body that is not compressed (bytes). */
const THRESHOLD = 128 * 1024;
const LEVEL = 1;

const gzipAll = promisify(gzip);

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
 * threshold; after that each chunk is pulled when the one before has been consumed. Not for watches, because chunks are
 * delayed.
 */
export async function compressBody(body: Body): Promise<{ body: Body; encoding: 'gzip' | undefined }> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    if (body.length <= THRESHOLD) return { body, encoding: undefined };
    return { body: await gzipAll(toBuffer(body), { level: LEVEL }), encoding: 'gzip' };
  }
  const source = body[Symbol.asyncIterator]();
  const head: Chunk[] = [];
  for (let size = 0; size <= THRESHOLD; ) {
    const next = await source.next();
    if (next.done === true) return { body: continued(head, undefined), encoding: undefined };
    head.push(next.value);
    size += next.value.length;
  }
  return { body: zipped(continued(head, source)), encoding: 'gzip' };
}

const toBuffer = (chunk: Chunk): Uint8Array => (typeof chunk === 'string' ? bufferOf(chunk) : chunk);

/** The buffered chunks, then the rest of the source, which is closed when the consumer stops early. */
async function* continued(head: readonly Chunk[], rest: AsyncIterator<Chunk> | undefined): AsyncGenerator<Chunk> {
  try {
    yield* head;
    for (let next = await rest?.next(); next !== undefined && next.done !== true; next = await rest?.next()) {
      yield next.value;
    }
  } finally {
    await rest?.return?.();
  }
}

async function* buffers(source: AsyncIterable<Chunk>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield toBuffer(chunk);
}

function zipped(source: AsyncIterable<Chunk>): AsyncIterable<Uint8Array> {
  const stream = createGzip({ level: LEVEL });
  // An error of the source reaches the consumer of the stream.
  pipeline(buffers(source), stream, () => {});
  return stream;
}
