import type { LoopTurns } from './loop-turns.ts';
import type { Reading } from './reading.ts';

/** How many requests of a user arrive in one turn of the event loop before its connections rest. */
export const mostInTurn = 64;

/** How many connections go on in one turn of the event loop after they have rested. */
export const mostWoken = 32;

type Restable = Pick<Reading, 'rest' | 'wake'>;

interface OfUser {
  /** Those that have filled a turn come last. */
  readonly connections: Set<Restable>;
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
  readonly #resting = new Set<Restable>();

  constructor(loop: LoopTurns, defer: (callback: () => void) => void = setImmediate) {
    this.#loop = loop;
    this.#defer = defer;
  }

  add(user: string, connection: Restable): void {
    const found = this.#users.get(user);
    if (found === undefined) this.#users.set(user, { connections: new Set([connection]), turn: -1, arrived: 0 });
    else found.connections.add(connection);
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
    if (++found.arrived === mostInTurn) this.#rest(found.connections, connection);
  }

  #rest(connections: Set<Restable>, last: Restable): void {
    connections.delete(last);
    connections.add(last);
    if (this.#resting.size === 0) this.#defer(this.#wake);
    for (const connection of connections) {
      if (this.#resting.has(connection)) continue;
      this.#resting.add(connection);
      connection.rest();
    }
  }

  readonly #wake = (): void => {
    let left = mostWoken;
    for (const connection of this.#resting) {
      if (left-- === 0) break;
      this.#resting.delete(connection);
      connection.wake();
    }
    if (this.#resting.size > 0) this.#defer(this.#wake);
  };
}
