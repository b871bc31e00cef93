/** The seat of a request in its priority level. */
import {
  type Assignment,
  type FlowAttributes,
  type FlowControl,
  type FlowRequest,
  listWork,
  oneSeat,
  type Waiter,
  type Work,
  writeWork,
} from '../fairness/index.ts';
import { type Clock, type Names, parseDuration } from '../meta/index.ts';
import { type Resource, readFlag } from '../registry/index.ts';
import { Overload } from './overload.ts';
import type { Query, RequestInfo } from './request-info.ts';
import type { ApiRequest, ApiResponse } from './types.ts';

/** What a request is classified by, and what its work is estimated from. */
interface Arrival {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly resource: Resource | undefined;
  readonly attributes: FlowAttributes;
}

/** The seat of one request. */
export interface Seat {
  /** Headers of every response to the request: the UIDs of its flow schema and its priority level. */
  readonly headers: ApiResponse['headers'];
  /**
   * Takes the seat: at once, or after a wait for it.
   * @throws Overload when the level refuses the request, or it has waited for a quarter of its timeout
   */
  take(): Promise<void> | undefined;
  /** Gives it back, if it is taken. Idempotent. */
  release(): void;
}

type FindSeat = (arrival: Arrival) => Seat | undefined;

interface SeatOptions {
  /** Absent: requests have no seats. */
  readonly flowControl?: FlowControl | undefined;
  readonly clock: Clock;
  readonly names: Names;
}

/** Returns a function that finds the seat of a request. */
export function createSeats({ flowControl, clock, names }: SeatOptions): FindSeat {
  if (flowControl === undefined) return () => undefined;
  const [schemaHeader, levelHeader] = ['flowschema-uid', 'prioritylevel-uid'].map(
    (end) => names.flowControlHeader.toLowerCase() + end,
  ) as [string, string];
  const known = new WeakMap<Assignment, ApiResponse['headers']>();
  return (arrival) => {
    const assignment = flowControl.classify(arrival.attributes);
    let headers = known.get(assignment);
    if (headers === undefined) {
      headers = { [schemaHeader]: assignment.schema.uid, [levelHeader]: assignment.level.configuration.uid };
      known.set(assignment, headers);
    }
    return new LevelSeat(flowControl, clock, assignment, arrival, headers);
  };
}

class LevelSeat implements Seat, Waiter {
  readonly #flowControl: FlowControl;
  readonly #clock: Clock;
  readonly #assignment: Assignment;
  readonly #arrival: Arrival;
  readonly headers: ApiResponse['headers'];
  #taken: FlowRequest | undefined;
  #onStart: (() => void) | undefined;

  constructor(
    flowControl: FlowControl,
    clock: Clock,
    assignment: Assignment,
    arrival: Arrival,
    headers: ApiResponse['headers'],
  ) {
    this.#flowControl = flowControl;
    this.#clock = clock;
    this.#assignment = assignment;
    this.#arrival = arrival;
    this.headers = headers;
  }

  take(): Promise<void> | undefined {
    const work = estimateWork(this.#arrival, this.#assignment);
    const entered = this.#flowControl.enter(this.#assignment, this.#arrival.attributes, work, this);
    if (typeof entered === 'string') throw new Overload();
    if (entered.started === undefined) return this.#wait(entered);
    this.#taken = entered;
    return undefined;
  }

  started(request: FlowRequest): void {
    this.#taken = request;
    this.#onStart?.();
  }

  release(): void {
    if (this.#taken === undefined) return;
    this.#flowControl.leave(this.#assignment, this.#taken, this.#arrival.info.verb === 'watch');
    this.#taken = undefined;
  }

  #wait(waiting: FlowRequest): Promise<void> {
    const { request, info } = this.#arrival;
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const giveUp = (reason: 'time-out' | 'cancelled') => {
        end();
        this.#flowControl.giveUp(this.#assignment, waiting, reason);
        reject(new Overload());
      };
      const disconnected = () => giveUp('cancelled');
      const cancel = this.#clock.after(timeoutOf(info.query) * maxWaitPart, () => giveUp('time-out'));
      const end = () => {
        cancel();
        signal.removeEventListener('abort', disconnected);
      };
      signal.addEventListener('abort', disconnected);
      this.#onStart = () => {
        end();
        resolve();
      };
      if (signal.aborted) disconnected();
    });
  }
}

/** The part of its timeout that a request may wait for a seat. */
const maxWaitPart = 1 / 4;
/** The timeout of a request that names none, and the longest (ms). */
const defaultTimeoutMs = 60_000;

/** The timeout of a request (ms). */
function timeoutOf(query: Query): number {
  const text = query.get('timeout');
  if (text === null) return defaultTimeoutMs;
  try {
    const ms = Number(parseDuration(text)) / 1e6;
    return ms > 0 ? Math.min(ms, defaultTimeoutMs) : defaultTimeoutMs;
  } catch {
    return defaultTimeoutMs;
  }
}

const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** Estimates the work of a request by the objects that it reads and the watches that receive its change. */
function estimateWork({ info, resource, attributes }: Arrival, { level, series }: Assignment): Work {
  const { verb, query } = info;
  const place = attributes.resource;
  if (resource === undefined || place === undefined || verb === 'get') return oneSeat;
  if (writes.has(verb)) {
    const watches = resource.cache.watching(place.namespace, place.name);
    series.watches.observe(watches);
    return writeWork(watches, level.maxSeats);
  }
  // A name selects one object, also as a field selector.
  if (place.name !== '' || (verb === 'watch' && !sendsInitialEvents(query))) return oneSeat;
  const { namespace } = place;
  const prefix = namespace === '' ? resource.keyPrefix : `${resource.keyPrefix}${namespace}/`;
  const objects = resource.cache.snapshot().count(prefix);
  const { labelSelector, fieldSelector } = info.selectors;
  const limit = Number(query.get('limit') ?? 0);
  const isPage = limit > 0 && labelSelector === undefined && fieldSelector === undefined;
  return listWork(isPage ? Math.min(limit, objects) : objects, level.maxSeats);
}

function sendsInitialEvents(query: Query): boolean {
  const initial = query.get('sendInitialEvents');
  if (initial !== null) return readFlag(initial) === true;
  const version = query.get('resourceVersion') ?? '';
  return version === '' || version === '0';
}
