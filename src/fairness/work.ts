/** How many seats a request takes, and for how long after its end. */

/** The estimated work of a request. */
export interface Work {
  /** Seats from its start to its end. */
  readonly initialSeats: number;
  /** Seats after its end, while watches receive the change that it made. */
  readonly finalSeats: number;
  /** How long it has those (ms). */
  readonly extraMs: number;
}

/** The work of most requests. */
export const oneSeat: Work = { initialSeats: 1, finalSeats: 0, extraMs: 0 };

/** A list takes a seat for so many objects. */
const objectsPerSeat = 100;
/** A write takes a seat after its end for so many watches; none when there are fewer. */
const watchesPerSeat = 10;
/** How long the events of that many watches take (ms). */
const eventMs = 5;
/** The most seats that any request takes. */
const mostSeats = 10;
/** The greatest part of its level that one request takes. */
const mostOfLevel = 0.15;

/**
 * The most seats that one request of a level takes: a part of its nominal seats, so that all queues of one flow together
 * cannot take the level. `handSize`: 1 for a level without queues.
 */
export const maxSeatsOf = (nominal: number, handSize: number): number =>
  Math.max(1, Math.min(mostSeats, Math.ceil(nominal * mostOfLevel), Math.ceil(nominal / handSize)));

/** The work of a list, or of the initial events of a watch, that reads so many objects. */
export function listWork(objects: number, maxSeats: number): Work {
  if (objects <= objectsPerSeat) return oneSeat;
  return { initialSeats: Math.min(maxSeats, Math.ceil(objects / objectsPerSeat)), finalSeats: 0, extraMs: 0 };
}

/** The work of a write whose change so many watches receive. */
export function writeWork(watches: number, maxSeats: number): Work {
  if (watches < watchesPerSeat) return oneSeat;
  const seats = Math.ceil(watches / watchesPerSeat);
  const finalSeats = Math.min(maxSeats, seats);
  return { initialSeats: 1, finalSeats, extraMs: (seats * eventMs) / finalSeats };
}
