import type { Duplex } from 'node:stream';
import { closedError } from '../check.ts';
import {
  type CommitResult,
  type Compare,
  type GetResult,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from '../store.ts';
import { FrameStream } from './frames.ts';
import {
  type Arguments,
  type ClientMessage,
  type HostMessage,
  linkVersion,
  type Method,
  type Result,
  type WireError,
} from './messages.ts';
import type { RevisionBoard } from './revision-board.ts';
import { LinkedWatches } from './watches.ts';

type Welcome = Extract<HostMessage, { type: 'welcome' }>;
type Frames = FrameStream<ClientMessage, HostMessage>;

/**
 * Opens the store that another process serves with a `StoreHost` at the other end of the stream, and with the same board. When the stream ends, commits
 * in flight fail as `uncertain`, everything else as `unavailable`. Fails as `unavailable` when the other end does not serve a
 * store, or does so in another version.
 */
export function openLinkedStore(stream: Duplex, board?: RevisionBoard): Promise<Store> {
  return new Promise((resolve, reject) => {
    let store: LinkedStore | undefined;
    const frames: Frames = new FrameStream(stream, (message) => {
      if (store !== undefined) store.take(message);
      if (store !== undefined || message.type !== 'welcome') return;
      store = new LinkedStore(frames, message, board);
      resolve(store);
    });
    void frames.closed.then(() => reject(lostError()));
    frames.send({ type: 'hello', version: linkVersion });
  });
}

interface PendingCall {
  readonly method: Method;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: StoreError) => void;
}

class LinkedStore implements Store {
  readonly maxValueBytes: number;
  readonly #frames: Frames;
  readonly #watches: LinkedWatches;
  readonly #board: RevisionBoard | undefined;
  readonly #calls = new Map<number, PendingCall>();
  #lastId = 0;
  /** Why calls fail; undefined while the store is open. */
  #ended: StoreError | undefined;
  /** Called when the last call has been answered. */
  #onIdle: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(frames: Frames, { maxValueBytes, latest }: Welcome, board: RevisionBoard | undefined) {
    this.maxValueBytes = maxValueBytes;
    this.#frames = frames;
    this.#board = board;
    this.#watches = new LinkedWatches(
      (message) => frames.send(message),
      latest,
      () => board?.read(),
    );
    void frames.closed.then(() => this.#end(lostError()));
  }

  revision(): Promise<number> {
    const latest = this.#ended === undefined ? this.#board?.read() : undefined;
    return latest === undefined ? this.#call('revision', []) : Promise.resolve(latest);
  }

  oldest(): Promise<number> {
    return this.#call('oldest', []);
  }

  size(): Promise<number | undefined> {
    return this.#call('size', []);
  }

  get(key: string, revision?: number): Promise<GetResult> {
    return this.#call('get', [key, revision]);
  }

  list(range: ListRange): Promise<ListResult> {
    return this.#call('list', [range]);
  }

  commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    return this.#call('commit', [compares, writes]);
  }

  compact(revision: number): Promise<void> {
    return this.#call('compact', [revision]);
  }

  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    return this.#watches.watch(prefix, after, sink, options);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  take(message: HostMessage): void {
    switch (message.type) {
      case 'result':
        this.#settle(message.id)?.resolve(message.value);
        break;
      case 'failure':
        this.#settle(message.id)?.reject(storeError(message.error));
        break;
      case 'batch':
        this.#watches.batch(message.id, message.revision, message.changes);
        break;
      case 'ended':
        this.#watches.ended(message.id, storeError(message.error));
        break;
      case 'follows':
        this.#watches.follows(message.revision);
        break;
      case 'welcome':
    }
  }

  async #close(): Promise<void> {
    this.#ended ??= closedError();
    this.#watches.end(this.#ended);
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#frames.close();
  }

  #call<M extends Method>(method: M, args: Arguments<M>): Promise<Result<M>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    return new Promise<Result<M>>((resolve, reject) => {
      this.#calls.set(id, { method, resolve: resolve as PendingCall['resolve'], reject });
      this.#frames.send({ type: 'call', id, method, args });
    });
  }

  #settle(id: number): PendingCall | undefined {
    const pending = this.#calls.get(id);
    this.#calls.delete(id);
    if (this.#calls.size === 0) this.#onIdle?.();
    return pending;
  }

  /** Fails everything after the stream has ended. */
  #end(error: StoreError): void {
    this.#ended ??= error;
    this.#watches.end(this.#ended);
    for (const [id, { method, reject }] of this.#calls) {
      this.#settle(id);
      reject(method === 'commit' ? new StoreError('uncertain', `${error.message} before it answered`) : error);
    }
  }
}

const lostError = () => new StoreError('unavailable', 'the process that has the store has ended');

const storeError = ({ code, message, revision }: WireError): StoreError =>
  new StoreError(code, message, revision === undefined ? {} : { revision });
