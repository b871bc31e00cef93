import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Turns } from '../../meta/index.ts';

/** How much is handed on in one step (bytes): up to 2,700 chunks, or 600 informational responses, of HTTP/1.1. */
const stepBytes = 16 * 1024;

const ignore = () => {};

/** Events that are those of the connection. */
const passedOn = ['connect', 'secureConnect', 'timeout'] as const;

/**
 * A connection of which no more is read than the turns allow: whatever parses its bytes does so in steps. It is destroyed
 * with the connection below it, and destroys it.
 */
export class PacedSocket extends Duplex {
  readonly #below: Socket;
  #turns: Turns;
  #isSilent = true;
  #busy = false;
  #ended = false;
  /** Why the connection below failed: reported once its bytes are handed on, which may be a whole response. */
  #failure: Error | undefined;
  /** Set once the connection below has been released: what its parser has not used. */
  #unused: Buffer | undefined;
  #wanted: (() => void) | undefined;

  constructor(below: Socket, turns: Turns) {
    super({ allowHalfOpen: false });
    this.#below = below;
    this.#turns = turns;
    // A failure that no request listens to any more only closes the connection.
    this.on('error', ignore);
    for (const event of passedOn) below.on(event, () => this.emit(event));
    below.on('readable', this.#handOn);
    below.once('end', () => {
      this.#ended = true;
      this.#handOn();
    });
    below.on('error', (error) => {
      if (this.#unused !== undefined) return;
      this.#failure = error;
      this.#handOn();
    });
    below.once('close', () => {
      if (!this.#ended && this.#failure === undefined) this.destroy();
    });
  }

  /** Whether nothing has arrived since the last call of `serve`. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Begins the next request, whose response is read in these turns. */
  serve(turns: Turns): void {
    this.#turns = turns;
    this.#isSilent = true;
  }

  /** Gives up the connection below. What its parser has not used is read from there first. */
  release(unused: Buffer): Socket {
    this.#unused = unused;
    return this.#below;
  }

  // Methods that an agent with kept connections calls.

  setKeepAlive(enable: boolean, delay: number): void {
    this.#below.setKeepAlive(enable, delay);
  }

  setTimeout(ms: number): void {
    this.#below.setTimeout(ms);
  }

  ref(): void {
    this.#below.ref();
  }

  unref(): void {
    this.#below.unref();
  }

  /** Closes the connection once what was written has been sent. */
  destroySoon(): void {
    this.end(() => this.destroy());
  }

  override _read(): void {
    this.#wanted?.();
  }

  override _write(bytes: Uint8Array, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // A write after the other side has closed discards the response that it sent first: an empty one says nothing, and one
    // after its end reaches nobody.
    if (bytes.length === 0 || this.#ended) done();
    // An error of the connection is reported in its order.
    else this.#below.write(bytes, encoding, () => done());
  }

  override _final(done: () => void): void {
    // The connection may have ended by itself, which is no error.
    this.#below.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#wanted?.();
    if (this.#unused === undefined) this.#below.destroy();
    done(error);
  }

  readonly #handOn = (): void => void this.#passOn();

  async #passOn(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let bytes = this.#read(); bytes !== null; bytes = this.#read()) {
      this.#isSilent = false;
      for (let at = 0; at < bytes.length; at += stepBytes) {
        if (this.#turns.over) await this.#turns.next();
        const more = this.push(bytes.subarray(at, at + stepBytes));
        if (this.#unused !== undefined) return this.#giveBack(this.#unused, bytes.subarray(at + stepBytes));
        if (!more) await this.#demand();
      }
    }
    this.#busy = false;
    if (this.#failure !== undefined) this.destroy(this.#failure);
    else if (this.#ended) this.push(null);
  }

  #read(): Buffer | null {
    return this.destroyed ? null : (this.#below.read() as Buffer | null);
  }

  #giveBack(...rest: readonly Buffer[]): void {
    this.#below.off('readable', this.#handOn);
    this.#below.unshift(Buffer.concat(rest));
  }

  /** Resolves when more is wanted, or nothing any more. */
  #demand(): Promise<void> {
    if (this.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wanted = () => {
        this.#wanted = undefined;
        resolve();
      };
    });
  }
}
