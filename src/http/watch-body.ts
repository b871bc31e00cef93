import { type ByteString, encodeText, StatusError, statusError } from '../meta/index.ts';
import { type StreamEvent, type Target, type View, viewEvent, type WatchStream } from '../registry/index.ts';
import type { Series } from './counters.ts';
import type { Log } from './log.ts';
import type { Chunk } from './types.ts';

export interface WatchBodyOptions {
  readonly stream: WatchStream;
  readonly target: Target;
  readonly view: View;
  readonly series: Series;
  readonly log: Log;
}

/** The events of a watch as text, one piece for each batch. A failure is the last event. */
export class WatchBody implements AsyncIterableIterator<Chunk> {
  readonly #events: AsyncIterator<readonly StreamEvent[]>;
  readonly #options: WatchBodyOptions;
  readonly #take: (result: IteratorResult<readonly StreamEvent[]>) => IteratorResult<Chunk>;
  readonly #fail: (error: unknown) => IteratorResult<Chunk>;
  #first = true;
  #over = false;

  constructor(options: WatchBodyOptions) {
    this.#options = options;
    this.#events = options.stream[Symbol.asyncIterator]();
    this.#take = (result) => {
      if (result.done === true) return { done: true, value: undefined };
      options.series.watchEvents += result.value.length;
      return { done: false, value: this.#write(result.value) };
    };
    this.#fail = (error) => {
      this.#over = true;
      if (!(error instanceof StatusError)) options.log.error('watch failed', { error });
      const told = error instanceof StatusError ? error : statusError.internal('the watch failed');
      return { done: false, value: errorFrame(told) };
    };
  }

  next(): Promise<IteratorResult<Chunk>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
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

  #write(events: readonly StreamEvent[]): ByteString {
    const { target, view } = this.#options;
    let text = '';
    for (const event of events) {
      text += viewEvent(target, event, view, this.#first);
      this.#first = false;
    }
    return text as ByteString;
  }
}

function errorFrame(error: StatusError): ByteString {
  return encodeText(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
}
