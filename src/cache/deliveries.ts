import { type Clock, scheduler } from '../meta/index.ts';

/** A subscriber with events for its reader. */
export interface Recipient {
  /** Hands over the events. What the reader does with them before it waits for input or output belongs to the turn. */
  flush(): void;
}

/** The number of recipients between two reads of the clock: about 10 us each, including the write to the connection. */
const stride = 8;

/** Limits of the pause between two rounds of an owner (ms), which is as long as the round before it. */
const minPauseMs = 1;
const maxPauseMs = 10;

/**
 * Delivers events in turns of the owners of subscribers, never in the turn of the change. A recipient that waits for its
 * turn gathers the events that arrive meanwhile. Those of one owner delay nobody else by more than a slice.
 *
 * A lone change is delivered at once. When other changes arrive during a long round, a pause follows, in which requests run
 * and events gather: to write several events to a connection takes little more time than to write one.
 */
export class Deliveries {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Recipient[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `flush` in a turn of the owner: a user, or the server. The recipient must not wait already. */
  add(recipient: Recipient, owner = ''): void {
    const waiting = this.#waiting.get(owner);
    if (waiting !== undefined) {
      waiting.push(recipient);
      return;
    }
    const first = [recipient];
    this.#waiting.set(owner, first);
    void this.#run(owner, first);
  }

  async #run(owner: string, first: Recipient[]): Promise<void> {
    for (let due = first; due.length > 0; ) {
      // Behind all work that the owner has begun: its requests do not wait for all its events.
      await scheduler.nextBehind(owner);
      const began = this.#clock.monotonic();
      const next: Recipient[] = [];
      this.#waiting.set(owner, next);
      let served = 0;
      for (const recipient of due) {
        recipient.flush();
        if (++served % stride > 0) continue;
        await written();
        if (scheduler.over) await scheduler.nextBehind(owner);
      }
      if (next.length > 0) await this.#pause(this.#clock.monotonic() - began);
      due = next;
    }
    this.#waiting.delete(owner);
  }

  #pause(roundMs: number): Promise<void> | undefined {
    if (roundMs < minPauseMs) return undefined;
    return new Promise((resolve) => this.#clock.after(Math.min(roundMs, maxPauseMs), resolve));
  }
}

/** Resolves once the readers of the events that were handed over have written them. */
const written = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
