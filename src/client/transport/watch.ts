import type { Json } from '../../meta/index.ts';
import { StatusError } from '../../meta/index.ts';
import type { TypedObject } from '../kinds/kind.ts';
import { joined, textOf } from './bytes.ts';
import { failure, readAll, statusFailure } from './response.ts';
import type { ClientResponse } from './transport.ts';

export interface ClientWatchEvent<T extends TypedObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** A bookmark has only kind, apiVersion and metadata. */
  readonly object: T;
}

/**
 * The events of a watch; iterable once. The iteration ends when the server ends the watch, when the watch is closed, and
 * when the caller's signal is aborted. An ERROR event is thrown as the StatusError of its Status.
 */
export interface ClientWatch<T extends TypedObject> extends AsyncIterable<ClientWatchEvent<T>> {
  /** Aborts the request. Idempotent. */
  close(): void;
}

/** Reads the events of a watch response. `close` must abort the request and with it `signal`. */
export function followWatch<T extends TypedObject>(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  close: () => void,
): ClientWatch<T> {
  async function* events(): AsyncGenerator<ClientWatchEvent<T>> {
    try {
      const lines = new Lines();
      for await (const chunk of body) {
        for (const line of lines.take(chunk)) {
          if (signal.aborted) return;
          const event = JSON.parse(line) as { type: string; object: Json };
          if (event.type === 'ERROR') {
            throw watchFailure(event.object);
          }
          yield event as ClientWatchEvent<T>;
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      close();
    }
  }
  return { close, [Symbol.asyncIterator]: events };
}

/** The texts of the events of a watch response, one after the other. @throws StatusError of a failed response */
export async function* watchLines(response: ClientResponse): AsyncGenerator<string> {
  if (response.status >= 300) throw failure(response.status, await readAll(response));
  const lines = new Lines();
  for await (const chunk of response.body) yield* lines.take(chunk);
}

/** The error of the object of an ERROR event. */
export const watchFailure = (object: Json): StatusError =>
  statusFailure(object) ?? new StatusError(500, 'InternalError', 'the watch failed');

const lineFeed = 10;

/** Splits text that arrives in chunks into lines. */
class Lines {
  #parts: Uint8Array[] = [];

  /** Yields the non-empty lines that end in this chunk, the first with its beginning from earlier chunks. */
  *take(chunk: Uint8Array): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      const last = chunk.subarray(start, end);
      const line = textOf(this.#parts.length === 0 ? last : joined([...this.#parts, last]));
      this.#parts = [];
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
  }
}
