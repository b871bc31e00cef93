import type { ByteString } from '../meta/index.ts';
import { fieldOf, type Selection, unknownLabels } from './selection.ts';
import type { CachedObject, CacheOptions, WatchEvent } from './types.ts';

/** Size of the frame of an event in addition to its object (bytes). */
const frameOverhead = 32;

/** One object before and after a commit, with the watch events made from it. */
export class Change {
  readonly revision: number;
  readonly current: CachedObject | undefined;
  readonly previous: CachedObject | undefined;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly #describeDeleted: CacheOptions['describeDeleted'];
  #shared = true;
  #added: WatchEvent | undefined;
  #modified: WatchEvent | undefined;
  #deleted: WatchEvent | undefined;

  constructor(
    revision: number,
    time: number,
    current: CachedObject | undefined,
    previous: CachedObject | undefined,
    describeDeleted: CacheOptions['describeDeleted'],
  ) {
    this.revision = revision;
    this.time = time;
    this.current = current;
    this.previous = previous;
    this.#describeDeleted = describeDeleted;
  }

  /**
   * The event for a selection; undefined when it matches the object neither before nor after the change. `isPlaced`: the
   * object is known to be in its namespace and to have its name.
   */
  eventFor(selection: Selection, isPlaced = false): WatchEvent | undefined {
    const { current, previous } = this;
    if (!isPlaced && !places(selection, current ?? previous!)) return undefined;
    const was = previous !== undefined && selects(selection, previous);
    if (current !== undefined && selects(selection, current)) return was ? this.#modify() : this.#add();
    return was ? this.#remove() : undefined;
  }

  /** Releases the events and their frames. Later calls of `eventFor` return a new event each time. */
  unshare(): void {
    this.#shared = false;
    this.#added = undefined;
    this.#modified = undefined;
    this.#deleted = undefined;
  }

  #add(): WatchEvent {
    if (this.#added !== undefined) return this.#added;
    const event = new ObjectEvent('ADDED', this.revision, this.current!, this.#shared);
    if (this.#shared) this.#added = event;
    return event;
  }

  #modify(): WatchEvent {
    if (this.#modified !== undefined) return this.#modified;
    const event = new ObjectEvent('MODIFIED', this.revision, this.current!, this.#shared);
    if (this.#shared) this.#modified = event;
    return event;
  }

  #remove(): WatchEvent {
    if (this.#deleted !== undefined) return this.#deleted;
    const event = new ObjectEvent(
      'DELETED',
      this.revision,
      this.#describeDeleted(this.previous!, this.revision),
      this.#shared,
    );
    if (this.#shared) this.#deleted = event;
    return event;
  }
}

/** Whether an object is in the namespace of a selection and has its name. A change of the object changes neither. */
const places = ({ namespace, name }: Selection, object: CachedObject): boolean =>
  (!namespace || namespace === object.namespace) && (!name || name === object.name);

function selects({ field, matches }: Selection, object: CachedObject): boolean {
  if (object.labels === unknownLabels) return true;
  if (field !== undefined && field.value !== fieldOf(object, field.path)) return false;
  return matches === undefined || matches(object);
}

class ObjectEvent implements WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  readonly object: CachedObject;
  readonly #shared: boolean;
  #frame: ByteString | undefined;

  constructor(type: ObjectEvent['type'], revision: number, object: CachedObject, shared: boolean) {
    this.type = type;
    this.revision = revision;
    this.object = object;
    this.#shared = shared;
  }

  /**
   * A concatenated string, which the engine flattens in place on the first read. An event of one watch does not keep it:
   * thousands of slow watches would each hold a copy of the objects that they have sent.
   */
  get frame(): ByteString {
    if (this.#frame !== undefined) return this.#frame;
    const frame = `{"type":"${this.type}","object":${this.object.bytes}}\n` as ByteString;
    if (this.#shared) this.#frame = frame;
    return frame;
  }
}

/** The event of one watch for an object that exists when it begins. */
export function addedEvent(object: CachedObject): WatchEvent {
  return objectEvent('ADDED', object);
}

/** An event of one watch for an object, at its revision. */
export function objectEvent(type: ObjectEvent['type'], object: CachedObject): WatchEvent {
  return new ObjectEvent(type, object.revision, object, false);
}

/** A bookmark: every change up to `revision` has been delivered. */
export function bookmarkEvent(revision: number): WatchEvent {
  return { type: 'BOOKMARK', revision, object: undefined, frame: '' as ByteString };
}

/** Returns the size of an event in the buffer of a subscriber (bytes). */
export function weightOf(event: WatchEvent): number {
  return frameOverhead + (event.object?.bytes.length ?? 0);
}
