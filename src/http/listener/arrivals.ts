import type { Scheduler } from '../../meta/index.ts';

/** Whose connection it is: the user of its last authenticated request, or the address of the client before the first one. */
interface Owned {
  readonly owner: string;
}

/**
 * Starts requests. They begin on arrival while the time for long work in this turn of the event loop lasts and nobody
 * waits for it, and otherwise in the turns of their connections' owners, so that a burst of one user does not delay
 * others. The connections of an owner take turns. Requests that their client resets meanwhile never start.
 */
export class Arrivals {
  readonly #scheduler: Pick<Scheduler, 'over' | 'turns'>;
  /** In the order of their arrival. */
  readonly #waiting = new Map<Owned, (() => void)[]>();

  constructor(scheduler: Pick<Scheduler, 'over' | 'turns'>) {
    this.#scheduler = scheduler;
  }

  /** Calls `begin`, which must not throw, now or in a later turn. Requests of a connection begin in their order. */
  add(connection: Owned, begin: () => void): void {
    const queue = this.#waiting.get(connection);
    if (queue !== undefined) queue.push(begin);
    else if (!this.#scheduler.over) begin();
    else {
      this.#waiting.set(connection, [begin]);
      void this.#beginInTurns(connection);
    }
  }

  async #beginInTurns(connection: Owned): Promise<void> {
    const queue = this.#waiting.get(connection) as (() => void)[];
    const turns = this.#scheduler.turns(connection.owner);
    while (queue.length > 0) {
      await turns.next();
      queue.shift()?.();
      // A connection with one request does not wait for the many of another connection of its owner.
      turns.goBehind?.();
    }
    this.#waiting.delete(connection);
  }
}
