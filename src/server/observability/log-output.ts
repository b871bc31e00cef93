import { writeSync } from 'node:fs';

/** Maximum size of the queue in bytes; further lines are dropped. */
const maxQueuedBytes = 1024 * 1024;

/** Interval between writes to a full pipe (ms). */
const retryMs = 50;

/** How long the exit of the process waits for a reader (ms). */
const flushTimeoutMs = 1_000;

/**
 * Writes lines to a file or a non-blocking pipe, synchronously while they fit, so that a crash loses nothing. Other lines are
 * queued, and dropped when the queue is full.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #onDropped: (dropped: number) => void;
  readonly #queue: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #atExit = () => this.flush();

  /** `onDropped` receives the number of dropped lines once the queue is empty. */
  constructor(fd: number, onDropped: (dropped: number) => void) {
    this.#fd = fd;
    this.#onDropped = onDropped;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#queue.length === 0) this.#add(bytes.subarray(this.#write(bytes)));
    else if (this.#bytes + bytes.length <= maxQueuedBytes) this.#add(bytes);
    else this.#dropped++;
  }

  /** Writes the queue, until a timeout. */
  flush(): void {
    const until = performance.now() + flushTimeoutMs;
    while (!this.#writeQueue() && performance.now() < until) Atomics.wait(pause, 0, 0, 10);
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#bytes += bytes.length;
    if (this.#queue.length > 1) return;
    process.on('exit', this.#atExit);
    this.#retryLater();
  }

  #retryLater(): void {
    const retry = () => {
      if (this.#queue.length > 0 && !this.#writeQueue()) this.#retryLater();
    };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(retry, retryMs).unref();
  }

  /** Returns whether the queue is empty. */
  #writeQueue(): boolean {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const written = this.#write(next);
      this.#bytes -= written;
      if (written < next.length) {
        this.#queue[0] = next.subarray(written);
        return false;
      }
      this.#queue.shift();
    }
    process.off('exit', this.#atExit);
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#onDropped(dropped);
    return this.#queue.length === 0;
  }

  /** Returns how many bytes are done. */
  #write(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
    } catch (error) {
      // The reader is gone, or the disk is full: the line is lost.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return bytes.length;
    }
    return written;
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));
