import { setMaxListeners } from 'node:events';
import {
  type Client,
  EventRecorder,
  Informers,
  type Log,
  type QueueObserver,
  type QueueState,
  type RequestRate,
  rateLimited,
  type Transport,
  WorkQueue,
} from '../../client/index.ts';
import { type Clock, inTurns, type Names, type Random, type Steps, scheduler, type Turns } from '../../meta/index.ts';
import { MetadataFeed } from '../metadata/feed.ts';
import type { Named } from '../shared/kind.ts';
import type { Controller, ControllerContext, ControllerUser } from '../types.ts';
import { Reconciles } from './reconciles.ts';
import type { ControllerSettings } from './settings.ts';

export interface ManagerOptions {
  readonly controllers: readonly Controller[];
  readonly settings: ControllerSettings;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The client of the manager: reads everything, for the informers. */
  readonly reader: Client;
  /** The client of a controller's service account, or of the user that it is instead. */
  readonly clientOf: (account: string, user?: ControllerUser, limit?: (transport: Transport) => Transport) => Client;
  /** Of the requests of each service account; none: without a limit. Informers, and other users, have none. */
  readonly rate?: RequestRate | undefined;
  /** The metrics of a queue. */
  readonly observe: (queue: QueueState) => QueueObserver;
}

/** Controllers that run until they are stopped. */
export interface RunningControllers {
  /** Resolves when all informers have been synced and reconciles have begun. */
  readonly started: Promise<void>;
  /** No key waits or is being reconciled, and no event waits to be written; delayed keys and periodic tasks aside. */
  readonly isIdle: () => boolean;
  readonly informers: Informers;
  readonly reconciles: Reconciles;
  /** Resolves when nothing runs any more. */
  readonly stop: () => Promise<void>;
}

const defaultWorkers = 5;

/** The namespace of a key `namespace/name`; empty for a name. */
const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));

/** Starts controllers over one set of informers. */
export function startControllers(options: ManagerOptions): RunningControllers {
  const { controllers, settings, names, clock, random, log, reader, clientOf, rate, observe } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  // Every request that waits for its turn listens to it.
  setMaxListeners(0, signal);
  const informers = new Informers({ client: reader, clock, log });
  const metadata = new MetadataFeed({ client: reader, names, clock, log, signal });
  const queues: WorkQueue[] = [];
  const recorders: EventRecorder[] = [];
  const tasks: PeriodicTask[] = [];
  const long = new LongWork();
  const reconciles = new Reconciles();
  for (const { name, account, user, rate: times = {}, eventSource = account ?? name, start } of controllers) {
    const limit = (transport: Transport): Transport =>
      rate === undefined || user !== undefined
        ? transport
        : rateLimited(transport, timesRate(rate, times), clock, signal);
    const client = account === undefined ? reader : clientOf(account, user, limit);
    if (client !== reader) shareWithInformers(client, informers);
    const events = new EventRecorder({ client, clock, log, component: eventSource });
    recorders.push(events);
    const turns = scheduler.turns(name);
    const context: ControllerContext = {
      turns,
      background: (steps) => long.run(steps, turns),
      names,
      clock,
      random,
      log,
      settings,
      client,
      informers,
      metadata,
      events,
      signal,
      queue: (name, work, { workers = defaultWorkers, groupOf = namespaceOf, ...backoff } = {}) => {
        const reconcile = (key: string) => reconciles.run(name, key, work);
        const queue = new WorkQueue({ name, reconcile, workers, groupOf, ...backoff, clock, log, observe });
        queues.push(queue);
        return queue;
      },
      every: (ms, task) => {
        tasks.push(new PeriodicTask(ms, task, clock, log));
      },
    };
    start(context);
  }
  const started = Promise.all([informers.synced(), metadata.synced()]).then(() => {
    if (signal.aborted) return;
    for (const queue of queues) queue.start();
    for (const task of tasks) task.start();
  });
  return {
    started,
    informers,
    reconciles,
    isIdle: () =>
      metadata.isIdle &&
      long.isIdle &&
      queues.every((queue) => queue.isIdle) &&
      recorders.every((recorder) => recorder.isIdle) &&
      tasks.every((task) => task.isIdle),
    stop: async () => {
      stopping.abort();
      await Promise.all([
        ...queues.map((queue) => queue.stop()),
        ...tasks.map((task) => task.stop()),
        ...recorders.map((recorder) => recorder.stop()),
        informers.stop(),
        long.ended(),
        metadata.stopped(),
      ]);
    },
  };
}

/** Hands what typed kinds of the client read and write to the informers. The objects are shared, not copied. */
function shareWithInformers(client: Client, informers: Informers): void {
  client.observe({
    observe: (kind, object) => {
      delete (object as Named).metadata.managedFields;
      informers.started(kind)?.observe(object);
    },
    forget: informers.forget,
  });
}

const timesRate = (rate: RequestRate, { perSecond = 1, burst = 1 }: Partial<RequestRate>): RequestRate => ({
  perSecond: rate.perSecond * perSecond,
  burst: rate.burst * burst,
});

/** Work of controllers that goes on in turns. */
class LongWork {
  readonly #running = new Set<Promise<void>>();

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  run(steps: Steps<void>, turns: Turns): void {
    if (steps.next().done === true) return;
    const running = inTurns(steps, turns).then(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** A task that runs again and again, one run at a time. */
class PeriodicTask {
  readonly #ms: number;
  readonly #task: () => void | Promise<void>;
  readonly #clock: Clock;
  readonly #log: Log;
  #running: Promise<void> | undefined;
  #stopped = false;
  #cancel = () => {};

  constructor(ms: number, task: () => void | Promise<void>, clock: Clock, log: Log) {
    this.#ms = ms;
    this.#task = task;
    this.#clock = clock;
    this.#log = log;
  }

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  start(): void {
    if (this.#stopped) return;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      await this.#task();
    } catch (error) {
      if (!this.#stopped) this.#log.error('a periodic task of a controller failed', { error });
    }
    this.#running = undefined;
    if (!this.#stopped) this.#cancel = this.#clock.after(this.#ms, () => this.start());
  }
}
