import type { Scheduler } from '../../meta/index.ts';
import type { LoopTurns } from './loop-turns.ts';

/** Maximum number of requests that begin in one turn of the event loop, of one user and of all. Small ones take two slices. */
export const maxOfUser = 4;
const maxOfAll = 16;
/** The same for a user who has been alone for long. */
const maxAlone = 64;

/** How many users are remembered with their number of requests in this turn. */
const maxCounts = 256;

/** The requests that a user has begun in one turn of the event loop. */
interface Count {
  turn: number;
  begun: number;
}

/**
 * Decides when a request begins, and when a connection is read for its next one: at once, or, after many requests of the same
 * user in one turn of the event loop and while work of this user waits for its turn, behind that work. So a burst delays
 * nobody else, and a request that has not been read takes no memory of the server.
 *
 * The user of a connection is that of its last request, and the network of the client before.
 */
export class Arrivals {
  readonly #scheduler: Pick<Scheduler, 'isAlone' | 'holdsBack' | 'nextBehind'>;
  readonly #loop: LoopTurns;
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #counts = new Map<string, Count>();
  /** The requests of all users. */
  readonly #all: Count = { turn: -1, begun: 0 };

  constructor(scheduler: Pick<Scheduler, 'isAlone' | 'holdsBack' | 'nextBehind'>, loop: LoopTurns) {
    this.#scheduler = scheduler;
    this.#loop = loop;
  }

  /** Calls `begin`, which must not throw, now or in a later turn. Requests of a user begin in their order. */
  begin(user: string, begin: () => void): void {
    if (this.holdBack(user, begin)) return;
    this.#countOf(user).begun++;
    this.#all.begun++;
    begin();
  }

  /** Whether a connection of this user must not be read yet. If so, `read` is called once it may be; it must not throw. */
  holdBack(user: string, read: () => void): boolean {
    const waiting = this.#waiting.get(user);
    if (waiting !== undefined) waiting.push(read);
    else if (this.#isCrowded(user)) void this.#run(user, [read]);
    else return false;
    return true;
  }

  #isCrowded(user: string): boolean {
    if (this.#scheduler.holdsBack(user)) return true;
    const { begun } = this.#countOf(user);
    if (begun < maxOfUser && this.#all.begun < maxOfAll) return false;
    return begun >= maxAlone || !this.#scheduler.isAlone(user);
  }

  /** The count of a user in this turn. That of all users is of the same turn. */
  #countOf(user: string): Count {
    const { current } = this.#loop;
    if (this.#all.turn !== current) {
      this.#all.turn = current;
      this.#all.begun = 0;
    }
    let count = this.#counts.get(user);
    if (count === undefined) {
      if (this.#counts.size >= maxCounts) this.#counts.clear();
      count = { turn: current, begun: 0 };
      this.#counts.set(user, count);
    } else if (count.turn !== current) {
      count.turn = current;
      count.begun = 0;
    }
    return count;
  }

  async #run(user: string, waiting: (() => void)[]): Promise<void> {
    this.#waiting.set(user, waiting);
    while (waiting.length > 0) {
      await this.#scheduler.nextBehind(user);
      for (const next of waiting.splice(0, this.#scheduler.isAlone(user) ? maxAlone : maxOfUser)) next();
      // The event loop reads connections before the next ones.
      await new Promise(setImmediate);
    }
    this.#waiting.delete(user);
  }
}
