import { type Clock, formatTime, isStatus, systemClock } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { TypedKind, TypedObject } from '../kinds/kind.ts';
import { createKindClient, type KindClient, noObserver } from '../kinds/kind-client.ts';
import { consoleLog, type Log } from '../runtime/log.ts';

/** The object that an event is about; `fieldPath` names a part of it. */
export interface EventSubject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: TypedObject['metadata'];
  readonly fieldPath?: string;
}

export type EventType = 'Normal' | 'Warning';

export interface EventRecorderOptions {
  /** Writes the events. */
  readonly client: Client;
  /** The value of `source.component` and `reportingComponent`. */
  readonly component: string;
  /** The system clock by default. */
  readonly clock?: Clock;
  /** Receives warnings and errors; the console by default. */
  readonly log?: Log;
}

/** An event of core/v1. */
interface CoreEvent {
  metadata: { name?: string; namespace?: string };
  involvedObject: {
    kind: string;
    namespace?: string;
    name: string;
    uid: string;
    apiVersion: string;
    resourceVersion?: string;
    fieldPath?: string;
  };
  reason: string;
  message: string;
  source: { component: string; host?: string };
  firstTimestamp: string;
  lastTimestamp: string;
  count: number;
  type: EventType;
  reportingComponent: string;
  reportingInstance: string;
}

const eventKind: TypedKind<CoreEvent> = { apiVersion: 'v1', kind: 'Event', resource: 'events', namespaced: true };

/** Maximum number of events that wait to be written; further ones are dropped. */
const maxWaiting = 1_000;
/** Maximum number of remembered events, and of rates by subject. */
const maxRemembered = 4_096;
/** A subject may have this many events at once, and one more in each interval (ms). */
const burst = 25;
const refillMs = 300_000;

interface Rate {
  tokens: number;
  since: number;
}

/** Records events of core/v1. Repeated events increase a count, and the rate of events of a subject is limited. */
export class EventRecorder {
  readonly #events: Pick<KindClient<CoreEvent>, 'create' | 'patch'>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #component: string;
  readonly #waiting: CoreEvent[] = [];
  /** The written events, by subject, type, reason and message. */
  readonly #written = new Map<string, CoreEvent>();
  readonly #rates = new Map<string, Rate>();
  #writing: Promise<void> | undefined;
  /** The number in the name of the last event, by clock: names follow from the time of the clock alone. */
  static readonly #last = new WeakMap<Clock, bigint>();
  #stopped = false;

  constructor({ client, component, clock = systemClock, log = consoleLog }: EventRecorderOptions) {
    this.#events = createKindClient(client, eventKind, noObserver);
    this.#component = component;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Queues an event to be written in the order of the calls. A repetition of an earlier event increases its count. `host` is
   * the node on which the source of the event runs.
   */
  record(subject: EventSubject, type: EventType, reason: string, message: string, host?: string): void {
    const component = this.#component;
    const { metadata = {}, kind = '', apiVersion = '', fieldPath } = subject;
    const { name = '', namespace = '', uid = '', resourceVersion } = metadata;
    const now = this.#clock.now();
    if (
      this.#stopped ||
      this.#waiting.length >= maxWaiting ||
      !this.#accepts(`${kind} ${uid} ${namespace}/${name} ${type}`, now)
    )
      return;
    const time = formatTime(now);
    this.#waiting.push({
      metadata: { name: `${name}.${this.#suffix(now)}`, namespace: namespace === '' ? 'default' : namespace },
      involvedObject: {
        kind,
        ...(namespace === '' ? {} : { namespace }),
        name,
        uid,
        apiVersion,
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(fieldPath === undefined ? {} : { fieldPath }),
      },
      reason,
      message,
      source: { component, ...(host === undefined ? {} : { host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type,
      reportingComponent: component,
      reportingInstance: host ?? '',
    });
    this.#writing ??= this.#write();
  }

  /** Whether no event waits to be written. */
  get isIdle(): boolean {
    return this.#writing === undefined;
  }

  /** Resolves when no event waits to be written. */
  async whenIdle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Drops waiting events. Resolves when none is being written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.length = 0;
    await this.#writing;
  }

  /** The time in nanoseconds, unique among the events of this process with the same clock. */
  #suffix(now: number): string {
    const nanoseconds = BigInt(Math.trunc(now)) * 1_000_000n;
    const last = EventRecorder.#last.get(this.#clock) ?? 0n;
    const next = nanoseconds > last ? nanoseconds : last + 1n;
    EventRecorder.#last.set(this.#clock, next);
    return next.toString(16);
  }

  #accepts(key: string, now: number): boolean {
    const { tokens, since } = this.#rates.get(key) ?? { tokens: burst, since: now };
    const available = Math.min(burst, tokens + (now - since) / refillMs);
    if (available < 1) return false;
    remember(this.#rates, key, { tokens: available - 1, since: now });
    return true;
  }

  async #write(): Promise<void> {
    // The caller's own writes come first.
    await Promise.resolve();
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      try {
        await this.#writeOne(event);
      } catch (error) {
        // A namespace being deleted accepts no events.
        if (!isStatus(error, 403) && !isStatus(error, 404)) this.#log.warn('failed to write an event', { error });
      }
    }
    this.#writing = undefined;
  }

  async #writeOne(event: CoreEvent): Promise<void> {
    const { involvedObject: subject, type, reason, message } = event;
    const { kind, apiVersion, namespace, name, uid, fieldPath } = subject;
    const key = JSON.stringify([kind, apiVersion, namespace, name, uid, fieldPath, type, reason, message]);
    const before = this.#written.get(key);
    if (before !== undefined) {
      const count = before.count + 1;
      try {
        const patch = { count, lastTimestamp: event.lastTimestamp };
        remember(this.#written, key, await this.#events.patch(before.metadata, 'merge', patch));
        return;
      } catch (error) {
        // It has expired.
        if (!isStatus(error, 404)) throw error;
      }
    }
    remember(this.#written, key, await this.#events.create(event));
  }
}

/** Sets the value as the newest, and drops the oldest one above the limit. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}
