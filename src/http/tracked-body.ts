import type { Seat } from './seat.ts';
import type { Chunk } from './types.ts';

/** Smaller pieces are not counted (bytes): a connection takes so much without waiting for its client. */
const leastCounted = 16 * 1024;

/**
 * A body that tells, once, when it is over: read to its end, left, or broken. A piece is unread until the next one is
 * asked for; the next one waits while its user may have no more unread.
 */
export class TrackedBody implements AsyncIterableIterator<Chunk> {
  readonly #inner: AsyncIterator<Chunk>;
  readonly #place: Seat | undefined;
  readonly #ended: (size: number, error: unknown) => void;
  readonly #take: (result: IteratorResult<Chunk>) => IteratorResult<Chunk> | Promise<IteratorResult<Chunk>>;
  readonly #fail: (error: unknown) => never;
  #size = 0;
  #unread = 0;
  #over = false;
  #stopWaiting: (() => void) | undefined;

  /** `ended` gets the bytes that were asked for, and why the body broke if it did. */
  constructor(inner: AsyncIterator<Chunk>, place: Seat | undefined, ended: (size: number, error: unknown) => void) {
    this.#inner = inner;
    this.#place = place;
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

  /** The piece, once it may be unread. */
  #counted(piece: IteratorResult<Chunk>, length: number): IteratorResult<Chunk> | Promise<IteratorResult<Chunk>> {
    let resolve: (piece: IteratorResult<Chunk>) => void = () => {};
    this.#stopWaiting = this.#place?.send(length, () => {
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
    if (this.#unread > 0) this.#place?.sent(this.#unread);
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
