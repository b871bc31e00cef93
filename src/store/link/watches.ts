import { encodeText } from '../../meta/index.ts';
import { checkPrefix, checkReached } from '../check.ts';
import { call, deliver, FanOut, type Follower, failedWatch } from '../fan-out.ts';
import type { Change, StoreError, Watch, WatchOptions, WatchSink } from '../store.ts';
import { type ClientMessage, sharedWatch } from './messages.ts';

interface Watcher extends Follower {
  readonly previous: boolean;
  /** Its own watch on the other end; undefined while it is live. */
  own: OwnWatch | undefined;
}

interface OwnWatch {
  readonly id: number;
  readonly progress: ProgressRequests;
}

/**
 * The watches of a linked store. One watch of the other end, of all keys, serves every live watch. A watch from an earlier
 * revision begins with a watch of its own and joins the others when it has caught up; one with previous entries does not.
 */
export class LinkedWatches {
  readonly #send: (message: ClientMessage) => void;
  readonly #all = new Set<Watcher>();
  readonly #live = new FanOut<Watcher>();
  readonly #own = new Map<number, Watcher>();
  readonly #progress: ProgressRequests;
  readonly #readLatest: () => number | undefined;
  /** The revision that answers the requests for progress under way, where it is known. */
  #awaited = Number.POSITIVE_INFINITY;
  /** The revision up to which the shared watch has delivered; infinite while there is none. */
  #position: number;
  #lastId = sharedWatch;
  #ended: StoreError | undefined;

  /** `latest`: the revision after which the shared watch begins. `readLatest`: the latest revision, where it is known here. */
  constructor(send: (message: ClientMessage) => void, latest: number, readLatest: () => number | undefined) {
    this.#send = send;
    this.#readLatest = readLatest;
    this.#position = latest;
    this.#progress = new ProgressRequests(() => this.#askProgress());
  }

  watch(prefix: string, after: number, sink: WatchSink, { previous = false }: WatchOptions = {}): Watch {
    const watcher = { sink, previous, position: after, open: true, own: undefined };
    try {
      if (this.#ended !== undefined) throw this.#ended;
      const added: Watcher = { ...watcher, prefix: checkPrefix(prefix) };
      checkReached(after, Number.MAX_SAFE_INTEGER);
      this.#all.add(added);
      if (after === this.#position && !previous) this.#live.add(added);
      else this.#begin(added, prefix);
      return {
        progress: () => this.#requestProgress(added),
        close: () => this.#remove(added),
      };
    } catch (error) {
      return failedWatch(sink, error as StoreError);
    }
  }

  /** Takes a batch of a watch of the other end. */
  batch(id: number, revision: number, changes: readonly Change[]): void {
    if (id === sharedWatch) this.#sharedBatch(revision, changes);
    else this.#ownBatch(this.#own.get(id), revision, changes);
  }

  /** Takes the end of a watch of the other end. */
  ended(id: number, error: StoreError): void {
    const own = this.#own.get(id);
    if (own !== undefined) this.#fail(own, error);
    if (id !== sharedWatch) return;
    this.#position = Number.POSITIVE_INFINITY;
    this.#awaited = Number.POSITIVE_INFINITY;
    this.#progress.clear();
    for (const watcher of [...this.#live]) this.#fail(watcher, error);
  }

  /** The shared watch begins again after this revision. */
  follows(revision: number): void {
    this.#position = revision;
  }

  /** Ends every watch with this error; later watches fail the same way. */
  end(error: StoreError): void {
    this.#ended = error;
    for (const watcher of [...this.#all]) {
      this.#remove(watcher);
      queueMicrotask(() => call(() => watcher.sink.error(error)));
    }
  }

  #begin(watcher: Watcher, prefix: string): void {
    const id = ++this.#lastId;
    const { position: after, previous } = watcher;
    watcher.own = { id, progress: new ProgressRequests(() => this.#send({ type: 'progress', id })) };
    this.#own.set(id, watcher);
    this.#send({ type: 'watch', id, prefix, after, previous });
    // Without changes it reaches the shared watch only through progress.
    if (!previous) watcher.own.progress.request(watcher);
  }

  #sharedBatch(revision: number, changes: readonly Change[]): void {
    this.#position = Math.max(this.#position, revision);
    const commit = { revision, changes: changes.map(keyed) };
    for (const group of this.#live.covering(commit.changes)) for (const watcher of group) deliver(watcher, commit);
    if (changes.length === 0 || revision >= this.#awaited) this.#progressed(revision);
  }

  #progressed(revision: number): void {
    this.#awaited = Number.POSITIVE_INFINITY;
    for (const watcher of this.#progress.answered()) this.#notify(watcher, revision);
  }

  /** Asks for progress of the shared watch, without a message where the latest revision is known. */
  #askProgress(): void {
    const latest = this.#readLatest();
    if (latest === undefined || this.#position === Number.POSITIVE_INFINITY) {
      this.#send({ type: 'progress', id: sharedWatch });
      return;
    }
    this.#awaited = latest;
    // A sink is not called within its own call.
    if (this.#position >= latest) queueMicrotask(() => this.#awaited === latest && this.#progressed(this.#position));
  }

  #ownBatch(watcher: Watcher | undefined, revision: number, changes: readonly Change[]): void {
    if (watcher?.own === undefined) return;
    const { progress } = watcher.own;
    deliver(watcher, { revision, changes: changes.map(keyed) });
    const answers = changes.length === 0 && progress.answered().length > 0;
    watcher.position = Math.max(watcher.position, revision);
    if (watcher.open && !watcher.previous && watcher.position >= this.#position) this.#join(watcher, progress);
    if (answers) this.#notify(watcher, revision);
  }

  #join(watcher: Watcher, progress: ProgressRequests): void {
    this.#endOwn(watcher);
    this.#live.add(watcher);
    if (progress.isPending) this.#progress.request(watcher);
  }

  #requestProgress(watcher: Watcher): void {
    if (watcher.open) (watcher.own?.progress ?? this.#progress).request(watcher);
  }

  #notify(watcher: Watcher, revision: number): void {
    if (watcher.open) call(() => watcher.sink.batch(Math.max(revision, watcher.position), []));
  }

  #endOwn(watcher: Watcher): void {
    if (watcher.own === undefined) return;
    const { id } = watcher.own;
    watcher.own = undefined;
    this.#own.delete(id);
    this.#send({ type: 'unwatch', id });
  }

  #remove(watcher: Watcher): void {
    watcher.open = false;
    this.#all.delete(watcher);
    this.#live.delete(watcher);
    this.#endOwn(watcher);
  }

  #fail(watcher: Watcher, error: StoreError): void {
    if (!watcher.open) return;
    this.#remove(watcher);
    call(() => watcher.sink.error(error));
  }
}

const keyed = (change: Change) => ({ ...change, bytes: encodeText(change.key) });

/** Requests for progress of one watch of the other end: those that come while one is under way share the next. */
class ProgressRequests {
  readonly #send: () => void;
  #asked = new Set<Watcher>();
  #next = new Set<Watcher>();

  constructor(send: () => void) {
    this.#send = send;
  }

  get isPending(): boolean {
    return this.#asked.size > 0;
  }

  request(watcher: Watcher): void {
    if (this.isPending) {
      this.#next.add(watcher);
      return;
    }
    this.#asked.add(watcher);
    this.#send();
  }

  /** Returns those whose request is answered by a notification that has arrived. */
  answered(): readonly Watcher[] {
    const answered = [...this.#asked];
    this.#asked = this.#next;
    this.#next = new Set();
    if (this.isPending) this.#send();
    return answered;
  }

  clear(): void {
    this.#asked.clear();
    this.#next.clear();
  }
}
