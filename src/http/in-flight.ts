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

/** The flow class in which a request is counted. */
export type FlowClass = 'readOnly' | 'mutating' | 'longRunning' | 'proxied';

/** What is in flight, by what is limited. */
export interface InFlight {
  readonly shares: { readonly [what in keyof InFlightLimits]: Shares };
  /** How much of each is taken. */
  readonly counts: { readonly [what in keyof InFlightLimits]: number };
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
  return {
    shares,
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
  };
}
