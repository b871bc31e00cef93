import { type Clock, formatTime, isStatus, type ObjectMeta } from '../meta/index.ts';
import type { Event } from '../types/core-v1.ts';
import { kinds } from './kinds.ts';
import type { Log } from './log.ts';
import type { ObjectClient } from './object-client.ts';

/** The object of an event; `fieldPath` names a part of it. */
export interface EventSubject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly fieldPath?: string;
}

export interface EventRecorder {
  /**
   * Writes an event later, in the order of the calls. An event that repeats one of the last hour counts it up. `host` is
   * the node on which the source of the event runs.
   */
  record(subject: EventSubject, type: 'Normal' | 'Warning', reason: string, message: string, host?: string): void;
}

interface RecorderOptions {
  readonly client: ObjectClient;
  readonly clock: Clock;
  readonly log: Log;
  /** `source.component` and `reportingComponent`. */
  readonly component: string;
}

type CoreEvent = Event & { metadata: ObjectMeta };

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
export class Events implements EventRecorder {
  readonly #options: RecorderOptions;
  readonly #waiting: CoreEvent[] = [];
  /** The events that were written, by what they say. */
  readonly #written = new Map<string, CoreEvent>();
  readonly #rates = new Map<string, Rate>();
  #writing: Promise<void> | undefined;
  /** The number in the name of the last event of this process. */
  static #last = 0n;
  #stopped = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  record(subject: EventSubject, type: 'Normal' | 'Warning', reason: string, message: string, host?: string): void {
    const { clock, component } = this.#options;
    const { metadata, kind = '', apiVersion = '', fieldPath } = subject;
    const { name = '', namespace = '', uid = '', resourceVersion } = metadata;
    const now = clock.now();
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

  /** Drops the events that wait; resolves when none is being written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.length = 0;
    await this.#writing;
  }

  /** The time in nanoseconds, which no two events of this process share. */
  #suffix(now: number): string {
    const nanoseconds = BigInt(Math.trunc(now)) * 1_000_000n;
    Events.#last = nanoseconds > Events.#last ? nanoseconds : Events.#last + 1n;
    return Events.#last.toString(16);
  }

  #accepts(key: string, now: number): boolean {
    const { tokens, since } = this.#rates.get(key) ?? { tokens: burst, since: now };
    const left = Math.min(burst, tokens + (now - since) / refillMs);
    if (left < 1) return false;
    remember(this.#rates, key, { tokens: left - 1, since: now });
    return true;
  }

  async #write(): Promise<void> {
    const { log } = this.#options;
    // The caller's own writes come first.
    await Promise.resolve();
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      try {
        await this.#writeOne(event);
      } catch (error) {
        // A namespace that is being deleted takes no events.
        if (!isStatus(error, 403) && !isStatus(error, 404)) log.warn('an event cannot be written', { error });
      }
    }
    this.#writing = undefined;
  }

  async #writeOne(event: CoreEvent): Promise<void> {
    const { client } = this.#options;
    const { involvedObject: subject, type, reason, message } = event;
    const { kind, apiVersion, namespace, name, uid, fieldPath } = subject ?? {};
    const key = JSON.stringify([kind, apiVersion, namespace, name, uid, fieldPath, type, reason, message]);
    const before = this.#written.get(key);
    if (before !== undefined) {
      const count = (before.count ?? 1) + 1;
      try {
        const patch = { count, lastTimestamp: event.lastTimestamp ?? null };
        remember(this.#written, key, await client.patch(kinds.events, before, 'merge', patch));
        return;
      } catch (error) {
        // It has expired.
        if (!isStatus(error, 404)) throw error;
      }
    }
    remember(this.#written, key, await client.create(kinds.events, event));
  }
}

/** Sets the value as the newest, and drops the oldest beyond the limit. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}
