import { Shares } from './shares.ts';

/**
 * Limits of what is in flight. A user may take no more of each than remains free for all others; members of
 * `system:masters` may take all of it.
 */
export interface InFlightLimits {
  /** Gets and lists, until the client has read the response; a large response takes several seats. */
  readonly readOnly: number;
  /** Mutating requests, from the arrival of the body until the client has read the response. */
  readonly mutating: number;
  /** Watches. */
  readonly longRunning: number;
  /** Requests that are proxied to nodes, which may be long-running. */
  readonly proxied: number;
  /** Bytes of request bodies, from their first byte until the end of the request. */
  readonly receiving: number;
  /** Bytes of responses that were handed to connections and that clients have not read yet. */
  readonly unread: number;
  /** Bytes of the selectors of lists and watches that are under way. */
  readonly selectors: number;
}

type ByLimit<T> = { readonly [what in keyof InFlightLimits]: T };

/** The flow class in which a request is counted. */
export type FlowClass = 'readOnly' | 'mutating' | 'longRunning' | 'proxied';

/** What is in flight, by what is limited. */
export interface InFlight {
  readonly shares: ByLimit<Shares>;
  /** How much of each is taken. */
  readonly counts: ByLimit<number>;
}

export function createInFlight(limits: InFlightLimits): InFlight {
  const shares = mapLimits(limits, (limit) => new Shares(limit));
  return {
    shares,
    get counts() {
      return mapLimits(shares, ({ used }) => used);
    },
  };
}

const mapLimits = <T, U>(values: ByLimit<T>, map: (value: T) => U): ByLimit<U> =>
  Object.fromEntries(Object.entries<T>(values).map(([what, value]) => [what, map(value)])) as ByLimit<U>;
