import {
  type ByteString,
  type Clock,
  type JsonObject,
  readTimeMs,
  StatusError,
  type Steps,
  statusError,
  type Turns,
} from '../../meta/index.ts';
import type { EventWriter, StreamEvent, WatchStream } from '../../registry/index.ts';
import type { WatchCodec } from '../codecs/wire-codec.ts';
import type { Log } from '../log.ts';
import type { WatchSeries } from '../metrics/series.ts';
import type { Chunk } from '../types.ts';
import { pieceBytes, sliceOf } from './pieces.ts';
import { maxSharedBytes } from './sent-bytes.ts';
import { minCountedBytes } from './tracked-body.ts';
import { type UnreadBytes, UnreadShare } from './unread-share.ts';

export interface WatchBodyOptions {
  readonly stream: WatchStream;
  readonly writer: EventWriter<Chunk>;
  readonly codec: Pick<WatchCodec, 'encodeError' | 'payload'>;
  /** Each chunk is one whole event without its framing: the transport has messages. */
  readonly separate: boolean;
  /** Counts the events; undefined: they are not counted. */
  readonly series: WatchSeries | undefined;
  /** The turns in which events are encoded. */
  readonly turns: Turns;
  /** The bytes that the client has yet to read, and the time that it takes; undefined: they are not limited. */
  readonly unread: UnreadBytes | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

type Taken = IteratorResult<Chunk>;

const end: Taken = { done: true, value: undefined };

/** The chunk of several frames. Watchers of the same events join the same frames one after the other: that is done once. */
class JoinedFrames {
  #frames: readonly Chunk[] = [];
  #chunk: Chunk = '' as ByteString;

  of(frames: readonly Chunk[]): Chunk {
    const last = this.#frames;
    if (frames.length !== last.length || frames.some((frame, i) => frame !== last[i])) {
      this.#frames = frames;
      this.#chunk =
        typeof frames[0] === 'string' ? (frames.join('') as ByteString) : Buffer.concat(frames as Uint8Array[]);
    }
    return this.#chunk;
  }
}

const joined = new JoinedFrames();

/** The events of a watch in chunks: of several small events, or of a part of a large one. An error is the last event. */
export class WatchBody implements AsyncIterableIterator<Chunk> {
  readonly #events: AsyncIterator<readonly StreamEvent[]>;
  readonly #options: WatchBodyOptions;
  readonly #take: (result: IteratorResult<readonly StreamEvent[]>) => Taken | Promise<Taken>;
  #batch: readonly StreamEvent[] = [];
  /** When the batch came (monotonic), and the bytes that have been made of it. */
  #batchBegun = 0;
  #batchBytes = 0;
  /** How many events of the batch are encoded, or are being encoded in steps. */
  #written = 0;
  /** The steps that encode the next event, a large one. */
  #steps: Steps<Chunk> | undefined;
  /** The encoded bytes that are not yet returned. */
  #rest: Chunk | undefined;
  readonly #fail: (error: unknown) => IteratorResult<Chunk>;
  #first = true;
  #over = false;
  /** Taken until the client has all that was encoded with it. */
  readonly #unread: UnreadShare | undefined;

  constructor(options: WatchBodyOptions) {
    this.#options = options;
    this.#unread = options.unread && new UnreadShare(options.unread);
    this.#events = options.stream[Symbol.asyncIterator]();
    this.#take = (result) => {
      if (result.done === true) return { done: true, value: undefined };
      this.#batch = result.value;
      this.#batchBegun = options.clock.monotonic();
      this.#batchBytes = 0;
      this.#written = 0;
      // Events are delivered in a turn of the user.
      return this.#makePiece();
    };
    this.#fail = (error) => {
      this.#over = true;
      if (!(error instanceof StatusError)) options.log.error('watch failed', { error });
      const reported = error instanceof StatusError ? error : statusError.internal('the watch failed');
      return {
        done: false,
        value: this.#framed(options.codec.encodeError(reported.toStatus() as unknown as JsonObject)),
      };
    };
  }

  next(): Promise<IteratorResult<Chunk>> {
    if (this.#rest === undefined) this.#unread?.release();
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    if (this.#rest !== undefined || this.#steps !== undefined || this.#written < this.#batch.length) {
      return Promise.resolve(this.#goOn());
    }
    return this.#events.next().then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#over = true;
    this.#unread?.release();
    this.#options.stream.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Whether the client takes too long to read the batch, whose objects may have been replaced or deleted since. */
  #isLate(): boolean {
    const { unread, clock } = this.#options;
    return unread !== undefined && clock.monotonic() - this.#batchBegun > readTimeMs(this.#batchBytes);
  }

  /** The next chunk, when its turn has come. */
  #goOn(): Taken | Promise<Taken> {
    if (this.#options.turns.over) return this.#options.turns.next().then(this.#makePiece);
    return this.#makePiece();
  }

  readonly #nextTurn = (): Promise<void> => this.#options.turns.next();

  readonly #makePiece = (): Taken | Promise<Taken> => {
    if (this.#over) return end;
    if (this.#isLate()) return this.return();
    const waiting = this.#takeUnread();
    // In a turn: of many connections that close together, each would let another encode what nobody reads.
    if (waiting !== undefined) return waiting.then(this.#nextTurn).then(this.#makePiece);
    if (this.#rest === undefined && this.#isNextLarge()) return this.#encodeLarge();
    return { done: false, value: this.#piece() };
  };

  /**
   * Takes the bytes of the next chunk, or of a large event, before they are made: thousands of watches may have the same
   * object to send, each with a copy of its own. Undefined: they are taken.
   */
  #takeUnread(): Promise<void> | undefined {
    if (this.#unread === undefined || this.#unread.bytes > 0 || this.#rest !== undefined) return undefined;
    let size = 0;
    // An event whose steps stand ready counts as written.
    const next = this.#steps === undefined ? this.#written : this.#written - 1;
    for (let i = next; i < this.#batch.length && size < maxSharedBytes; i++) {
      size += this.#batch[i]?.object?.bytes.length ?? 0;
    }
    return size < minCountedBytes ? undefined : this.#unread.take(size);
  }

  /** Whether the next event is encoded in steps, which then stand ready. */
  #isNextLarge(): boolean {
    if (this.#steps !== undefined) return true;
    const event = this.#batch[this.#written] as StreamEvent;
    this.#steps = this.#options.writer.writeInSteps(event, this.#first);
    if (this.#steps === undefined) return false;
    this.#written++;
    this.#first = false;
    return true;
  }

  /** The first chunk of a large event, which is encoded in turns until the watch ends. */
  async #encodeLarge(): Promise<Taken> {
    const { turns } = this.#options;
    const steps = this.#steps as Steps<Chunk>;
    this.#steps = undefined;
    for (;;) {
      const step = steps.next();
      if (this.#over) return end;
      if (step.done === true) {
        this.#rest = this.#counted(step.value);
        return { done: false, value: this.#piece() };
      }
      if (turns.over) await turns.next();
    }
  }

  /** The next chunk of the batch: whole events, or a part of one. */
  #piece(): Chunk {
    const rest = this.#rest;
    this.#rest = undefined;
    const bytes = rest !== undefined && rest.length > maxSharedBytes ? rest : this.#write(rest);
    if (bytes.length <= pieceBytes || this.#options.separate) return bytes;
    this.#rest = sliceOf(bytes, pieceBytes);
    return sliceOf(bytes, 0, pieceBytes);
  }

  /**
   * As many events as fit into a chunk that watches can share and can be encoded in this turn, or one that does not fit. Such
   * a chunk begins with the rest of the batch that is encoded already.
   */
  #write(rest: Chunk | undefined): Chunk {
    if (this.#options.separate) return rest ?? this.#frame();
    const frames = rest === undefined ? [] : [rest];
    for (
      let size = rest?.length ?? 0;
      this.#written < this.#batch.length && !(frames.length > 0 && this.#isNextLarge());
    ) {
      const frame = this.#frame();
      size += frame.length;
      if (size > maxSharedBytes && frames.length > 0) {
        this.#rest = frame;
        break;
      }
      frames.push(frame);
      if (this.#written < this.#batch.length && this.#options.turns.over) break;
    }
    return frames.length === 1 ? (frames[0] as Chunk) : joined.of(frames);
  }

  #frame(): Chunk {
    const event = this.#batch[this.#written++] as StreamEvent;
    const frame = this.#options.writer.write(event, this.#first);
    this.#first = false;
    return this.#counted(frame);
  }

  #counted(frame: Chunk): Chunk {
    this.#options.series?.countEvent(frame.length);
    this.#batchBytes += frame.length;
    return this.#framed(frame);
  }

  #framed(frame: Chunk): Chunk {
    return this.#options.separate ? this.#options.codec.payload(frame) : frame;
  }
}
