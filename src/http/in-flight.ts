import { systemMasters } from '../auth/index.ts';
import { statusError, type User } from '../meta/index.ts';
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
}

type ByLimit<T> = { readonly [what in keyof InFlightLimits]: T };

/** The flow class in which a request is counted. */
export type FlowClass = 'readOnly' | 'mutating' | 'longRunning' | 'proxied';

/** Counts what is under way. */
export interface InFlight {
  /** What is taken of each limit. */
  readonly counts: ByLimit<number>;
  /** @throws StatusError 429 when the share of the user is used up */
  check(what: keyof InFlightLimits, user: User, amount?: number): void;
  /** Takes seats; `leave` must follow once. Throws like `check`. */
  enter(what: keyof InFlightLimits, user: User, amount?: number): void;
  leave(what: keyof InFlightLimits, user: User, amount?: number): void;
  /** Enters at once, or calls `entered` when there is room. The result cancels the wait. */
  wait(what: keyof InFlightLimits, user: User, amount: number, entered: () => void): (() => void) | undefined;
}

export function createInFlight(limits: InFlightLimits): InFlight {
  const shares = mapLimits(limits, (limit) => new Shares(limit));
  const check: InFlight['check'] = (what, user, amount = 1) => {
    if (shares[what].fits(user.name, amount, isExempt(user))) return;
    throw statusError.tooManyRequests('Too many requests, please try again later.', 1);
  };
  return {
    get counts() {
      return mapLimits(shares, ({ used }) => used);
    },
    check,
    enter(what, user, amount = 1) {
      check(what, user, amount);
      shares[what].take(user.name, amount);
    },
    leave: (what, user, amount = 1) => shares[what].give(user.name, amount),
    wait: (what, user, amount, entered) =>
      shares[what].wait(user.name, { amount, exempt: isExempt(user), granted: entered }),
  };
}

const mapLimits = <T, U>(values: ByLimit<T>, map: (value: T) => U): ByLimit<U> =>
  Object.fromEntries(Object.entries<T>(values).map(([what, value]) => [what, map(value)])) as ByLimit<U>;

const isExempt = ({ groups }: User): boolean => groups.includes(systemMasters);

export function flowClassOf(verb: string): FlowClass {
  if (verb === 'watch') return 'longRunning';
  return verb === 'get' || verb === 'list' || verb === 'head' ? 'readOnly' : 'mutating';
}
