import {
  type Clock,
  formatMicroTime,
  isStatus,
  type Random,
  StatusError,
  systemClock,
  systemRandom,
} from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { TypedKind } from '../kinds/kind.ts';
import { createKindClient, type KindClient, noObserver } from '../kinds/kind-client.ts';
import { pause, within } from '../runtime/abortable-wait.ts';
import { consoleLog, type Log } from '../runtime/log.ts';
import type { Transport } from '../transport/transport.ts';
import { EventRecorder } from './event-recorder.ts';

/** Durations in ms. The lease must last longer than the renew deadline, and that longer than 1.2 retry periods. */
export interface LeaderElectionSettings {
  /** How long others wait for a renewal before they acquire the lease. */
  readonly leaseMs: number;
  /** The renew deadline: how long the leader may lead without a successful renewal. */
  readonly renewMs: number;
  /** The retry period: the time between two attempts to acquire or renew the lease. */
  readonly retryMs: number;
}

/** The defaults of the reference. */
export const defaultLeaderElection: LeaderElectionSettings = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

const defaults = { clock: systemClock, random: systemRandom, log: consoleLog, settings: defaultLeaderElection };

export interface LeaderElectionOptions {
  /** Writes the lease and its events. */
  readonly client: Client;
  /** The lease to hold. Its name is also the component of its events. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** The clock of renewals and attempts; the system clock by default. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** Receives warnings and errors; the console by default. */
  readonly log?: Log;
  /** The defaults are 15 s, 10 s and 2 s. */
  readonly settings?: LeaderElectionSettings;
  /** Unique among the processes that may run at the same time. */
  readonly identity: string;
  /** Called at the start of each term. The `stop` of its result resolves when nothing runs any more. */
  readonly lead: () => { readonly stop: () => Promise<void> };
  /** Called when the lease was lost, after `stop` has resolved. */
  readonly lost?: () => void;
}

/** The maximum random addition to the time between two attempts to acquire the lease, as a multiple of the retry period. */
export const jitterFactor = 1.2;

interface Lease {
  metadata: { namespace?: string; name?: string; uid?: string; resourceVersion?: string };
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

const leaseKind: TypedKind<Lease> = {
  apiVersion: 'coordination.{domain}/v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
};

/**
 * Leads while it holds a lease; at most one of several processes does. A lease that is not renewed within the renew
 * deadline is lost: the term stops before another process may acquire the lease.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions & typeof defaults;
  readonly #leases: KindClient<Lease>;
  readonly #events: EventRecorder;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** Set from the start of a term until everything that it ran has stopped. */
  #leading = false;
  /** The lease as last written or read. */
  #lease: Lease | undefined;
  /** When the last successful renewal was sent (ms, monotonic). */
  #renewed = 0;
  /** When `#lease` was first seen in this version (ms, monotonic). */
  #observed = 0;
  #failure = '';
  #attempt: Promise<unknown> = Promise.resolve();
  /** Ends the wait for the next attempt. */
  #freed = () => {};
  #slowpath = 0;

  constructor(options: LeaderElectionOptions) {
    this.#options = { ...defaults, ...options };
    const { client, lease, clock, log } = this.#options;
    this.#leases = createKindClient(client, leaseKind, noObserver);
    this.#events = new EventRecorder({ client, clock, log, component: lease.name });
    this.#running = this.#run();
  }

  /** Whether the lease is held, and has been renewed within the renew deadline. */
  get holds(): boolean {
    const { clock, settings } = this.#options;
    return this.#leading && clock.monotonic() - this.#renewed < settings.renewMs;
  }

  /** The number of renewals that had to read the lease first. */
  get slowpath(): number {
    return this.#slowpath;
  }

  /** Resolves when the current attempt to acquire or renew the lease has ended. */
  async attempted(): Promise<void> {
    await this.#attempt;
  }

  /** Resolves when nothing runs any more and the lease is released. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#events.stop();
  }

  async #run(): Promise<void> {
    const { lead, lost, log, identity } = this.#options;
    const { signal } = this.#stopping;
    while (await this.#acquire()) {
      log.info('the lease has been acquired', { identity });
      if (this.#lease) this.#events.record(this.#lease, 'Normal', 'LeaderElection', `${identity} became leader`);
      const running = lead();
      await this.#renew();
      await running.stop();
      this.#leading = false;
      if (signal.aborted) break;
      log.error('the lease has been lost', { identity });
      lost?.();
    }
    const released = this.#release().catch((error: unknown) => {
      log.warn('failed to release the lease', { error });
    });
    await within(this.#options.clock, this.#attemptMs, new AbortController().signal, released);
  }

  /** Resolves to true when this process holds the lease, to false when it has been stopped. */
  async #acquire(): Promise<boolean> {
    const { signal } = this.#stopping;
    const waiting = new AbortController();
    const end = () => waiting.abort();
    signal.addEventListener('abort', end);
    let follows = false;
    while (!signal.aborted) {
      this.#leading = await this.#tryOnce(signal);
      if (this.#leading) break;
      if (!follows) void this.#follow(waiting.signal);
      follows = true;
      await this.#waitForRelease(signal);
    }
    end();
    signal.removeEventListener('abort', end);
    return this.#leading;
  }

  /** Resolves when the lease is free or has expired, at the latest after the retry period. */
  async #waitForRelease(signal: AbortSignal): Promise<void> {
    const { settings, clock, random } = this.#options;
    const jitter = (random.integer(1_000) / 1_000) * jitterFactor;
    const retryMs = settings.retryMs * (1 + jitter);
    const freed = new Promise<void>((resolve) => {
      this.#freed = resolve;
    });
    const remainingMs = this.#isHeldByOther() ? this.#expires - clock.monotonic() : retryMs;
    await within(clock, Math.min(remainingMs, retryMs), signal, freed);
  }

  /**
   * Watches the lease, so that a waiting process sees renewals and the release at once and the lease expires on time. When
   * the watch fails, attempts read the lease.
   */
  async #follow(signal: AbortSignal): Promise<void> {
    const { clock, settings, lease } = this.#options;
    const fieldSelector = `metadata.name=${lease.name}`;
    while (!signal.aborted) {
      try {
        const events = await this.#leases.watch({ namespace: lease.namespace, fieldSelector, signal });
        for await (const { type, object } of events) {
          if (signal.aborted) return;
          if (type !== 'DELETED') this.#see(object);
          if (type === 'DELETED' || !this.#isHeldByOther()) this.#freed();
        }
      } catch {
        // Attempts read the lease.
      }
      await pause(clock, settings.retryMs, signal);
    }
  }

  /** Resolves when the lease is lost, or when this election is stopped. */
  async #renew(): Promise<void> {
    const { settings, clock } = this.#options;
    const term = new AbortController();
    const end = () => term.abort();
    const deadline = () => clock.after(this.#renewed + settings.renewMs - clock.monotonic(), end);
    let cancel = deadline();
    this.#stopping.signal.addEventListener('abort', end);
    if (this.#stopping.signal.aborted) end();
    for (;;) {
      await pause(clock, settings.retryMs, term.signal);
      if (term.signal.aborted) break;
      if (await this.#tryOnce(term.signal)) {
        cancel();
        cancel = deadline();
      } else if (this.#isHeldByOther()) {
        this.#leading = false;
        break;
      }
    }
    cancel();
    this.#stopping.signal.removeEventListener('abort', end);
  }

  /** The maximum duration of one attempt (ms). */
  get #attemptMs(): number {
    return this.#options.settings.renewMs / 2;
  }

  /** Tries to acquire or renew the lease. Resolves to false when that fails or the signal is aborted. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#options;
    const sent = clock.monotonic();
    const attempt = this.#write().catch((error: unknown) => {
      const failure = String(error);
      // Conflict: another process was faster.
      if (!isStatus(error, 409) && failure !== this.#failure && !signal.aborted) {
        log.warn('failed to acquire or renew the lease', { error });
      }
      this.#failure = failure;
      return undefined;
    });
    const writing = within(clock, this.#attemptMs, signal, attempt);
    this.#attempt = writing;
    const written = await writing;
    if (written === undefined) return false;
    this.#failure = '';
    this.#lease = written;
    this.#renewed = sent;
    return true;
  }

  /** Writes the lease and returns it; undefined when another process holds it. */
  async #write(): Promise<Lease | undefined> {
    const { lease } = this.#options;
    if (this.#leading && this.#lease !== undefined) {
      try {
        return await this.#leases.update(this.#next(this.#lease));
      } catch (error) {
        if (!isStatus(error, 409) && !isStatus(error, 404)) throw error;
      }
    }
    if (this.#leading) this.#slowpath++;
    const current = await this.#leases.find(lease);
    if (current === undefined) return this.#leases.create(this.#next({ metadata: { ...lease } }));
    this.#see(current);
    return this.#isHeldByOther() ? undefined : this.#leases.update(this.#next(current));
  }

  #see(lease: Lease): void {
    const isNew = lease.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion;
    if (isNew) this.#observed = this.#options.clock.monotonic();
    this.#lease = lease;
  }

  /** The monotonic time at which the lease expires unless it is renewed (ms). */
  get #expires(): number {
    return this.#observed + (this.#lease?.spec?.leaseDurationSeconds ?? 0) * 1000;
  }

  /** Whether another process holds the lease, and has renewed it within its duration. */
  #isHeldByOther(): boolean {
    const { clock, identity } = this.#options;
    const { holderIdentity } = this.#lease?.spec ?? {};
    if (!holderIdentity || holderIdentity === identity) return false;
    return this.#expires > clock.monotonic();
  }

  /** The next state of the lease that this process writes. */
  #next({ metadata, spec = {} }: Lease): Lease {
    const { clock, identity, settings } = this.#options;
    const now = formatMicroTime(clock.now());
    const own = spec.holderIdentity === identity;
    return {
      metadata,
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.floor(settings.leaseMs / 1000),
        acquireTime: own ? (spec.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (own || metadata.uid === undefined ? 0 : 1),
      },
    };
  }

  /** Lets others take the lease at once, if this process holds it. */
  async #release(): Promise<void> {
    const { identity, clock } = this.#options;
    const lease = await this.#leases.find(this.#options.lease);
    if (lease?.spec?.holderIdentity !== identity) return;
    const now = formatMicroTime(clock.now());
    const { metadata, spec } = lease;
    await this.#leases.update({
      metadata,
      spec: {
        holderIdentity: '',
        leaseDurationSeconds: 1,
        leaseTransitions: spec.leaseTransitions ?? 0,
        acquireTime: now,
        renewTime: now,
      },
    });
  }
}

/** Wraps a transport that sends requests only while `holds` returns true. */
export const whileHeld =
  (holds: () => boolean, transport: Transport): Transport =>
  (request) =>
    holds() ? transport(request) : Promise.reject(new StatusError(503, 'ServiceUnavailable', 'the lease is not held'));
