import { type StatusError, statusError } from '../meta/index.ts';
import { type Change as StoreChange, StoreError, type StoreErrorCode, type Watch } from '../store/index.ts';
import { Change } from './change.ts';
import { Directory, type Member } from './directory.ts';
import { retryDelay } from './feeder.ts';
import type { CacheOptions } from './types.ts';
import { type EventWindow, tooOld } from './window.ts';

/** A subscriber that needs changes from before the event window. */
export interface HistoryMember extends Member {
  /** The last revision offered when the member was added. */
  readonly position: number;
  /** Called after the reader has removed the member: everything up to `revision` has been offered. */
  proceed(revision: number): void;
  end(error: StatusError | undefined): void;
}

/** The errors of a watch after which the history is not read again. */
const finalErrorCodes: ReadonlySet<StoreErrorCode> = new Set(['closed', 'compacted', 'future', 'damaged']);

/**
 * Replays the store's history to all subscribers of a cache that start before the event window. At most one watch of the
 * store is open at a time: it begins at the lowest position and also serves members that join ahead of it, so that each
 * change is read and decoded once however many clients reconnect. A member without buffer space leaves and joins again
 * later; nothing is buffered here.
 */
export class HistoryReader {
  readonly #options: CacheOptions;
  readonly #window: EventWindow;
  readonly #directory: Directory;
  /** Members of the current read, and members that wait for the next read because this one has passed their position. */
  readonly #reading = new Set<HistoryMember>();
  readonly #waiting = new Set<HistoryMember>();
  #watch: Watch | undefined;
  /** The last revision offered to the members of the current read. */
  #position = 0;
  #failures = 0;
  #damageReported = false;
  #cancelStart: (() => void) | undefined;

  constructor(options: CacheOptions, window: EventWindow) {
    this.#options = options;
    this.#window = window;
    this.#directory = new Directory(options.indexedFields);
  }

  /** Offers every change after the member's position, until it is removed or `proceed` is called. */
  add(member: HistoryMember): void {
    if (this.#reading.has(member)) return;
    if (this.#watch !== undefined && member.position >= this.#position) {
      this.#reading.add(member);
      this.#directory.add(member);
      return;
    }
    this.#waiting.add(member);
    this.#startSoon();
  }

  remove(member: HistoryMember): void {
    this.#waiting.delete(member);
    if (this.#reading.delete(member)) this.#directory.remove(member);
    if (this.#watch !== undefined && !this.#isNeeded()) this.#release();
    if (this.#waiting.size === 0) this.#cancelStart?.();
  }

  /** The last revision offered to the member. */
  reached(member: HistoryMember): number {
    return this.#reading.has(member) ? Math.max(member.position, this.#position) : member.position;
  }

  /** Whether a member needs the next change: members that start later do not. */
  #isNeeded(): boolean {
    for (const member of this.#reading) if (member.position <= this.#position) return true;
    return false;
  }

  /** Members that are added in the same turn of the event loop share a read. */
  #startSoon(): void {
    if (this.#watch !== undefined || this.#cancelStart !== undefined || this.#waiting.size === 0) return;
    const turn = setImmediate(() => this.#start());
    this.#cancelStart = () => {
      clearImmediate(turn);
      this.#cancelStart = undefined;
    };
  }

  #start(): void {
    this.#cancelStart = undefined;
    if (this.#waiting.size === 0) return;
    this.#position = Number.POSITIVE_INFINITY;
    for (const member of this.#waiting) {
      this.#position = Math.min(this.#position, member.position);
      this.#reading.add(member);
      this.#directory.add(member);
    }
    this.#waiting.clear();
    const { store, prefix } = this.#options;
    const sink = {
      batch: (revision: number, changes: readonly StoreChange[]) => this.#batch(revision, changes),
      error: (error: StoreError) => this.#failed(error),
    };
    const watch: Watch = store.watch(prefix, this.#position, sink, { previous: true });
    this.#watch = watch;
    // The notification comes at the end of the history.
    watch.progress();
  }

  #batch(revision: number, changes: readonly StoreChange[]): void {
    this.#failures = 0;
    const { oldest } = this.#window;
    if (changes.length > 0 && revision <= oldest) {
      this.#position = revision;
      this.#offer(revision, changes);
      return;
    }
    // Everything before this commit has been offered. The commit is in the window, or will be.
    this.#position = Math.max(this.#position, changes.length > 0 ? revision - 1 : revision);
    if (this.#position >= oldest) this.#release();
    else this.#failed(new StoreError('unavailable', 'the store has not reached the beginning of the event window'));
  }

  #offer(revision: number, changes: readonly StoreChange[]): void {
    const { describe, describeDeleted } = this.#options;
    for (const { entry, previous } of changes) {
      if (entry === undefined && previous === undefined) continue;
      const current = entry && describe(entry);
      this.#directory.offer(new Change(revision, 0, current, previous && describe(previous), describeDeleted));
    }
  }

  /** Ends the read. Its members continue on their own. */
  #release(): void {
    this.#watch?.close();
    this.#watch = undefined;
    const members = [...this.#reading];
    this.#reading.clear();
    for (const member of members) this.#directory.remove(member);
    for (const member of members) member.proceed(this.#position);
    this.#startSoon();
  }

  #failed(error: StoreError): void {
    const { code, revision = this.#window.oldest } = error;
    this.#watch?.close();
    this.#watch = undefined;
    if (code === 'damaged') this.#damaged(error);
    if (finalErrorCodes.has(code)) {
      for (const member of [...this.#reading]) {
        const reached = this.reached(member);
        if (code === 'closed') member.end(undefined);
        else if (code === 'future' || reached < revision) member.end(tooOld(reached, revision));
      }
    } else {
      this.#cancelStart = this.#delay(code);
    }
    this.#release();
  }

  /** Reports damaged history once, since it stays damaged. */
  #damaged(error: StoreError): void {
    if (this.#damageReported) return;
    this.#damageReported = true;
    this.#options.onDamage?.(statusError.damaged(this.#options.id, error));
  }

  /** Restarts after the backoff. The returned function cancels that. */
  #delay(code: StoreErrorCode): () => void {
    const cancel = this.#options.clock.after(retryDelay(this.#failures++, code), () => this.#start());
    return () => {
      cancel();
      this.#cancelStart = undefined;
    };
  }
}
