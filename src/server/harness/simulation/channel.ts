import type { Clock } from '../../../meta/index.ts';

/** One direction of a connection: delivers messages in order, each some time after it was sent. */
export class Channel {
  readonly #clock: Clock;
  readonly #delayMs: () => number;
  #due = 0;
  #held: (() => void)[] | undefined;

  /** `delayMs` is called for each message. */
  constructor(clock: Clock, delayMs: () => number) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  send(deliver: () => void): void {
    const now = this.#clock.monotonic();
    this.#due = Math.max(this.#due, now + this.#delayMs());
    this.#clock.after(this.#due - now, () => {
      if (this.#held === undefined) deliver();
      else this.#held.push(deliver);
    });
  }

  /** Holds back what is under way and what is sent from now on. */
  hold(): void {
    this.#held ??= [];
  }

  /** Delivers at once what was held back, so that nothing that is still under way comes before it. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const deliver of held) deliver();
  }
}
