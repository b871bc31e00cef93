import type { User } from '../meta/index.ts';
import type { FlowClass, InFlight } from './in-flight.ts';
import type { ApiRequest } from './types.ts';

/** A body counts as so much at least (bytes): what a request takes up besides its body. */
const leastBody = 16 * 1024;

/** What one request has of that which is shared, given back all at once. */
export class Seat {
  readonly #inFlight: InFlight;
  readonly #user: User;
  /** Undefined: the request is served however busy the server is. */
  readonly #lane: FlowClass | undefined;
  #places = 0;
  #bytes = 0;

  constructor(inFlight: InFlight, user: User, lane: FlowClass | undefined) {
    this.#inFlight = inFlight;
    this.#user = user;
    this.#lane = lane;
  }

  /** Takes so many places of the lane. @throws StatusError 429 */
  enter(places = 1): void {
    if (this.#lane === undefined || places === 0) return;
    this.#inFlight.enter(this.#lane, this.#user, places);
    this.#places += places;
  }

  /**
   * The whole body; the request enters its lane when that is there, so that who sends slowly keeps nobody out.
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

  /** So many bytes go out unread: at once, or when the user may have them, and then calls `granted`; the result ends the wait. */
  send(bytes: number, granted: () => void): (() => void) | undefined {
    return this.#inFlight.wait('unread', this.#user, bytes, granted);
  }

  /** They were read. */
  sent(bytes: number): void {
    this.#inFlight.leave('unread', this.#user, bytes);
  }

  /** Must be called once, when the request is over. */
  leave(): void {
    if (this.#lane !== undefined && this.#places > 0) this.#inFlight.leave(this.#lane, this.#user, this.#places);
    if (this.#bytes > 0) this.#inFlight.leave('receiving', this.#user, this.#bytes);
  }
}
