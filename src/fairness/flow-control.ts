/** API priority and fairness: which requests have a seat, and which wait for one. */
import type { Clock } from '../meta/index.ts';
import type { FlowSchemaSpec } from '../types/flowcontrol-v1.ts';
import { Classifier, compileSchema, type FlowAttributes, type Schema } from './classify.ts';
import { type Assignment, FlowRequest, type FlowSeries, type Phase, type PhaseCounts } from './flow-request.ts';
import { type LevelConfiguration, PriorityLevel } from './level.ts';
import { allocate, limitsOf, sharesOf } from './shares.ts';
import { type LevelSamples, TimedCount, type TimedSample } from './usage.ts';

/** Counts what happens to requests. Labels come from objects, so that requests cannot create new series. */
export interface FlowObserver {
  flow(schema: string, level: string): FlowSeries;
  level(name: string): LevelSamples;
  /** Of all requests of a kind, as a fraction of all seats. */
  kind(kind: RequestKind, phase: Phase): TimedSample;
}

/** Whether a request changes anything, by its verb. */
export type RequestKind = 'readOnly' | 'mutating';

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

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

/** Classifies requests by the flow schemas, and shares seats between the priority levels. */
export class FlowControl {
  readonly #options: FlowControlOptions;
  readonly #schemas = new Map<string, Schema>();
  readonly #configurations = new Map<string, LevelConfiguration>();
  readonly #levels = new Map<string, PriorityLevel>();
  #quiescing: readonly PriorityLevel[] = [];
  #assignments: ReadonlyMap<string, Assignment> = new Map();
  #classifier: Classifier = new Classifier([]);
  readonly #requests: { readonly [kind in RequestKind]: PhaseCounts };
  /** Whether objects have changed since the last classification. */
  #stale = true;
  /** The fraction of their targets that levels got at the last adjustment. */
  fairFraction = 0;

  constructor(options: FlowControlOptions) {
    const { observer, seats, clock } = options;
    this.#options = options;
    const count = (kind: RequestKind, phase: Phase) =>
      new TimedCount(observer.kind(kind, phase), Math.max(1, seats), clock.monotonic());
    const counts = (kind: RequestKind): PhaseCounts => ({
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
    if (this.#stale || this.#quiescing.some(isIdle)) this.#refresh();
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The request in the level of its flow schema. It has no seats yet. */
  classify(attributes: FlowAttributes): FlowRequest {
    if (this.#stale || this.#quiescing.some(isIdle)) this.#refresh();
    const schema = this.#classifier.classify(attributes);
    const assignment = this.#assignments.get(schema?.name ?? catchAll) as Assignment;
    return new FlowRequest(
      assignment,
      attributes,
      this.#requests[readVerbs.has(attributes.verb) ? 'readOnly' : 'mutating'],
    );
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
    for (const { waiting, executing } of Object.values(this.#requests)) {
      waiting.add(0, now);
      executing.add(0, now);
    }
  }

  /** Adopts the objects as they are: they have changed, or a level has ended. */
  #refresh(): void {
    this.#stale = false;
    this.#adoptLevels();
    const { observer, mandatory } = this.#options;
    const schemas = new Map(this.#schemas);
    for (const [name, spec] of mandatory.schemas)
      if (!schemas.has(name)) schemas.set(name, compileSchema(name, '', spec));
    const assignments = new Map<string, Assignment>();
    for (const schema of schemas.values()) {
      const { name } = schema;
      const level = this.#levels.get(schema.level);
      // A schema is skipped while its level does not exist.
      if (level === undefined || level.quiescing) continue;
      const known = this.#assignments.get(name);
      // Finding its series takes longer than everything else.
      const series = known?.level === level ? known.series : observer.flow(name, level.name);
      assignments.set(name, { schema, level, series });
    }
    this.#assignments = assignments;
    this.#classifier = new Classifier([...assignments.values()].map(({ schema }) => schema));
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
    this.#quiescing = [...this.#levels.values()].filter(({ quiescing }) => quiescing);
    const sum = [...configurations.values()].reduce((all, { spec }) => all + sharesOf(spec), 0);
    for (const configuration of configurations.values()) {
      const { name, spec } = configuration;
      const level = this.#levels.get(name) ?? new PriorityLevel(clock, configuration, observer.level(name));
      this.#levels.set(name, level);
      level.configure(configuration, limitsOf(spec, seats, sum));
    }
  }
}

const isIdle = ({ queueSet }: PriorityLevel): boolean => queueSet.idle;
