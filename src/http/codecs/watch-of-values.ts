import type { JsonObject, Steps } from '../../meta/index.ts';
import { type CachedObject, eventWriter, largeEventBytes, type StreamEvent } from '../../registry/index.ts';
import { MadeOnce } from '../documents/made-once.ts';
import type { Chunk } from '../types.ts';
import { readOwnBytes, valueInSteps } from './encode-steps.ts';
import type { WatchCodec } from './wire-codec.ts';

/** How a codec that encodes values writes an event. */
interface ValueFrames extends Pick<WatchCodec, 'listed' | 'contentType' | 'payload'> {
  readonly frame: (type: string, object: JsonObject) => Chunk;
  readonly frameInSteps: (type: string, object: JsonObject) => Steps<Chunk>;
}

/** The watches of a binary encoding, which parses each object once for all watchers of a representation. */
export function watchOfValues({ frame, frameInSteps, ...properties }: ValueFrames): WatchCodec {
  const recent = new RecentFrames();
  return {
    ...properties,
    text: false,
    writer(target, view) {
      const { resource, version } = target;
      const representation = `${resource.definition.group}/${version} ${view.as}`;
      const lines = eventWriter(target, view);
      const objectOf = (event: StreamEvent) => readOwnBytes(lines.write(event, false))['object'] as JsonObject;
      return {
        write: (event) => recent.frame(event, representation, () => frame(event.type, objectOf(event))),
        writeInSteps: (event) =>
          recent.frameInSteps(event, representation, function* (object) {
            return yield* frameInSteps(event.type, yield* valueInSteps(target, object, view));
          }),
      };
    },
    encodeError: (status) => frame('ERROR', status),
  };
}

/** How many bytes of recent frames are kept for other watchers. */
const recentBytes = 4 * 1024 * 1024;

/** The frames of recent events, so that an event is encoded once for all watchers of a representation. */
class RecentFrames {
  readonly #byRepresentation = new Map<string, Map<StreamEvent, Chunk | MadeOnce<Chunk>>>();
  #bytes = 0;

  frame(event: StreamEvent, representation: string, encode: () => Chunk): Chunk {
    const found = this.#byRepresentation.get(representation)?.get(event);
    if (found !== undefined && !(found instanceof MadeOnce)) return found;
    const frame = encode();
    this.#add(event, representation, frame, frame.length);
    return frame;
  }

  /** The frame of a large event in the steps that are left; undefined for another event. */
  frameInSteps(
    event: StreamEvent,
    representation: string,
    encode: (object: CachedObject) => Steps<Chunk>,
  ): Steps<Chunk> | undefined {
    const { object } = event;
    if (object === undefined || object.bytes.length < largeEventBytes) return undefined;
    const found = this.#byRepresentation.get(representation)?.get(event);
    if (found instanceof MadeOnce) return found.steps();
    const made = new MadeOnce(() => encode(object));
    // JSON is longer than a binary encoding.
    this.#add(event, representation, made, object.bytes.length);
    return made.steps();
  }

  #add(event: StreamEvent, representation: string, frame: Chunk | MadeOnce<Chunk>, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > recentBytes) {
      this.#byRepresentation.clear();
      this.#bytes = bytes;
    }
    const frames = this.#byRepresentation.get(representation) ?? new Map();
    this.#byRepresentation.set(representation, frames.set(event, frame));
  }
}
