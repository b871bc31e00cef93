import type {
  Client,
  EventRecorder,
  Informers,
  KindPlace,
  Log,
  Reconcile,
  RequestRate,
  WorkQueue,
  WorkQueueOptions,
} from '../client/index.ts';
import type { Clock, Names, Random, Steps, Turns } from '../meta/index.ts';
import type { ControllerSettings } from './manager/settings.ts';
import type { MetadataFeed } from './metadata/feed.ts';

/** A user that is not a service account. */
export interface ControllerUser {
  readonly name: string;
  readonly groups: readonly string[];
  /** The component as which it writes: its user agent, and so its field manager. */
  readonly agent: string;
  /** The cluster role that it needs and to which no default binding binds it. */
  readonly clusterRole?: string;
}

/** A controller as data. */
export interface Controller {
  /** As `--controllers` names it (listed.ts). */
  readonly name: string;
  /**
   * Its service account in the system namespace, and its default role `system:controller:<account>`. Without one it acts
   * as the manager itself.
   */
  readonly account?: string;
  /** How often the rate of requests of other controllers it has, where it differs. */
  readonly rate?: Partial<RequestRate>;
  /** The kinds without which it does not run. Default: it needs none. */
  readonly needs?: readonly KindPlace[];
  /** The user that it acts as, in place of its service account. */
  readonly user?: ControllerUser;
  /** The component that its events name as their source; the account by default. */
  readonly eventSource?: string;
  /** Asks for informers, registers queues. Reconciles begin when all informers have been synced. */
  readonly start: (context: ControllerContext) => void;
}

/** The dependencies of a controller. */
export interface ControllerContext {
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly settings: ControllerSettings;
  /**
   * Acts as the controller's service account. What its typed kinds read and write is in the informers when the call
   * returns, and shared with them: it must not be modified.
   */
  readonly client: Client;
  readonly informers: Informers;
  /** The metadata of all objects of all resources. */
  readonly metadata: MetadataFeed;
  readonly events: EventRecorder;
  /** Registers a queue of keys, `name` in its metrics, and the function that reconciles one. */
  readonly queue: (
    name: string,
    reconcile: Reconcile,
    options?: Partial<Pick<WorkQueueOptions, 'workers' | 'firstBackoffMs' | 'lastBackoffMs' | 'groupOf'>>,
  ) => WorkQueue;
  /** Runs a task when all informers have been synced, and then again `ms` after it has ended. Errors are logged. */
  readonly every: (ms: number, task: () => void | Promise<void>) => void;
  /** The turns of its long work. */
  readonly turns: Turns;
  /** Runs the first step at once, and what is left of them in turns. No step throws. */
  readonly background: (steps: Steps<void>) => void;
  /** Aborted when the controller stops. */
  readonly signal: AbortSignal;
}
