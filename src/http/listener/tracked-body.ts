import type { Reservation } from '../limits.ts';
import type { Chunk, TakeBuffer } from '../types.ts';

/** Smaller chunks are not counted (bytes): the buffers of a connection hold them without waiting for the client. */
export const minCountedBytes = 16 * 1024;

/**
 * A response body that reports its end once: read completely, abandoned, or failed. A chunk counts as unread until the
 * next one is requested; that waits while the user's share of unread bytes is used up.
 */
export class TrackedBody implements AsyncIterableIterator<Chunk> {
  readonly #inner: AsyncIterator<Chunk>;
  readonly #reservation: Reservation | undefined;
  readonly #isLate: (size: number) => boolean;
  readonly #onEnd: (size: number, error: unknown) => void;
  readonly #take: (result: IteratorResult<Chunk>) => IteratorResult<Chunk> | Promise<IteratorResult<Chunk>>;
  readonly #fail: (error: unknown) => never;
  #size = 0;
  #unread = 0;
  #over = false;
  #stopWaiting: (() => void) | undefined;

  /**
   * The body fails once `isLate` says that so many bytes took too long. Calls `onEnd` with the number of requested bytes,
   * and with the error if the body failed.
   */
  constructor(
    inner: AsyncIterator<Chunk>,
    reservation: Reservation | undefined,
    isLate: (size: number) => boolean,
    onEnd: (size: number, error: unknown) => void,
  ) {
    this.#inner = inner;
    this.#reservation = reservation;
    this.#isLate = isLate;
    this.#onEnd = onEnd;
    this.#take = (result) => {
      if (this.#over) return done;
      if (result.done === true) {
        this.#end(undefined);
        return result;
      }
      const { length } = result.value;
      this.#size += length;
      return length < minCountedBytes ? result : this.#count(result, length);
    };
    this.#fail = (error) => {
      this.#end(error);
      throw error;
    };
  }

  next(takeBuffer?: TakeBuffer): Promise<IteratorResult<Chunk>> {
    this.#releaseChunk();
    if (this.#isLate(this.#size)) return Promise.reject(tooSlow).catch(this.#fail);
    return this.#inner.next(takeBuffer).then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#end(undefined);
    await this.#inner.return?.();
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns the chunk as soon as it fits into the limit of unread bytes. */
  #count(piece: IteratorResult<Chunk>, length: number): IteratorResult<Chunk> | Promise<IteratorResult<Chunk>> {
    let resolve: (piece: IteratorResult<Chunk>) => void = () => {};
    this.#stopWaiting = this.#reservation?.addUnread(length, () => {
      this.#stopWaiting = undefined;
      this.#unread = length;
      resolve(piece);
    });
    if (this.#stopWaiting === undefined) {
      this.#unread = length;
      return piece;
    }
    return new Promise((whenTaken) => {
      resolve = whenTaken;
    });
  }

  #releaseChunk(): void {
    if (this.#unread > 0) this.#reservation?.releaseUnread(this.#unread);
    this.#unread = 0;
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWaiting?.();
    this.#releaseChunk();
    this.#onEnd(this.#size, error);
  }
}

const tooSlow = new Error('the client takes too long to read the response');

const done = { done: true, value: undefined } as const;
