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

/** Number of objects for which a list takes one seat. */
const objectsPerSeat = 100;
/** Number of watches for which a write takes one seat after its end; below it, none. */
const watchesPerSeat = 10;
/** Estimated time to send the events of {@link watchesPerSeat} watches (ms). */
const eventMs = 5;
/** Maximum number of seats of any request. */
const maxSeatsOfRequest = 10;
/** Maximum part of its level that one request takes. */
const maxPartOfLevel = 0.15;

/**
 * The most seats that one request of a level takes: a part of its nominal seats, so that all queues of one flow together
 * cannot take the level. `handSize`: 1 for a level without queues.
 */
export const maxSeatsOf = (nominal: number, handSize: number): number =>
  Math.max(1, Math.min(maxSeatsOfRequest, Math.ceil(nominal * maxPartOfLevel), Math.ceil(nominal / handSize)));

/** The work of a list, or of the initial events of a watch, that reads this number of objects. */
export function listWork(objects: number, maxSeats: number): Work {
  if (objects <= objectsPerSeat) return oneSeat;
  return { initialSeats: Math.min(maxSeats, Math.ceil(objects / objectsPerSeat)), finalSeats: 0, extraMs: 0 };
}

/** The work of a write whose change this number of watches receive. */
export function writeWork(watches: number, maxSeats: number): Work {
  if (watches < watchesPerSeat) return oneSeat;
  const seats = Math.ceil(watches / watchesPerSeat);
  const finalSeats = Math.min(maxSeats, seats);
  return { initialSeats: 1, finalSeats, extraMs: (seats * eventMs) / finalSeats };
}
