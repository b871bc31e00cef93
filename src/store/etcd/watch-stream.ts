import { type ByteString, type Clock, serverTurns } from '../../meta/index.ts';
import type { CommitChanges, KeyedChange } from '../fan-out.ts';
import { keyText } from '../keys.ts';
import { StoreError } from '../store.ts';
import { every, pause } from '../timers.ts';
import type { KeySpace } from './key-space.ts';
import type { Member, Members, WatchCall } from './members.ts';
import { deleted, type Event, type WatchResponse } from './rpc.ts';

/** Receives the events of a stream. Implementations must not throw. */
export interface StreamSink {
  /** All changes of one revision. */
  commit(commit: CommitChanges): void;
  /** Every change up to the position of the stream has been delivered. Called after each advance. */
  advanced(): void;
  /** The stream has ended: its position is compacted or has not been reached by the store. */
  failed(error: StoreError): void;
}

export interface StreamStart {
  readonly prefix: ByteString;
  /** Changes after this revision are delivered. */
  readonly after: number;
  /** Whether changes contain the previous entries. */
  readonly previous: boolean;
}

// How long to wait for a change before progress is requested, and before it is requested again (ms).
const firstRequestMs = 2;
const nextRequestMs = 100;
/** Interval at which streams are examined (ms). */
const examineMs = 1_000;
/** A member that has not been heard for this long is asked for progress (ms). */
const quietMs = 2_000;
/** A stream is resumed on another member when it has been behind, or has not been heard, for this long (ms). */
const stuckMs = 5_000;
/** The same before the first progress of the stream, while etcd searches its history (ms). */
const stuckReplayMs = 30_000;
const shortestBackoffMs = 50;
const longestBackoffMs = 1_000;

/**
 * A watch of a range of keys that outlives the streams of etcd: when one breaks, the next one resumes after the last
 * delivered revision.
 */
export class WatchStream {
  readonly #members: Members;
  readonly #keys: KeySpace;
  readonly #clock: Clock;
  readonly #start: StreamStart;
  readonly #sink: StreamSink;
  readonly #stopExamining: () => void;
  readonly #turns = serverTurns();
  #position: number;
  #closed = false;
  #current: { readonly member: Member; readonly call: WatchCall } | undefined;
  /** The changes of the last revision received, which may have more. */
  #pending: { readonly revision: number; readonly changes: KeyedChange[] } | undefined;
  /** The revision the stream must reach, and the time since which it has made no progress towards it. */
  #target = 0;
  #behindSince = 0;
  #cancelRequest: (() => void) | undefined;
  #begun = 0;
  #heard = 0;
  #hasProgressed = false;
  #failures = 0;

  constructor(members: Members, keys: KeySpace, clock: Clock, start: StreamStart, sink: StreamSink) {
    this.#members = members;
    this.#keys = keys;
    this.#clock = clock;
    this.#start = start;
    this.#sink = sink;
    this.#position = start.after;
    this.#stopExamining = every(clock, examineMs, () => this.#examine());
    void this.#run();
  }

  /** Every change up to this revision has been delivered. */
  get position(): number {
    return this.#position;
  }

  /** Advances the position to this revision, which the store has reached, even without a change. */
  reach(revision: number): void {
    if (revision <= Math.max(this.#position, this.#target)) return;
    if (this.#target <= this.#position) this.#behindSince = this.#clock.monotonic();
    this.#target = revision;
    this.#requestSoon(firstRequestMs);
  }

  close(): void {
    this.#closed = true;
    this.#stopExamining();
    this.#cancelRequest?.();
    this.#current?.call.cancel();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#follow();
      } catch (error) {
        if (this.#closed) return;
        if (error instanceof StoreError && error.code !== 'unavailable') {
          this.close();
          this.#sink.failed(error);
          return;
        }
      }
      await pause(this.#clock, Math.min(longestBackoffMs, shortestBackoffMs * 2 ** this.#failures++));
    }
  }

  /** Delivers the events of one stream of etcd. */
  async #follow(): Promise<void> {
    const { prefix, previous } = this.#start;
    const latest = await this.#members.revision();
    const at = this.#position;
    if (latest < at) {
      throw new StoreError('future', `revision ${at} has not been reached; the latest is ${latest}`, {
        revision: latest,
      });
    }
    // etcd reports compaction to a stream that begins at its own position when it happens; to one behind it at once.
    const startRevision = latest === at ? at + 1 : at;
    const current = this.#members.watch();
    this.#current = current;
    this.#pending = undefined;
    this.#begun = this.#clock.monotonic();
    this.#heard = this.#begun;
    this.#hasProgressed = latest === at;
    const { call } = current;
    // The iteration reports errors; errors after its end are ignored.
    call.on('error', () => undefined);
    try {
      const range = this.#keys.range(prefix);
      call.write({ createRequest: { ...range, startRevision, prevKv: previous, fragment: true } });
      for await (const response of call as AsyncIterable<WatchResponse>) {
        this.#heard = this.#clock.monotonic();
        await this.#take(response);
        if (this.#closed) return;
      }
    } finally {
      this.#current = undefined;
      call.cancel();
    }
  }

  async #take(response: WatchResponse): Promise<void> {
    const { header, created, canceled, compactRevision, cancelReason, events, fragment } = response;
    if (compactRevision > 0) {
      const message = `revision ${this.#position} is no longer kept; the first that is kept is ${compactRevision}`;
      throw new StoreError('compacted', message, { revision: compactRevision });
    }
    if (canceled) throw new Error(cancelReason);
    this.#failures = 0;
    if (created) return this.#requestSoon(firstRequestMs);
    for (const event of events) {
      if (this.#closed) return;
      const { modRevision } = event.kv;
      // A stream that begins at its position repeats it.
      if (modRevision <= this.#position) continue;
      if (this.#pending !== undefined && this.#pending.revision !== modRevision) {
        this.#deliver();
        if (this.#turns.over) await this.#turns.next();
      }
      this.#pending ??= { revision: modRevision, changes: [] };
      this.#pending.changes.push(this.#change(event));
    }
    if (!fragment) this.#deliver();
    if (this.#turns.over) await this.#turns.next();
    // A response without events reports progress.
    if (events.length === 0) this.#advance(header.revision);
  }

  #change({ type, kv, prevKv }: Event): KeyedChange {
    const bytes = this.#keys.bytes(kv);
    const key = keyText(bytes);
    const entry = type === deleted ? undefined : { key, value: kv.value, revision: kv.modRevision };
    const previous = prevKv === null ? undefined : { key, value: prevKv.value, revision: prevKv.modRevision };
    return { bytes, key, entry, previous };
  }

  #deliver(): void {
    const commit = this.#pending;
    this.#pending = undefined;
    if (commit === undefined || this.#closed) return;
    // Advance before the delivery: a watch that starts within it, after an earlier revision, must not join.
    this.#moveTo(commit.revision);
    this.#sink.commit(commit);
    this.#advance(commit.revision);
  }

  #advance(revision: number): void {
    if (this.#closed) return;
    this.#hasProgressed = true;
    this.#moveTo(revision);
    if (this.#position >= this.#target) {
      this.#cancelRequest?.();
      this.#cancelRequest = undefined;
    }
    this.#sink.advanced();
  }

  #moveTo(revision: number): void {
    if (revision <= this.#position) return;
    this.#position = revision;
    this.#behindSince = this.#heard;
  }

  /** Requests progress repeatedly until the stream has reached its target: etcd does not answer while it replays. */
  #requestSoon(ms: number): void {
    if (this.#position >= this.#target || this.#closed) return;
    this.#cancelRequest ??= this.#clock.after(ms, () => {
      this.#cancelRequest = undefined;
      this.#current?.call.write({ progressRequest: {} });
      this.#requestSoon(nextRequestMs);
    });
  }

  #examine(): void {
    if (this.#current === undefined) return;
    const { member, call } = this.#current;
    const now = this.#clock.monotonic();
    const quiet = now - this.#heard;
    const behind = this.#position < this.#target ? now - Math.max(this.#behindSince, this.#begun) : 0;
    if (Math.max(quiet, behind) > (this.#hasProgressed ? stuckMs : stuckReplayMs)) {
      this.#members.suspect(member);
      call.cancel();
    } else if (quiet > quietMs) {
      call.write({ progressRequest: {} });
    }
  }
}
