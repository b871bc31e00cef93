import { unframed } from '../codec/index.ts';
import { type ByteString, encodeText, type JsonObject, StatusError, statusError } from '../meta/index.ts';
import {
  type Representation,
  representEvent,
  type StreamEvent,
  type Target,
  type WatchStream,
} from '../registry/index.ts';
import type { Series } from './counters.ts';
import type { Log } from './log.ts';
import { readOwnBytes } from './media.ts';
import { pieceBytes, sliceOf } from './pieces.ts';
import type { Protobuf } from './protobuf.ts';
import type { Chunk } from './types.ts';

export interface WatchBodyOptions {
  readonly stream: WatchStream;
  readonly target: Target;
  readonly view: Representation;
  /** Events are written in protobuf. */
  readonly protobuf: Protobuf | undefined;
  /** Each piece is one event, whole, and without a length before it: what carries the pieces keeps them apart. */
  readonly separate: boolean;
  readonly series: Series;
  readonly log: Log;
}

/** The events of a watch, in pieces of many small events or of a part of a large one. A failure is the last event. */
export class WatchBody implements AsyncIterableIterator<Chunk> {
  readonly #events: AsyncIterator<readonly StreamEvent[]>;
  readonly #options: WatchBodyOptions;
  readonly #take: (result: IteratorResult<readonly StreamEvent[]>) => IteratorResult<Chunk>;
  #batch: readonly StreamEvent[] = [];
  /** How many events of the batch are written. */
  #written = 0;
  /** What is written and has not been handed on. */
  #rest: Chunk | undefined;
  readonly #fail: (error: unknown) => IteratorResult<Chunk>;
  #first = true;
  #over = false;

  constructor(options: WatchBodyOptions) {
    this.#options = options;
    this.#events = options.stream[Symbol.asyncIterator]();
    this.#take = (result) => {
      if (result.done === true) return { done: true, value: undefined };
      options.series.watchEvents += result.value.length;
      this.#batch = result.value;
      this.#written = 0;
      return { done: false, value: this.#piece() };
    };
    this.#fail = (error) => {
      this.#over = true;
      if (!(error instanceof StatusError)) options.log.error('watch failed', { error });
      const told = error instanceof StatusError ? error : statusError.internal('the watch failed');
      return { done: false, value: errorFrame(told, options) };
    };
  }

  next(): Promise<IteratorResult<Chunk>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    if (this.#rest !== undefined || this.#written < this.#batch.length) {
      return Promise.resolve({ done: false, value: this.#piece() });
    }
    return this.#events.next().then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#over = true;
    this.#options.stream.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next piece of the batch: whole events, or a part of one. */
  #piece(): Chunk {
    let bytes = this.#rest;
    this.#rest = undefined;
    bytes ??= this.#write();
    if (bytes.length <= pieceBytes || this.#options.separate) return bytes;
    this.#rest = sliceOf(bytes, pieceBytes);
    return sliceOf(bytes, 0, pieceBytes);
  }

  /** As many events as there is room for in a piece, or one that is larger. */
  #write(): Chunk {
    if (this.#options.separate) return this.#frame();
    const frames: Chunk[] = [];
    for (let size = 0; this.#written < this.#batch.length; ) {
      const frame = this.#frame();
      size += frame.length;
      if (size > pieceBytes && frames.length > 0) {
        this.#rest = frame;
        break;
      }
      frames.push(frame);
    }
    if (frames.length === 1) return frames[0] as Chunk;
    if (this.#options.protobuf !== undefined) return Buffer.concat(frames as Uint8Array[]);
    return frames.join('') as ByteString;
  }

  #frame(): Chunk {
    const { target, view, protobuf, separate } = this.#options;
    const event = this.#batch[this.#written++] as StreamEvent;
    if (protobuf !== undefined) {
      const frame = protobufFrame(target, event, view, protobuf);
      return separate ? unframed(frame) : frame;
    }
    const frame = representEvent(target, event, view, this.#first);
    this.#first = false;
    return frame;
  }
}

function protobufFrame(target: Target, event: StreamEvent, view: Representation, protobuf: Protobuf): Uint8Array {
  const { resource, version } = target;
  const form = `${resource.definition.group}/${version} ${view.as}`;
  return protobuf.frame(event, form, () => {
    const { object } = readOwnBytes(representEvent(target, event, view, false)) as { object: JsonObject };
    return object;
  });
}

function errorFrame(error: StatusError, { protobuf, separate }: WatchBodyOptions): Chunk {
  if (protobuf !== undefined) {
    const frame = protobuf.failure(error.toStatus() as unknown as JsonObject);
    return separate ? unframed(frame) : frame;
  }
  return encodeText(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
}
