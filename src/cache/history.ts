import type { StatusError } from '../meta/index.ts';
import { type Change as StoreChange, StoreError, type Watch } from '../store/index.ts';
import { Change } from './change.ts';
import { Directory, type Member } from './directory.ts';
import { retryDelay } from './feeder.ts';
import type { CacheOptions } from './types.ts';
import { type EventWindow, tooOld } from './window.ts';

/** A subscriber that needs changes from before the event window. */
export interface Latecomer extends Member {
  /** Everything up to it had been offered when the member was added. */
  readonly position: number;
  /** The reader has let go of the member, after everything up to `revision`: it goes on from there by itself. */
  proceed(revision: number): void;
  end(error: StatusError | undefined): void;
}

/**
 * Reads the store's history for all subscribers of a cache whose start lies before the event window. At most one watch
 * of the store is open at a time: it begins at the lowest position and serves everybody who joins in front of it, so
 * that each change is read and described once however many clients come back. A member leaves when it has no room for
 * more and comes back when it has; nothing is kept here.
 */
export class HistoryReader {
  readonly #options: CacheOptions;
  readonly #window: EventWindow;
  /** Called after each commit that was offered. */
  readonly #offered: () => void;
  readonly #directory: Directory;
  /** Those being read for, and those who wait for the next read because this one is beyond them. */
  readonly #reading = new Set<Latecomer>();
  readonly #waiting = new Set<Latecomer>();
  #watch: Watch | undefined;
  /** Everything up to it has been offered to those being read for. */
  #position = 0;
  #failures = 0;
  #cancelStart: (() => void) | undefined;

  constructor(options: CacheOptions, window: EventWindow, offered: () => void) {
    this.#options = options;
    this.#window = window;
    this.#offered = offered;
    this.#directory = new Directory(options.indexedFields);
  }

  /** Offers to the member every change after its position, until it is removed or told to proceed. */
  add(member: Latecomer): void {
    if (this.#reading.has(member)) return;
    if (this.#watch !== undefined && member.position >= this.#position) {
      this.#reading.add(member);
      this.#directory.add(member);
      return;
    }
    this.#waiting.add(member);
    this.#startSoon();
  }

  remove(member: Latecomer): void {
    this.#waiting.delete(member);
    if (this.#reading.delete(member)) this.#directory.remove(member);
    if (this.#watch !== undefined && !this.#isNeeded()) this.#release();
    if (this.#waiting.size === 0) this.#cancelStart?.();
  }

  /** The revision up to which everything has been offered to the member. */
  reached(member: Latecomer): number {
    return this.#reading.has(member) ? Math.max(member.position, this.#position) : member.position;
  }

  /** Whether anybody wants the changes that come next: members that start further on do not. */
  #isNeeded(): boolean {
    for (const member of this.#reading) if (member.position <= this.#position) return true;
    return false;
  }

  /** Members that are added in the same turn of the event loop are read for together. */
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
    const watch: Watch = store.watch(prefix, this.#position, {
      batch: (revision, changes) => this.#batch(revision, changes),
      error: (error) => this.#failed(error),
    });
    this.#watch = watch;
    // Answered when there is no more history.
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
    // Everything before this commit has been offered; it is in the window, or will be.
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
    this.#offered();
  }

  /** Ends the read. Those who took part go on by themselves. */
  #release(): void {
    this.#watch?.close();
    this.#watch = undefined;
    const members = [...this.#reading];
    this.#reading.clear();
    for (const member of members) this.#directory.remove(member);
    for (const member of members) member.proceed(this.#position);
    this.#startSoon();
  }

  #failed({ code, revision = this.#window.oldest }: StoreError): void {
    this.#watch?.close();
    this.#watch = undefined;
    if (code === 'closed' || code === 'compacted' || code === 'future') {
      for (const member of [...this.#reading]) {
        const reached = this.reached(member);
        if (code === 'closed') member.end(undefined);
        else if (code === 'future' || reached < revision) member.end(tooOld(reached, revision));
      }
    } else {
      this.#cancelStart = this.#delay();
    }
    this.#release();
  }

  /** Starts again after a while. The result stops that. */
  #delay(): () => void {
    const cancel = this.#options.clock.after(retryDelay(this.#failures++), () => this.#start());
    return () => {
      cancel();
      this.#cancelStart = undefined;
    };
  }
}
