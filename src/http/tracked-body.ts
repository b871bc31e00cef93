import type { Chunk } from './types.ts';

/** A body that tells, once, when it is over: read to its end, left, or broken. */
export class TrackedBody implements AsyncIterableIterator<Chunk> {
  readonly #inner: AsyncIterator<Chunk>;
  readonly #ended: (size: number, error: unknown) => void;
  readonly #take: (result: IteratorResult<Chunk>) => IteratorResult<Chunk>;
  readonly #fail: (error: unknown) => never;
  #size = 0;
  #over = false;

  /** `ended` gets the bytes that were asked for, and why the body broke if it did. */
  constructor(inner: AsyncIterator<Chunk>, ended: (size: number, error: unknown) => void) {
    this.#inner = inner;
    this.#ended = ended;
    this.#take = (result) => {
      if (result.done === true) this.#end(undefined);
      else this.#size += result.value.length;
      return result;
    };
    this.#fail = (error) => {
      this.#end(error);
      throw error;
    };
  }

  next(): Promise<IteratorResult<Chunk>> {
    return this.#inner.next().then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#end(undefined);
    await this.#inner.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended(this.#size, error);
  }
}
