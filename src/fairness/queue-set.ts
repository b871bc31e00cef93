/** The queues of one priority level, from which requests start in the order of their virtual finish times. */
import type { Clock } from '../meta/index.ts';
import { distinguisherOf } from './classify.ts';
import { boundDispatch, estimatedSeconds, excess, Queue, type QueuedRequest, totalWork } from './queue.ts';
import { dealHand } from './shuffle.ts';
import type { LevelUsage } from './usage.ts';

/** The response to requests when a level has no free seats. */
export type LimitResponse =
  /** They start all the same. */
  'exempt' | 'reject' | Queuing;

interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** Why a request does not start. */
export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled';

/** Idle queues are forgotten, and hands dealt again, when there are more of them. */
const maxRemembered = 1024;

/**
 * How far a queue that has used little may lag behind virtual time (seat seconds). It is served before the busy ones until
 * it has caught up, so that the few requests of one user do not wait for a round of another's many.
 */
const idleCredit = 5;

/**
 * The extra seats of a level, as a part of its own ones. An idle queue that has used less than its share starts a request on
 * one of them at once, instead of waiting until a request of a busy user ends.
 */
const extraPart = 0.1;

type Hands = Map<string, readonly Queue[]>;

/** The state of a queue set at a moment. Its maps and sets go on changing. */
export interface QueueSetState {
  readonly response: LimitResponse;
  /** Its seats, those in use, and the requests that wait. */
  readonly limit: number;
  readonly seatsInUse: number;
  readonly waiting: number;
  /** The queues that have been used, by their index. */
  readonly queues: ReadonlyMap<number, Queue>;
  /** In any order. */
  readonly executing: readonly QueuedRequest[];
  /** Virtual time (seat seconds). */
  readonly currentR: number;
  /** The virtual time of the last dispatch, and the virtual start of that request. */
  readonly dispatchR: number;
  readonly latestS: number;
}

/**
 * Fair queueing: among the waiting requests, each the first of its queue, the one with the smallest virtual finish time
 * starts next. Virtual time advances by the seats in use, divided by the number of active queues. A request that starts
 * at once costs a few additions.
 */
export class QueueSet {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly #usage: LevelUsage;
  #response: LimitResponse;
  #limit: number;
  #seatsInUse = 0;
  #waiting = 0;
  readonly #queues = new Map<number, Queue>();
  /** The queues of flows, by schema and distinguisher. */
  readonly #hands = new Map<string, Hands>();
  /** The queues with waiting requests; the one that was served last is at the end. */
  readonly #due = new Set<Queue>();
  /** Each at its `place`. */
  readonly #executing: QueuedRequest[] = [];
  #active = 0;
  #waitingSeats = 0;
  #entered = 0;
  #currentR = 0;
  /** When the virtual time was computed (monotonic ms). */
  #computed: number;
  #dispatchR = 0;
  #latestS = 0;

  constructor(
    clock: Pick<Clock, 'monotonic' | 'after'>,
    usage: LevelUsage,
    { response, limit }: { readonly response: LimitResponse; readonly limit: number },
  ) {
    this.#clock = clock;
    this.#usage = usage;
    this.#response = response;
    this.#limit = limit;
    this.#computed = clock.monotonic();
  }

  /** Its present state, for dumps, metrics and tests. */
  get state(): QueueSetState {
    return {
      response: this.#response,
      limit: this.#limit,
      seatsInUse: this.#seatsInUse,
      waiting: this.#waiting,
      queues: this.#queues,
      executing: this.#executing,
      currentR: this.#currentR,
      dispatchR: this.#dispatchR,
      latestS: this.#latestS,
    };
  }

  /** Whether no request waits or has a seat. */
  get idle(): boolean {
    return this.#waiting === 0 && this.#seatsInUse === 0 && this.#executing.length === 0;
  }

  /**
   * The least and the greatest virtual start of the next requests of all queues (seat seconds), 0 without any.
   * `discounted`: less the estimated work that executes.
   */
  nextStarts(discounted: boolean): { readonly min: number; readonly max: number } {
    let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { nextDispatchR, seatsInUse } of this.#due) {
      const start = discounted ? nextDispatchR - seatsInUse * estimatedSeconds : nextDispatchR;
      min = Math.min(min, start);
      max = Math.max(max, start);
    }
    return this.#due.size === 0 ? { min: 0, max: 0 } : { min, max };
  }

  /** Changes the limits. Requests that wait stay in their queues. */
  configure(response: LimitResponse, limit: number): void {
    const before = this.#response;
    this.#response = response;
    const isSame =
      typeof before === 'object' && typeof response === 'object' && queuesOf(before) === queuesOf(response);
    if (!isSame) this.#hands.clear();
    this.resize(limit);
  }

  /** Changes the number of seats, and starts the requests that then fit. */
  resize(limit: number): void {
    const now = this.advance();
    this.#limit = limit;
    this.#dispatch(now);
  }

  /** Starts the request, or puts it into a queue, or refuses it. */
  enter(request: QueuedRequest): Refusal | undefined {
    const now = this.advance();
    request.entered = now;
    const response = this.#response;
    if (typeof response === 'string') {
      if (response === 'reject' && !this.#fits(request)) return 'concurrency-limit';
      this.#start(request, now);
      return undefined;
    }
    const queue = this.#chooseQueue(request, response);
    if (queue.waiting.length >= response.queueLengthLimit) return 'queue-full';
    const isFree = this.#waiting === 0 && this.#seatsInUse < this.#limit && this.#fits(request);
    if (isFree || this.#mayExceed(request, queue)) {
      request.queue = queue;
      if (queue.executing === 0) this.#activate(queue);
      this.#startFrom(queue, request, now);
    } else {
      this.#enqueue(request, queue);
      this.#dispatch(now);
    }
    return undefined;
  }

  /** Takes a waiting request out of its queue, and returns the time (monotonic ms). */
  cancel(request: QueuedRequest): number {
    const now = this.advance();
    const queue = request.queue as Queue;
    queue.waiting.splice(queue.waiting.indexOf(request), 1);
    this.#dequeued(request, queue);
    this.#dispatch(now);
    return now;
  }

  /**
   * Ends a request that has started, and returns the time (monotonic ms). Its final seats are free only after the extra
   * time of its work.
   */
  finish(request: QueuedRequest): number {
    const now = this.advance();
    const { queue, started = now, work, seats } = request;
    const { initialSeats, finalSeats, extraMs } = work;
    const last = this.#executing.pop() as QueuedRequest;
    if (last !== request) this.#put(last, request.place);
    if (queue !== undefined) {
      queue.nextDispatchR += ((now - started) / 1_000 - estimatedSeconds) * initialSeats;
      queue.initialSeats -= initialSeats;
      queue.startedWork -= initialSeats * started;
      boundDispatch(queue);
    }
    const held = extraMs > 0 ? finalSeats : 0;
    if (held > 0) this.#clock.after(extraMs, () => this.#release(this.advance(), queue, held));
    this.#release(now, queue, seats - held, 1);
    return now;
  }

  #release(now: number, queue: Queue | undefined, seats: number, requests = 0): void {
    this.#seatsInUse -= seats;
    if (queue !== undefined) {
      queue.seatsInUse -= seats;
      queue.executing -= requests;
      this.#settle(queue, requests);
    }
    if (this.#waiting > 0) this.#dispatch(now);
  }

  /** After one of its requests has ended or left: an idle queue does not count as active. */
  #settle(queue: Queue, requests: number): void {
    if (queue.waiting.length > 0 || queue.executing > 0) return;
    if (requests > 0) this.#active--;
    if (queue.seatsInUse > 0 || this.#queues.size <= maxRemembered) return;
    this.#queues.delete(queue.index);
    this.#hands.clear();
  }

  /** Advances the virtual time, and returns the time (monotonic ms). Precedes every change: the usage counts the state until now. */
  advance(): number {
    const now = this.#clock.monotonic();
    this.#usage.elapse(now, this.#seatsInUse, this.#waitingSeats, this.#executing.length, this.#waiting);
    if (this.#active > 0) {
      this.#currentR += (((now - this.#computed) / 1_000) * this.#seatsInUse) / this.#active;
    }
    this.#computed = now;
    return now;
  }

  /** The queue of the flow's hand with the least waiting work. */
  #chooseQueue(request: QueuedRequest, { queues, handSize }: Queuing): Queue {
    if (queues === 1) return this.#queue(0);
    const { name } = request.schema;
    const distinguisher = distinguisherOf(request.schema, request.attributes);
    request.distinguisher = distinguisher;
    const hand = this.#hands.get(name)?.get(distinguisher) ?? this.#dealHand(name, distinguisher, queues, handSize);
    // Among equal queues each is first in turn.
    const offset = this.#entered++ % handSize;
    let best = hand[offset] as Queue;
    if (this.#waiting === 0) return best;
    for (let i = 1; i < handSize; i++) {
      const queue = hand[(offset + i) % handSize] as Queue;
      if (queue.waitingWork < best.waitingWork) best = queue;
    }
    return best;
  }

  #dealHand(schema: string, distinguisher: string, queues: number, handSize: number): readonly Queue[] {
    let hands = this.#hands.get(schema);
    if (hands === undefined || hands.size >= maxRemembered) {
      hands = new Map();
      this.#hands.set(schema, hands);
    }
    const hand = dealHand(schema, distinguisher, queues, handSize).map((index) => this.#queue(index));
    hands.set(distinguisher, hand);
    return hand;
  }

  #queue(index: number): Queue {
    let queue = this.#queues.get(index);
    if (queue === undefined) {
      queue = new Queue(index);
      this.#queues.set(index, queue);
    }
    return queue;
  }

  #activate(queue: Queue): void {
    queue.nextDispatchR = Math.max(queue.nextDispatchR, this.#currentR - idleCredit);
    this.#active++;
  }

  #enqueue(request: QueuedRequest, queue: Queue): void {
    request.queue = queue;
    request.earliestR = this.#currentR - idleCredit;
    if (queue.waiting.length === 0) {
      if (queue.executing === 0) this.#activate(queue);
      this.#due.add(queue);
    }
    queue.waiting.push(request);
    queue.waitingWork += totalWork(request);
    this.#waiting++;
    this.#waitingSeats += request.seats;
    boundDispatch(queue);
  }

  /** Counts a request that has left its queue. */
  #dequeued(request: QueuedRequest, queue: Queue): void {
    this.#waiting--;
    this.#waitingSeats -= request.seats;
    // Without rounding errors where nothing waits.
    queue.waitingWork = queue.waiting.length === 0 ? 0 : queue.waitingWork - totalWork(request);
    this.#due.delete(queue);
    if (queue.waiting.length > 0) this.#due.add(queue);
    else if (queue.executing === 0 && request.started === undefined) this.#settle(queue, 1);
  }

  #dispatch(now: number): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#limit) {
      const queue = this.#nextQueue(now);
      const request = queue.waiting[0] as QueuedRequest;
      // Narrower requests of other queues do not overtake it, or a wide one would never start.
      if (!this.#fits(request)) return;
      queue.waiting.shift();
      request.started = now;
      this.#dequeued(request, queue);
      this.#startFrom(queue, request, now);
      request.onStart(now);
    }
  }

  #startFrom(queue: Queue, request: QueuedRequest, now: number): void {
    const { seats, work } = request;
    this.#dispatchR = this.#currentR;
    this.#latestS = queue.nextDispatchR;
    queue.nextDispatchR += totalWork(request);
    boundDispatch(queue);
    queue.executing++;
    queue.seatsInUse += seats;
    queue.initialSeats += work.initialSeats;
    queue.startedWork += work.initialSeats * now;
    this.#start(request, now);
  }

  /** The waiting queue whose first request has the smallest virtual finish time; the one served longest ago of equals. */
  #nextQueue(now: number): Queue {
    let next: Queue | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const queue of this.#due) {
      const finish = queue.nextDispatchR + excess(queue, now) + totalWork(queue.waiting[0] as QueuedRequest);
      if (next !== undefined && finish >= least) continue;
      next = queue;
      least = finish;
    }
    return next as Queue;
  }

  /** A request that is wider than the level starts when nothing else has a seat. */
  #fits({ seats }: QueuedRequest): boolean {
    if (this.#seatsInUse + seats <= this.#limit) return true;
    return seats > this.#limit && this.#executing.length === 0 && this.#seatsInUse === 0;
  }

  /** Whether a request starts on an extra seat. */
  #mayExceed({ seats }: QueuedRequest, queue: Queue): boolean {
    const isIdle = queue.waiting.length === 0 && queue.executing === 0 && queue.seatsInUse === 0;
    const fits = seats === 1 && this.#seatsInUse < this.#limit + Math.floor(extraPart * this.#limit);
    return isIdle && fits && queue.nextDispatchR <= this.#currentR;
  }

  #start(request: QueuedRequest, now: number): void {
    request.started = now;
    this.#seatsInUse += request.seats;
    this.#put(request, this.#executing.length);
  }

  #put(request: QueuedRequest, place: number): void {
    request.place = place;
    this.#executing[place] = request;
  }
}

const queuesOf = ({ queues, handSize }: Queuing): string => `${queues}/${handSize}`;
