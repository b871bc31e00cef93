import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, expandNames, type Random, systemClock, systemRandom } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { Informer, Selection } from '../informers/informer.ts';
import { Informers } from '../informers/informers.ts';
import { keyIn, keyOf, type ObjectKey, splitKey, type TypedKind, type TypedObject } from '../kinds/kind.ts';
import { groupOf } from '../kinds/owner-references.ts';
import { type AsyncClosing, asyncDispose } from '../runtime/async-closing.ts';
import { consoleLog, type Log } from '../runtime/log.ts';
import type { Signal } from '../transport/transport.ts';
import { EventRecorder } from './event-recorder.ts';
import { defaultLeaderElection, LeaderElection, type LeaderElectionSettings } from './leader-election.ts';
import { ChangeFilter, type Predicate } from './predicates.ts';
import { WorkQueue } from './work-queue.ts';

/** Identifies the object to reconcile. */
export interface ReconcileRequest {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export interface ReconcileContext<T> {
  /** The object in the informer, which must not be modified; undefined when it does not exist. */
  readonly object: T | undefined;
  readonly events: EventRecorder;
  /** Aborted when the controller stops or loses the lease. */
  readonly signal: Signal;
}

export interface ReconcileResult {
  /** Reconciles the object again after this time (ms), even without a change. */
  readonly requeueAfterMs?: number;
}

/** Another kind whose changes are a reason to reconcile. */
export interface WatchedKind<T extends TypedObject> {
  readonly kind: TypedKind<T>;
  readonly selection?: Selection;
  /** Returns the objects to reconcile after a change of this one; called with its state before and after. */
  readonly map: (object: T) => readonly ObjectKey[];
}

/** A lease for leader election. Durations in ms; by default the lease lasts 15 s, with 10 s to renew and 2 s between attempts. */
export interface ControllerLease extends Partial<LeaderElectionSettings> {
  readonly namespace: string;
  readonly name: string;
  /** Unique among the processes that may run at the same time; by default the host name with a random UUID. */
  readonly identity?: string;
}

export interface ControllerOptions<T extends TypedObject, W extends readonly TypedObject[] = []> {
  readonly client: Client;
  /** The kind to reconcile. */
  readonly kind: TypedKind<T>;
  /** Restricts the objects; all by default. */
  readonly selection?: Selection;
  /** Kinds whose objects may have an object of `kind` as their controller; a change of one reconciles its controller. */
  readonly owns?: readonly TypedKind<TypedObject>[];
  readonly watches?: { readonly [I in keyof W]: WatchedKind<W[I]> };
  /**
   * Brings one object to its declared state. Called for every object at the start and after each change, never
   * concurrently for the same object. When it rejects it is called again with backoff.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: functions that return nothing are reconcilers too
  readonly reconcile: (request: ReconcileRequest, context: ReconcileContext<T>) => Promise<ReconcileResult | void>;
  /**
   * Restricts the changes of objects of `kind` that are a reason to reconcile: all predicates must hold. They do not apply
   * to changes of `owns` and `watches`, retries, resyncs and `requeueAfterMs`.
   */
  readonly predicates?: readonly Predicate<NoInfer<T>>[];
  /** The component in events, and the name of the queue in the log; `<kind>-controller` by default. */
  readonly name?: string;
  /** How many objects are reconciled concurrently; 1 by default. */
  readonly workers?: number;
  /** The delay after the first failure of an object (ms), which doubles with each failure; 5 by default. */
  readonly firstBackoffMs?: number;
  /** The maximum delay after failures (ms); 1,000,000 by default. */
  readonly lastBackoffMs?: number;
  /** Reconciles all objects again in this interval (ms); never by default. */
  readonly resyncMs?: number;
  /** Reconciles only while this process holds the lease, for controllers that run in several processes. */
  readonly leaderElection?: ControllerLease;
  /** The clock of delays, resyncs and lease renewals; the system clock by default. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** Receives warnings and errors; the console by default. */
  readonly log?: Log;
}

/** A running controller. `stop` or `await using` ends it. */
export interface RunningController extends AsyncClosing {
  /** Informers to read other kinds from memory; those of `kind`, `owns` and `watches` are already running. */
  readonly informers: Informers;
  readonly events: EventRecorder;
  /** Whether it reconciles: always without leader election, otherwise while it holds the lease. */
  readonly leads: boolean;
  /**
   * Resolves once the controller has seen everything that the server had at the call, and has nothing to do until the
   * clock advances. A controller that waits for the lease is idle. @throws StatusError when the server cannot be read
   */
  idle(): Promise<void>;
  /** Stops the controller and releases the lease. Resolves when nothing runs any more. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a controller: informers, a work queue, and reconciles with retries. */
export function startController<T extends TypedObject, const W extends readonly TypedObject[] = []>(
  options: ControllerOptions<T, W>,
): RunningController {
  const run = new ControllerRun(options);
  return Object.assign(run, { [asyncDispose as typeof Symbol.asyncDispose]: () => run.stop() });
}

/** The reconciles while the controller leads. */
interface Term {
  readonly queue: WorkQueue;
  readonly stop: () => Promise<void>;
}

class ControllerRun<T extends TypedObject, W extends readonly TypedObject[]>
  implements Omit<RunningController, typeof Symbol.asyncDispose>
{
  readonly informers: Informers;
  readonly events: EventRecorder;
  readonly #options: ControllerOptions<T, W>;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #objects: Informer<T>;
  readonly #election: LeaderElection | undefined;
  #term: Term | undefined;
  /** The number of completed reconciles. */
  #reconciled = 0;
  #stopped: Promise<void> | undefined;
  readonly #filter: ChangeFilter<T>;
  readonly #unobserve: () => void;

  constructor(options: ControllerOptions<T, W>) {
    const { client, kind, selection, name = `${kind.kind.toLowerCase()}-controller` } = options;
    const { clock = systemClock, log = consoleLog } = options;
    this.#options = options;
    this.#name = name;
    this.#clock = clock;
    this.#log = log;
    this.#filter = new ChangeFilter(options.predicates ?? []);
    // Registered before the informers, whose handlers need to know who wrote a change.
    this.#unobserve = client.observe({
      observe: () => {},
      forget: () => {},
      wrote: (written, object) => {
        if (written.kind === kind.kind) this.#filter.wrote(object);
      },
    });
    this.informers = new Informers({ client, clock, log });
    this.events = new EventRecorder({ client, component: name, clock, log });
    this.#objects = this.informers.of(kind, selection);
    this.#addOnChanges();
    this.#election = this.#elect();
    if (this.#election === undefined) this.#lead();
  }

  get leads(): boolean {
    return this.#term !== undefined && this.#election?.holds !== false;
  }

  async idle(): Promise<void> {
    await this.#election?.attempted();
    // A term begins one turn after the attempt that acquired the lease.
    await nextTurn();
    await this.informers.synced();
    for (;;) {
      await this.#term?.queue.whenIdle();
      await this.events.whenIdle();
      const before = this.#reconciled;
      await this.informers.caughtUp();
      if (this.#reconciled === before && this.#term?.queue.isIdle !== false && this.events.isIdle) return;
    }
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#unobserve();
    await (this.#election ?? this.#term)?.stop();
    await Promise.all([this.events.stop(), this.informers.stop()]);
  }

  #elect(): LeaderElection | undefined {
    const { client, leaderElection, random = systemRandom } = this.#options;
    if (leaderElection === undefined) return undefined;
    const { namespace, name, identity = `${hostname()}_${random.uuid()}`, ...settings } = leaderElection;
    return new LeaderElection({
      client,
      random,
      clock: this.#clock,
      log: this.#log,
      identity,
      lease: { namespace, name },
      settings: { ...defaultLeaderElection, ...settings },
      lead: () => this.#lead(),
    });
  }

  /** Adds keys when objects change. */
  #addOnChanges(): void {
    const { owns = [], watches = [] } = this.#options;
    this.#objects.onChange((object, old) => {
      const key = keyOf(object ?? old ?? {});
      if (this.#term === undefined) return;
      this.#filter.changed(key, object, old);
      this.#term.queue.add(key);
    });
    for (const kind of owns) this.#map({ kind, map: (object) => this.#ownersOf(object) });
    for (const watched of watches as readonly WatchedKind<TypedObject>[]) this.#map(watched);
  }

  #map({ kind, selection, map }: WatchedKind<TypedObject>): void {
    const addMapped = (object: TypedObject | undefined) => {
      if (object === undefined) return;
      try {
        for (const { namespace = '', name = '' } of map(object)) this.#add(keyIn(namespace, name));
      } catch (error) {
        this.#log.error('failed to map an object to the objects to reconcile', { controller: this.#name, error });
      }
    };
    this.informers.of(kind, selection).onChange((object, old) => {
      addMapped(object);
      addMapped(old);
    });
  }

  /** Ignores objects outside the selection. */
  #add(key: string): void {
    if (this.#options.selection !== undefined && this.#objects.getByKey(key) === undefined) return;
    this.#filter.force(key);
    this.#term?.queue.add(key);
  }

  #ownersOf({ metadata: { namespace, ownerReferences = [] } = {} }: TypedObject): ObjectKey[] {
    const { client, kind } = this.#options;
    // Until the kind is resolved nothing is listed; all objects are reconciled after that.
    const { place } = this.#objects;
    if (place === undefined) return [];
    const group = groupOf(expandNames(kind.apiVersion, client.names));
    return ownerReferences
      .filter((owner) => owner.controller === true && owner.kind === kind.kind && groupOf(owner.apiVersion) === group)
      .map(({ name }) => ({ name, namespace: place.namespaced ? namespace : '' }));
  }

  /** Begins to reconcile, all objects first. */
  #lead(): Term {
    const { workers = 1, firstBackoffMs, lastBackoffMs, resyncMs } = this.#options;
    const stopping = new AbortController();
    const queue = new WorkQueue({
      name: this.#name,
      workers,
      clock: this.#clock,
      log: this.#log,
      ...(firstBackoffMs === undefined ? {} : { firstBackoffMs }),
      ...(lastBackoffMs === undefined ? {} : { lastBackoffMs }),
      reconcile: (key) => this.#reconcile(key, stopping.signal),
    });
    const addAll = () => {
      for (const object of this.#objects.list()) {
        this.#filter.force(keyOf(object));
        queue.add(keyOf(object));
      }
    };
    let cancel = () => {};
    const resync = () => {
      if (resyncMs === undefined) return;
      cancel = this.#clock.after(resyncMs, () => {
        addAll();
        resync();
      });
    };
    addAll();
    resync();
    const term = {
      queue,
      stop: async () => {
        cancel();
        stopping.abort();
        this.#term = undefined;
        await queue.stop();
      },
    };
    this.#term = term;
    void this.informers.synced().then(() => queue.start());
    return term;
  }

  // biome-ignore lint/suspicious/noConfusingVoidType: the type of the caller's function
  async #reconcile(key: string, signal: Signal): Promise<ReconcileResult | void> {
    try {
      if (!this.#filter.take(key, this.#clock.monotonic())) return undefined;
      const context = { object: this.#objects.getByKey(key), events: this.events, signal };
      const result = await this.#options.reconcile(splitKey(key), context);
      const ms = result?.requeueAfterMs;
      this.#filter.setDue(key, ms === undefined ? undefined : this.#clock.monotonic() + ms);
      return result;
    } catch (error) {
      this.#filter.force(key);
      throw error;
    } finally {
      this.#reconciled++;
    }
  }
}
