import type { Duplex } from 'node:stream';
import { DefaultDeserializer, DefaultSerializer } from 'node:v8';

/** Size of the length before each frame (bytes). */
const headerBytes = 4;
/** Maximum size of a frame (bytes): more than the largest commit, of 128 values of 2 MiB with keys of 16 KiB. */
export const maxFrameBytes = 512 * 1024 * 1024;
/** Size of unsent frames above which a stream counts as full (bytes). */
const fullBytes = 16 * 1024 * 1024;

/** A message as a frame: its length in four bytes, then the message in the format of the engine's structured clone. */
export function encodeFrame(message: unknown): Buffer {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(Buffer.alloc(headerBytes));
  serializer.writeHeader();
  serializer.writeValue(message);
  const frame = serializer.releaseBuffer();
  const length = frame.length - headerBytes;
  if (length > maxFrameBytes) throw new RangeError(`a frame of ${length} bytes is longer than ${maxFrameBytes}`);
  frame.writeUInt32BE(length);
  return frame;
}

/** Splits a stream of bytes into messages. */
export class FrameReader {
  readonly #receive: (message: unknown) => void;
  #chunks: Buffer[] = [];
  #size = 0;
  /** The size from which the chunks contain a header, or the frame whose header is known. */
  #needed = headerBytes;

  constructor(receive: (message: unknown) => void) {
    this.#receive = receive;
  }

  /** Throws when a frame is too long or cannot be decoded. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return;
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    this.#needed = headerBytes;
    while (rest.length >= headerBytes) {
      const length = rest.readUInt32BE();
      if (length > maxFrameBytes) throw new RangeError(`a frame of ${length} bytes is longer than ${maxFrameBytes}`);
      const end = headerBytes + length;
      this.#needed = end;
      if (rest.length < end) break;
      this.#receive(decode(rest.subarray(headerBytes, end)));
      rest = rest.subarray(end);
      this.#needed = headerBytes;
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
  }
}

function decode(bytes: Buffer): unknown {
  const deserializer = new DefaultDeserializer(bytes);
  deserializer.readHeader();
  return deserializer.readValue();
}

/** Messages in both directions over a stream, in order. A failure of the stream, or a malformed frame, ends it. */
export class FrameStream<Sent, Received> {
  readonly #stream: Duplex;
  /** Resolves when the stream is closed. */
  readonly closed: Promise<void>;
  #corked = false;

  constructor(stream: Duplex, receive: (message: Received) => void) {
    this.#stream = stream;
    const reader = new FrameReader((message) => receive(message as Received));
    stream.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
    stream.on('error', () => stream.destroy());
    stream.on('end', () => stream.end());
    this.closed = new Promise((resolve) => {
      if (stream.destroyed) resolve();
      else stream.once('close', () => resolve());
    });
  }

  send(message: Sent): void {
    this.sendFrame(encodeFrame(message));
  }

  /** Sends a frame of {@link encodeFrame}. Does nothing after the end. */
  sendFrame(frame: Buffer): void {
    const stream = this.#stream;
    if (!stream.writable) return;
    // Frames of the same tick are one write.
    if (!this.#corked) {
      this.#corked = true;
      stream.cork();
      process.nextTick(() => {
        this.#corked = false;
        stream.uncork();
      });
    }
    stream.write(frame);
  }

  /** Whether the other end reads more slowly than this one sends. */
  get isFull(): boolean {
    return this.#stream.writableLength > fullBytes;
  }

  /** Resolves when all frames have been sent, or the stream is closed. */
  async drained(): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed || !stream.writableNeedDrain) return;
    const drained = new Promise<void>((resolve) => {
      stream.once('drain', resolve);
    });
    await Promise.race([drained, this.closed]);
  }

  /** Sends what is unsent, and closes. */
  async close(): Promise<void> {
    this.#stream.end();
    await this.closed;
  }
}
