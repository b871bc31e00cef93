import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { type ByteString, bufferOf } from '../meta/index.ts';

type Chunk = ByteString | Uint8Array;
type Body = Chunk | AsyncIterable<Chunk>;

/** Bodies up to this size are not worth the work. */
const THRESHOLD = 128 * 1024;
const LEVEL = 1;

const gzipAll = promisify(gzip);

/** Whether a client takes gzip, by its `Accept-Encoding` header. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined || !acceptEncoding.includes('gzip')) return false;
  return acceptEncoding.split(',').some((clause) => {
    const [coding = '', ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/**
 * A body of a get or list, compressed when it is large; `encoding` is then the `Content-Encoding`. Of a body in pieces
 * no more than the threshold is held back, and a piece is asked for when the last one has been taken. Not for streams
 * whose pieces must arrive at once.
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

/** The pieces already taken, then the rest; the rest is told when nobody wants more. */
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
  // A failure of the source reaches whoever reads the stream.
  pipeline(buffers(source), stream, () => {});
  return stream;
}
