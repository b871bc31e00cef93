import type { Clock } from '../meta/index.ts';

/** Bookmarks that are due in the same interval (ms) are sent together. */
const tickMs = 1_000;

/** A watch with bookmarks. */
export interface Bookmarked {
  readonly bookmarkMs: number;
  bookmark(): void;
}

interface Tick {
  readonly members: Set<Bookmarked>;
  readonly cancel: () => void;
}

/**
 * Sends bookmarks periodically. Each tick requests one progress notification from the store, however many members are
 * due, and the bookmarks are sent once it arrives.
 */
export class Bookmarks {
  readonly #clock: Clock;
  readonly #requestProgress: () => boolean;
  readonly #ticks = new Map<number, Tick>();
  readonly #tickOf = new Map<Bookmarked, number>();
  /** Members whose bookmarks are sent with the next progress notification. */
  readonly #due = new Set<Bookmarked>();

  /** `requestProgress` returns false while the store is not watched; otherwise `send` is called on the notification. */
  constructor(clock: Clock, requestProgress: () => boolean) {
    this.#clock = clock;
    this.#requestProgress = requestProgress;
  }

  get waiting(): boolean {
    return this.#due.size > 0;
  }

  add(member: Bookmarked): void {
    const now = this.#clock.now();
    const at = Math.ceil((now + member.bookmarkMs) / tickMs) * tickMs;
    let tick = this.#ticks.get(at);
    if (tick === undefined) {
      tick = { members: new Set(), cancel: this.#clock.after(at - now, () => this.#tick(at)) };
      this.#ticks.set(at, tick);
    }
    tick.members.add(member);
    this.#tickOf.set(member, at);
  }

  remove(member: Bookmarked): void {
    this.#due.delete(member);
    const at = this.#tickOf.get(member);
    const tick = at === undefined ? undefined : this.#ticks.get(at);
    this.#tickOf.delete(member);
    if (at === undefined || tick === undefined) return;
    tick.members.delete(member);
    if (tick.members.size > 0) return;
    tick.cancel();
    this.#ticks.delete(at);
  }

  /** Sends the bookmarks that are due. */
  send(): void {
    for (const member of this.#due) {
      this.#due.delete(member);
      member.bookmark();
    }
  }

  #tick(at: number): void {
    const members = this.#ticks.get(at)?.members ?? [];
    this.#ticks.delete(at);
    for (const member of members) {
      this.#due.add(member);
      this.add(member);
    }
    // Without the store, the revision of the cache is sent.
    if (!this.#requestProgress()) this.send();
  }
}
