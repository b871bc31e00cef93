import type { Scheduler } from '../../meta/index.ts';

/** Maximum number of connections of a user that are read in one turn of the event loop. Their requests take about a slice. */
export const mostPerTurn = 4;

/**
 * Decides when an HTTP/1.1 connection is read for its next request: at once, or, while work of its user waits for its turn,
 * behind that work. A request that has not been read takes no memory of the server, and delays nobody.
 */
export class NextReads {
  readonly #scheduler: Pick<Scheduler, 'holdsBack' | 'nextBehind'>;
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(scheduler: Pick<Scheduler, 'holdsBack' | 'nextBehind'>) {
    this.#scheduler = scheduler;
  }

  /** Whether a connection of this user must not be read yet. If so, `read` is called once it may be; it must not throw. */
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
      // The event loop reads them before the next ones.
      await new Promise(setImmediate);
    }
    this.#waiting.delete(user);
  }
}
