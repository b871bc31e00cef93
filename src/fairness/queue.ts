/** Requests in a queue, and how much of the level they use. */
import type { FlowAttributes, Schema } from './classify.ts';
import type { Work } from './work.ts';

/** A request in the queue set of its level. */
export interface QueuedRequest {
  readonly schema: Pick<Schema, 'name' | 'distinguisher'>;
  readonly attributes: FlowAttributes;
  readonly work: Work;
  /** The seats that it takes: the most that it has at any time. */
  readonly seats: number;
  /** The text that distinguishes its flow within the schema, where its level has several queues. */
  distinguisher: string;
  /** When it entered, and when it started (monotonic ms); undefined: it waits. */
  entered: number;
  started: number | undefined;
  /** Its queue, and the earliest virtual time at which it may start there (seat seconds). */
  queue: Queue | undefined;
  earliestR: number;
  /** While it executes: its index among the requests of the level that do. */
  place: number;
  /** It has left its queue, and starts now (monotonic ms). */
  onStart(now: number): void;
}

/** A queue of requests. */
export class Queue {
  readonly index: number;
  /** In the order of their arrival. */
  readonly waiting: QueuedRequest[] = [];
  executing = 0;
  seatsInUse = 0;
  /** The virtual time at which its next request starts, if those that execute take as long as estimated (seat seconds). */
  nextDispatchR = 0;
  /** Of those that execute: their initial seats, and the sum of these times their start (seat ms). */
  initialSeats = 0;
  startedWork = 0;
  /** The estimated work of its waiting requests (seat seconds). */
  waitingWork = 0;

  constructor(index: number) {
    this.index = index;
  }
}

/** The estimated duration of a request (s), until it has ended. */
export const estimatedSeconds = 0.003;

/** The estimated work of a request (seat seconds). */
export const totalWork = ({ work: { initialSeats, finalSeats, extraMs } }: QueuedRequest): number =>
  initialSeats * estimatedSeconds + (finalSeats * extraMs) / 1_000;

/** The work of the requests that execute beyond its estimate (seat seconds): long ones are charged before their end. */
export const excess = ({ initialSeats, startedWork }: Queue, now: number): number =>
  Math.max(0, (initialSeats * now - startedWork) / 1_000 - initialSeats * estimatedSeconds);

/** A queue starts its first request at its earliest virtual time: no more idle time is saved up. */
export function boundDispatch(queue: Queue): void {
  const first = queue.waiting[0];
  if (first !== undefined && queue.nextDispatchR < first.earliestR) queue.nextDispatchR = first.earliestR;
}
