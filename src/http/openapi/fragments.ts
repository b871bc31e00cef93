import { createHash } from 'node:crypto';
import { type Deflated, deflate, GzipEnd, gzipEndBytes, gzipHead, inflate } from '../../codec/index.ts';
import type { Steps, Turns } from '../../meta/index.ts';

/** A part of documents, kept compressed: about a fifth of its size. */
export interface Fragment {
  readonly parts: readonly Deflated[];
  /** The size of what is compressed (bytes), and its SHA-512. */
  readonly size: number;
  readonly hash: string;
}

/** So many bytes are compressed together. */
const gatheredBytes = 32 * 1024;

/** The concatenation of chunks as a fragment. Each compression, and each chunk, is a step. */
export function* fragmentOf(chunks: Generator<Uint8Array | undefined>): Steps<Fragment> {
  const hash = createHash('sha512');
  const parts: Deflated[] = [];
  let size = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  function* compress(): Steps<void> {
    const bytes = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    size += bytes.length;
    hash.update(bytes);
    for (const part of deflate(bytes)) {
      parts.push(part);
      yield;
    }
  }
  for (const chunk of chunks) {
    for (let at = 0; chunk !== undefined && at < chunk.length; at += gatheredBytes) {
      const piece = chunk.subarray(at, at + gatheredBytes);
      held.push(piece);
      heldBytes += piece.length;
      if (heldBytes >= gatheredBytes) yield* compress();
    }
    yield;
  }
  if (heldBytes > 0) yield* compress();
  return { parts, size, hash: hash.digest('hex') };
}

/** The bytes as a fragment at once, for few of them. */
export function smallFragment(bytes: Uint8Array): Fragment {
  return { parts: [...deflate(bytes)], size: bytes.length, hash: '' };
}

/**
 * A body made of fragments, which all its readers share: gzip is the compressed fragments themselves; who does not accept
 * that gets one part of a fragment after the other, decompressed in his own turns.
 */
export class FragmentBody {
  readonly #parts: readonly Deflated[];
  /** The length (bytes). */
  readonly length: number;
  /** The length as gzip (bytes). */
  readonly gzipLength: number;

  constructor(fragments: readonly Fragment[]) {
    this.#parts = fragments.flatMap(({ parts }) => parts);
    this.length = fragments.reduce((sum, { size }) => sum + size, 0);
    const framing = gzipHead.length + gzipEndBytes;
    this.gzipLength = this.#parts.reduce((sum, { bytes }) => sum + bytes.length, framing);
  }

  /** All of it at once, for a short one. */
  whole(): Uint8Array {
    return Buffer.concat(this.#parts.map(inflate));
  }

  async *plain(turns: Turns): AsyncGenerator<Uint8Array> {
    for (const part of this.#parts) {
      if (turns.over) await turns.next();
      yield inflate(part);
    }
  }

  async *gzip(turns: Turns): AsyncGenerator<Uint8Array> {
    const end = new GzipEnd();
    yield gzipHead;
    for (const part of this.#parts) {
      if (turns.over) await turns.next();
      end.add(part);
      yield part.bytes;
    }
    yield end.bytes();
  }
}
