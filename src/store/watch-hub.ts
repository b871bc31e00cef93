import type { ByteString } from '../meta/index.ts';
import { checkPrefix, checkReadable, closedError, type Readable } from './check.ts';
import { type Change, StoreError, type Watch, type WatchSink } from './store.ts';

/** A change together with the bytes of its key. */
export interface KeyedChange extends Change {
  readonly bytes: ByteString;
}
export interface CommitChanges {
  readonly revision: number;
  readonly changes: readonly KeyedChange[];
}
export interface Replay {
  /** Everything up to this revision is in `commits`. */
  readonly revision: number;
  /** Oldest first; those without a change below the prefix may be missing. */
  readonly commits: readonly CommitChanges[];
}
export interface WatchSource {
  readable(): Readable;
  /** The commits after revision `after`: a bounded number of them, at least one when there is one. */
  replay(after: number, prefix: ByteString): Replay;
}

interface Watcher {
  readonly prefix: ByteString;
  readonly sink: WatchSink;
  /** Everything up to this revision has been delivered. */
  position: number;
  /** Has caught up, and takes part in every publication. */
  live: boolean;
  open: boolean;
  wantsProgress: boolean;
}

/** The watches of a store: replays to new ones what they have missed, then hands every published commit to all. */
export class WatchHub {
  readonly #source: WatchSource;
  readonly #watchers = new Set<Watcher>();
  readonly #published: CommitChanges[] = [];
  #delivering = false;
  #open = true;

  constructor(source: WatchSource) {
    this.#source = source;
  }

  watch(prefix: string, after: number, sink: WatchSink): Watch {
    const watcher = { sink, position: after, live: false, open: true, wantsProgress: false };
    try {
      if (!this.#open) throw closedError();
      const added: Watcher = { ...watcher, prefix: checkPrefix(prefix) };
      checkReadable(after, this.#source.readable());
      this.#watchers.add(added);
      queueMicrotask(() => this.#catchUp(added));
      return { progress: () => this.#askProgress(added), close: () => this.#remove(added) };
    } catch (error) {
      queueMicrotask(() => {
        if (watcher.open) call(() => sink.error(error as StoreError));
      });
      return {
        progress: () => undefined,
        close: () => {
          watcher.open = false;
        },
      };
    }
  }

  /** Whether a watch that has caught up wants changes of this key. */
  wants(key: ByteString): boolean {
    for (const watcher of this.#watchers) if (watcher.live && key.startsWith(watcher.prefix)) return true;
    return false;
  }

  /** The earliest revision that a watch has still to be replayed from; infinite when all have caught up. */
  get lagging(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const watcher of this.#watchers) if (!watcher.live) lowest = Math.min(lowest, watcher.position);
    return lowest;
  }

  /** Hands the next commit to all watches that have caught up; later, when this is called from within a sink. */
  publish(commit: CommitChanges): void {
    this.#published.push(commit);
    if (!this.#delivering) this.#drain();
  }

  #drain(): void {
    this.#delivering = true;
    for (let next = this.#published.shift(); next !== undefined; next = this.#published.shift()) {
      for (const watcher of this.#watchers) if (watcher.live) deliver(watcher, next);
    }
    this.#delivering = false;
  }

  /** Ends every watch, and all later ones, as `closed`. */
  close(): void {
    this.#open = false;
    this.fail(closedError());
  }

  /** Ends every watch with this error. */
  fail(error: StoreError): void {
    for (const watcher of this.#watchers) {
      this.#remove(watcher);
      queueMicrotask(() => call(() => watcher.sink.error(error)));
    }
  }

  #remove(watcher: Watcher): void {
    watcher.open = false;
    this.#watchers.delete(watcher);
  }

  #askProgress(watcher: Watcher): void {
    watcher.wantsProgress = true;
    queueMicrotask(() => sendProgress(watcher));
  }

  #catchUp(watcher: Watcher): void {
    if (!watcher.open) return;
    try {
      const { revision, commits } = this.#source.replay(watcher.position, watcher.prefix);
      this.#delivering = true;
      for (const commit of commits) deliver(watcher, commit);
      watcher.position = revision;
    } catch (error) {
      this.#remove(watcher);
      call(() => watcher.sink.error(asStoreError(error)));
    }
    this.#drain();
    if (watcher.position === this.#source.readable().latest) {
      watcher.live = true;
      sendProgress(watcher);
    } else if (watcher.open) {
      setImmediate(() => this.#catchUp(watcher));
    }
  }
}

function deliver(watcher: Watcher, { revision, changes }: CommitChanges): void {
  if (!watcher.open) return;
  watcher.position = revision;
  const { prefix, sink } = watcher;
  const all = changes.every(({ bytes }) => bytes.startsWith(prefix));
  const mine = all ? changes : changes.filter(({ bytes }) => bytes.startsWith(prefix));
  if (mine.length > 0) call(() => sink.batch(revision, mine));
}

function sendProgress(watcher: Watcher): void {
  if (!watcher.open || !watcher.live || !watcher.wantsProgress) return;
  watcher.wantsProgress = false;
  call(() => watcher.sink.batch(watcher.position, []));
}

/** A sink that throws harms nobody else: the error surfaces as uncaught. */
function call(sink: () => void): void {
  try {
    sink();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('unavailable', 'the history of the store cannot be read', { cause: error });
}
