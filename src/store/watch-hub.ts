import { type ByteString, serverTurns } from '../meta/index.ts';
import { checkPrefix, checkReadable, closedError, type Readable } from './check.ts';
import { type CommitChanges, call, deliver, FanOut, type Follower, failedWatch } from './fan-out.ts';
import { StoreError, type Watch, type WatchOptions, type WatchSink } from './store.ts';

export interface Replay {
  /** The revision up to which `commits` is complete. */
  readonly revision: number;
  /** Oldest first. Commits without a change below the prefix may be omitted. */
  readonly commits: readonly CommitChanges[];
}
export interface WatchSource {
  readable(): Readable;
  /** Returns commits after revision `after`: a bounded number, and at least one when there is any. */
  replay(after: number, prefix: ByteString, previous: boolean): Replay;
}
/** The parts of a change that live watches need. */
export type WatchInterest = 'nothing' | 'entry' | 'previous';

/** A watch, whose position is also the revision up to which its replay is complete. */
interface Watcher extends Follower {
  readonly previous: boolean;
  /** Whether the watch has replayed the history and receives every commit when it is published. */
  live: boolean;
  progressRequested: boolean;
}

/** The watches of a store: replays history to new ones, then fans out every published commit to the live ones. */
export class WatchHub {
  readonly #source: WatchSource;
  readonly #watchers = new Set<Watcher>();
  readonly #live = new FanOut<Watcher>();
  /** The revision of the last commit that was delivered to all live watches. */
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
      queueMicrotask(() => void this.#catchUp(added));
      return { progress: () => this.#requestProgress(added), close: () => this.#remove(added) };
    } catch (error) {
      return failedWatch(sink, error as StoreError);
    }
  }

  /** Returns what the live watches that cover this key need of its change. */
  wants(key: ByteString): WatchInterest {
    let interest: WatchInterest = 'nothing';
    for (const group of this.#live.covering([{ bytes: key }])) {
      for (const { prefix, previous } of group) {
        if (!key.startsWith(prefix)) continue;
        if (previous) return 'previous';
        interest = 'entry';
      }
    }
    return interest;
  }

  /** The earliest revision that a watch still has to replay; infinite when all are live. */
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
      for (const group of this.#live.covering(next.changes)) {
        for (const watcher of group) deliver(watcher, watcher.previous ? next : plain);
      }
      this.#delivered = next.revision;
    }
    this.#delivering = false;
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
    this.#live.delete(watcher);
  }

  #requestProgress(watcher: Watcher): void {
    watcher.progressRequested = true;
    queueMicrotask(() => this.#sendProgress(watcher));
  }

  /** Replays the history to a watch, in turns of the server, until it is live. */
  async #catchUp(watcher: Watcher): Promise<void> {
    const turns = serverTurns();
    while (watcher.open && !watcher.live) {
      this.#replay(watcher);
      this.#drain();
      if (watcher.position === this.#source.readable().latest) {
        watcher.live = true;
        if (watcher.open) this.#live.add(watcher);
        this.#sendProgress(watcher);
      } else if (turns.over) await turns.next();
    }
  }

  #replay(watcher: Watcher): void {
    try {
      const { revision, commits } = this.#source.replay(watcher.position, watcher.prefix, watcher.previous);
      this.#delivering = true;
      for (const commit of commits) deliver(watcher, watcher.previous ? commit : withoutPrevious(commit));
      watcher.position = revision;
    } catch (error) {
      this.#remove(watcher);
      call(() => watcher.sink.error(asStoreError(error)));
    }
  }

  #sendProgress(watcher: Watcher): void {
    if (!watcher.open || !watcher.live || !watcher.progressRequested) return;
    watcher.progressRequested = false;
    const revision = Math.max(watcher.position, this.#delivered);
    call(() => watcher.sink.batch(revision, []));
  }
}

/** Returns the same object when no change has a previous entry. */
function withoutPrevious(commit: CommitChanges): CommitChanges {
  if (commit.changes.every(({ previous }) => previous === undefined)) return commit;
  return { ...commit, changes: commit.changes.map((change) => ({ ...change, previous: undefined })) };
}

function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('unavailable', 'the history of the store cannot be read', { cause: error });
}
