import type { Seat } from '../seat.ts';
import type { Chunk } from '../types.ts';

/** Smaller chunks are not counted (bytes): the buffers of a connection take them without waiting for the client. */
const leastCounted = 16 * 1024;

/**
 * A response body that reports its end once: read completely, abandoned, or failed. A chunk counts as unread until the
 * next one is requested; that waits while the user's share of unread bytes is used up.
 */
export class TrackedBody implements AsyncIterableIterator<Chunk> {
  readonly #inner: AsyncIterator<Chunk>;
  readonly #seat: Seat | undefined;
  readonly #ended: (size: number, error: unknown) => void;
  readonly #take: (result: IteratorResult<Chunk>) => IteratorResult<Chunk> | Promise<IteratorResult<Chunk>>;
  readonly #fail: (error: unknown) => never;
  #size = 0;
  #unread = 0;
  #over = false;
  #stopWaiting: (() => void) | undefined;

  /** `ended` gets the number of bytes that were requested, and the error if the body failed. */
  constructor(inner: AsyncIterator<Chunk>, seat: Seat | undefined, ended: (size: number, error: unknown) => void) {
    this.#inner = inner;
    this.#seat = seat;
    this.#ended = ended;
    this.#take = (result) => {
      if (this.#over) return done;
      if (result.done === true) {
        this.#end(undefined);
        return result;
      }
      const { length } = result.value;
      this.#size += length;
      return length < leastCounted ? result : this.#counted(result, length);
    };
    this.#fail = (error) => {
      this.#end(error);
      throw error;
    };
  }

  next(): Promise<IteratorResult<Chunk>> {
    this.#taken();
    return this.#inner.next().then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#end(undefined);
    await this.#inner.return?.();
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The chunk, once it fits into the share of unread bytes. */
  #counted(piece: IteratorResult<Chunk>, length: number): IteratorResult<Chunk> | Promise<IteratorResult<Chunk>> {
    let resolve: (piece: IteratorResult<Chunk>) => void = () => {};
    this.#stopWaiting = this.#seat?.send(length, () => {
      this.#stopWaiting = undefined;
      this.#unread = length;
      resolve(piece);
    });
    if (this.#stopWaiting === undefined) {
      this.#unread = length;
      return piece;
    }
    return new Promise((granted) => {
      resolve = granted;
    });
  }

  #taken(): void {
    if (this.#unread > 0) this.#seat?.sent(this.#unread);
    this.#unread = 0;
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWaiting?.();
    this.#taken();
    this.#ended(this.#size, error);
  }
}

const done = { done: true, value: undefined } as const;
