import type { WaitingSteps } from './steps.ts';

/** The most long work between two turns of the event loop for input and output (ms), one step aside. */
export const sliceMs = 10;

/** The turns of one piece of long work, such as a request. */
export interface Turns {
  /** Whether the work must wait for its next turn before its next step. */
  readonly over: boolean;
  /** Resolves when the work may go on. */
  next(): Promise<void>;
}

/** The time of a thread and its event loop. */
export interface Loop {
  /** Milliseconds since any moment. */
  readonly now: () => number;
  /** Calls back in the next turn of the event loop, after input and output. */
  readonly defer: (callback: () => void) => void;
}

/** What one owner has used of the time that was shared while anybody waited (ms), and its work that waits. */
interface Owner {
  used: number;
  /** Ordered by age. */
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly age: number;
  readonly resume: () => void;
}

/**
 * Shares the event loop between pieces of long work. In each turn of the loop they run for 10 ms in all, one step aside.
 * Those that wait go on in the order of what their owners have used, the oldest work of an owner first. Work that nobody
 * has to wait for starts at once.
 *
 * A step is what runs between two looks at `over`. It must not take longer than 25 ms, whatever a client sends; a few
 * hundred microseconds are a good length.
 */
export class Scheduler {
  readonly #loop: Loop;
  readonly #owners = new Map<string, Owner>();
  #waiting = 0;
  /** Whether there has been long work in this turn of the event loop, and when it must stop. */
  #open = false;
  #deadline = 0;
  /** What the owner who was last granted a turn had used by then. Whoever comes later starts from there. */
  #used = 0;
  #ages = 0;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** How many pieces of work wait for a turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The turns of a new piece of work, whose owner is a user or a part of the server. */
  turns(owner: string): Turns {
    return new WorkTurns(this, owner, this.#ages++);
  }

  /** Whether long work must wait now. */
  get over(): boolean {
    if (this.#open) return this.#loop.now() >= this.#deadline;
    if (this.#waiting > 0) return true;
    this.#begin();
    return false;
  }

  wait(name: string, age: number): Promise<void> {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = { used: this.#used, waiting: [] };
      this.#owners.set(name, owner);
    } else if (owner.waiting.length === 0) owner.used = Math.max(owner.used, this.#used);
    this.#waiting++;
    if (!this.#open) this.#begin();
    const { waiting } = owner;
    return new Promise((resume) => {
      // Work of the same age goes on in the order in which it waits.
      let place = 0;
      for (let end = waiting.length; place < end; ) {
        const middle = (place + end) >> 1;
        if ((waiting[middle] as Waiting).age <= age) place = middle + 1;
        else end = middle;
      }
      waiting.splice(place, 0, { age, resume });
    });
  }

  #begin(): void {
    this.#open = true;
    this.#deadline = this.#loop.now() + sliceMs;
    this.#loop.defer(this.#turn);
  }

  /** Begins a turn of the event loop. */
  readonly #turn = (): void => {
    this.#open = false;
    if (this.#waiting === 0) {
      this.#owners.clear();
      this.#used = 0;
      return;
    }
    for (const [name, { used, waiting }] of this.#owners) {
      if (waiting.length === 0 && used <= this.#used) this.#owners.delete(name);
    }
    this.#begin();
    this.#grant();
  };

  /** Grants turns, one after the other, until the time of this turn of the event loop is used up. */
  #grant(): void {
    let least: Owner | undefined;
    for (const owner of this.#owners.values()) {
      if (owner.waiting.length > 0 && (least === undefined || owner.used < least.used)) least = owner;
    }
    const granted = least as Owner;
    const began = this.#loop.now();
    this.#used = granted.used;
    this.#waiting--;
    (granted.waiting.shift() as Waiting).resume();
    // What was granted a turn runs first, until it waits for anything.
    queueMicrotask(() => {
      const now = this.#loop.now();
      granted.used += now - began;
      if (this.#waiting > 0 && now < this.#deadline) this.#grant();
    });
  }
}

class WorkTurns implements Turns {
  readonly #scheduler: Scheduler;
  readonly #owner: string;
  readonly #age: number;

  constructor(scheduler: Scheduler, owner: string, age: number) {
    this.#scheduler = scheduler;
    this.#owner = owner;
    this.#age = age;
  }

  get over(): boolean {
    return this.#scheduler.over;
  }

  next(): Promise<void> {
    return this.#scheduler.wait(this.#owner, this.#age);
  }
}

/** The scheduler of this thread: there is one for each event loop. */
export const scheduler = new Scheduler({
  now: () => performance.now(),
  defer: (callback) => void setImmediate(callback),
});

/** The owner of work that belongs to no user. */
const serverOwner = '';

/** The turns of work of the server itself. */
export const serverTurns = (): Turns => scheduler.turns(serverOwner);

/** The result of all steps, which run in the turns. Waits for the promises that they yield. */
export async function inTurns<T>(steps: WaitingSteps<T>, turns: Turns): Promise<T> {
  for (;;) {
    if (turns.over) await turns.next();
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) await step.value;
  }
}
