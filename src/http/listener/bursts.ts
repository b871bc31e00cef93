import type { LoopTurns } from './loop-turns.ts';
import type { Reading } from './reading.ts';

/** How many requests of a user arrive in one turn of the event loop before its connections rest. */
export const mostInTurn = 64;

/** How many connections of all users go on in one turn of the event loop after they have rested, at least one of each user. */
export const mostWoken = 32;

type Restable = Pick<Reading, 'rest' | 'wake'>;

interface OfUser {
  /** Those that have filled a turn come last. */
  readonly connections: Set<Restable>;
  /** In the order in which they go on. */
  readonly resting: Set<Restable>;
  turn: number;
  /** The requests that have arrived in this turn. */
  arrived: number;
}

/**
 * Bounds how many requests of a user are read in one turn of the event loop. Node reads all connections that have input in the
 * same turn, and makes objects of each request when it reads it: it took seconds for a thousand connections with a hundred
 * streams each. After 64 requests the other connections of their user rest until later turns.
 */
export class Bursts {
  readonly #loop: LoopTurns;
  readonly #defer: (callback: () => void) => void;
  readonly #users = new Map<string, OfUser>();
  /** Those with connections that rest. */
  readonly #waiting = new Set<OfUser>();

  constructor(loop: LoopTurns, defer: (callback: () => void) => void = setImmediate) {
    this.#loop = loop;
    this.#defer = defer;
  }

  add(user: string, connection: Restable): void {
    const found = this.#users.get(user);
    if (found !== undefined) found.connections.add(connection);
    else this.#users.set(user, { connections: new Set([connection]), resting: new Set(), turn: -1, arrived: 0 });
  }

  delete(user: string, connection: Restable): void {
    const found = this.#users.get(user);
    if (found?.connections.delete(connection) === true && found.connections.size === 0) this.#users.delete(user);
  }

  /** Counts a request that a connection of the user has brought. */
  arrived(user: string, connection: Restable): void {
    const found = this.#users.get(user);
    if (found === undefined) return;
    const { current } = this.#loop;
    if (found.turn !== current) {
      found.turn = current;
      found.arrived = 0;
    }
    if (++found.arrived === mostInTurn) this.#rest(found, connection);
  }

  #rest(user: OfUser, last: Restable): void {
    const { connections, resting } = user;
    connections.delete(last);
    connections.add(last);
    if (this.#waiting.size === 0) this.#defer(this.#wake);
    this.#waiting.add(user);
    for (const connection of connections) {
      if (resting.has(connection)) continue;
      resting.add(connection);
      connection.rest();
    }
  }

  /** Each user gets the same part: the connections of one do not wait for all those of another. */
  readonly #wake = (): void => {
    const part = Math.max(1, Math.floor(mostWoken / this.#waiting.size));
    for (const user of this.#waiting) {
      let left = part;
      for (const connection of user.resting) {
        if (left-- === 0) break;
        user.resting.delete(connection);
        connection.wake();
      }
      if (user.resting.size === 0) this.#waiting.delete(user);
    }
    if (this.#waiting.size > 0) this.#defer(this.#wake);
  };
}
