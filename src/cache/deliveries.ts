import { scheduler } from '../meta/index.ts';

/** A subscriber with events for its reader. */
export interface Recipient {
  /** Hands over the events. What the reader does with them before it waits for input or output belongs to the turn. */
  flush(): void;
}

/** The number of recipients between two reads of the clock: about 10 us each, including the write to the connection. */
const stride = 8;

/**
 * Delivers events in turns of the owners of subscribers, never in the turn of the change. A recipient that waits for its
 * turn gathers the events that arrive meanwhile. Those of one owner delay nobody else by more than a slice.
 */
export class Deliveries {
  readonly #waiting = new Map<string, Recipient[]>();

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
    // Behind all work that the owner has begun: its requests do not wait for all its events.
    for (let due = first; due.length > 0; due = this.#waiting.get(owner) as Recipient[]) {
      await scheduler.nextBehind(owner);
      this.#waiting.set(owner, []);
      let served = 0;
      for (const recipient of due) {
        recipient.flush();
        if (++served % stride > 0) continue;
        await written();
        if (scheduler.over) await scheduler.nextBehind(owner);
      }
    }
    this.#waiting.delete(owner);
  }
}

/** Resolves once the readers of the events that were handed over have written them. */
const written = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
