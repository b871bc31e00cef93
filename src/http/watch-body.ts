import { type ByteString, encodeText, type JsonObject, StatusError, statusError } from '../meta/index.ts';
import { type StreamEvent, type Target, type View, viewEvent, type WatchStream } from '../registry/index.ts';
import type { Series } from './counters.ts';
import type { Log } from './log.ts';
import { readOwnBytes } from './media.ts';
import type { Protobuf } from './protobuf.ts';
import type { Chunk } from './types.ts';

export interface WatchBodyOptions {
  readonly stream: WatchStream;
  readonly target: Target;
  readonly view: View;
  /** Events are written in protobuf. */
  readonly protobuf: Protobuf | undefined;
  readonly series: Series;
  readonly log: Log;
}

/** The events of a watch, one piece for each batch. A failure is the last event. */
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
      return { done: false, value: errorFrame(told, options.protobuf) };
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

  #write(events: readonly StreamEvent[]): Chunk {
    const { target, view, protobuf } = this.#options;
    if (protobuf !== undefined)
      return Buffer.concat(events.map((event) => protobufFrame(target, event, view, protobuf)));
    let text = '';
    for (const event of events) {
      text += viewEvent(target, event, view, this.#first);
      this.#first = false;
    }
    return text as ByteString;
  }
}

function protobufFrame(target: Target, event: StreamEvent, view: View, protobuf: Protobuf): Uint8Array {
  const { resource, version } = target;
  const form = `${resource.definition.group}/${version} ${view.as}`;
  return protobuf.frame(event, form, () => {
    const { object } = readOwnBytes(viewEvent(target, event, view, false)) as { object: JsonObject };
    return object;
  });
}

function errorFrame(error: StatusError, protobuf: Protobuf | undefined): Chunk {
  if (protobuf !== undefined) return protobuf.failure(error.toStatus() as unknown as JsonObject);
  return encodeText(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
}
