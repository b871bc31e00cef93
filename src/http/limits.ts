/** The limits on what requests may take of the server at the same time. */
import { systemMasters } from '../auth/index.ts';
import { statusError, type User } from '../meta/index.ts';
import type { ApiRequest } from './types.ts';

/**
 * The maxima of all requests in progress. A user may take no more of each than remains free for all others; members of
 * `system:masters` may take all of it.
 */
export interface InFlightLimits {
  /** Gets and lists, until the client has read the response. A large response counts as several. */
  readonly readOnly: number;
  /** Mutating requests, from the arrival of the body until the client has read the response. */
  readonly mutating: number;
  /** Watches. */
  readonly longRunning: number;
  /** Requests that are proxied to nodes, which may be long-running. */
  readonly proxied: number;
  /** Bytes of request bodies, from their first byte until the end of the request. */
  readonly receiving: number;
  /** Bytes of responses that clients have yet to read from their connections. */
  readonly unread: number;
  /** Bytes of the selectors of lists and watches in progress. */
  readonly selectors: number;
}

/** The flow class in which a request is counted. */
export type FlowClass = 'readOnly' | 'mutating' | 'longRunning' | 'proxied';

export interface InFlight {
  readonly limits: { readonly [name in keyof InFlightLimits]: FairLimit };
}

export const createInFlight = (limits: InFlightLimits): InFlight => ({
  limits: {
    readOnly: new FairLimit(limits.readOnly),
    mutating: new FairLimit(limits.mutating),
    longRunning: new FairLimit(limits.longRunning),
    proxied: new FairLimit(limits.proxied),
    receiving: new FairLimit(limits.receiving),
    unread: new FairLimit(limits.unread),
    selectors: new FairLimit(limits.selectors),
  },
});

interface Waiter {
  readonly amount: number;
  /** Whether the holder may take all that is free. */
  readonly exempt: boolean;
  readonly onTaken: () => void;
}

/**
 * A limited amount that is shared by holders, each with a key. A holder may take no more than remains free for all
 * others: the first gets half, the second a quarter, and none can starve the rest. An exempt holder may take all.
 */
export class FairLimit {
  readonly limit: number;
  #used = 0;
  /** How often an amount did not fit. */
  refusals = 0;
  readonly #amounts = new Map<string, number>();
  /** Waiting requests by holder, in the order of their arrival. */
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Takes an amount if it fits; `release` must follow. Otherwise counts a refusal. */
  tryTake(key: string, amount: number, exempt = false): boolean {
    const isFitting = this.check(key, amount, exempt);
    if (isFitting) this.#take(key, amount);
    return isFitting;
  }

  /** Whether an amount fits. Otherwise counts a refusal. */
  check(key: string, amount: number, exempt = false): boolean {
    const isFitting = this.#fits(key, amount, exempt);
    if (!isFitting) this.refusals++;
    return isFitting;
  }

  /** Releases an amount, which waiters may then take. */
  release(key: string, amount: number): void {
    const rest = (this.#amounts.get(key) ?? 0) - amount;
    this.#used -= amount;
    if (rest > 0) this.#amounts.set(key, rest);
    else this.#amounts.delete(key);
    if (this.#waiters.size > 0) this.#serveWaiters();
  }

  /**
   * Takes an amount at once, or as soon as it fits, with a call of `onTaken`. Returns a function that cancels the wait;
   * undefined if there is none. A holder that is alone may take more than the limit.
   */
  takeOrWait(key: string, waiter: Waiter): (() => void) | undefined {
    if (this.#mayTake(key, waiter)) {
      this.#take(key, waiter.amount);
      return undefined;
    }
    const waiters = this.#waiters.get(key) ?? new Set();
    this.#waiters.set(key, waiters.add(waiter));
    return () => this.#removeWaiter(key, waiter);
  }

  #fits(key: string, amount: number, exempt: boolean): boolean {
    const free = this.limit - this.#used;
    return amount <= free && (exempt || (this.#amounts.get(key) ?? 0) + amount <= free);
  }

  #take(key: string, amount: number): void {
    this.#used += amount;
    this.#amounts.set(key, (this.#amounts.get(key) ?? 0) + amount);
  }

  #mayTake(key: string, { amount, exempt }: Waiter): boolean {
    return this.#used === 0 || this.#fits(key, amount, exempt);
  }

  #removeWaiter(key: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(key);
  }

  #serveWaiters(): void {
    for (const [key, waiters] of this.#waiters) {
      for (const waiter of waiters) {
        if (!this.#mayTake(key, waiter)) break;
        this.#removeWaiter(key, waiter);
        this.#take(key, waiter.amount);
        waiter.onTaken();
      }
    }
  }
}

/** The smallest amount that a body counts as (bytes): a request takes memory in addition to its body. */
const minBodyBytes = 16 * 1024;

/** The amounts of the limits that one request has taken, until all are released at once. */
export class Reservation {
  readonly #limits: InFlight['limits'];
  readonly #user: string;
  readonly #exempt: boolean;
  /** Undefined: the request is served at any load. */
  readonly #flowClass: FlowClass | undefined;
  /** Whether the request was refused because of a limit. */
  refused = false;
  #requests = 0;
  #bodyBytes = 0;
  #selectorBytes = 0;

  constructor({ limits }: InFlight, { name, groups }: User, flowClass: FlowClass | undefined) {
    this.#limits = limits;
    this.#user = name;
    this.#exempt = groups.includes(systemMasters);
    this.#flowClass = flowClass;
  }

  /** Counts the request in its flow class: a large one as several. @throws StatusError 429 */
  enter(requests = 1): void {
    const flowClass = this.#flowClass;
    if (flowClass === undefined || requests === 0) return;
    if (!this.#limits[flowClass].tryTake(this.#user, requests, this.#exempt)) this.#refuse();
    this.#requests += requests;
  }

  /**
   * Receives the whole body. The request enters its flow class once the body has arrived, so that slow senders take no
   * place in it.
   * @throws StatusError 429, and those of `ApiRequest.body`
   */
  async receive(request: ApiRequest, limit: number): Promise<Uint8Array> {
    const { coming = 0 } = request;
    if (coming > 0) {
      const flowClass = this.#flowClass;
      const bytes = Math.max(minBodyBytes, Math.min(coming, limit));
      if (flowClass !== undefined && !this.#limits[flowClass].check(this.#user, 1, this.#exempt)) this.#refuse();
      if (!this.#limits.receiving.tryTake(this.#user, bytes, this.#exempt)) this.#refuse();
      this.#bodyBytes += bytes;
    }
    const body = await request.body(limit);
    this.enter();
    return body;
  }

  /** Counts the memory of the selectors of the request (bytes). @throws StatusError 429 */
  addSelectors(bytes: number): void {
    if (bytes === 0) return;
    if (!this.#limits.selectors.tryTake(this.#user, bytes, this.#exempt)) {
      this.#refuse(' (too much memory is taken by the selectors of your lists and watches)');
    }
    this.#selectorBytes += bytes;
  }

  /**
   * Counts bytes that the client has yet to read: at once, or as soon as they fit, with a call of `onTaken`. Returns a
   * function that cancels the wait; undefined if there is none.
   */
  addUnread(bytes: number, onTaken: () => void): (() => void) | undefined {
    return this.#limits.unread.takeOrWait(this.#user, { amount: bytes, exempt: this.#exempt, onTaken });
  }

  /** The client has read these bytes. */
  releaseUnread(bytes: number): void {
    this.#limits.unread.release(this.#user, bytes);
  }

  /** Must be called once, at the end of the request. */
  release(): void {
    if (this.#flowClass !== undefined && this.#requests > 0) {
      this.#limits[this.#flowClass].release(this.#user, this.#requests);
    }
    if (this.#bodyBytes > 0) this.#limits.receiving.release(this.#user, this.#bodyBytes);
    if (this.#selectorBytes > 0) this.#limits.selectors.release(this.#user, this.#selectorBytes);
  }

  #refuse(detail = ''): never {
    this.refused = true;
    throw statusError.tooManyRequests(`Too many requests, please try again later.${detail}`, 1);
  }
}
