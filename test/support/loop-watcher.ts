interface Moment {
  readonly clock: number;
  readonly computed: number;
}

function moment(): Moment {
  const { user, system } = process.cpuUsage();
  return { clock: performance.now(), computed: (user + system) / 1000 };
}

/** Observes the event loop of this process until it is stopped. */
export class LoopWatcher {
  /** The number of turns so far. */
  turns = 0;
  /**
   * How long the longest turn was (ms): as long as it took or as long as the process computed in it, whichever is less,
   * so that what others do on the same machine does not count.
   */
  longest = 0;
  #last = moment();
  #running = true;

  constructor() {
    const turn = () => {
      if (!this.#running) return;
      const now = moment();
      this.longest = Math.max(this.longest, Math.min(now.clock - this.#last.clock, now.computed - this.#last.computed));
      this.#last = now;
      this.turns++;
      setImmediate(turn);
    };
    setImmediate(turn);
  }

  stop(): void {
    this.#running = false;
  }
}
