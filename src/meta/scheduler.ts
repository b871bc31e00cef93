import { Heap } from './heap.ts';
import type { WaitingSteps } from './steps.ts';

/**
 * Maximum time of long work in one turn of the event loop (ms), excess of the last step aside. A request waits for a slice
 * twice: until it is read, and until its response is written. A turn without work takes about 50 microseconds.
 */
export const sliceMs = 0.25;
/** The same while one owner alone has had long work for this number of turns: nobody waits for them to end. */
export const loneSliceMs = 2;
export const loneTurns = 200;

/** The turns of one piece of long work, such as a request. */
export interface Turns {
  /** The user or part of the server that the work belongs to; absent: the server. */
  readonly owner?: string;
  /** Whether the work must wait for its next turn before its next step. */
  readonly over: boolean;
  /** Resolves when the work may go on. */
  next(): Promise<void>;
  /** From now on the work goes behind all work of the same owner that has not gone behind, which gets four turns of five. */
  goBehind?(): void;
}

/** The time of a thread and its event loop. */
export interface Loop {
  /** Milliseconds since any moment. */
  readonly now: () => number;
  /** Calls back in the next turn of the event loop, after input and output. */
  readonly defer: (callback: () => void) => void;
  /** Calls back once everything has run that waits for no input, output or timer. */
  readonly settle: (callback: () => void) => void;
}

/** The time one owner has used while others waited (ms), and its waiting work. */
interface Owner {
  used: number;
  /** When it was added to the due owners: of those that have used the same time, the one that has waited longest is next. */
  since: number;
  /** Whether its work runs. */
  running: boolean;
  /** How many turns in a row other work has had while work that has gone behind waits. */
  ahead: number;
  /** Ordered by age. */
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly age: number;
  readonly resume: () => void;
}

/**
 * Shares the event loop between pieces of long work. In each turn of the loop they run for a quarter of a
 * millisecond in total, apart from the last step, and for 2 ms while all of them have one owner. Waiting work resumes in
 * the order of the time its owners have used, the oldest work of an owner first. Work starts immediately when no other
 * work waits.
 *
 * A step is the work between two reads of `over`. It must not take longer than 25 ms, whatever a client sends; a few
 * hundred microseconds are ideal.
 */
export class Scheduler {
  readonly #loop: Loop;
  readonly #owners = new Map<string, Owner>();
  /** The owners with waiting work, but for the one whose work runs. */
  readonly #due = new Heap<Owner>((a, b) => a.used < b.used || (a.used === b.used && a.since < b.since));
  #waiting = 0;
  /** Whether long work has run in this turn of the event loop, and its deadline. */
  #open = false;
  #deadline = 0;
  /** The time used by the owner of the last granted turn, when it was granted. New owners start from there. */
  #used = 0;
  /** The owner that has had work last, and for how many turns of the event loop it has been the only one. */
  #lastOwner = '';
  #turnsAlone = 0;
  #added = 0;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** The number of pieces of work that wait for a turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Returns the turns of a new piece of work. The owner is a user or a part of the server. */
  turns(owner: string): Turns {
    if (owner !== this.#lastOwner) this.#note(owner);
    return new WorkTurns(this, owner);
  }

  /** Whether the owner alone has had work for 200 turns: nobody waits for it. */
  isAlone(owner: string): boolean {
    return this.#turnsAlone >= loneTurns && this.#lastOwner === owner;
  }

  /** Whether work of the owner waits for its turn, and others wait for the owner. */
  holdsBack(owner: string): boolean {
    return this.#waiting > 0 && !this.isAlone(owner) && (this.#owners.get(owner)?.waiting.length ?? 0) > 0;
  }

  /** Resolves in a turn of the owner, like work that goes behind now. */
  nextBehind(owner: string): Promise<void> {
    return this.wait(owner, ageBehind());
  }

  /** Another owner than the last one has work. */
  #note(owner: string): void {
    // The server works for the users: its own work makes none of them wait.
    if (owner === serverOwner) return;
    this.#lastOwner = owner;
    this.#turnsAlone = 0;
  }

  /** Whether long work must wait now. */
  get over(): boolean {
    if (this.#open) return this.#loop.now() >= this.#deadline;
    if (this.#waiting > 0) return true;
    this.#begin();
    return false;
  }

  wait(name: string, age: number): Promise<void> {
    if (name !== this.#lastOwner) this.#note(name);
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = { used: this.#used, since: 0, running: false, ahead: 0, waiting: [] };
      this.#owners.set(name, owner);
    } else if (owner.waiting.length === 0) owner.used = Math.max(owner.used, this.#used);
    this.#waiting++;
    if (!this.#open) this.#begin();
    const { waiting } = owner;
    if (waiting.length === 0 && !owner.running) this.#addDue(owner);
    return new Promise((resume) => {
      // Work of the same age resumes in the order of its calls.
      waiting.splice(countUpTo(waiting, age), 0, { age, resume });
    });
  }

  #addDue(owner: Owner): void {
    owner.since = this.#added++;
    this.#due.add(owner);
  }

  #begin(): void {
    this.#open = true;
    this.#deadline = this.#loop.now() + (this.#turnsAlone < loneTurns ? sliceMs : loneSliceMs);
    this.#turnsAlone++;
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
    for (const [name, { used, running, waiting }] of this.#owners) {
      if (waiting.length === 0 && !running && used <= this.#used) this.#owners.delete(name);
    }
    this.#begin();
    this.#grant();
  };

  /** Grants turns one after the other until the deadline of this turn of the event loop. */
  #grant(): void {
    const granted = this.#due.take() as Owner;
    granted.running = true;
    const began = this.#loop.now();
    this.#used = granted.used;
    this.#waiting--;
    takeNext(granted).resume();
    // The granted work runs first, with what it writes.
    this.#loop.settle(() => {
      const now = this.#loop.now();
      granted.used += now - began;
      granted.running = false;
      if (granted.waiting.length > 0) this.#addDue(granted);
      if (this.#waiting > 0 && now < this.#deadline) this.#grant();
    });
  }
}

/** The number of pieces of work so far: the age of one that begins now. */
let ages = 0;

/** Ages from this one on are of work that has gone behind. */
const minAgeBehind = 2 ** 52;

/** The age of work that goes behind now. */
const ageBehind = (): number => minAgeBehind + ages++;

/** After this number of turns of other work in a row, work that has gone behind gets one: it must not wait for ever. */
export const maxAhead = 4;

/** How much of the work, which is ordered by age, has at most this age. */
function countUpTo(waiting: readonly Waiting[], age: number): number {
  let place = 0;
  for (let end = waiting.length; place < end; ) {
    const middle = (place + end) >> 1;
    if ((waiting[middle] as Waiting).age <= age) place = middle + 1;
    else end = middle;
  }
  return place;
}

/** Takes the work of the owner that is next. */
function takeNext(owner: Owner): Waiting {
  const { waiting } = owner;
  const place = countUpTo(waiting, minAgeBehind - 1);
  const isAhead = place > 0 && (place === waiting.length || owner.ahead < maxAhead);
  // Counted while work has gone behind and waits.
  owner.ahead = isAhead && place < waiting.length ? owner.ahead + 1 : 0;
  return (isAhead || place === 0 ? waiting.shift() : waiting.splice(place, 1)[0]) as Waiting;
}

class WorkTurns implements Turns {
  readonly owner: string;
  readonly #scheduler: Scheduler;
  #age = ages++;

  constructor(scheduler: Scheduler, owner: string) {
    this.#scheduler = scheduler;
    this.owner = owner;
  }

  get over(): boolean {
    return this.#scheduler.over;
  }

  next(): Promise<void> {
    return this.#scheduler.wait(this.owner, this.#age);
  }

  goBehind(): void {
    this.#age = ageBehind();
  }
}

/**
 * Calls back after two rounds of microtasks and of ticks: a round of microtasks ends when none is left, and streams write
 * in the ticks that it adds.
 */
export function settleSoon(callback: () => void): void {
  const afterRound = (next: () => void) => queueMicrotask(() => process.nextTick(next));
  afterRound(() => afterRound(callback));
}

/** The scheduler of this thread, which has one event loop. */
export const scheduler = new Scheduler({
  now: () => performance.now(),
  defer: (callback) => void setImmediate(callback),
  settle: settleSoon,
});

/** The owner of work that belongs to no user. */
const serverOwner = '';

/** The turns of work of the server itself. */
export const serverTurns = (): Turns => scheduler.turns(serverOwner);

/**
 * The turns of reading what other servers send, such as webhooks: `peer` says which. No work of this server waits behind it,
 * however much they send.
 */
export const peerTurns = (peer: string): Turns => scheduler.turns(`answers of ${peer}`);

/** Runs all steps in the given turns and returns the result. Waits for the promises that they yield. */
export async function inTurns<T>(steps: WaitingSteps<T>, turns: Turns): Promise<T> {
  for (;;) {
    if (turns.over) await turns.next();
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) await step.value;
  }
}

/**
 * Waits for an outcome for which many may wait together. Each goes on in its own turn, not all in the step in which it comes.
 * `turnsOf` returns the turns; its argument is undefined for an error.
 */
export async function inTurnAfter<T>(pending: Promise<T>, turnsOf: (outcome: T | undefined) => Turns): Promise<T> {
  let outcome: T | undefined;
  try {
    outcome = await pending;
    return outcome;
  } finally {
    const turns = turnsOf(outcome);
    if (turns.over) await turns.next();
  }
}
