import {
  type Change,
  type CommitResult,
  type Compare,
  type Entry,
  type GetResult,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type StoreErrorCode,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from '../../store/index.ts';

interface Follower {
  readonly prefix: string;
  readonly sink: WatchSink;
  readonly previous: boolean;
  /** The last revision that was delivered. */
  position: number;
  /** The revisions of the requests for progress that wait for it. */
  awaited: number[];
  open: boolean;
}

/** A small store in memory with injected failures. Watches deliver within `commit`, or when `advance` is called. */
export class FakeStore implements Store {
  readonly maxValueBytes = 1024 * 1024;
  /** State by revision; the last is the current one. */
  readonly #states: { revision: number; entries: Map<string, Entry> }[] = [{ revision: 1, entries: new Map() }];
  readonly #log: { revision: number; changes: Change[] }[] = [];
  readonly #followers = new Set<Follower>();
  #compacted = 0;
  /** Error codes of the next calls of `list` and `watch`. */
  readonly listFailures: StoreErrorCode[] = [];
  readonly watchFailures: StoreErrorCode[] = [];
  /** The number of calls. */
  readonly calls = { lists: 0, watches: 0, progress: 0 };
  /** Whether watches deliver commits and progress only when `advance` is called. */
  late = false;
  /** Holds progress notifications back until `releaseProgress`. */
  holdProgress = false;
  readonly #held: (() => void)[] = [];

  get latest(): number {
    return this.#states.at(-1)!.revision;
  }

  /** The first revision that can be read. */
  get compacted(): number {
    return this.#compacted;
  }

  get followers(): number {
    return this.#followers.size;
  }

  async revision(): Promise<number> {
    return this.latest;
  }

  async oldest(): Promise<number> {
    return this.#compacted;
  }

  async size(): Promise<undefined> {}

  async get(key: string, revision?: number): Promise<GetResult> {
    const state = this.#at(revision);
    return { entry: state.entries.get(key), revision: revision ?? state.revision };
  }

  async list({ prefix, after, revision, limit }: ListRange): Promise<ListResult> {
    this.calls.lists++;
    const failure = this.listFailures.shift();
    if (failure !== undefined) throw new StoreError(failure, 'injected');
    const state = this.#at(revision);
    const entries = [...state.entries.values()]
      .filter(({ key }) => key.startsWith(prefix) && (after === undefined || compareBytes(key, after) > 0))
      .sort((a, b) => compareBytes(a.key, b.key));
    const page = entries.slice(0, limit);
    const more = entries.length > page.length;
    return { entries: page, revision: revision ?? state.revision, more, remaining: undefined };
  }

  async commit(_: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    return { ok: true, revision: this.write(writes) };
  }

  /** A commit without compares, delivered to watches before it returns. */
  write(writes: readonly Write[]): number {
    const last = this.#states.at(-1)!;
    const revision = last.revision + 1;
    const entries = new Map(last.entries);
    const changes: Change[] = [];
    for (const { key, value } of writes) {
      const previous = entries.get(key);
      const entry = value === undefined ? undefined : { key, value, revision };
      if (entry === undefined) entries.delete(key);
      else entries.set(key, entry);
      if (entry !== undefined || previous !== undefined) changes.push({ key, entry, previous });
    }
    this.#states.push({ revision, entries });
    if (this.#states.length > 50) this.#states.shift();
    this.#log.push({ revision, changes });
    if (!this.late) this.advance();
    return revision;
  }

  /** Delivers to every watch the next `commits` that it has not had, and the progress that it asked for up to there. */
  advance(commits = Number.POSITIVE_INFINITY): void {
    for (const follower of this.#followers) this.#deliver(follower, Math.min(this.latest, follower.position + commits));
  }

  /** Fills the empty store with entries, without history. */
  fill(entries: readonly Entry[], revision: number): void {
    this.#states.splice(0, 1, { revision, entries: new Map(entries.map((entry) => [entry.key, entry])) });
  }

  /** Notifies every watch of its progress, without a request. */
  notify(): void {
    for (const { sink, position } of this.#followers) sink.batch(position, []);
  }

  watch(prefix: string, after: number, sink: WatchSink, { previous = false }: WatchOptions = {}): Watch {
    this.calls.watches++;
    const follower: Follower = { prefix, sink, previous, position: after, awaited: [], open: true };
    const failure = this.watchFailures.shift();
    queueMicrotask(() => this.#start(follower, after, failure));
    return {
      progress: () => {
        this.calls.progress++;
        const { latest } = this;
        const notify = () => {
          if (follower.open) sink.batch(latest, []);
        };
        if (this.late) follower.awaited.push(latest);
        else if (this.holdProgress) this.#held.push(notify);
        else queueMicrotask(notify);
      },
      close: () => {
        follower.open = false;
        this.#followers.delete(follower);
      },
    };
  }

  releaseProgress(): void {
    for (const notify of this.#held.splice(0)) notify();
  }

  /** Ends every watch. */
  fail(code: StoreErrorCode): void {
    for (const follower of [...this.#followers]) this.#end(follower, new StoreError(code, 'injected'));
  }

  async compact(revision: number): Promise<void> {
    this.#compacted = revision;
    for (const follower of [...this.#followers]) if (follower.position < revision) this.#endCompacted(follower);
  }

  async close(): Promise<void> {
    this.fail('closed');
  }

  #start(follower: Follower, after: number, failure: StoreErrorCode | undefined): void {
    if (!follower.open) return;
    const { latest } = this;
    if (failure !== undefined) {
      this.#end(follower, new StoreError(failure, 'injected'));
    } else if (after < this.#compacted) {
      this.#endCompacted(follower);
    } else if (after > latest) {
      this.#end(follower, new StoreError('future', 'injected', { revision: latest }));
    } else {
      if (!this.late) this.#deliver(follower, latest);
      if (follower.open) this.#followers.add(follower);
    }
  }

  #deliver(follower: Follower, until: number): void {
    const { sink, prefix, previous } = follower;
    for (const { revision, changes } of this.#log) {
      if (revision <= follower.position || revision > until || !follower.open) continue;
      follower.position = revision;
      const concerned = changes.filter(({ key }) => key.startsWith(prefix));
      const told = previous ? concerned : concerned.map((change) => ({ ...change, previous: undefined }));
      if (told.length > 0) sink.batch(revision, told);
    }
    const reached = follower.awaited.filter((revision) => revision <= follower.position);
    follower.awaited = follower.awaited.filter((revision) => revision > follower.position);
    if (reached.length > 0 && follower.open) sink.batch(follower.position, []);
  }

  #endCompacted(follower: Follower): void {
    this.#end(follower, new StoreError('compacted', 'injected', { revision: this.#compacted }));
  }

  #end(follower: Follower, error: StoreError): void {
    follower.open = false;
    this.#followers.delete(follower);
    follower.sink.error(error);
  }

  #at(revision = this.latest) {
    const state = this.#states.findLast((candidate) => candidate.revision <= revision);
    if (state === undefined || revision < this.#compacted) {
      const oldest = Math.max(this.#compacted, this.#states[0]!.revision);
      throw new StoreError('compacted', 'compacted', { revision: oldest });
    }
    return state;
  }
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
