import type { ByteString } from '../meta/index.ts';
import { checkPrefix, checkReadable, closedError, type Readable } from './check.ts';
import { type Change, StoreError, type Watch, type WatchOptions, type WatchSink } from './store.ts';

/**
 * A change together with the bytes of its key. It has the previous entry where a watch wants it; watches without
 * `previous` do not get it.
 */
export interface KeyedChange extends Change {
  readonly bytes: ByteString;
}
export interface CommitChanges {
  readonly revision: number;
  readonly changes: readonly KeyedChange[];
}
export interface Replay {
  /** The revision that the replay has reached: `commits` is complete up to it. */
  readonly revision: number;
  /** Oldest first; commits without a change below the prefix may be left out. */
  readonly commits: readonly CommitChanges[];
}
export interface WatchSource {
  readable(): Readable;
  /** The commits after revision `after`: a bounded number, and at least one when there is any. */
  replay(after: number, prefix: ByteString, previous: boolean): Replay;
}
/** What the live watches want of a change. */
export type Wanted = 'nothing' | 'entry' | 'previous';

interface Watcher {
  readonly prefix: ByteString;
  readonly sink: WatchSink;
  readonly previous: boolean;
  /** The last commit delivered to it, or up to which its replay is complete. */
  position: number;
  /** Has replayed the history and gets every commit when it is published. */
  live: boolean;
  open: boolean;
  progressRequested: boolean;
}

/** The watches of a store: replays history to new ones, then fans out every published commit to the live ones. */
export class WatchHub {
  readonly #source: WatchSource;
  readonly #watchers = new Set<Watcher>();
  /** The live watches by the first segment of their prefixes, so that a commit looks at few of them. */
  readonly #live = new Map<string, Set<Watcher>>();
  /** The last commit that has been delivered to all live watches. */
  #delivered = 0;
  readonly #published: CommitChanges[] = [];
  #delivering = false;
  #open = true;

  constructor(source: WatchSource) {
    this.#source = source;
  }

  watch(prefix: string, after: number, sink: WatchSink, { previous = false }: WatchOptions = {}): Watch {
    const watcher = { sink, previous, position: after, live: false, open: true, progressRequested: false };
    try {
      if (!this.#open) throw closedError();
      const added: Watcher = { ...watcher, prefix: checkPrefix(prefix) };
      checkReadable(after, this.#source.readable());
      this.#watchers.add(added);
      queueMicrotask(() => this.#catchUp(added));
      return { progress: () => this.#requestProgress(added), close: () => this.#remove(added) };
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

  /** What the live watches that cover this key want of its change. */
  wants(key: ByteString): Wanted {
    let wanted: Wanted = 'nothing';
    for (const group of this.#groups([{ bytes: key }])) {
      for (const { prefix, previous } of group) {
        if (!key.startsWith(prefix)) continue;
        if (previous) return 'previous';
        wanted = 'entry';
      }
    }
    return wanted;
  }

  /** The earliest revision from which a watch still has to replay; infinite when all are live. */
  get lagging(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const watcher of this.#watchers) if (!watcher.live) lowest = Math.min(lowest, watcher.position);
    return lowest;
  }

  /** Delivers the next commit to all live watches. A call from within a sink is queued. */
  publish(commit: CommitChanges): void {
    this.#published.push(commit);
    if (!this.#delivering) this.#drain();
  }

  #drain(): void {
    this.#delivering = true;
    for (let next = this.#published.shift(); next !== undefined; next = this.#published.shift()) {
      const plain = withoutPrevious(next);
      for (const group of this.#groups(next.changes)) {
        for (const watcher of group) deliver(watcher, watcher.previous ? next : plain);
      }
      this.#delivered = next.revision;
    }
    this.#delivering = false;
  }

  /** The live watches that may cover one of the changes; each is in one group. */
  #groups(changes: readonly Pick<KeyedChange, 'bytes'>[]): Iterable<Set<Watcher>> {
    const groups = new Set<Set<Watcher>>();
    for (const segment of ['', ...changes.map(({ bytes }) => firstSegment(bytes))]) {
      const group = this.#live.get(segment);
      if (group !== undefined) groups.add(group);
    }
    return groups;
  }

  /** Ends every watch as `closed`; later watches fail the same way. */
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
    const segment = firstSegment(watcher.prefix);
    const group = this.#live.get(segment);
    group?.delete(watcher);
    if (group?.size === 0) this.#live.delete(segment);
  }

  #requestProgress(watcher: Watcher): void {
    watcher.progressRequested = true;
    queueMicrotask(() => this.#sendProgress(watcher));
  }

  #catchUp(watcher: Watcher): void {
    if (!watcher.open) return;
    try {
      const { revision, commits } = this.#source.replay(watcher.position, watcher.prefix, watcher.previous);
      this.#delivering = true;
      for (const commit of commits) deliver(watcher, watcher.previous ? commit : withoutPrevious(commit));
      watcher.position = revision;
    } catch (error) {
      this.#remove(watcher);
      call(() => watcher.sink.error(asStoreError(error)));
    }
    this.#drain();
    if (watcher.position === this.#source.readable().latest) {
      watcher.live = true;
      if (watcher.open) this.#join(watcher);
      this.#sendProgress(watcher);
    } else if (watcher.open) {
      setImmediate(() => this.#catchUp(watcher));
    }
  }

  #join(watcher: Watcher): void {
    const segment = firstSegment(watcher.prefix);
    const group = this.#live.get(segment) ?? new Set();
    this.#live.set(segment, group.add(watcher));
  }

  #sendProgress(watcher: Watcher): void {
    if (!watcher.open || !watcher.live || !watcher.progressRequested) return;
    watcher.progressRequested = false;
    const revision = Math.max(watcher.position, this.#delivered);
    call(() => watcher.sink.batch(revision, []));
  }
}

/** What keys with the same resource begin with; empty for a prefix that does not reach as far. */
const firstSegment = (key: ByteString): string => key.slice(0, key.indexOf('/', 1) + 1);

/** The same object when no change has a previous entry. */
function withoutPrevious(commit: CommitChanges): CommitChanges {
  if (commit.changes.every(({ previous }) => previous === undefined)) return commit;
  return { ...commit, changes: commit.changes.map((change) => ({ ...change, previous: undefined })) };
}

function deliver(watcher: Watcher, { revision, changes }: CommitChanges): void {
  if (!watcher.open) return;
  watcher.position = revision;
  const { prefix, sink } = watcher;
  const all = changes.every(({ bytes }) => bytes.startsWith(prefix));
  const mine = all ? changes : changes.filter(({ bytes }) => bytes.startsWith(prefix));
  if (mine.length > 0) call(() => sink.batch(revision, mine));
}

/** Calls a sink. What it throws becomes an uncaught error and does not affect other watches. */
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
