import { type CachedObject, objectEvent } from '../../cache/index.ts';
import { StatusError, statusError, type Turns } from '../../meta/index.ts';
import { convertAll } from '../stored/convert.ts';
import { isUnconverted, type ObjectFormat } from '../stored/format.ts';
import type { StreamEvent, WatchStream } from '../types.ts';

/**
 * The events of a watch with their objects in the version of the resource. An object that the webhook does not convert
 * ends it with a 500, behind the events before that one.
 */
export class ConvertedStream implements WatchStream, AsyncIterator<readonly StreamEvent[]> {
  readonly #stream: WatchStream;
  readonly #events: AsyncIterator<readonly StreamEvent[]>;
  readonly #format: ObjectFormat;
  readonly #matches: ((object: CachedObject) => boolean) | undefined;
  readonly #turns: Turns;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;

  /** `matches`: whether a converted object matches the field selector. */
  constructor(
    stream: WatchStream,
    format: ObjectFormat,
    matches: ((object: CachedObject) => boolean) | undefined,
    turns: Turns,
  ) {
    this.#stream = stream;
    this.#events = stream[Symbol.asyncIterator]();
    this.#format = format;
    this.#matches = matches;
    this.#turns = turns;
  }

  async next(): Promise<IteratorResult<readonly StreamEvent[]>> {
    while (!this.#closed) {
      if (this.#failure !== undefined) {
        this.close();
        throw watchError(this.#failure.error);
      }
      const result = await this.#events.next();
      if (result.done === true) break;
      const value = await this.#convert(result.value);
      if (value.length > 0 && !this.#closed) return { done: false, value };
    }
    return { done: true, value: undefined };
  }

  close(): void {
    this.#closed = true;
    this.#stream.close();
  }

  async return(): Promise<IteratorResult<readonly StreamEvent[]>> {
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly StreamEvent[]> {
    return this;
  }

  /** The events up to the first one whose object is not converted. */
  async #convert(events: readonly StreamEvent[]): Promise<StreamEvent[]> {
    const format = this.#format;
    const open = events.flatMap(({ object }) =>
      object !== undefined && isUnconverted(format, object.bytes) ? [object] : [],
    );
    const { objects, failure } = await convertAll(format, open, this.#turns);
    this.#failure = failure;
    const out: StreamEvent[] = [];
    let next = 0;
    for (const event of events) {
      const { object } = event;
      if (object === undefined || !isUnconverted(format, object.bytes)) {
        out.push(event);
        continue;
      }
      const converted = objects[next++];
      if (converted === undefined) break;
      const visible = this.#show(event, converted);
      if (visible !== undefined) out.push(visible);
    }
    return out;
  }

  /**
   * The event of a converted object. Whether the object matched the field selector before its change is not known: it is
   * taken as deleted when it does not match now.
   */
  #show({ type }: StreamEvent, object: CachedObject): StreamEvent | undefined {
    if (type === 'BOOKMARK') return undefined;
    if (this.#matches?.(object) !== false) return objectEvent(type, object);
    return type === 'MODIFIED' ? objectEvent('DELETED', object) : undefined;
  }
}

/** In an event, the error of a webhook is an internal one. */
const watchError = (error: unknown): unknown =>
  error instanceof StatusError && error.reason === '' ? statusError.internal(error.message, error) : error;
