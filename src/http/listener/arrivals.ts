import { serverTurns } from '../../meta/index.ts';
import type { LoopTurns } from './loop-turns.ts';

/** Maximum number of requests, of all connections, that start on arrival in one turn of the event loop. */
const maxPerTurn = 64;

/**
 * Starts requests. Requests beyond {@link maxPerTurn} start in later turns of the event loop, one of each connection in
 * turn, so that a burst does not delay others. Requests that their client resets meanwhile never start.
 */
export class Arrivals {
  readonly #loop: LoopTurns;
  readonly #waiting = new Map<object, (() => void)[]>();
  #turn = -1;
  #begun = 0;
  #running = false;

  constructor(loop: LoopTurns) {
    this.#loop = loop;
  }

  /** Calls `begin`, which must not throw, now or in a later turn. Requests of a connection begin in their order. */
  add(connection: object, begin: () => void): void {
    const queue = this.#waiting.get(connection);
    if (queue !== undefined) queue.push(begin);
    else if (this.#hasRoom()) begin();
    else {
      this.#waiting.set(connection, [begin]);
      if (!this.#running) void this.#run();
    }
  }

  #hasRoom(): boolean {
    const { current } = this.#loop;
    if (current !== this.#turn) {
      this.#turn = current;
      this.#begun = 0;
    }
    return this.#begun++ < maxPerTurn;
  }

  async #run(): Promise<void> {
    this.#running = true;
    const turns = serverTurns();
    await turns.next();
    for (const [connection, queue] of this.#waiting) {
      const begin = queue.shift() as () => void;
      this.#waiting.delete(connection);
      if (queue.length > 0) this.#waiting.set(connection, queue);
      begin();
      // What the handlers do next is part of the turn.
      await Promise.resolve();
      if (turns.over) await turns.next();
    }
    this.#running = false;
  }
}
