import { type Clock, formatTime, isStatus } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { TypedKind, TypedObject } from '../kinds/kind.ts';
import { createKindClient, type KindClient, noObserver } from '../kinds/kind-client.ts';
import { consoleLog, type Log } from '../runtime/log.ts';
import { systemClock } from '../runtime/system.ts';

/** The object of an event; `fieldPath` names a part of it. */
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
  /** `source.component` and `reportingComponent`. */
  readonly component: string;
  /** The system clock by default. */
  readonly clock?: Clock;
  /** The console by default. */
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

/** Events that wait to be written; later ones are dropped. */
const maxWaiting = 1_000;
/** Remembered events, and rates by subject. */
const maxRemembered = 4_096;
/** A subject may have this many events at once, and one more each interval (ms). */
const burst = 25;
const refillMs = 300_000;

interface Rate {
  tokens: number;
  since: number;
}

/** Records events of core/v1 as client-go does: repeated ones are counted, and a subject has a bounded rate of them. */
export class EventRecorder {
  readonly #events: Pick<KindClient<CoreEvent>, 'create' | 'patch'>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #component: string;
  readonly #waiting: CoreEvent[] = [];
  /** The events that were written, by what they say. */
  readonly #written = new Map<string, CoreEvent>();
  readonly #rates = new Map<string, Rate>();
  #writing: Promise<void> | undefined;
  /** The number in the name of the last event of this process. */
  static #last = 0n;
  #stopped = false;

  constructor({ client, component, clock = systemClock, log = consoleLog }: EventRecorderOptions) {
    this.#events = createKindClient(client, eventKind, noObserver);
    this.#component = component;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Writes an event later, in the order of the calls. An event that repeats one of the last hour counts it up. `host` is
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

  /** No event waits to be written. */
  get isIdle(): boolean {
    return this.#writing === undefined;
  }

  /** Resolves when no event waits to be written. */
  async whenIdle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Drops the events that wait; resolves when none is being written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.length = 0;
    await this.#writing;
  }

  /** The time in nanoseconds, which no two events of this process share. */
  #suffix(now: number): string {
    const nanoseconds = BigInt(Math.trunc(now)) * 1_000_000n;
    EventRecorder.#last = nanoseconds > EventRecorder.#last ? nanoseconds : EventRecorder.#last + 1n;
    return EventRecorder.#last.toString(16);
  }

  #accepts(key: string, now: number): boolean {
    const { tokens, since } = this.#rates.get(key) ?? { tokens: burst, since: now };
    const left = Math.min(burst, tokens + (now - since) / refillMs);
    if (left < 1) return false;
    remember(this.#rates, key, { tokens: left - 1, since: now });
    return true;
  }

  async #write(): Promise<void> {
    // The caller's own writes come first.
    await Promise.resolve();
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      try {
        await this.#writeOne(event);
      } catch (error) {
        // A namespace that is being deleted takes no events.
        if (!isStatus(error, 403) && !isStatus(error, 404)) this.#log.warn('an event cannot be written', { error });
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

/** Sets the value as the newest, and drops the oldest beyond the limit. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}
