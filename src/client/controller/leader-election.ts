import { type Clock, formatMicroTime, isStatus, type Random, StatusError } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { TypedKind } from '../kinds/kind.ts';
import { createKindClient, type KindClient, noObserver } from '../kinds/kind-client.ts';
import { pause, within } from '../runtime/abortable-wait.ts';
import { consoleLog, type Log } from '../runtime/log.ts';
import { systemClock, systemRandom } from '../runtime/system.ts';
import type { Transport } from '../transport/transport.ts';
import { EventRecorder } from './event-recorder.ts';

/** Durations in ms. The lease duration is longer than the renew deadline, and that longer than 1.2 retry periods. */
export interface LeaderElectionSettings {
  /** For how long others wait for a renewal before they take the lease. */
  readonly leaseMs: number;
  /** For how long the leader may lead without having renewed the lease. */
  readonly renewMs: number;
  /** The time between two attempts to acquire or renew the lease. */
  readonly retryMs: number;
}

/** Those of the field. */
export const defaultLeaderElection: LeaderElectionSettings = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

const defaults = { clock: systemClock, random: systemRandom, log: consoleLog, settings: defaultLeaderElection };

export interface LeaderElectionOptions {
  /** Writes the lease and its events. */
  readonly client: Client;
  /** The lease that is held. Its name is that of the component, as which events of it are written. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Moves renewals and attempts; the system clock by default. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** The console by default. */
  readonly log?: Log;
  /** By default 15 s, 10 s and 2 s. */
  readonly settings?: LeaderElectionSettings;
  /** No two processes that may run at the same time have the same one. */
  readonly identity: string;
  /** Called at the beginning of each term; resolves the result's `stop` when nothing runs any more. */
  readonly lead: () => { readonly stop: () => Promise<void> };
  /** Called when a term was lost, and what it ran has stopped. */
  readonly lost?: () => void;
}

/** How much longer than the retry period the time between two attempts to acquire the lease may be, in parts of it. */
export const jitterFactor = 1.2;

interface HeldLease {
  metadata: { namespace?: string; name?: string; uid?: string; resourceVersion?: string };
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

const leaseKind: TypedKind<HeldLease> = {
  ...{ apiVersion: 'coordination.{domain}/v1', kind: 'Lease' },
  ...{ resource: 'leases', namespaced: true },
};

/**
 * Leads while it holds a lease: of several processes with one API exactly one does. A lease that
 * could not be renewed for the renew deadline is lost: what runs is stopped, before others may take the lease.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions & typeof defaults;
  readonly #leases: KindClient<HeldLease>;
  readonly #events: EventRecorder;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** Between the beginning of a term and the end of what it ran. */
  #leading = false;
  /** The lease as last written or read. */
  #lease: HeldLease | undefined;
  /** The monotonic time before the last successful renewal was sent, and that at which `#lease` was first read (ms). */
  #renewed = 0;
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

  /** How many renewals had to read the lease first. */
  get slowpath(): number {
    return this.#slowpath;
  }

  /** Resolves when the attempt to acquire or renew the lease that is under way is over. */
  async attempted(): Promise<void> {
    await this.#attempt;
  }

  /** Resolves when nothing runs any more, and the lease has been released. */
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
      log.warn('the lease cannot be released', { error });
    });
    await within(this.#options.clock, this.#attemptMs, new AbortController().signal, released);
  }

  /** Resolves with true when the lease is held, with false when this has been stopped. */
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
      await this.#chance(signal);
    }
    end();
    signal.removeEventListener('abort', end);
    return this.#leading;
  }

  /** Resolves when the lease is free or has expired, at the latest after the retry period. */
  async #chance(signal: AbortSignal): Promise<void> {
    const { settings, clock, random } = this.#options;
    const jitter = (random.integer(1_000) / 1_000) * jitterFactor;
    const retryMs = settings.retryMs * (1 + jitter);
    const freed = new Promise<void>((resolve) => {
      this.#freed = resolve;
    });
    const left = this.#isHeldByOther() ? this.#expires - clock.monotonic() : retryMs;
    await within(clock, Math.min(left, retryMs), signal, freed);
  }

  /**
   * Watches the lease: a process that waits sees each renewal at once, so that the lease expires in time, and its release.
   * Where it cannot be watched, attempts read it.
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
        // Attempts read it.
      }
      await pause(clock, settings.retryMs, signal);
    }
  }

  /** Resolves when the lease has been lost, or this has been stopped. */
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

  /** The longest time for one attempt (ms). */
  get #attemptMs(): number {
    return this.#options.settings.renewMs / 2;
  }

  /** Acquires or renews the lease if that is possible now; false also when the signal is aborted meanwhile. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#options;
    const sent = clock.monotonic();
    const attempt = this.#write().catch((error: unknown) => {
      const failure = String(error);
      // Conflict: another process was faster.
      if (!isStatus(error, 409) && failure !== this.#failure && !signal.aborted) {
        log.warn('the lease cannot be acquired or renewed', { error });
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

  /** The lease as it was written; undefined when another process holds it. */
  async #write(): Promise<HeldLease | undefined> {
    const { lease } = this.#options;
    if (this.#leading && this.#lease !== undefined) {
      try {
        return await this.#leases.update(this.#next(this.#lease));
      } catch (error) {
        if (!isStatus(error, 409) && !isStatus(error, 404)) throw error;
      }
    }
    if (this.#leading) this.#slowpath++;
    const found = await this.#leases.find(lease);
    if (found === undefined) return this.#leases.create(this.#next({ metadata: { ...lease } }));
    this.#see(found);
    return this.#isHeldByOther() ? undefined : this.#leases.update(this.#next(found));
  }

  #see(lease: HeldLease): void {
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

  /** The lease as this process writes it next. */
  #next({ metadata, spec = {} }: HeldLease): HeldLease {
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
    const transitions = spec.leaseTransitions ?? 0;
    await this.#leases.update({
      metadata,
      spec: {
        ...{ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: transitions },
        ...{ acquireTime: now, renewTime: now },
      },
    });
  }
}

/** Sends requests only while `holds`. */
export const whileHeld =
  (holds: () => boolean, transport: Transport): Transport =>
  (request) =>
    holds() ? transport(request) : Promise.reject(new StatusError(503, 'ServiceUnavailable', 'the lease is not held'));
