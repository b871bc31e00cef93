import type { Client } from '../../../client/index.ts';
import type { Clock } from '../../../meta/index.ts';
import type { Store } from '../../../store/index.ts';
import type { Log } from '../../dependencies.ts';
import type { TestServerOptions } from '../options.ts';
import type { WebhookHandler } from '../webhooks.ts';
import type { SimulatedFaultName, SimulationPlan } from './plan.ts';
import type { Choices } from './seeded-random.ts';
import type { WorldChange, WorldState } from './world-state.ts';

/** The context of an operation or a process of a simulated world: with it alone, a run can be repeated. */
export interface SimulatedContext {
  /** The name of the client or process. */
  readonly name: string;
  /** Reaches one of the servers, with the rights of `system:masters`. */
  readonly client: Client;
  /** The clock of the process. Global timers run by the time of the world, also while the process is paused. */
  readonly clock: Clock;
  readonly random: Choices;
  readonly log: Log;
  /** Values that the client or process retains while it runs, from one operation to the next. */
  readonly memory: Map<string, unknown>;
}

/** Starts a process of the user, such as a controller; called again when it has crashed. */
export type SimulatedProcessStart = (context: SimulatedContext) => unknown;

/** One operation of a client. An error of the API or of the connection is no failure; any other error is. */
export type SimulatedOperation = (context: SimulatedContext) => Promise<unknown>;

/** A property of the stored objects. Returns nothing when it holds, or throws; a text says what does not hold. */
// biome-ignore lint/suspicious/noConfusingVoidType: functions that return nothing are invariants too
export type Invariant = (state: WorldState, change: WorldChange) => string | undefined | void;

/** A property at rest: checked again until it holds or the time to settle is over. */
export type RestInvariant = (state: WorldState, context: SimulatedContext) => unknown;

/** A simulated cluster and what happens in it. Durations are milliseconds or texts such as `30s`. */
export interface SimulatedWorld {
  /** The number of servers. Default: 3. */
  readonly servers?: number;
  /** Their settings, with the definitions and objects that the world begins with. */
  readonly options?: Omit<TestServerOptions, 'clock' | 'webhooks'>;
  /** Handles the calls of webhooks that refer to a service. */
  readonly webhooks?: WebhookHandler;
  /** The number of clients, which carry out operations. Default: 3. */
  readonly clients?: number;
  readonly operations?: { readonly [name: string]: SimulatedOperation };
  /** Processes of the user, such as controllers. */
  readonly processes?: { readonly [name: string]: SimulatedProcessStart };
  /** How long operations and faults begin. Default: 20s. */
  readonly duration?: number | string;
  /** The mean time between two operations of one client. Default: 200ms. */
  readonly operationEvery?: number | string;
  /** The mean time between two faults. Default: 2s. */
  readonly faultEvery?: number | string;
  /** The faults that a seed chooses from. Default: all. */
  readonly faults?: readonly SimulatedFaultName[];
  /** A plan that replaces the choices of the seed. */
  readonly plan?: SimulationPlan;
  /** Properties that hold after every change, by name. */
  readonly invariants?: { readonly [name: string]: Invariant };
  /** Properties that hold when all faults have ended, by name. */
  readonly atRest?: { readonly [name: string]: RestInvariant };
  /** The longest time until the properties at rest hold, after the last fault. Default: 2m. */
  readonly settle?: number | string;
  /** The longest real time of a run. Default: 10m. */
  readonly limit?: number | string;
}

/** A world in which the project tests itself. */
export interface OwnWorld extends SimulatedWorld {
  /** Makes the store wrong: shows that checkers find it. */
  readonly defect?: (store: Store, random: Choices) => Store;
  /** The keys of a history, without the name, whose objects name their writers: see `unmarked` of a history. */
  readonly marked?: (key: string) => boolean;
}

/** Why a run has failed. */
export interface SimulationFailure {
  /** The invariant or checked rule that does not hold, or `error`. */
  readonly rule: string;
  readonly message: string;
}

/** One run of a world. */
export interface SimulationRun {
  readonly seed: number;
  /** SHA-256 of everything that could be observed: equal for equal seeds. */
  readonly digest: string;
  readonly plan: SimulationPlan;
  /** Empty when everything held. */
  readonly failures: readonly SimulationFailure[];
  /** The last lines of the trace. */
  readonly trace: readonly string[];
  /** Virtual time of the run (ms). */
  readonly time: number;
  /** The number of requests of clients and processes, and of revisions. */
  readonly requests: number;
  readonly revision: number;
}
