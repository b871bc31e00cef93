import type { Duplex } from 'node:stream';
import type { Clock } from '../../meta/index.ts';
import { type Change, type Store, StoreError, type Watch, type WatchOptions } from '../store.ts';
import { pause } from '../timers.ts';
import { encodeFrame, FrameStream } from './frames.ts';
import {
  type ClientMessage,
  type HostMessage,
  linkVersion,
  type Method,
  methods,
  sharedWatch,
  type WireError,
} from './messages.ts';
import type { RevisionBoard } from './revision-board.ts';

/** The pause before a retry of a request for the latest revision (ms). */
const retryMs = 500;

/** Serves a store to other processes. */
export interface StoreHost {
  /** Serves the store to the other end of a stream until the stream ends. */
  attach(stream: Duplex): void;
}

/**
 * The store must be closed after the streams. `board`: where the other ends read the latest revision. It may only be given if
 * every commit of the store is made in this process, and delivered to watches before it is answered. It is closed with the
 * store.
 */
export function createStoreHost(store: Store, clock: Clock, board?: RevisionBoard): StoreHost {
  if (board !== undefined) void writeBoard(store, clock, board);
  // A commit reaches the shared watches of all links as the same array.
  const frames = new WeakMap<readonly Change[], Buffer>();
  const encodeShared: EncodeBatch = (id, revision, changes) => {
    const frame = frames.get(changes) ?? encodeBatch(id, revision, changes);
    if (changes.length > 0) frames.set(changes, frame);
    return frame;
  };
  return { attach: (stream) => void new Link(store, clock, stream, encodeShared) };
}

/**
 * Writes the latest revision on the board before anybody can see it: watches of all keys are the first to receive a commit.
 * While the store cannot be followed, the revision is unknown.
 */
async function writeBoard(store: Store, clock: Clock, board: RevisionBoard): Promise<void> {
  const latest = await latestOf(store, clock, () => true);
  if (latest === undefined) {
    board.close();
    return;
  }
  let isLive = false;
  const sink = {
    batch(revision: number, changes: readonly Change[]) {
      // Others may have received earlier what is replayed before the notification of progress.
      isLive ||= changes.length === 0;
      if (isLive) board.write(revision);
    },
    error() {
      board.clear();
      void writeBoard(store, clock, board);
    },
  };
  store.watch('', latest, sink).progress();
}

/** The latest revision; undefined when the store is closed, or when it is no longer needed. */
async function latestOf(store: Store, clock: Clock, isNeeded: () => boolean): Promise<number | undefined> {
  while (isNeeded()) {
    try {
      const latest = await store.revision();
      return isNeeded() ? latest : undefined;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'closed') return undefined;
      await pause(clock, retryMs);
    }
  }
  return undefined;
}

type EncodeBatch = (id: number, revision: number, changes: readonly Change[]) => Buffer;

const encodeBatch: EncodeBatch = (id, revision, changes) => {
  // Drivers may pass more than the contract says.
  const plain = changes.map(({ key, entry, previous }) => ({ key, entry, previous }));
  return encodeFrame({ type: 'batch', id, revision, changes: plain } satisfies HostMessage);
};

/** One process that uses the store. */
class Link {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #frames: FrameStream<HostMessage, ClientMessage>;
  readonly #encodeShared: EncodeBatch;
  readonly #watches = new Map<number, HostedWatch>();
  /** Lists are read one after another: a page is large. */
  #lists: Promise<unknown> = Promise.resolve();
  #open = true;

  constructor(store: Store, clock: Clock, stream: Duplex, encodeShared: EncodeBatch) {
    this.#store = store;
    this.#clock = clock;
    this.#encodeShared = encodeShared;
    this.#frames = new FrameStream<HostMessage, ClientMessage>(stream, (message) => this.#take(message));
    void this.#frames.closed.then(() => this.#end());
  }

  #take(message: ClientMessage): void {
    switch (message.type) {
      case 'hello':
        void this.#welcome(message.version);
        break;
      case 'call':
        void this.#call(message);
        break;
      case 'watch': {
        const { id, prefix, after, previous } = message;
        this.#watch(id, prefix, after, { previous }, encodeBatch, (error) => {
          this.#watches.delete(id);
          this.#frames.send({ type: 'ended', id, error: wireError(error) });
        });
        break;
      }
      case 'progress':
        this.#watches.get(message.id)?.progress();
        break;
      case 'unwatch':
        this.#watches.get(message.id)?.close();
        this.#watches.delete(message.id);
    }
  }

  async #welcome(version: number): Promise<void> {
    if (version !== linkVersion) return this.#frames.close();
    const latest = await this.#latest();
    if (latest === undefined) return this.#frames.close();
    const { maxValueBytes } = this.#store;
    this.#frames.send({ type: 'welcome', version: linkVersion, maxValueBytes, latest });
    this.#follow(latest);
  }

  /** Begins the shared watch. When it fails, it begins again at the latest revision. */
  #follow(after: number): void {
    this.#watch(sharedWatch, '', after, {}, this.#encodeShared, (error) => {
      this.#frames.send({ type: 'ended', id: sharedWatch, error: wireError(error) });
      void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    const revision = await this.#latest();
    if (revision === undefined) return;
    this.#frames.send({ type: 'follows', revision });
    this.#follow(revision);
  }

  #latest(): Promise<number | undefined> {
    return latestOf(this.#store, this.#clock, () => this.#open);
  }

  async #call({ id, method, args }: Extract<ClientMessage, { type: 'call' }>): Promise<void> {
    try {
      const value = await (method === 'list' ? this.#list(args) : invoke(this.#store, method, args));
      this.#frames.send({ type: 'result', id, value });
    } catch (error) {
      this.#frames.send({ type: 'failure', id, error: wireError(error) });
    }
  }

  #list(args: readonly unknown[]): Promise<unknown> {
    const read = async () => {
      await this.#frames.drained();
      return invoke(this.#store, 'list', args);
    };
    const page = this.#lists.then(read);
    this.#lists = page.catch(() => undefined);
    return page;
  }

  #watch(
    id: number,
    prefix: string,
    after: number,
    options: WatchOptions,
    encode: EncodeBatch,
    onEnd: (error: StoreError) => void,
  ): void {
    const watch = new HostedWatch(this.#store, this.#frames, { id, prefix, after, options, encode, onEnd });
    this.#watches.set(id, watch);
    watch.start();
  }

  #end(): void {
    this.#open = false;
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
  }
}

interface HostedWatchOptions {
  readonly id: number;
  readonly prefix: string;
  readonly after: number;
  readonly options: WatchOptions;
  readonly encode: EncodeBatch;
  readonly onEnd: (error: StoreError) => void;
}

/** A watch whose batches are sent. While its stream is full it is closed, and continues from the history later. */
class HostedWatch {
  readonly #store: Store;
  readonly #frames: FrameStream<HostMessage, ClientMessage>;
  readonly #options: HostedWatchOptions;
  #position: number;
  #watch: Watch | undefined;
  #progressRequested = false;
  #open = true;

  constructor(store: Store, frames: FrameStream<HostMessage, ClientMessage>, options: HostedWatchOptions) {
    this.#store = store;
    this.#frames = frames;
    this.#options = options;
    this.#position = options.after;
  }

  start(): void {
    const { prefix, options, onEnd } = this.#options;
    const sink = {
      batch: (revision: number, changes: readonly Change[]) => this.#batch(revision, changes),
      error: (error: StoreError) => {
        this.close();
        onEnd(error);
      },
    };
    this.#watch = this.#store.watch(prefix, this.#position, sink, options);
    if (this.#progressRequested) this.#watch.progress();
  }

  progress(): void {
    this.#progressRequested = true;
    this.#watch?.progress();
  }

  close(): void {
    this.#open = false;
    this.#watch?.close();
    this.#watch = undefined;
  }

  #batch(revision: number, changes: readonly Change[]): void {
    const { id, encode } = this.#options;
    if (changes.length === 0) this.#progressRequested = false;
    this.#position = Math.max(this.#position, revision);
    this.#frames.sendFrame(encode(id, revision, changes));
    if (this.#frames.isFull) void this.#pause();
  }

  async #pause(): Promise<void> {
    this.#watch?.close();
    this.#watch = undefined;
    await this.#frames.drained();
    if (this.#open && this.#watch === undefined) this.start();
  }
}

/** Calls a method whose arguments came over the link, where `Arguments` types them. */
async function invoke(store: Store, method: Method, args: readonly unknown[]): Promise<unknown> {
  if (!methods.includes(method)) throw new StoreError('invalid', `a link has no method ${String(method)}`);
  return (store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
}

function wireError(error: unknown): WireError {
  if (!(error instanceof StoreError)) return { code: 'unavailable', message: String(error), revision: undefined };
  const { code, message, revision } = error;
  return { code, message, revision };
}
