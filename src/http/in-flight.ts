import { statusError } from '../meta/index.ts';

/** How many requests may be under way at once. */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
  /** Watches. */
  readonly longRunning: number;
  /** What goes on to nodes, which may last as long as what runs there. */
  readonly relayed: number;
}

export type Lane = keyof InFlightLimits;

/** Counts the requests under way, by lane. */
export interface InFlight {
  readonly counts: { readonly [lane in Lane]: number };
  /** Throws the 429 StatusError when the lane is full; otherwise `leave` must follow once. */
  enter(lane: Lane): void;
  leave(lane: Lane): void;
}

export function createInFlight(limits: InFlightLimits): InFlight {
  const counts = { readOnly: 0, mutating: 0, longRunning: 0, relayed: 0 };
  return {
    counts,
    enter(lane) {
      if (counts[lane] >= limits[lane]) {
        throw statusError.tooManyRequests('Too many requests, please try again later.', 1);
      }
      counts[lane] += 1;
    },
    leave(lane) {
      counts[lane] -= 1;
    },
  };
}

export function laneOf(verb: string): Lane {
  if (verb === 'watch') return 'longRunning';
  return verb === 'get' || verb === 'list' || verb === 'head' ? 'readOnly' : 'mutating';
}
