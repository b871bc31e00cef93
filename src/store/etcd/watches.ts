import type { ByteString, Clock } from '../../meta/index.ts';
import { checkPrefix, checkReached, closedError } from '../check.ts';
import { type CommitChanges, call, deliver, FanOut, type Follower, failedWatch } from '../fan-out.ts';
import type { StoreError, Watch, WatchOptions, WatchSink } from '../store.ts';
import { pause } from '../timers.ts';
import type { KeySpace } from './key-space.ts';
import type { Members } from './members.ts';
import { WatchStream } from './watch-stream.ts';

interface Watcher extends Follower {
  /** The separate stream of a watch that replays history or needs previous entries; undefined for a live one. */
  own: WatchStream | undefined;
  /** The revisions awaited by requests for progress. */
  readonly awaited: Set<number>;
}

const everything = '' as ByteString;
/** The pause before a retry of a progress request whose revision could not be read (ms). */
const retryMs = 500;

/**
 * The watches of a store. One stream of etcd over all keys serves every live watch. A watch from an earlier revision
 * starts with a separate stream and joins the others when it has caught up; one with previous entries stays separate.
 */
export class Watches {
  readonly #members: Members;
  readonly #keys: KeySpace;
  readonly #clock: Clock;
  readonly #watchers = new Set<Watcher>();
  readonly #live = new FanOut<Watcher>();
  #stream: WatchStream;
  #open = true;

  /** `latest`: a revision that the store has reached. */
  constructor(members: Members, keys: KeySpace, clock: Clock, latest: number) {
    this.#members = members;
    this.#keys = keys;
    this.#clock = clock;
    this.#stream = this.#follow(latest);
  }

  watch(prefix: string, after: number, sink: WatchSink, { previous = false }: WatchOptions = {}): Watch {
    const watcher = { sink, position: after, open: true, own: undefined, awaited: new Set<number>() };
    try {
      if (!this.#open) throw closedError();
      const added: Watcher = { ...watcher, prefix: checkPrefix(prefix) };
      checkReached(after, Number.MAX_SAFE_INTEGER);
      this.#watchers.add(added);
      if (previous || after < this.#stream.position) this.#replay(added, previous);
      else this.#join(added);
      return { progress: () => void this.#progress(added), close: () => this.#remove(added) };
    } catch (error) {
      return failedWatch(sink, error as StoreError);
    }
  }

  /** Ends every watch as `closed`; later watches fail the same way. */
  close(): void {
    this.#open = false;
    this.#stream.close();
    for (const watcher of this.#watchers) queueMicrotask(() => this.#fail(watcher, closedError()));
  }

  /** The stream of the live watches. */
  #follow(after: number): WatchStream {
    return new WatchStream(
      this.#members,
      this.#keys,
      this.#clock,
      { prefix: everything, after, previous: false },
      {
        commit: (commit) => this.#publish(commit),
        advanced: () => {
          for (const watcher of this.#live) this.#answer(watcher);
        },
        failed: (error) => void this.#restart(error),
      },
    );
  }

  #publish(commit: CommitChanges): void {
    for (const group of this.#live.covering(commit.changes)) for (const watcher of group) deliver(watcher, commit);
  }

  /** Restarts at the latest revision when the changes after the position of the stream are lost to the live watches. */
  async #restart(error: StoreError): Promise<void> {
    for (const watcher of [...this.#live]) this.#fail(watcher, error);
    while (this.#open) {
      try {
        const latest = await this.#members.revision();
        if (this.#open) this.#goOn(latest);
        return;
      } catch {
        await pause(this.#clock, retryMs);
      }
    }
  }

  #goOn(latest: number): void {
    this.#stream = this.#follow(latest);
    for (const watcher of [...this.#live]) {
      this.#live.delete(watcher);
      // Joining requests the awaited revisions from the new stream: only the former one was asked for them.
      if (watcher.position < latest) this.#replay(watcher, false);
      else this.#join(watcher);
    }
  }

  #replay(watcher: Watcher, previous: boolean): void {
    const { prefix, position: after } = watcher;
    const own = new WatchStream(
      this.#members,
      this.#keys,
      this.#clock,
      { prefix, after, previous },
      {
        commit: (commit) => deliver(watcher, commit),
        advanced: () => {
          watcher.position = own.position;
          if (!previous && own.position >= this.#stream.position) {
            own.close();
            watcher.own = undefined;
            if (watcher.open) this.#join(watcher);
          }
          this.#answer(watcher);
        },
        failed: (error) => this.#fail(watcher, error),
      },
    );
    watcher.own = own;
    for (const revision of watcher.awaited) own.reach(revision);
    // Without changes, the stream reaches that position only through progress.
    if (!previous) own.reach(this.#stream.position);
  }

  #join(watcher: Watcher): void {
    this.#live.add(watcher);
    for (const revision of watcher.awaited) this.#stream.reach(revision);
    if (watcher.position > this.#stream.position) void this.#checkReached(watcher);
  }

  /** Ends a live watch that begins after the latest revision. */
  async #checkReached(watcher: Watcher): Promise<void> {
    try {
      const latest = await this.#latest(watcher);
      if (latest !== undefined) checkReached(watcher.position, latest);
    } catch (error) {
      this.#fail(watcher, error as StoreError);
    }
  }

  async #progress(watcher: Watcher): Promise<void> {
    const latest = await this.#latest(watcher);
    if (latest === undefined) return;
    watcher.awaited.add(latest);
    (watcher.own ?? this.#stream).reach(latest);
    this.#answer(watcher);
  }

  /** The latest revision; undefined when the watch has been closed. */
  async #latest(watcher: Watcher): Promise<number | undefined> {
    while (watcher.open) {
      try {
        const latest = await this.#members.revision();
        return watcher.open ? latest : undefined;
      } catch {
        await pause(this.#clock, retryMs);
      }
    }
    return undefined;
  }

  /** Answers the requests for progress whose revision has been delivered. */
  #answer(watcher: Watcher): void {
    if (watcher.awaited.size === 0) return;
    const reached = Math.max(watcher.position, (watcher.own ?? this.#stream).position);
    let answers = false;
    for (const revision of watcher.awaited) if (revision <= reached) answers = watcher.awaited.delete(revision);
    if (answers && watcher.open) call(() => watcher.sink.batch(reached, []));
  }

  #remove(watcher: Watcher): void {
    watcher.open = false;
    watcher.own?.close();
    this.#watchers.delete(watcher);
    this.#live.delete(watcher);
  }

  #fail(watcher: Watcher, error: StoreError): void {
    if (!watcher.open) return;
    this.#remove(watcher);
    call(() => watcher.sink.error(error));
  }
}
