import { systemMasters } from '../auth/index.ts';
import { statusError, type User } from '../meta/index.ts';
import { Shares } from './shares.ts';

/**
 * How much may be under way at once. Of each, a user may have no more than is left free for all others; members of
 * `system:masters` may have all of it.
 */
export interface InFlightLimits {
  /** Gets and lists, until the client has taken the answer; a large answer counts as several. */
  readonly readOnly: number;
  /** Writes, from when the body has arrived until the client has taken the answer. */
  readonly mutating: number;
  /** Watches. */
  readonly longRunning: number;
  /** What goes on to nodes, which may last as long as what runs there. */
  readonly proxied: number;
  /** Bytes of request bodies, from when they begin to arrive until the request is over. */
  readonly receiving: number;
  /** Bytes of answers that were handed to connections and that clients have not taken yet. */
  readonly unread: number;
}

/** What requests are counted in. */
export type FlowClass = 'readOnly' | 'mutating' | 'longRunning' | 'proxied';

/** Counts what is under way. */
export interface InFlight {
  readonly counts: { readonly [what in keyof InFlightLimits]: number };
  /** Throws the 429 StatusError when a user may have no more. */
  check(what: keyof InFlightLimits, user: User, amount?: number): void;
  /** `leave` must follow once. Throws like `check`. */
  enter(what: keyof InFlightLimits, user: User, amount?: number): void;
  leave(what: keyof InFlightLimits, user: User, amount?: number): void;
  /** Enters at once, or calls `entered` when there is room; the result then ends the wait. */
  wait(what: keyof InFlightLimits, user: User, amount: number, entered: () => void): (() => void) | undefined;
}

export function createInFlight(limits: InFlightLimits): InFlight {
  const shares = {
    readOnly: new Shares(limits.readOnly),
    mutating: new Shares(limits.mutating),
    longRunning: new Shares(limits.longRunning),
    proxied: new Shares(limits.proxied),
    receiving: new Shares(limits.receiving),
    unread: new Shares(limits.unread),
  };
  const check: InFlight['check'] = (what, user, amount = 1) => {
    if (shares[what].fits(user.name, amount, isExempt(user))) return;
    throw statusError.tooManyRequests('Too many requests, please try again later.', 1);
  };
  return {
    counts: {
      get readOnly() {
        return shares.readOnly.used;
      },
      get mutating() {
        return shares.mutating.used;
      },
      get longRunning() {
        return shares.longRunning.used;
      },
      get proxied() {
        return shares.proxied.used;
      },
      get receiving() {
        return shares.receiving.used;
      },
      get unread() {
        return shares.unread.used;
      },
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

const isExempt = ({ groups }: User): boolean => groups.includes(systemMasters);

export function flowClassOf(verb: string): FlowClass {
  if (verb === 'watch') return 'longRunning';
  return verb === 'get' || verb === 'list' || verb === 'head' ? 'readOnly' : 'mutating';
}
