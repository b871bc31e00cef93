/** A priority level while the server runs. */
import type { Clock } from '../meta/index.ts';
import type { PriorityLevelConfigurationSpec } from '../types/flowcontrol-v1.ts';
import { type LimitResponse, QueueSet } from './queue-set.ts';
import type { Limits } from './shares.ts';
import { type LevelSamples, LevelUsage } from './usage.ts';
import { Waits } from './waits.ts';
import { maxSeatsOf } from './work.ts';

/** The configuration of a priority level. */
export interface LevelConfiguration {
  readonly name: string;
  /** Empty for a mandatory level that is not stored. */
  readonly uid: string;
  readonly spec: PriorityLevelConfigurationSpec;
}

/** Numbers of requests since the level exists. */
interface LevelCounts {
  dispatched: number;
  rejected: number;
  timedOut: number;
  cancelled: number;
}

export class PriorityLevel {
  readonly name: string;
  readonly queueSet: QueueSet;
  readonly usage: LevelUsage;
  readonly waits: Waits;
  readonly counts: LevelCounts = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 };
  configuration: LevelConfiguration;
  limits: Limits = { nominal: 0, lower: 0, upper: 0 };
  /** The target of the last adjustment (seats). */
  target = 0;
  /** The most seats that one of its requests takes. */
  maxSeats = 1;
  /** Its object is deleted, and it ends once it has no requests. */
  quiescing = false;

  constructor(clock: Clock, configuration: LevelConfiguration, samples: LevelSamples) {
    this.name = configuration.name;
    this.configuration = configuration;
    this.waits = new Waits(clock);
    this.usage = new LevelUsage(samples, clock.monotonic());
    this.queueSet = new QueueSet(clock, this.usage, { response: responseOf(configuration.spec), limit: 0 });
  }

  get isExempt(): boolean {
    return this.configuration.spec.type === 'Exempt';
  }

  /** Adopts a configuration and its limits. The seats that it has borrowed or lent are settled by the next adjustment. */
  configure(configuration: LevelConfiguration, limits: Limits): void {
    this.configuration = configuration;
    const changed = limits.nominal !== this.limits.nominal || limits.upper !== this.limits.upper;
    this.limits = limits;
    const response = responseOf(configuration.spec);
    this.maxSeats = maxSeatsOf(limits.nominal, typeof response === 'object' ? response.handSize : 1);
    this.queueSet.configure(response, changed ? limits.nominal : this.queueSet.state.limit);
    this.#configureUsage();
  }

  /** Changes the number of its seats. */
  resize(limit: number): void {
    if (limit === this.queueSet.state.limit) return;
    this.queueSet.resize(limit);
    this.#configureUsage();
  }

  #configureUsage(): void {
    const { limit, response } = this.queueSet.state;
    const places = typeof response === 'object' ? response.queues * response.queueLengthLimit : limit;
    this.usage.configure(limit, this.limits.nominal, places);
  }
}

function responseOf({ type, limited }: PriorityLevelConfigurationSpec): LimitResponse {
  if (type === 'Exempt') return 'exempt';
  const { queuing } = limited?.limitResponse ?? {};
  if (queuing === undefined) return 'reject';
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = queuing;
  return { queues, handSize, queueLengthLimit };
}
