/** API priority and fairness: which requests have a seat, and which wait for one. */
import type { Clock } from '../meta/index.ts';
import type { FlowSchemaSpec } from '../types/flowcontrol-v1.ts';
import { Classifier, compileSchema, distinguisherOf, type FlowAttributes, type Schema } from './classify.ts';
import { type LevelConfiguration, PriorityLevel } from './level.ts';
import { FlowRequest } from './queue.ts';
import type { Refusal } from './queue-set.ts';
import { allocate, limitsOf, sharesOf } from './shares.ts';
import { type LevelSamples, TimedCount, type TimedSample } from './usage.ts';
import type { Work } from './work.ts';

/** A number that is counted up and down. */
interface Count {
  value: number;
}

interface Sample {
  observe(value: number): void;
}

/** What is counted of the requests of a flow schema. */
export interface FlowSeries {
  readonly executingRequests: Count;
  readonly executingSeats: Count;
  readonly waitingRequests: Count;
  readonly waitingSeats: Count;
  readonly dispatched: Count;
  readonly rejected: (reason: Refusal) => Count;
  /** Seconds in a queue, of requests that then execute, or that do not. */
  readonly waited: Sample;
  readonly waitedInVain: Sample;
  /** Seconds with a seat. */
  readonly executed: Sample;
  readonly watchExecuted: Sample;
  readonly queueLength: Sample;
  readonly seats: Sample;
  /** The watches that receive a write. */
  readonly watches: Sample;
}

/** Receives the start of a request that had to wait. */
export interface Waiter {
  started(request: FlowRequest): void;
}

/** Counts what happens to requests. Labels come from objects, so that requests cannot create new series. */
export interface FlowObserver {
  flow(schema: string, level: string): FlowSeries;
  level(name: string): LevelSamples;
  /** Of all requests of a kind, as a fraction of all seats. */
  kind(kind: RequestKind, phase: Phase): TimedSample;
}

/** Whether a request changes anything, by its verb. */
export type RequestKind = 'readOnly' | 'mutating';
export type Phase = 'waiting' | 'executing';

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Where the requests of a flow schema go. */
export interface Assignment {
  readonly schema: Schema;
  readonly level: PriorityLevel;
  readonly series: FlowSeries;
}

/** The specs of the schemas and levels that exist always, by name. */
export interface MandatoryObjects {
  readonly schemas: ReadonlyMap<string, FlowSchemaSpec>;
  readonly levels: ReadonlyMap<string, LevelConfiguration['spec']>;
}

export interface FlowControlOptions {
  readonly clock: Clock;
  readonly observer: FlowObserver;
  /** The seats of all levels together. */
  readonly seats: number;
  readonly mandatory: MandatoryObjects;
}

/** Takes the requests that no schema matches. */
const catchAll = 'catch-all';

/** Classifies requests by the flow schemas, and gives them seats of the priority levels. */
export class FlowControl {
  readonly #options: FlowControlOptions;
  readonly #schemas = new Map<string, Schema>();
  readonly #configurations = new Map<string, LevelConfiguration>();
  readonly #levels = new Map<string, PriorityLevel>();
  readonly #assignments = new Map<string, Assignment>();
  #classifier: Classifier = new Classifier([]);
  readonly #requests: { readonly [kind in RequestKind]: { readonly [phase in Phase]: TimedCount } };
  /** Whether objects have changed since the last classification. */
  #stale = true;
  /** The fraction of their targets that levels got at the last adjustment. */
  fairFraction = 0;

  constructor(options: FlowControlOptions) {
    const { observer, seats, clock } = options;
    this.#options = options;
    const count = (kind: RequestKind, phase: Phase) =>
      new TimedCount(observer.kind(kind, phase), Math.max(1, seats), clock.monotonic());
    const counts = (kind: RequestKind) => ({
      waiting: count(kind, 'waiting'),
      executing: count(kind, 'executing'),
    });
    this.#requests = { readOnly: counts('readOnly'), mutating: counts('mutating') };
  }

  /** Sets or removes a flow schema. */
  setSchema(name: string, schema: { readonly uid: string; readonly spec: FlowSchemaSpec } | undefined): void {
    if (schema === undefined) this.#schemas.delete(name);
    else this.#schemas.set(name, compileSchema(name, schema.uid, schema.spec));
    this.#stale = true;
  }

  /** Sets or removes a priority level. */
  setLevel(name: string, level: Omit<LevelConfiguration, 'name'> | undefined): void {
    if (level === undefined) this.#configurations.delete(name);
    else this.#configurations.set(name, { name, ...level });
    this.#stale = true;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** The levels in the order of their names. */
  get levels(): PriorityLevel[] {
    if (this.#stale) this.#refresh();
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The schema and the level of a request. */
  classify(attributes: FlowAttributes): Assignment {
    if (this.#stale) this.#refresh();
    const { name = catchAll } = this.#classifier.classify(attributes) ?? {};
    return this.#assignments.get(name) as Assignment;
  }

  /** Starts the request, or lets it wait: then `waiter` is told when it starts. Otherwise returns why it may not. */
  enter(
    { schema, level, series }: Assignment,
    attributes: FlowAttributes,
    work: Work,
    waiter: Waiter,
  ): FlowRequest | Refusal {
    const { queueSet, counts } = level;
    const { response } = queueSet;
    const hasQueues = typeof response === 'object';
    const distinguisher = hasQueues && response.queues > 1 ? distinguisherOf(schema, attributes) : '';
    const request = new FlowRequest(schema.name, distinguisher, attributes, work);
    series.seats.observe(request.seats);
    const refusal = queueSet.enter(request);
    if (refusal !== undefined) {
      counts.rejected++;
      series.rejected(refusal).value++;
      return refusal;
    }
    if (hasQueues) series.queueLength.observe((request.queue?.waiting.length ?? 0) + queued(request));
    const { waiting, executing } = this.#countsOf(attributes);
    if (request.started !== undefined) {
      countStart(request, level, series);
      executing.add(1, request.started);
      return request;
    }
    series.waitingRequests.value++;
    series.waitingSeats.value += request.seats;
    waiting.add(1, request.entered);
    request.onStart = () => {
      countEndOfWait(request, series);
      countStart(request, level, series);
      const now = request.started as number;
      waiting.add(-1, now);
      executing.add(1, now);
      waiter.started(request);
    };
    return request;
  }

  /** Takes a waiting request out of its queue. */
  giveUp({ level, series }: Assignment, request: FlowRequest, reason: 'time-out' | 'cancelled'): void {
    level.queueSet.cancel(request);
    countEndOfWait(request, series);
    const now = this.#options.clock.monotonic();
    this.#countsOf(request.attributes).waiting.add(-1, now);
    series.waitedInVain.observe((now - request.entered) / 1_000);
    series.rejected(reason).value++;
    level.counts[reason === 'cancelled' ? 'cancelled' : 'timedOut']++;
  }

  /** Ends a request that has started. */
  leave({ level, series }: Assignment, request: FlowRequest, isWatch: boolean): void {
    series.executingRequests.value--;
    series.executingSeats.value -= request.seats;
    const ended = level.queueSet.finish(request);
    this.#countsOf(request.attributes).executing.add(-1, ended);
    (isWatch ? series.watchExecuted : series.executed).observe((ended - (request.started ?? ended)) / 1_000);
    if (level.quiescing) this.#stale = true;
  }

  /** Moves seats between levels by their demand since the last call. Call it every ten seconds. */
  adjust(): void {
    const now = this.#options.clock.monotonic();
    const { levels } = this;
    const claims = levels.map((level) => {
      const { nominal, lower, upper } = level.limits;
      const { highest, smoothed } = level.usage.endPeriod(level.queueSet.advance());
      const least = Math.max(lower, Math.min(nominal, highest));
      level.target = Math.max(least, smoothed);
      return { target: level.target, lower: least, upper };
    });
    const limited = levels.flatMap(({ isExempt }, i) => (isExempt ? [] : [i]));
    const { fraction, seats } = allocate(
      this.#options.seats,
      limited.map((i) => claims[i] as (typeof claims)[number]),
    );
    this.fairFraction = fraction;
    for (const [place, i] of limited.entries()) levels[i]?.resize(Math.round(seats[place] as number));
    if (levels.some(({ quiescing }) => quiescing)) this.#stale = true;
    for (const { waiting, executing } of Object.values(this.#requests)) {
      waiting.add(0, now);
      executing.add(0, now);
    }
  }

  #countsOf({ verb }: FlowAttributes) {
    return this.#requests[readVerbs.has(verb) ? 'readOnly' : 'mutating'];
  }

  /** Adopts the objects as they are. */
  #refresh(): void {
    this.#stale = false;
    this.#adoptLevels();
    const { observer, mandatory } = this.#options;
    const schemas = new Map(this.#schemas);
    for (const [name, spec] of mandatory.schemas)
      if (!schemas.has(name)) schemas.set(name, compileSchema(name, '', spec));
    this.#assignments.clear();
    for (const schema of schemas.values()) {
      const level = this.#levels.get(schema.level);
      // A schema is skipped while its level does not exist.
      if (level === undefined || level.quiescing) continue;
      this.#assignments.set(schema.name, { schema, level, series: observer.flow(schema.name, level.name) });
    }
    this.#classifier = new Classifier([...this.#assignments.values()].map(({ schema }) => schema));
  }

  /** Updates the levels. A level whose object is deleted remains while it has requests. */
  #adoptLevels(): void {
    const { clock, observer, seats, mandatory } = this.#options;
    const configurations = new Map(this.#configurations);
    for (const [name, spec] of mandatory.levels) {
      if (!configurations.has(name)) configurations.set(name, { name, uid: '', spec });
    }
    for (const [name, level] of this.#levels) {
      level.quiescing = !configurations.has(name);
      if (!level.quiescing) continue;
      if (level.queueSet.idle) this.#levels.delete(name);
      else configurations.set(name, level.configuration);
    }
    const sum = [...configurations.values()].reduce((all, { spec }) => all + sharesOf(spec), 0);
    for (const configuration of configurations.values()) {
      const { name, spec } = configuration;
      const level = this.#levels.get(name) ?? new PriorityLevel(clock, configuration, observer.level(name));
      this.#levels.set(name, level);
      level.configure(configuration, limitsOf(spec, seats, sum));
    }
  }
}

/** A request that has started at once counts in the length of its queue. */
const queued = ({ started }: FlowRequest): number => (started === undefined ? 0 : 1);

function countStart(request: FlowRequest, { counts }: PriorityLevel, series: FlowSeries): void {
  counts.dispatched++;
  series.dispatched.value++;
  series.executingRequests.value++;
  series.executingSeats.value += request.seats;
  series.waited.observe(((request.started ?? request.entered) - request.entered) / 1_000);
}

function countEndOfWait({ seats }: FlowRequest, { waitingRequests, waitingSeats }: FlowSeries): void {
  waitingRequests.value--;
  waitingSeats.value -= seats;
}
