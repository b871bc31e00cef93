import type { Scheduler } from '../../meta/index.ts';

/** How many connections of a user are read in one turn of the event loop: their requests take about as long as a slice. */
export const mostPerTurn = 4;

/**
 * When connections of HTTP/1.1 are read between two requests: at once, or, while work of their user waits for its turn, in a
 * turn of that user, behind that work. A request that is not read yet holds no memory, and makes nobody wait.
 */
export class NextReads {
  readonly #scheduler: Pick<Scheduler, 'holdsBack' | 'nextBehind'>;
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(scheduler: Pick<Scheduler, 'holdsBack' | 'nextBehind'>) {
    this.#scheduler = scheduler;
  }

  /** Whether a connection of this user must not be read now. `read`, which must not throw, is called when it may be. */
  hold(user: string, read: () => void): boolean {
    const waiting = this.#waiting.get(user);
    if (waiting !== undefined) waiting.push(read);
    else if (this.#scheduler.holdsBack(user)) void this.#run(user, [read]);
    else return false;
    return true;
  }

  async #run(user: string, waiting: (() => void)[]): Promise<void> {
    this.#waiting.set(user, waiting);
    while (waiting.length > 0) {
      await this.#scheduler.nextBehind(user);
      for (const read of waiting.splice(0, mostPerTurn)) read();
      // The loop reads them before its next turn.
      await new Promise(setImmediate);
    }
    this.#waiting.delete(user);
  }
}
