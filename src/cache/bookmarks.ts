import type { Clock } from '../meta/index.ts';

/** Bookmarks that fall due within so many ms are sent together. */
const tickMs = 1_000;

/** Someone who gets bookmarks. */
export interface Bookmarked {
  readonly bookmarkMs: number;
  bookmark(): void;
}

interface Tick {
  readonly members: Set<Bookmarked>;
  readonly cancel: () => void;
}

/**
 * Sends bookmarks by the clock, each after the store has told how far it is: at most one question for each tick,
 * however many members are due.
 */
export class Bookmarks {
  readonly #clock: Clock;
  readonly #ask: () => boolean;
  readonly #ticks = new Map<number, Tick>();
  readonly #tickOf = new Map<Bookmarked, number>();
  /** Their bookmarks are sent with the next answer of the store. */
  readonly #due = new Set<Bookmarked>();

  /** `ask` asks the store for progress, after whose answer `send` is to be called; false when it cannot be asked. */
  constructor(clock: Clock, ask: () => boolean) {
    this.#clock = clock;
    this.#ask = ask;
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

  /** To all whose bookmark is due. */
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
    // What is known without the store is a bookmark too.
    if (!this.#ask()) this.send();
  }
}
