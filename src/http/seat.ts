import { systemMasters } from '../auth/index.ts';
import { statusError, type User } from '../meta/index.ts';
import type { FlowClass, InFlight } from './in-flight.ts';
import type { ApiRequest } from './types.ts';

/** The least that a body counts (bytes): a request takes memory besides its body. */
const leastBody = 16 * 1024;

/** What one request takes of the shared limits: seats, body bytes, unread bytes. All is released at once. */
export class Seat {
  readonly #shares: InFlight['shares'];
  readonly #user: string;
  /** Members of `system:masters` may take all that is free. */
  readonly #exempt: boolean;
  /** Undefined: the request is served at any load. */
  readonly #flowClass: FlowClass | undefined;
  #places = 0;
  #bytes = 0;

  constructor({ shares }: InFlight, { name, groups }: User, flowClass: FlowClass | undefined) {
    this.#shares = shares;
    this.#user = name;
    this.#exempt = groups.includes(systemMasters);
    this.#flowClass = flowClass;
  }

  /** Takes seats of the flow class. @throws StatusError 429 when the share of the user is used up */
  enter(places = 1): void {
    if (this.#flowClass === undefined || places === 0) return;
    const seats = this.#shares[this.#flowClass];
    if (!seats.fits(this.#user, places, this.#exempt)) throw tooManyRequests();
    seats.take(this.#user, places);
    this.#places += places;
  }

  /**
   * The whole body. The request takes its seat when it has arrived, so that slow senders hold none.
   * @throws StatusError 429, and those of `ApiRequest.body`
   */
  async receive(request: ApiRequest, limit: number): Promise<Uint8Array> {
    const { coming = 0 } = request;
    if (coming > 0) {
      const { receiving } = this.#shares;
      const seats = this.#flowClass === undefined ? undefined : this.#shares[this.#flowClass];
      const bytes = Math.max(leastBody, Math.min(coming, limit));
      if (seats?.fits(this.#user, 1, this.#exempt) === false) throw tooManyRequests();
      if (!receiving.fits(this.#user, bytes, this.#exempt)) throw tooManyRequests();
      receiving.take(this.#user, bytes);
      this.#bytes += bytes;
    }
    const body = await request.body(limit);
    this.enter();
    return body;
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

  /** Must be called once, when the request has ended. */
  leave(): void {
    if (this.#flowClass !== undefined && this.#places > 0) {
      this.#shares[this.#flowClass].give(this.#user, this.#places);
    }
    if (this.#bytes > 0) this.#shares.receiving.give(this.#user, this.#bytes);
  }
}

const tooManyRequests = () => statusError.tooManyRequests('Too many requests, please try again later.', 1);
