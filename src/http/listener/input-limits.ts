import type { Clock } from '../../meta/index.ts';
import type { LoopTurns } from './loop-turns.ts';

/** Requests and pieces of bodies in one turn of the event loop, after which a connection is not read until the next one. */
const mostInTurn = 64;

/**
 * Points for input that costs the server more than its client. Nobody may send 5,000 of them in a second: 200 streams that
 * are reset as soon as they are open, 1,000 control frames, or 5,000 bodies' pieces of a few bytes.
 */
const points = { briefStream: 25, control: 5, smallPiece: 1 };
const mostPoints = 5_000;
const secondMs = 1_000;

/** Streams that end within this time after they began are brief (ms). */
const briefMs = 1_000;

/** Pieces of a body that are smaller are counted (bytes). */
const smallBytes = 64;

/**
 * Streams of any age that are reset at once, and in each second from then on. Node's engine stops answering beyond 1,000
 * and 33, without an end of the connection in some versions.
 */
const mostResets = 900;
const resetsEachSecond = 30;

/**
 * Bytes of an HTTP/2 connection that belong to no request: frames that Node does not report, such as PRIORITY,
 * WINDOW_UPDATE and unknown ones. The limit of a burst, and of each second after it.
 */
const mostUnaccounted = 1024 * 1024;
const unaccountedEachSecond = 256 * 1024;

/**
 * The bytes that belong to a request, with its body up to the window of a stream, which may be read at once or not at all;
 * and those that belong to a later piece of its body, besides twice its size. Both include the frames that go with them.
 */
const accounted = { request: 96 * 1024, piece: 1024 };
/** The share of the written bytes that counts as acknowledgements of them. */
const acknowledged = 1 / 8;

/** The control that a connection has over its input. */
export interface Input {
  /** Reads no more until the next turn of the event loop. */
  pause(): void;
  /** Ends the connection, which has sent more than it may. */
  exceed(): void;
}

/** Bounds what the input of one connection makes the server do, in a turn of the event loop and in a second. */
export class InputLimits {
  readonly #input: Input;
  readonly #clock: Clock;
  readonly #loop: LoopTurns;
  #turn = -1;
  #inTurn = 0;
  #second = Number.NEGATIVE_INFINITY;
  #spent = 0;
  #resets = 0;
  #resetsAt = 0;
  #accounted = 0;
  #unaccounted = 0;
  #allowance = mostUnaccounted;
  #lookedAt: number | undefined;

  constructor(input: Input, clock: Clock, loop: LoopTurns) {
    this.#input = input;
    this.#clock = clock;
    this.#loop = loop;
  }

  request(): void {
    this.#accounted += accounted.request;
    this.#step();
  }

  /** Counts a piece of a body. */
  piece(bytes: number): void {
    this.#accounted += 2 * bytes + accounted.piece;
    this.#step();
    if (bytes < smallBytes) this.#spend(points.smallPiece);
  }

  /** Counts a frame that tells something about the connection. */
  control(): void {
    this.#spend(points.control);
  }

  /** Counts a stream that was reset, by either side. `began` is monotonic. */
  reset(began: number): void {
    const now = this.#clock.monotonic();
    if (now - began < briefMs) this.#spend(points.briefStream);
    this.#resets = Math.max(0, this.#resets - ((now - this.#resetsAt) / secondMs) * resetsEachSecond) + 1;
    this.#resetsAt = now;
    if (this.#resets > mostResets) this.#input.exceed();
  }

  /**
   * Compares the bytes that an HTTP/2 connection has read so far with those that belong to requests, and to what has been
   * written. The bytes of the requests that are open may still be on their way.
   */
  look(
    { bytesRead, bytesWritten }: { readonly bytesRead: number; readonly bytesWritten: number },
    openRequests: number,
  ): void {
    const now = this.#clock.monotonic();
    const earned = ((now - (this.#lookedAt ?? now)) / secondMs) * unaccountedEachSecond;
    const unaccounted = bytesRead - this.#accounted - bytesWritten * acknowledged;
    const more = unaccounted - this.#unaccounted;
    const most = mostUnaccounted + openRequests * accounted.request;
    this.#lookedAt = now;
    this.#unaccounted = unaccounted;
    this.#allowance = Math.min(most, Math.min(most, this.#allowance + earned) - more);
    if (this.#allowance < 0) this.#input.exceed();
  }

  #step(): void {
    const { current } = this.#loop;
    if (current !== this.#turn) {
      this.#turn = current;
      this.#inTurn = 0;
    }
    if (++this.#inTurn === mostInTurn) this.#input.pause();
  }

  #spend(spent: number): void {
    const now = this.#clock.monotonic();
    if (now - this.#second >= secondMs) {
      this.#second = now;
      this.#spent = 0;
    }
    this.#spent += spent;
    if (this.#spent > mostPoints) this.#input.exceed();
  }
}
