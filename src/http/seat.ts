import type { User } from '../meta/index.ts';
import type { FlowClass, InFlight } from './in-flight.ts';
import type { ApiRequest } from './types.ts';

/** The least that a body counts (bytes): a request takes memory besides its body. */
const leastBody = 16 * 1024;

/** What one request takes of the shared limits: seats, body bytes, unread bytes. All is released at once. */
export class Seat {
  readonly #inFlight: InFlight;
  readonly #user: User;
  /** Undefined: the request is served at any load. */
  readonly #lane: FlowClass | undefined;
  #places = 0;
  #bytes = 0;

  constructor(inFlight: InFlight, user: User, lane: FlowClass | undefined) {
    this.#inFlight = inFlight;
    this.#user = user;
    this.#lane = lane;
  }

  /** Takes seats of the flow class. @throws StatusError 429 */
  enter(places = 1): void {
    if (this.#lane === undefined || places === 0) return;
    this.#inFlight.enter(this.#lane, this.#user, places);
    this.#places += places;
  }

  /**
   * The whole body. The request takes its seat when it has arrived, so that slow senders hold none.
   * @throws StatusError 429, and those of `ApiRequest.body`
   */
  async receive(request: ApiRequest, limit: number): Promise<Uint8Array> {
    const { coming = 0 } = request;
    if (coming > 0) {
      if (this.#lane !== undefined) this.#inFlight.check(this.#lane, this.#user);
      const bytes = Math.max(leastBody, Math.min(coming, limit));
      this.#inFlight.enter('receiving', this.#user, bytes);
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
    return this.#inFlight.wait('unread', this.#user, bytes, granted);
  }

  /** The client has read these bytes. */
  sent(bytes: number): void {
    this.#inFlight.leave('unread', this.#user, bytes);
  }

  /** Must be called once, when the request has ended. */
  leave(): void {
    if (this.#lane !== undefined && this.#places > 0) this.#inFlight.leave(this.#lane, this.#user, this.#places);
    if (this.#bytes > 0) this.#inFlight.leave('receiving', this.#user, this.#bytes);
  }
}
