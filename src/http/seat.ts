import { systemMasters } from '../auth/index.ts';
import { statusError, type User } from '../meta/index.ts';
import type { FlowClass, InFlight } from './in-flight.ts';
import type { ApiRequest } from './types.ts';

/** The least that a body counts (bytes): a request takes memory besides its body. */
const leastBody = 16 * 1024;

/** What one request takes of the shared limits: seats, bytes of its body, of its selectors, unread ones. All is released at once. */
export class Seat {
  readonly #shares: InFlight['shares'];
  readonly #user: string;
  /** Members of `system:masters` may take all that is free. */
  readonly #exempt: boolean;
  /** Undefined: the request is served at any load. */
  readonly #flowClass: FlowClass | undefined;
  /** Whether the request was refused because a share was used up. */
  refused = false;
  #places = 0;
  #bytes = 0;
  #selectors = 0;

  constructor({ shares }: InFlight, { name, groups }: User, flowClass: FlowClass | undefined) {
    this.#shares = shares;
    this.#user = name;
    this.#exempt = groups.includes(systemMasters);
    this.#flowClass = flowClass;
  }

  /** Takes seats of the flow class. @throws StatusError 429 when the share of the user is used up */
  enter(places = 1): void {
    if (this.#flowClass === undefined || places === 0) return;
    this.#require(this.#flowClass, places);
    this.#shares[this.#flowClass].take(this.#user, places);
    this.#places += places;
  }

  /**
   * The whole body. The request takes its seat when it has arrived, so that slow senders hold none.
   * @throws StatusError 429, and those of `ApiRequest.body`
   */
  async receive(request: ApiRequest, limit: number): Promise<Uint8Array> {
    const { coming = 0 } = request;
    if (coming > 0) {
      const bytes = Math.max(leastBody, Math.min(coming, limit));
      if (this.#flowClass !== undefined) this.#require(this.#flowClass, 1);
      this.#require('receiving', bytes);
      this.#shares.receiving.take(this.#user, bytes);
      this.#bytes += bytes;
    }
    const body = await request.body(limit);
    this.enter();
    return body;
  }

  /** Counts what the selectors of the request take in memory (bytes). @throws StatusError 429 */
  keep(selectors: number): void {
    if (selectors === 0) return;
    this.#require('selectors', selectors, 'too much memory is taken by the selectors of your lists and watches');
    this.#shares.selectors.take(this.#user, selectors);
    this.#selectors += selectors;
  }

  /**
   * Counts bytes that are sent and not yet read: at once, or, with a call of `granted`, when the share of the user allows
   * it. The result cancels the wait.
   */
  send(bytes: number, granted: () => void): (() => void) | undefined {
    return this.#shares.unread.wait(this.#user, { amount: bytes, exempt: this.#exempt, granted });
  }

  /** The client has read these bytes. */
  sent(bytes: number): void {
    this.#shares.unread.give(this.#user, bytes);
  }

  /** @throws StatusError 429 when the amount is more than the share of the user */
  #require(what: keyof InFlight['shares'], amount: number, why = ''): void {
    const shares = this.#shares[what];
    if (shares.fits(this.#user, amount, this.#exempt)) return;
    shares.refusals++;
    this.refused = true;
    throw statusError.tooManyRequests(`Too many requests, please try again later.${why === '' ? '' : ` (${why})`}`, 1);
  }

  /** Must be called once, when the request has ended. */
  leave(): void {
    if (this.#flowClass !== undefined && this.#places > 0) {
      this.#shares[this.#flowClass].give(this.#user, this.#places);
    }
    if (this.#bytes > 0) this.#shares.receiving.give(this.#user, this.#bytes);
    if (this.#selectors > 0) this.#shares.selectors.give(this.#user, this.#selectors);
  }
}
