import type { Turns } from '../../meta/index.ts';
import type { ApiResponse, Chunk, TakeBuffer } from '../types.ts';
import { type UnreadBytes, UnreadShare } from './unread-share.ts';

/** Whether a body comes in chunks. */
export const isStreamed = (body: ApiResponse['body']): body is AsyncIterable<Chunk> =>
  typeof body !== 'string' && !(body instanceof Uint8Array);

/** Smaller chunks are not counted (bytes): the buffers of a connection hold them without waiting for the client. */
export const minCountedBytes = 16 * 1024;

/**
 * The share of the unread bytes that is taken before a chunk of unknown size is encoded: the size of most pieces of lists.
 */
const expectedBytes = 128 * 1024;

export interface TrackedBodyOptions {
  /** Undefined: unread bytes are not limited. */
  readonly unread: UnreadBytes | undefined;
  /** The turns in which a body goes on that has waited for unread bytes. */
  readonly turns: Turns | undefined;
  /** Whether so many bytes have taken too long: the body then fails. */
  readonly isLate: (size: number) => boolean;
  /** Receives the number of requested bytes, and the error if the body failed. */
  readonly onEnd: (size: number, error: unknown) => void;
}

/**
 * A response body that reports its end once: read completely, abandoned, or failed. A chunk counts as unread from the time
 * at which it begins to be made until the next one is requested; it waits while the user's share of unread bytes is used up.
 */
export class TrackedBody implements AsyncIterableIterator<Chunk> {
  readonly #inner: AsyncIterator<Chunk>;
  readonly #options: TrackedBodyOptions;
  readonly #take: (result: IteratorResult<Chunk>) => IteratorResult<Chunk>;
  readonly #fail: (error: unknown) => never;
  readonly #unread: UnreadShare | undefined;
  #size = 0;
  #over = false;

  constructor(inner: AsyncIterator<Chunk>, options: TrackedBodyOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#unread = options.unread && new UnreadShare(options.unread);
    this.#take = (result) => {
      if (this.#over) return done;
      if (result.done === true) {
        this.#end(undefined);
        return result;
      }
      const { length } = result.value;
      this.#size += length;
      this.#unread?.correct(length < minCountedBytes ? 0 : length);
      return result;
    };
    this.#fail = (error) => {
      this.#end(error);
      throw error;
    };
  }

  next(takeBuffer?: TakeBuffer): Promise<IteratorResult<Chunk>> {
    if (this.#over) return Promise.resolve(done);
    this.#unread?.release();
    const waiting = this.#unread?.take(expectedBytes);
    if (waiting === undefined) return this.#make(takeBuffer);
    // In a turn: clients that are disconnected together would each let another body make what nobody reads.
    return waiting.then(() => this.#options.turns?.next()).then(() => this.#make(takeBuffer));
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#end(undefined);
    await this.#inner.return?.();
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #make(takeBuffer: TakeBuffer | undefined): Promise<IteratorResult<Chunk>> {
    if (this.#over) return Promise.resolve(done);
    if (this.#options.isLate(this.#size)) return Promise.reject(tooSlow).catch(this.#fail);
    return this.#inner.next(takeBuffer).then(this.#take, this.#fail);
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#unread?.release();
    this.#options.onEnd(this.#size, error);
  }
}

const tooSlow = new Error('the client takes too long to read the response');

const done = { done: true, value: undefined } as const;
