import type { Socket } from 'node:net';
import { type Clock, clientNetwork, type Scheduler, socketAddress } from '../../meta/index.ts';
import { type Reading, readingOf } from './reading.ts';

/**
 * Maximum number of handshakes that are read in one turn of the event loop, and in one for which long work waits; others
 * wait. A handshake takes about a millisecond. OpenSSL verifies what a client sends in one step, which takes up to 70 ms
 * for 100 KiB of certificates.
 */
const maxPerTurn = 2;
const maxPerBusyTurn = 1;

/** How long a handshake whose client sends nothing is read while others wait (ms). */
const silentMs = 1;

/** A turn of the event loop that takes longer is followed by a rest (ms). */
const longMs = 10;

/** How often handshakes that are read all the time are looked at (ms). */
const lookMs = 1_000;

interface Handshake {
  readonly socket: Socket;
  readonly reading: Reading;
  readonly network: string;
  /** How much its client had sent when it was last looked at, and since when it has sent no more (monotonic, ms). */
  seen: number;
  silentSince: number;
}

/**
 * The TLS handshakes of a listener. A few are read at a time, of one network after the other. A client that sends nothing
 * for `patienceMs` is disconnected; what it has sent and nobody has read yet counts as sent.
 */
export class Handshakes {
  readonly #underWay = new Map<string, Handshake>();
  readonly #read = new Set<Handshake>();
  /** Those that wait, by the network of the client. */
  readonly #waiting = new Map<string, Set<Handshake>>();
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly #scheduler: Pick<Scheduler, 'waiting'>;
  readonly #patienceMs: number;
  #scheduled = false;
  /** Whether a look at the handshakes that are read is due. */
  #isLookDue = false;

  constructor(
    clock: Pick<Clock, 'monotonic' | 'after'>,
    scheduler: Pick<Scheduler, 'waiting'>,
    { patienceMs }: { readonly patienceMs: number },
  ) {
    this.#clock = clock;
    this.#scheduler = scheduler;
    this.#patienceMs = patienceMs;
  }

  get #most(): number {
    return this.#scheduler.waiting > 0 ? maxPerBusyTurn : maxPerTurn;
  }

  /** Must be called when a connection is accepted, once TLS has begun to read it. */
  begin(socket: Socket): void {
    if (socket.destroyed) return;
    const key = keyOf(socket);
    const handshake = {
      socket,
      reading: readingOf(socket),
      network: clientNetwork(socketAddress(socket)),
      seen: 0,
      silentSince: this.#clock.monotonic(),
    };
    this.#underWay.set(key, handshake);
    socket.once('close', () => {
      if (this.#underWay.get(key) === handshake) this.#underWay.delete(key);
      this.#remove(handshake);
    });
    this.#lookLater();
    if (this.#waiting.size === 0 && this.#read.size < this.#most) {
      this.#read.add(handshake);
      return;
    }
    handshake.reading.hold();
    this.#wait(handshake);
    this.#schedule(false);
  }

  /** Must be called with the TLS socket of a handshake that is over. */
  end(secure: Socket): void {
    const key = keyOf(secure);
    const handshake = this.#underWay.get(key);
    if (handshake === undefined) return;
    this.#underWay.delete(key);
    this.#remove(handshake);
  }

  #wait(handshake: Handshake): void {
    const { network } = handshake;
    const queue = this.#waiting.get(network) ?? new Set();
    this.#waiting.set(network, queue.add(handshake));
  }

  #remove(handshake: Handshake): void {
    this.#read.delete(handshake);
    const queue = this.#waiting.get(handshake.network);
    queue?.delete(handshake);
    if (queue?.size === 0) this.#waiting.delete(handshake.network);
  }

  /**
   * While clients send, others are read in the next turn of the event loop; while they are silent, it must not spin.
   * What took long is followed by as much time for everything else.
   */
  #schedule(sent: boolean): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    const began = this.#clock.monotonic();
    const turn = () => {
      this.#scheduled = false;
      this.#turn();
    };
    const look = () => {
      const took = this.#clock.monotonic() - began;
      if (took < longMs) turn();
      else setTimeout(afterReading, took, turn).unref();
    };
    if (sent) setImmediate(look);
    else setTimeout(afterReading, silentMs, look).unref();
  }

  #turn(): void {
    let sent = this.#read.size < this.#most;
    for (const handshake of this.#read) {
      if (this.#look(handshake)) sent = true;
      this.#read.delete(handshake);
      if (handshake.socket.destroyed) continue;
      handshake.reading.hold();
      this.#wait(handshake);
    }
    this.#readOn();
    this.#schedule(sent);
  }

  /** Disconnects a client that has sent nothing for too long. Returns whether it has sent something since the last look. */
  #look(handshake: Handshake): boolean {
    const { socket, seen, silentSince } = handshake;
    const now = this.#clock.monotonic();
    const sent = socket.bytesRead > seen;
    if (sent) {
      handshake.seen = socket.bytesRead;
      handshake.silentSince = now;
    } else if (now - silentSince > this.#patienceMs) socket.destroy();
    return sent;
  }

  /** Looks at what is read while no others wait, and #turn does not. */
  #lookLater(): void {
    if (this.#isLookDue || this.#underWay.size === 0) return;
    this.#isLookDue = true;
    this.#clock.after(lookMs, () =>
      afterReading(() => {
        this.#isLookDue = false;
        for (const handshake of this.#read) this.#look(handshake);
        this.#lookLater();
      }),
    );
  }

  /** Reads those that have waited longest, of one network after the other. */
  #readOn(): void {
    const most = this.#most;
    for (const [network, queue] of this.#waiting) {
      const [next] = queue;
      if (next === undefined || this.#read.size >= most) return;
      queue.delete(next);
      this.#waiting.delete(network);
      if (queue.size > 0) this.#waiting.set(network, queue);
      this.#read.add(next);
      next.reading.release();
    }
  }
}

/** Runs a task when all that has arrived by now has been read. */
const afterReading = (task: () => void): void => void setImmediate(task);

/** Names a connection, for a socket and the TLS socket over it. */
const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
