import { writeSync } from 'node:fs';

/** What waits until standard error is read (bytes); further lines are dropped. */
const mostWaiting = 1024 * 1024;

/** How often a full pipe is tried again (ms). */
const retryMs = 50;

/** How long the end of the process waits for a reader (ms). */
const patienceMs = 1_000;

/**
 * Writes lines to a file or to a pipe that does not block. What fits is written at once, so that a crash loses nothing.
 * Lines that do not fit wait, and are dropped when too many wait.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #told: (dropped: number) => void;
  readonly #waiting: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #atExit = () => this.flush();

  /** `told` is told how many lines were dropped, as soon as nothing waits. */
  constructor(fd: number, told: (dropped: number) => void) {
    this.#fd = fd;
    this.#told = told;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waiting.length === 0) this.#add(bytes.subarray(this.#send(bytes)));
    else if (this.#bytes + bytes.length <= mostWaiting) this.#add(bytes);
    else this.#dropped++;
  }

  /** Writes what waits, as long as somebody reads. */
  flush(): void {
    const until = performance.now() + patienceMs;
    while (!this.#sendWaiting() && performance.now() < until) Atomics.wait(pause, 0, 0, 10);
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#waiting.length > 1) return;
    process.on('exit', this.#atExit);
    this.#retryLater();
  }

  #retryLater(): void {
    const retry = () => {
      if (this.#waiting.length > 0 && !this.#sendWaiting()) this.#retryLater();
    };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(retry, retryMs).unref();
  }

  /** Whether nothing waits any more. */
  #sendWaiting(): boolean {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const sent = this.#send(next);
      this.#bytes -= sent;
      if (sent < next.length) {
        this.#waiting[0] = next.subarray(sent);
        return false;
      }
      this.#waiting.shift();
    }
    process.off('exit', this.#atExit);
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#told(dropped);
    return this.#waiting.length === 0;
  }

  /** How many bytes need not be sent again. */
  #send(bytes: Buffer): number {
    let sent = 0;
    try {
      while (sent < bytes.length) sent += writeSync(this.#fd, bytes, sent);
    } catch (error) {
      // The reader has gone, or the disk is full: nobody can be told.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return bytes.length;
    }
    return sent;
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));
