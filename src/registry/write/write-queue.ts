import { type Clock, statusError } from '../../meta/index.ts';

/** Maximum number of writes that wait for one key. */
const maxWaiting = 1_000;
/** Duration of the first turn of a write (ms). Each further turn is longer by as much. */
const turnMs = 1_000;
/** The longest turn (ms). */
const maxTurnMs = 10_000;

/** A write that may have to queue for its key. */
export interface Place {
  readonly key: string;
  readonly age: number;
  turns: number;
}

interface Waiting {
  readonly place: Place;
  readonly resume: () => void;
}

interface Queue {
  /** The write that has its turn. */
  holder: Place;
  /** Ends the turn in time. */
  cancel: () => void;
  /** Ordered by age. */
  readonly waiting: Waiting[];
}

/**
 * Orders the writes of one key that would conflict. A write enters the queue of its key after a conflict, and at once
 * where there is a queue; one write after the other then has its turn, the oldest first. A queue is there as long as any
 * write is in it.
 *
 * A turn ends when the write leaves the queue, or in time: no write keeps others waiting for longer, whatever it waits
 * for. A write that was overtaken after its time gets a longer turn the next time.
 */
export class WriteQueue {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #queues = new Map<string, Queue>();
  #ages = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** The place of a new write. It is not in the queue yet. */
  place(key: string): Place {
    return { key, age: this.#ages++, turns: 0 };
  }

  /** Whether any write of the key is in its queue. */
  has(key: string): boolean {
    return this.#queues.has(key);
  }

  /** Resolves when the write has its turn; at once when it has it already. @throws StatusError 429 */
  enter(place: Place): Promise<void> | undefined {
    const queue = this.#queues.get(place.key);
    if (queue === undefined) {
      this.#queues.set(place.key, { holder: place, cancel: this.#begin(place), waiting: [] });
      return undefined;
    }
    const { holder, waiting } = queue;
    if (holder === place) return undefined;
    if (waiting.length >= maxWaiting) throw statusError.tooManyRequests(tooMany, 1);
    let at = waiting.length;
    while (at > 0 && (waiting[at - 1] as Waiting).place.age > place.age) at--;
    return new Promise((resume) => {
      waiting.splice(at, 0, { place, resume });
    });
  }

  /** Ends the turn of the write, if it has one. */
  leave(place: Place): void {
    const queue = this.#queues.get(place.key);
    if (queue?.holder !== place) return;
    queue.cancel();
    const next = queue.waiting.shift();
    if (next === undefined) {
      this.#queues.delete(place.key);
      return;
    }
    queue.holder = next.place;
    queue.cancel = this.#begin(next.place);
    next.resume();
  }

  #begin(place: Place): () => void {
    place.turns++;
    return this.#clock.after(Math.min(place.turns * turnMs, maxTurnMs), () => this.leave(place));
  }
}

const tooMany = 'too many writes of this object wait for each other';
