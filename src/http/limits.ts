/** The limits of requests at the same time: seats of their priority level, and amounts of bytes. */
import { systemMasters } from '../auth/index.ts';
import { type FlowRequest, listWork, oneSeat, type Work, writeWork } from '../fairness/index.ts';
import type { Stages, Turns, User } from '../meta/index.ts';
import { type Resource, readFlag } from '../registry/index.ts';
import { Overload } from './overload.ts';
import type { Query, RequestInfo } from './request-info.ts';
import { timeoutOf } from './timeout.ts';
import type { ApiRequest } from './types.ts';

/**
 * The maxima of all requests in progress. A user may take no more of each than remains free for all others; members of
 * `system:masters` may take all of it, and their gets, lists and mutating requests are not limited.
 */
export interface InFlightLimits {
  /** Gets and lists, until the client has read the response. */
  readonly readOnly: number;
  /** Mutating requests, from the arrival of the body until the client has read the response. */
  readonly mutating: number;
  /** Watches. */
  readonly longRunning: number;
  /** Requests that are proxied to nodes, which may be long-running. */
  readonly proxied: number;
  /** Bytes of request bodies, from their first byte until the end of the request. */
  readonly receiving: number;
  /** Bytes of large responses that are built for one client, until it has read them. */
  readonly responses: number;
  /** Bytes of responses that clients have yet to read from their connections. */
  readonly unread: number;
  /** Bytes of the selectors of lists and watches in progress. */
  readonly selectors: number;
  /** Responses that are compressed while they are sent. */
  readonly compressed: number;
}

/** The flow class in which a request is counted. */
export type FlowClass = 'readOnly' | 'mutating' | 'longRunning' | 'proxied';

/** The flow class of a request; undefined for a health check, which is served at any load. */
export function flowClassOf(
  { verb, path, resource: place }: RequestInfo,
  resource: Resource | undefined,
): FlowClass | undefined {
  if (place === undefined && /^\/(healthz|livez|readyz)\b/.test(path)) return undefined;
  if (place !== undefined && resource?.connections.has(place.subresource)) return 'proxied';
  if (verb === 'watch') return 'longRunning';
  return verb === 'get' || verb === 'list' || verb === 'head' ? 'readOnly' : 'mutating';
}

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
    responses: new FairLimit(limits.responses),
    unread: new FairLimit(limits.unread),
    selectors: new FairLimit(limits.selectors),
    compressed: new FairLimit(limits.compressed),
  },
});

interface Waiter {
  readonly amount: number;
  /** Whether the holder may take all that is free. */
  readonly exempt: boolean;
  readonly onTaken: () => void;
}

/** Up to this number of holders, those that hold nothing stay in the map: V8 reallocates a map that loses its only entry. */
const maxIdleHolders = 64;

/** After this number of waiting holders that get nothing, a release looks at no more of them: there may be thousands. */
const maxMisses = 64;

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
    if (isFitting) this.take(key, amount);
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
    if (rest > 0 || this.#amounts.size <= maxIdleHolders) this.#amounts.set(key, rest);
    else this.#amounts.delete(key);
    if (this.#waiters.size > 0) this.#serveWaiters();
  }

  /**
   * Takes an amount at once, or as soon as it fits, with a call of `onTaken`. Returns a function that cancels the wait;
   * undefined if there is none. A holder that is alone may take more than the limit.
   */
  takeOrWait(key: string, waiter: Waiter): (() => void) | undefined {
    if (this.#mayTake(key, waiter)) {
      this.take(key, waiter.amount);
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

  /** Takes an amount whether it fits or not; `release` must follow. */
  take(key: string, amount: number): void {
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

  /** While anything is held, another release follows: holders that this one does not get to are next then. */
  #serveWaiters(): void {
    let misses = 0;
    for (const [key, waiters] of this.#waiters) {
      for (const waiter of waiters) {
        if (!this.#mayTake(key, waiter)) break;
        this.#removeWaiter(key, waiter);
        this.take(key, waiter.amount);
        waiter.onTaken();
      }
      if (waiters.size === 0 || this.#waiters.size <= maxMisses) continue;
      this.#waiters.delete(key);
      this.#waiters.set(key, waiters);
      if (++misses === maxMisses) return;
    }
  }
}

/** The smallest amount that a body counts as (bytes): a request takes memory in addition to its body. */
const minBodyBytes = 16 * 1024;

/** Responses from this size on are counted (bytes). */
const minResponseBytes = 512 * 1024;

/** The part of its timeout that a request may wait for its seats. */
const maxWaitPart = 1 / 4;
/** The timeout of a request that names none, and the longest (ms). */
const defaultTimeoutMs = 60_000;

/** How long a request may wait for its seats (ms). */
const maxWaitMs = (info: RequestInfo): number =>
  Math.min(timeoutOf(info) ?? defaultTimeoutMs, defaultTimeoutMs) * maxWaitPart;

const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** Estimates the work of a request by the objects that it reads and the watches that receive its change. */
function estimateWork(
  { info, resource }: Pick<Entrant, 'info' | 'resource'>,
  { attributes, level, series }: FlowRequest,
): Work {
  const { verb, query } = info;
  const place = attributes.resource;
  if (resource === undefined || place === undefined || verb === 'get') return oneSeat;
  if (writes.has(verb)) {
    const watches = resource.storage.cache.watching(place.namespace, place.name);
    series.watches.observe(watches);
    return writeWork(watches, level.maxSeats);
  }
  // A name selects one object, also as a field selector.
  if (place.name !== '' || (verb === 'watch' && !sendsInitialEvents(query))) return oneSeat;
  const { namespace } = place;
  const prefix = namespace === '' ? resource.keyPrefix : `${resource.keyPrefix}${namespace}/`;
  const objects = resource.storage.cache.snapshot().count(prefix);
  const { labelSelector, fieldSelector } = info.selectors;
  const limit = Number(query.get('limit') ?? 0);
  const isPage = limit > 0 && labelSelector === undefined && fieldSelector === undefined;
  return listWork(isPage ? Math.min(limit, objects) : objects, level.maxSeats);
}

function sendsInitialEvents(query: Query): boolean {
  const initial = query.get('sendInitialEvents');
  if (initial !== null) return readFlag(initial) === true;
  const version = query.get('resourceVersion') ?? '';
  return version === '' || version === '0';
}

/** Calls back when the client disconnects, or has the whole response. Returns what ends that. */
function whenGone(request: ApiRequest, listener: () => void): () => void {
  // Its signal costs forty times as much, and thousands may wait.
  if (request.whenOver !== undefined) {
    request.whenOver(listener);
    return () => {};
  }
  const { signal } = request;
  signal.addEventListener('abort', listener);
  if (signal.aborted) listener();
  return () => signal.removeEventListener('abort', listener);
}

/** A request that enters. */
interface Entrant {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly resource: Resource | undefined;
  readonly turns: Turns;
  readonly stages: Pick<Stages, 'waitFor'>;
}

/** The seats of one request, and the amounts of the limits that it has taken, until all are released at once. */
export class Reservation {
  /** Undefined: the request needs none. */
  readonly seats: FlowRequest | undefined;
  readonly #limits: InFlight['limits'];
  readonly #user: string;
  readonly #exempt: boolean;
  /** Undefined: the request is served at any load. */
  readonly #flowClass: FlowClass | undefined;
  /** Whether the request is counted in its flow class without being limited. */
  readonly #isUnlimited: boolean;
  #requests = 0;
  #bodyBytes = 0;
  #selectorBytes = 0;
  #responseBytes = 0;
  #compressed = 0;

  constructor(
    { limits }: InFlight,
    { name, groups }: User,
    flowClass: FlowClass | undefined,
    seats: FlowRequest | undefined,
  ) {
    this.seats = seats;
    this.#limits = limits;
    this.#user = name;
    this.#exempt = groups.includes(systemMasters);
    this.#flowClass = flowClass;
    this.#isUnlimited = this.#exempt && (flowClass === 'readOnly' || flowClass === 'mutating');
  }

  /**
   * Takes the seats of the request, at once or after a wait, and counts it in its flow class.
   * @throws Overload when the level refuses the request, or it has waited for a quarter of its timeout, or its flow class is full
   */
  enter(entrant: Entrant): Promise<void> | undefined {
    const { seats } = this;
    if (seats !== undefined && seats.started === undefined) {
      if (seats.take(estimateWork(entrant, seats)) !== undefined) throw new Overload();
      if (seats.started === undefined) return this.#enterAfterWait(entrant, seats);
    }
    const flowClass = this.#flowClass;
    if (flowClass === undefined) return undefined;
    const limit = this.#limits[flowClass];
    if (this.#isUnlimited) limit.take(this.#user, 1);
    else if (!limit.tryTake(this.#user, 1, this.#exempt)) throw new Overload();
    this.#requests++;
    return undefined;
  }

  async #enterAfterWait(entrant: Entrant, seats: FlowRequest): Promise<void> {
    const { request, info, turns, stages } = entrant;
    const waiting = seats.wait(maxWaitMs(info));
    const stopListening = whenGone(request, () => seats.cancel());
    const refusal = await stages.waitFor(waiting);
    stopListening();
    if (refusal !== undefined) throw new Overload();
    // A request that frees many seats starts many others: they go on one by one.
    await turns.next();
    await this.enter(entrant);
  }

  /**
   * Checks that the request fits into its flow class now: one with a body enters once that has arrived (`receive`).
   * @throws StatusError 429
   */
  check(): void {
    const flowClass = this.#flowClass;
    if (flowClass === undefined || this.#isUnlimited) return;
    if (!this.#limits[flowClass].check(this.#user, 1, this.#exempt)) throw new Overload();
  }

  /**
   * Receives the whole body. The request enters its flow class once the body has arrived, so that slow senders take no
   * place in it.
   * @throws StatusError 429, and those of `ApiRequest.body`
   */
  async receive(entrant: Entrant, limit: number): Promise<Uint8Array> {
    const { request } = entrant;
    const { coming = 0 } = request;
    if (coming > 0) {
      this.check();
      // A body of unknown length counts as it arrives.
      this.#addBody(coming === Number.POSITIVE_INFINITY ? 0 : Math.min(coming, limit));
    }
    const body = await request.body(limit, (bytes) => this.#addBody(bytes));
    const waiting = this.enter(entrant);
    if (waiting !== undefined) await waiting;
    return body;
  }

  /** Counts a body of this size, in multiples of the smallest amount. @throws StatusError 429 */
  #addBody(bytes: number): void {
    const more = Math.max(1, Math.ceil(bytes / minBodyBytes)) * minBodyBytes - this.#bodyBytes;
    if (more <= 0) return;
    if (!this.#limits.receiving.tryTake(this.#user, more, this.#exempt)) throw new Overload();
    this.#bodyBytes += more;
  }

  /** Counts the memory of the selectors of the request (bytes). @throws StatusError 429 */
  addSelectors(bytes: number): void {
    if (bytes === 0) return;
    if (!this.#limits.selectors.tryTake(this.#user, bytes, this.#exempt)) {
      throw new Overload(' (too much memory is taken by the selectors of your lists and watches)');
    }
    this.#selectorBytes += bytes;
  }

  /** Counts the memory of a large response that is built for this request (bytes). @throws StatusError 429 */
  addResponse(bytes: number): void {
    if (bytes < minResponseBytes) return;
    if (!this.#limits.responses.tryTake(this.#user, bytes, this.#exempt)) throw new Overload();
    this.#responseBytes += bytes;
  }

  /** Whether the response may be compressed while it is sent, which takes half a megabyte. Counts it until its end. */
  tryCompress(): boolean {
    const isFitting = this.#limits.compressed.tryTake(this.#user, 1, this.#exempt);
    if (isFitting) this.#compressed++;
    return isFitting;
  }

  /**
   * Counts bytes that the client has yet to read: at once, or as soon as they fit, with a call of `onTaken`. Returns a
   * function that cancels the wait; undefined if there is none.
   */
  addUnread(bytes: number, onTaken: () => void): (() => void) | undefined {
    return this.#limits.unread.takeOrWait(this.#user, { amount: bytes, exempt: this.#exempt, onTaken });
  }

  /** Counts bytes that are larger than expected. */
  takeUnread(bytes: number): void {
    this.#limits.unread.take(this.#user, bytes);
  }

  /** The client has read these bytes. */
  releaseUnread(bytes: number): void {
    this.#limits.unread.release(this.#user, bytes);
  }

  /** Must be called once, at the end of the request. */
  release(): void {
    const flowClass = this.#flowClass;
    if (flowClass !== undefined && this.#requests > 0) this.#limits[flowClass].release(this.#user, this.#requests);
    if (this.#bodyBytes > 0) this.#limits.receiving.release(this.#user, this.#bodyBytes);
    if (this.#selectorBytes > 0) this.#limits.selectors.release(this.#user, this.#selectorBytes);
    if (this.#compressed > 0) this.#limits.compressed.release(this.#user, this.#compressed);
    if (this.#responseBytes > 0) this.#limits.responses.release(this.#user, this.#responseBytes);
  }
}
