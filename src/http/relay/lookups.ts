import { type LookupAddress, lookup as lookUpInThread } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Looks up all addresses of a name; `dns.lookup`. */
type Resolve = (
  name: string,
  options: { readonly all: true },
  done: (error: Error | null, addresses: LookupAddress[] | undefined) => void,
) => void;

type Found = (error: Error | null, addresses: readonly LookupAddress[]) => void;

/**
 * Looks up names, a limited number at a time. Node looks up names in two threads of the process, and a name server that does not
 * answer blocks one of them for many seconds. All who wait for the same name share its lookup.
 */
export class Lookups {
  readonly #most: number;
  readonly #resolve: Resolve;
  /** By name, in the order in which their lookups begin. */
  readonly #waiting = new Map<string, Set<Found>>();
  readonly #running = new Set<string>();

  constructor(most: number, resolve: Resolve = lookUpInThread) {
    this.#most = most;
    this.#resolve = resolve;
  }

  /** Calls back with all addresses of a name, unless the function that it returns is called before. */
  find(name: string, found: Found): () => void {
    const waiting = this.#waiting.get(name) ?? new Set();
    waiting.add(found);
    this.#waiting.set(name, waiting);
    this.#begin();
    return () => {
      waiting.delete(found);
      if (waiting.size === 0 && !this.#running.has(name)) this.#waiting.delete(name);
    };
  }

  #begin(): void {
    for (const [name, waiting] of this.#waiting) {
      if (this.#running.size >= this.#most) return;
      if (this.#running.has(name)) continue;
      this.#running.add(name);
      this.#resolve(name, { all: true }, (error, addresses = []) => {
        this.#running.delete(name);
        this.#waiting.delete(name);
        for (const found of waiting) found(error, addresses);
        this.#begin();
      });
    }
  }
}

/** Checks the addresses of a name; returns why a connection to them is refused. */
type Check = (name: string, error: Error | null, addresses: readonly LookupAddress[]) => Error | undefined;

const failureOf: Check = (_, error) => error ?? undefined;

/** The lookup of one connection, for `net.connect`. `leave` ends its wait when the connection is closed. */
export function connectionLookup(
  lookups: Lookups,
  check: Check = failureOf,
): { readonly lookup: LookupFunction; readonly leave: () => void } {
  let leave = () => {};
  return {
    lookup: (name, options, done) => {
      leave = lookups.find(name, (error, addresses) => {
        const refusal = check(name, error, addresses);
        const [first] = addresses;
        if (refusal !== undefined) done(refusal, '');
        else if (options.all === true) done(null, [...addresses]);
        else done(null, first?.address ?? '', first?.family);
      });
    },
    leave: () => leave(),
  };
}
